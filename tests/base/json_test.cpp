#include "tilewright/base/json_place.hpp"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

std::string reason(const std::string& text) { return parse_json(text, "m.json").error().message; }

TEST(Json, IsReadAsItStands) {
  const auto json = parse_json(R"({"a": {"x": 1}, "b": {"x": 2}, "c": [{"x": 3}, {"x": 4}]})", "m.json");
  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["c"][1]["x"], 4);  // the same key in several objects stands once in each
}

TEST(Json, MistakesHaveALine) {
  EXPECT_EQ(reason("{\n\n  \"a\": 1,\n}"), "m.json:4: is not JSON: unexpected '}'; expected string literal");
  EXPECT_EQ(reason("{\n\"a\": nul\n}"), "m.json:2: is not JSON: invalid literal; last read: '\"a\": nul<U+000A>'");
  EXPECT_TRUE(reason("").starts_with("m.json:1: is not JSON: unexpected end of input")) << reason("");
  EXPECT_TRUE(reason("{\"\xff\": 1}").starts_with("m.json:1: is not JSON: ")) << reason("{\"\xff\": 1}");
  EXPECT_EQ(reason(R"({"a": 1, "b": {"c": 1, "c": 2}})"), "m.json: 'c' stands twice, expected once");
}

TEST(Json, NumbersThatNothingHoldsAreMistakes) {
  EXPECT_EQ(reason("{\n\"a\": 1e999}"), "m.json:2: 1e999 is too large a number, expected less than 1.8e308");
  EXPECT_EQ(reason("[-2E400]"), "m.json:1: -2E400 is too large a number, expected less than 1.8e308");
  EXPECT_LT(reason(std::string(100'000, '9')).size(), 120u);
  EXPECT_TRUE(parse_json("[1e-999, 123456789012345678901234567890]", "m.json"));
}

TEST(Json, DeepNestingIsAMistake) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(parse_json(nested(64), "m.json"));
  EXPECT_EQ(reason(nested(66)), "m.json: is nested deeper than 64, expected at most that");
  EXPECT_EQ(reason(nested(1'000'000)), "m.json: is nested deeper than 64, expected at most that");
  EXPECT_EQ(reason(std::string(1'000'000, '[')), "m.json: is nested deeper than 64, expected at most that");
}

TEST(Json, PlacesSayWhereTheyAre) {
  const nlohmann::json json = *parse_json(R"({"a": [1, {"b": "x", "c": 3.5, "d": 2.0, "e": 1e300, "f": true}]})", "m.json");
  const JsonPlace root = JsonPlace::root(json, "m.json");
  EXPECT_EQ(root.member("b").error().message, "m.json: has no 'b', expected one");
  EXPECT_EQ(root.elements().error().message, "m.json: is an object, expected an array");
  EXPECT_EQ(root.member("a")->elements(3).error().message, "m.json: a is an array of 2, expected an array of 3");
  const JsonPlace inner = (*root.member("a")->elements())[1];
  EXPECT_EQ(*inner.member("b")->text(), "x");
  EXPECT_EQ(inner.member("g").error().message, "m.json: a[1] has no 'g', expected one");
  EXPECT_EQ(inner.member("b")->integer().error().message, "m.json: a[1].b is 'x', expected a whole number");
  EXPECT_EQ(inner.member("c")->integer(0, 9).error().message, "m.json: a[1].c is 3.5, expected a whole number from 0 to 9");
  EXPECT_EQ(*inner.member("d")->integer(0, 2), 2);
  EXPECT_EQ(inner.member("d")->integer(3).error().message, "m.json: a[1].d is 2.0, expected a whole number of at least 3");
  EXPECT_FALSE(inner.member("e")->integer());
  EXPECT_EQ(inner.member("c")->truth().error().message, "m.json: a[1].c is 3.5, expected true or false");
  EXPECT_TRUE(*inner.member("f")->truth());
  EXPECT_EQ(inner.member("f")->number().error().message, "m.json: a[1].f is true, expected a number");
  EXPECT_FALSE(inner.find("h"));
}

TEST(Json, KeysHaveALine) {
  const std::string text = "{\n  \"a\": \"b\",\n  \"b\"\n: 1\n}";
  EXPECT_EQ(key_position(text, "m.json", "a"), "m.json:2");
  EXPECT_EQ(key_position(text, "m.json", "b"), "m.json:3");  // on line 2 it is a value
  EXPECT_EQ(key_position(text, "m.json", "c"), "m.json");
}

}  // namespace
}  // namespace tilewright
