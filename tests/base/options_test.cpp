#include "tilewright/base/options.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tilewright {

enum class Fruit { Apple, Pear };
template <>
struct Names<Fruit> {
  static constexpr std::string_view kWhat = "fruit";
  static constexpr NameTable<Fruit, 2> kTable = {{{Fruit::Apple, "apple"}, {Fruit::Pear, "pear"}}};
};

namespace {

using Json = nlohmann::ordered_json;

struct Basket {
  Fruit fruit = Fruit::Apple;
  std::int64_t count = 3;
  std::uint64_t seed = 1;
  std::optional<double> most_grams;
  std::vector<std::string> labels;
  bool washed = false;
  int threads = 0;
};

OptionTable options_of(Basket& basket) {
  return {{"fruit", worded(basket.fruit), "what is in it"},
          {"count", &basket.count, "pieces", {.least = 1, .most = 100}},
          {"seed", &basket.seed, "of the choice"},
          {"most_grams", &basket.most_grams, "of a piece", {.least = 0}},
          {"labels", &basket.labels, "on it"},
          {"washed", &basket.washed, "already"},
          {"threads", &basket.threads, "0 = all", {.recorded = false}}};
}

std::string refusal(const std::string& json) {
  Basket basket;
  const Result<Done> read = read_options(options_of(basket), Json::parse(json), "run.json");
  return read ? "" : read.error().message;
}

TEST(Names, GoBothWays) {
  EXPECT_EQ(name(Fruit::Pear), "pear");
  EXPECT_EQ(*named<Fruit>("apple"), Fruit::Apple);
  EXPECT_EQ(named<Fruit>("aple").error().message,
            "fruit 'aple' is not known (did you mean 'apple'?), expected one of apple, pear");
}

TEST(Options, AreWrittenAndReadByName) {
  Basket basket{Fruit::Pear, 7, 9, 120.5, {"sweet", "ripe"}, true, 2};
  const Json json = to_json(options_of(basket));
  EXPECT_EQ(json.dump(),
            R"({"fruit":"pear","count":7,"seed":9,"most_grams":120.5,"labels":["sweet","ripe"],"washed":true})");
  Basket again;
  ASSERT_TRUE(read_options(options_of(again), json, "run.json"));
  EXPECT_EQ(to_json(options_of(again)), json);
  EXPECT_EQ(again.threads, 0);  // not recorded
}

TEST(Options, WhatIsNothingIsLeftOutAndKept) {
  Basket basket;
  EXPECT_EQ(to_json(options_of(basket)).dump(), R"({"fruit":"apple","count":3,"seed":1,"washed":false})");
  basket.count = 8;
  ASSERT_TRUE(read_options(options_of(basket), Json::parse(R"({"seed": 2})"), "run.json"));
  EXPECT_EQ(basket.count, 8);
}

TEST(Options, WrongDocumentsAreSaidInOneSentence) {
  EXPECT_EQ(refusal(R"({"cuont": 3})"), "run.json: 'cuont' is no option of this version (did you mean 'count'?)");
  EXPECT_EQ(refusal(R"({"count": "3"})"), "run.json: count is \"3\", expected a whole number");
  EXPECT_EQ(refusal(R"({"count": 3.5})"), "run.json: count is 3.5, expected a whole number");
  EXPECT_EQ(refusal(R"({"count": 18446744073709551615})"),
            "run.json: count is 18446744073709551615, expected a whole number");
  EXPECT_EQ(refusal(R"({"threads": 4294967296})"), "run.json: threads is 4294967296, expected a whole number");
  EXPECT_EQ(refusal(R"({"seed": -1})"), "run.json: seed is -1, expected a whole number from 0");
  EXPECT_EQ(refusal(R"({"count": 0})"), "run.json: --count is 0, expected at least 1");
  EXPECT_EQ(refusal(R"({"most_grams": -2})"), "run.json: --most-grams is -2, expected at least 0");
  EXPECT_EQ(refusal(R"({"labels": [1]})"), "run.json: labels is [1], expected a list of texts");
  EXPECT_EQ(refusal(R"({"fruit": "pera"})"),
            "run.json: fruit: fruit 'pera' is not known (did you mean 'pear'?), expected one of apple, pear");
  EXPECT_EQ(refusal("[]"), "run.json is [], expected options by name");
}

}  // namespace
}  // namespace tilewright
