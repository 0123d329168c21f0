#include "tilewright/base/json.hpp"

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

TEST(Json, KeysHaveALine) {
  const std::string text = "{\n  \"a\": \"b\",\n  \"b\"\n: 1\n}";
  EXPECT_EQ(key_position(text, "m.json", "a"), "m.json:2");
  EXPECT_EQ(key_position(text, "m.json", "b"), "m.json:3");  // on line 2 it is a value
  EXPECT_EQ(key_position(text, "m.json", "c"), "m.json");
}

}  // namespace
}  // namespace tilewright
