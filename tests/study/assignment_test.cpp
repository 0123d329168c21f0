#include "tilewright/study/assignment.hpp"

#include <atomic>
#include <set>

#include "tiny.hpp"

namespace tilewright {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Assign, GivesEveryParameterToOneAgent) {
  ThreadPool threads(2);
  RunContext context{threads};
  const MappingJob job = tiny_job(threads);
  const auto study = assign(job, {.samples = 600, .no_stability = true}, context);
  ASSERT_TRUE(study) << study.error().message;
  EXPECT_EQ(study->samples, 600);
  EXPECT_GT(study->feasible, 0);
  std::multiset<std::string> assigned, parameters;
  for (const auto& agent : study->found.assignment.agents) assigned.insert(agent.begin(), agent.end());
  for (const Parameter& parameter : study->parameters) parameters.insert(parameter.name);
  EXPECT_EQ(assigned, parameters);
  EXPECT_THAT(study->stability, IsEmpty());
  EXPECT_EQ(title_of(*study), "tiny on gamma-edge, edp");
}

TEST(Assign, CutsWhereItIsTold) {
  ThreadPool threads(1);
  RunContext context{threads};
  const MappingJob job = tiny_job(threads);
  int compared = 0;
  for (std::int64_t count = 2; count < 60; count += 3) {  // unrelated parameters are all equally far apart
    const auto some = assign(job, {.samples = 300, .agents = count, .no_stability = true}, context);
    if (!some || some->found.dendrogram.leaves <= static_cast<std::size_t>(count)) break;
    ASSERT_EQ(some->found.assignment.agents.size(), static_cast<std::size_t>(count));
    const std::vector<Merge>& merges = some->found.dendrogram.merges;
    const std::size_t last = merges.size() - static_cast<std::size_t>(count);  // the merge below the cut
    if (merges[last].height == merges[last + 1].height) continue;              // no height lies between the two
    ++compared;
    const auto same = assign(job, {.samples = 300, .threshold = cut_height(some->found), .no_stability = true}, context);
    EXPECT_EQ(same->found.clusters, some->found.clusters) << count;
  }
  EXPECT_GT(compared, 2);
}

TEST(Assign, KnowsMemoryLevels) {
  ThreadPool threads(2);
  RunContext context{threads};
  const HierarchyJob job = tiny_levels_job(threads);
  const auto study = assign(job, {.samples = 900, .resamples = 2, .seeds = 0}, context);
  ASSERT_TRUE(study) << study.error().message;
  EXPECT_EQ(title_of(*study), "tiny on eyeriss-dram, edp");
  std::multiset<std::string> assigned, parameters;
  for (const auto& agent : study->found.assignment.agents) assigned.insert(agent.begin(), agent.end());
  for (const Parameter& parameter : study->parameters) parameters.insert(parameter.name);
  EXPECT_EQ(assigned, parameters);
  EXPECT_TRUE(parameters.contains("place.K#0"));
  EXPECT_FALSE(study->stability.empty());
  EXPECT_THAT(to_json(*study), HasSubstr(R"("model": "hierarchy")"));
}

TEST(Assign, EndsWhenItIsAskedTo) {
  ThreadPool threads(2);
  const std::atomic<bool> asked = true;
  RunContext context{.threads = threads, .stop = StopToken(&asked)};
  const MappingJob job = tiny_job(threads);
  EXPECT_THROW((void)assign(job, {.samples = 300, .no_stability = true}, context), Stopped);
}

TEST(Assign, AsksHowFirmTheAgentsAre) {
  const auto json = [](std::size_t count) {
    ThreadPool threads(count);
    RunContext context{threads};
    const MappingJob job = tiny_job(threads);
    const auto study = assign(job, {.samples = 300, .resamples = 3, .seeds = 1}, context);
    EXPECT_FALSE(study->stability.empty());
    EXPECT_GT(study->stability_samples, 0);
    return to_json(*study);
  };
  EXPECT_EQ(json(1), json(2));
}

TEST(Assign, RefusesWhatCannotBe) {
  ThreadPool threads(1);
  RunContext context{threads};
  const MappingJob job = tiny_job(threads);
  const auto refusal = [&](const AssignmentOptions& options) {
    const auto study = assign(job, options, context);
    return study ? "" : study.error().message;
  };
  EXPECT_EQ(refusal({.samples = 5}), "--samples is 5, expected at least 2 for each of 3 layers: 6");
  EXPECT_THAT(refusal({.threshold = 0.5, .agents = 2}), HasSubstr("both given"));
  EXPECT_THAT(refusal({.agents = 0}), HasSubstr("expected 1 to"));
  EXPECT_THAT(refusal({.quantile = 0}), HasSubstr("--quantile is 0"));
  EXPECT_THAT(refusal({.samples = 300, .explore = "sobel"}), HasSubstr("did you mean 'sobol'?"));
}

}  // namespace
}  // namespace tilewright
