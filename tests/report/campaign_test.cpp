#include "tilewright/report/campaign.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "markup.hpp"

namespace tilewright {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::ordered_json;

// Three seeds of a study with a hostile name, two of them done, and a comparison that has just begun.
CampaignStatus half_way() {
  CampaignStatus status;
  status.name = "a <b> & c";
  for (int seed = 1; seed <= 3; ++seed) {
    status.studies.push_back(
        {.entry = "x<y>", .varied = {{"seed", std::to_string(seed)}}, .verb = CampaignVerb::Map, .where = ""});
    status.states.push_back({.done = seed < 3 ? 1U : 0U, .tasks = 1, .seconds = 2, .summary = {}});
    if (seed < 3) status.states.back().summary = Json{{"measure", "edp"}, {"value", 10.0 * seed}};
  }
  status.studies.push_back({.entry = "c", .varied = {}, .verb = CampaignVerb::Compare, .where = ""});
  status.states.push_back({.done = 1, .tasks = 6, .seconds = 1, .summary = {}});
  status.done = 3;
  status.tasks = 9;
  status.found = 1;
  status.elapsed = 10;
  status.task_seconds = 5;
  status.failures.push_back({2, "task 3 (x<y>: 3): no such file"});
  return status;
}

TEST(CampaignPage, ReadsWellAtAnyMoment) {
  for (CampaignStatus status : {CampaignStatus{}, half_way()}) {
    for (const bool ended : {false, true}) {
      status.ended = ended;
      const std::string html = to_html(status);
      EXPECT_EQ(read_markup(html).error, "");
      EXPECT_EQ(html.find("http-equiv=\"refresh\"") == std::string::npos, ended);
      EXPECT_THAT(html, Not(HasSubstr("<y>")));
    }
  }
}

TEST(CampaignPage, SaysWhatIsDoneMissingAndFailed) {
  const std::string html = to_html(half_way());
  EXPECT_THAT(html, HasSubstr("33 %"));
  EXPECT_THAT(html, HasSubstr("3 of 9 tasks"));
  EXPECT_THAT(html, HasSubstr("about 0:30 left"));  // two tasks took this process ten seconds, six are missing
  EXPECT_THAT(html, HasSubstr("task 3 (x&lt;y&gt;: 3): no such file"));
  EXPECT_THAT(html, HasSubstr("2 of 3"));
  EXPECT_THAT(html, HasSubstr("1 of 6"));
}

TEST(CampaignText, HasMediansOverSeeds) {
  const std::string text = to_text(half_way());
  EXPECT_THAT(text, HasSubstr("3 of 9 tasks done, 1 failed"));
  EXPECT_THAT(text, ::testing::ContainsRegex("x<y> +2/3 +15 +.10, 20. +edp"));
}

}  // namespace
}  // namespace tilewright
