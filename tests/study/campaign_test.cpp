#include "tilewright/study/campaign.hpp"

#include <algorithm>
#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../scratch.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

CampaignPlan plan_of(const std::string& studies) {
  const auto plan = campaign_plan_from("format: tilewright-plan-1\nname: n\nstudies:\n" + studies, "p.yaml");
  EXPECT_TRUE(plan) << plan.error().message;
  return plan ? *plan : CampaignPlan{};
}

std::string refusal(const std::string& studies) {
  const auto plan = campaign_plan_from("format: tilewright-plan-1\nstudies:\n" + studies, "p.yaml");
  return plan ? "" : plan.error().message;
}

TEST(CampaignPlan, IsAProductInWhichTheLastAxisTurnsFastest) {
  const CampaignPlan plan = plan_of(
      "  - name: a\n    map: {network: zoo:alexnet, samples: 7}\n    each: {hardware: [x, y], seed: 3..4}\n"
      "  - train: {world: simple_spread}\n");
  std::vector<std::string> titles;
  for (const PlannedStudy& study : plan.studies) titles.push_back(title_of(study));
  EXPECT_THAT(titles, ElementsAre("a: x, 3", "a: x, 4", "a: y, 3", "a: y, 4", "train"));
  const StudyRequest request = *request_of(plan.studies[2]);
  const auto& map = std::get<MapRequest>(request);
  EXPECT_EQ(map.inputs.network, "zoo:alexnet");
  EXPECT_EQ(map.inputs.hardware, "y");
  EXPECT_EQ(map.search.samples, 7);
  EXPECT_EQ(map.search.seed, 3U);
  EXPECT_EQ(plan.studies[2].arguments.size(), 4U);  // defaults are left out
}

TEST(CampaignPlan, ReadsValuesOfEveryKind) {
  const CampaignPlan plan = plan_of(
      "  - compare:\n      searches: [gamma, random]\n      budgets: [10, 20]\n      settings: [gamma.population=9]\n"
      "      max-latency: 1.5e6\n      search_pes: true\n      targets: random:50\n");
  const StudyRequest request = *request_of(plan.studies[0]);
  const auto& compare = std::get<CompareRequest>(request);
  EXPECT_THAT(compare.options.searches, ElementsAre("gamma", "random"));
  EXPECT_THAT(compare.options.budgets, ElementsAre(10, 20));
  EXPECT_THAT(compare.options.settings, ElementsAre("gamma.population=9"));
  EXPECT_EQ(*compare.mapping.max_latency, 1.5e6);
  EXPECT_TRUE(compare.mapping.search_pes);
  EXPECT_EQ(compare.options.target->samples, 50);
}

TEST(CampaignPlan, ThoseOfOurSuitesAreRead) {
  const std::filesystem::path plans = std::filesystem::path(TILEWRIGHT_SOURCE) / "bench" / "plans";
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(plans)) {
    const auto plan = campaign_plan_from(*read_file(entry.path()), entry.path().string());
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_GT(plan->studies.size(), 10U);
    ++count;
  }
  EXPECT_GE(count, 3U);
}

TEST(CampaignPlan, SaysTheLineWhatIsAndWhatWasExpected) {
  EXPECT_EQ(refusal("  - map:\n      network: zoo:alexnet\n      sampels: 5\n").substr(0, 76),
            "p.yaml:5: 'sampels' is no option of map in a plan (did you mean 'samples'?),");
  EXPECT_THAT(refusal("  - map: {samples: 1.5}\n"), HasSubstr("p.yaml:3: samples is"));
  EXPECT_THAT(refusal("  - map: {objective: speed}\n"), HasSubstr("p.yaml:3: objective:"));
  EXPECT_THAT(refusal("  - map: {search_pes: maybe}\n"), HasSubstr("search_pes is 'maybe', expected true or false"));
  EXPECT_THAT(refusal("  - train: {agents: 100000}\n"), HasSubstr("expected at most 1024"));
  EXPECT_THAT(refusal("  - map: {samples: 1, samples: 2}\n"), HasSubstr("twice"));
  EXPECT_THAT(refusal("  - 3\n"), HasSubstr("p.yaml:3: a study is no map of options"));
  EXPECT_THAT(refusal("  - map: 3\n"), HasSubstr("map is no map of options"));
  EXPECT_EQ(refusal("  - map: {}\n    each:\n      hardware: [zoo:eyeriss, x,\n        zoo:eyeriss]\n"),
            "p.yaml:6: hardware has zoo:eyeriss twice, expected every value once");
  EXPECT_EQ(refusal("  - map: {}\n    each: {max-latency: [10, 1e1]}\n"),
            "p.yaml:4: max_latency has 1e1 twice, expected every value once");
  EXPECT_THAT(refusal("  - map: {}\n    each: {seed: 1..x}\n"), HasSubstr("seed is '1..x', expected a range like 1..20"));
}

constexpr const char* kPlan =
    "format: tilewright-plan-1\nname: n\nstudies:\n"
    "  - map: {network: zoo:alexnet, layer: conv3, hardware: zoo:eyeriss, samples: 20, search: random}\n"
    "    each: {seed: 1..4}\n";

class CampaignRun : public ::testing::Test {
 protected:
  Campaign open(const std::string& name) {
    const auto campaign = open_campaign(kPlan, "p.yaml", {.directory = scratch_ / name});
    EXPECT_TRUE(campaign) << campaign.error().message;
    return *campaign;
  }
  std::string result(const std::string& name) { return *read_file(scratch_ / name / kResultFile); }

  Scratch scratch_;
  ThreadPool threads_{2};
  RunContext context_{threads_};
};

// An engine decides who does what and when; the results do not tell.
TEST_F(CampaignRun, AnyEngineGivesTheSameBytes) {
  ASSERT_TRUE(run_campaign(open("local"), local_engine, context_));
  const auto backwards = [](const Campaign& campaign, const std::vector<std::size_t>& tasks, RunContext& context,
                            const TaskEnd& on_end) -> Result<Done> {
    for (std::size_t i = tasks.size(); i-- > 0;) on_end(tasks[i], do_task(campaign, tasks[i], context));
    return Done{};
  };
  const auto status = run_campaign(open("backwards"), backwards, context_);
  ASSERT_TRUE(status);
  EXPECT_EQ(status->done, 4U);
  EXPECT_EQ(result("local"), result("backwards"));
  EXPECT_EQ(*read_file(scratch_ / "local" / kPointsFile), *read_file(scratch_ / "backwards" / kPointsFile));
}

TEST_F(CampaignRun, AnEngineIsGivenOnlyWhatIsMissing) {
  const Campaign campaign = open("some");
  ASSERT_TRUE(*do_task(campaign, 2, context_));
  std::vector<std::size_t> given;
  const auto nobody = [&](const Campaign&, const std::vector<std::size_t>& tasks, RunContext&, const TaskEnd& on_end) {
    given = tasks;
    on_end(0, invalid("no such worker"));
    return Result<Done>(Done{});
  };
  const auto status = run_campaign(campaign, nobody, context_);
  ASSERT_TRUE(status);
  EXPECT_THAT(given, ElementsAre(0, 1, 3));
  ASSERT_EQ(status->failures.size(), 1U);
  EXPECT_EQ(status->failures[0].sentence, "task 1 (map: 1): no such worker");
  EXPECT_THAT(result("some"), HasSubstr("\"missing\": 3"));
}

// Two studies of the plan that ask the same: the tasks of the second are those of the first.
TEST_F(CampaignRun, AKeyIsGivenToAnEngineOnce) {
  const std::string again =
      std::string(kPlan) +
      "  - name: again\n"
      "    map: {network: zoo:alexnet, layer: conv3, hardware: zoo:eyeriss, samples: 20, search: random}\n"
      "    each: {seed: 3..5}\n";
  const auto open_again = [&](const std::string& name) {
    return *open_campaign(again, "p.yaml", {.directory = scratch_ / name});
  };
  std::vector<std::size_t> given;
  const auto failing = [&](const Campaign&, const std::vector<std::size_t>& tasks, RunContext&, const TaskEnd& on_end) {
    given = tasks;
    on_end(2, invalid("no such worker"));
    return Result<Done>(Done{});
  };
  const auto failed = run_campaign(open_again("two"), failing, context_);
  ASSERT_TRUE(failed);
  EXPECT_THAT(given, ElementsAre(0, 1, 2, 3, 6));
  ASSERT_EQ(failed->failures.size(), 2U);
  EXPECT_EQ(failed->failures[1].sentence, "task 5 (again: 3): no such worker");

  const auto expected = forecast(open_again("two"), context_);
  ASSERT_TRUE(expected);
  EXPECT_EQ(expected->tasks, 7U);
  EXPECT_EQ(expected->points, 5 * 20);
  std::vector<std::size_t> counts;
  context_.progress.show = [&](const ProgressState& state) { counts.push_back(static_cast<std::size_t>(state.done)); };
  const auto status = run_campaign(open_again("two"), local_engine, context_);
  ASSERT_TRUE(status);
  EXPECT_TRUE(status->failures.empty());
  EXPECT_EQ(status->done, 7U);
  ASSERT_FALSE(counts.empty());
  EXPECT_EQ(std::ranges::max(counts), 7U);
  EXPECT_EQ(*status->states[2].summary, *status->states[4].summary);

  ThreadPool one(1);
  RunContext alone{.threads = one};
  ASSERT_TRUE(run_campaign(open_again("one"), local_engine, alone));
  EXPECT_EQ(result("one"), result("two"));
  EXPECT_EQ(*read_file(scratch_ / "one" / kPointsFile), *read_file(scratch_ / "two" / kPointsFile));
}

TEST_F(CampaignRun, AStopKeepsWhatIsDone) {
  const Campaign campaign = open("stopped");
  std::atomic<bool> stop = false;
  RunContext context{.threads = threads_, .stop = StopToken(&stop)};
  const CampaignWatch never;
  std::size_t ended = 0;
  const auto stopping = [&](const Campaign& all, const std::vector<std::size_t>& tasks, RunContext& its,
                            const TaskEnd& on_end) {
    return local_engine(all, tasks, its, [&](std::size_t task, const Result<bool>& done) {
      on_end(task, done);
      if (++ended == 1) stop = true;
    });
  };
  ThreadPool one(1);
  RunContext alone{.threads = one, .stop = StopToken(&stop)};
  const auto status = run_campaign(campaign, stopping, alone, never);
  ASSERT_TRUE(status);
  EXPECT_EQ(status->done, 1U);
  stop = false;
  EXPECT_EQ(run_campaign(campaign, local_engine, context)->done, 4U);
}

TEST_F(CampaignRun, ForecastsWhatIsMissing) {
  const Campaign campaign = open("forecast");
  const auto before = forecast(campaign, context_);
  ASSERT_TRUE(before);
  EXPECT_EQ(before->tasks, 4U);
  EXPECT_EQ(before->done, 0U);
  EXPECT_EQ(before->points, 80);
  EXPECT_GT(before->seconds, 0);
  ASSERT_TRUE(run_campaign(campaign, local_engine, context_));
  const auto after = forecast(campaign, context_);
  EXPECT_EQ(after->done, 4U);
  EXPECT_EQ(after->seconds, 0);
}

}  // namespace
}  // namespace tilewright
