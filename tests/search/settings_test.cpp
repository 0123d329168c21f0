#include "tilewright/search/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "synthetic_space.hpp"
#include "tilewright/search/searchers.hpp"

namespace tilewright {

enum class Rule { Quarters, Halves, Full };
template <>
struct Names<Rule> {
  static constexpr std::string_view kWhat = "rule";
  static constexpr NameTable<Rule, 3> kTable = {
      {{Rule::Quarters, "quarters"}, {Rule::Halves, "halves"}, {Rule::Full, "full"}}};
};

namespace {

using testing::HasSubstr;

struct Options {
  std::int64_t population = 10;
  double rate = 0.5;
  bool aging = true;
  Rule rule = Rule::Full;
  std::string place = "here";
};
std::vector<Setting> fields_of(Options& options) {
  return {{"population", "members", &options.population, 2, 1000},
          {"rate", "share", &options.rate, 0, 1},
          {"aging", "whether members grow old", &options.aging},
          {"rule", "what is cut", one_of(options.rule, {Rule::Full, Rule::Halves})},
          {"place", "where", &options.place}};
}

// The message of applying one text, or "".
std::string applied(Options& options, const std::string& text) {
  Settings settings;
  if (const auto added = add_setting(settings, text); !added) return added.error().message;
  const auto done = apply_settings(settings, "toy", fields_of(options));
  return done ? "" : done.error().message;
}

TEST(Settings, AreWrittenThroughTheFields) {
  Options options;
  EXPECT_EQ(applied(options, "toy.population=42"), "");
  EXPECT_EQ(applied(options, " toy.rate = 0.25 "), "");
  EXPECT_EQ(applied(options, "toy.aging=False"), "");
  EXPECT_EQ(applied(options, "toy.rule=halves"), "");
  EXPECT_EQ(options.population, 42);
  EXPECT_EQ(options.rate, 0.25);
  EXPECT_EQ(applied(options, "toy.place=anywhere"), "");
  EXPECT_FALSE(options.aging);
  EXPECT_EQ(options.rule, Rule::Halves);
  const std::vector<SettingValue> expected = {{"population", "42", "members"},
                                              {"rate", "0.25", "share"},
                                              {"aging", "false", "whether members grow old"},
                                              {"rule", "halves", "what is cut"},
                                              {"place", "anywhere", "where"}};
  EXPECT_EQ(values_of(fields_of(options)), expected);
}

TEST(Settings, OfOtherSearchersAreLeftAlone) {
  Options options;
  EXPECT_EQ(applied(options, "toyota.population=x"), "");
  EXPECT_EQ(applied(options, "to.population=x"), "");
  EXPECT_EQ(options.population, 10);
}

TEST(Settings, TheLastOfTwoHolds) {
  Settings settings;
  ASSERT_TRUE(add_setting(settings, "toy.population=5"));
  ASSERT_TRUE(add_setting(settings, "toy.population=6"));
  EXPECT_EQ(settings.at("toy.population"), "6");
}

TEST(Settings, AWrongFormIsExplained) {
  Options options;
  for (const char* text : {"toy.population", "population=5", "=5", "toy.=5", ".population=5", ""}) {
    EXPECT_THAT(applied(options, text), HasSubstr("expected searcher.name=value such as genetic.population=100")) << text;
  }
}

TEST(Settings, AnUnknownNameGetsTheNearest) {
  Options options;
  EXPECT_EQ(
      applied(options, "toy.popluation=5"),
      "toy has no setting 'popluation', expected one of population, rate, aging, rule, place (did you mean 'population'?)");
}

TEST(Settings, AValueOfTheWrongKindSaysWhatIsExpected) {
  Options options;
  EXPECT_EQ(applied(options, "toy.population=many"), "toy.population is 'many', expected a whole number, 2 to 1000");
  EXPECT_EQ(applied(options, "toy.population=2.5"), "toy.population is '2.5', expected a whole number, 2 to 1000");
  EXPECT_EQ(applied(options, "toy.rate=half"), "toy.rate is 'half', expected a number, 0 to 1");
  EXPECT_EQ(applied(options, "toy.rate="), "toy.rate is '', expected a number, 0 to 1");
  EXPECT_EQ(applied(options, "toy.aging=maybe"), "toy.aging is 'maybe', expected 'true' or 'false'");
  EXPECT_EQ(applied(options, "toy.rule=halfs"),
            "toy.rule is 'halfs', expected one of full, halves (did you mean 'halves'?)");
  EXPECT_EQ(applied(options, "toy.rule=quarters"), "toy.rule is 'quarters', expected one of full, halves");  // not offered
}

TEST(Settings, AValueOutOfRangeSaysTheRange) {
  Options options;
  EXPECT_EQ(applied(options, "toy.population=1"), "toy.population is '1', expected 2 to 1000");
  EXPECT_EQ(applied(options, "toy.population=1001"), "toy.population is '1001', expected 2 to 1000");
  EXPECT_EQ(applied(options, "toy.rate=-0.1"), "toy.rate is '-0.1', expected 0 to 1");
  EXPECT_EQ(applied(options, "toy.rate=nan"), "toy.rate is 'nan', expected a number, 0 to 1");
  EXPECT_EQ(options.population, 10);
  EXPECT_EQ(options.rate, 0.5);
}

TEST(Searchers, EveryOneHasASummaryAndSettingsThatReadBack) {
  const SyntheticSpace space({.a = 4, .b = 2});
  for (const SearcherInfo& info : classical_searchers()) {
    EXPECT_FALSE(info.summary.empty());
    const auto defaults = classical_settings(info.name);
    ASSERT_TRUE(defaults) << info.name;
    EXPECT_FALSE(defaults->empty()) << info.name;
    Settings given;
    for (const SettingValue& setting : *defaults) {
      EXPECT_FALSE(setting.meaning.empty()) << info.name << "." << setting.name;
      given[std::string(info.name) + "." + setting.name] = setting.value;
    }
    EXPECT_EQ(*classical_settings(info.name, given), *defaults) << info.name;
    if (info.name == "gamma") continue;  // works on mappings only
    EXPECT_TRUE(make_classical_searcher(info.name, space, 100, 1, given)) << info.name;
  }
  EXPECT_TRUE(classical_settings("nobody")->empty());
}

TEST(Searchers, SettingsInForceAreThoseGiven) {
  const auto values = classical_settings("genetic", {{"genetic.population", "7"}});
  ASSERT_TRUE(values);
  EXPECT_EQ(values->front().name, "population");
  EXPECT_EQ(values->front().value, "7");
  EXPECT_FALSE(classical_settings("genetic", {{"genetic.population", "seven"}}));
}

TEST(Searchers, AnUnknownNameGetsTheNearest) {
  const SyntheticSpace space({.a = 4, .b = 2});
  const auto made = make_classical_searcher("genetics", space, 100, 1, {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::NotFound);
  EXPECT_THAT(made.error().message, HasSubstr("the searcher is 'genetics', expected one of random, exhaustive, genetic"));
  EXPECT_THAT(made.error().message, HasSubstr("(did you mean 'genetic'?)"));
}

TEST(Searchers, AWrongSettingIsAnErrorOfTheSearcher) {
  const SyntheticSpace space({.a = 4, .b = 2});
  const auto made = make_classical_searcher("ant-colony", space, 100, 1, {{"ant-colony.greedyness", "1"}});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("ant-colony has no setting 'greedyness'"));
  EXPECT_THAT(made.error().message, HasSubstr("(did you mean 'greediness'?)"));
}

}  // namespace
}  // namespace tilewright
