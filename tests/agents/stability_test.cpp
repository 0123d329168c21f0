#include "tilewright/agents/stability.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "knob_space.hpp"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

std::vector<Parameter> six_knobs() {
  std::vector<Parameter> parameters;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
    parameters.push_back({name, ParameterKind::Ordinal, Role::Tile, 16});
  }
  return parameters;
}

// Latency wants a = b, c = d and e = f, energy a = c, b = e and d = f.
Outcome pairs(PointView p) {
  const auto apart = [&](std::size_t i, std::size_t j) { return std::pow(p[i] - p[j], 2); };
  Outcome outcome{true, 0, {}};
  outcome.metrics.latency = 1 + apart(0, 1) + apart(2, 3) + apart(4, 5);
  outcome.metrics.energy = 1 + apart(0, 2) + apart(1, 4) + apart(3, 5);
  return outcome;
}

// A cost that has nothing to do with the point's meaning.
Outcome noise(PointView p) {
  Outcome outcome{true, 0, {}};
  outcome.metrics.latency = static_cast<double>(hash_of(p) >> 20);
  outcome.metrics.energy = static_cast<double>(hash_of(p) & 0xffffff);
  return outcome;
}

// Three problems, the last without f.
struct Problems {
  explicit Problems(const KnobSpace::Cost& cost) {
    spaces.push_back(std::make_unique<KnobSpace>("first", six_knobs(), cost));
    spaces.push_back(std::make_unique<KnobSpace>("second", six_knobs(), cost));
    std::vector<Parameter> five = six_knobs();
    five.pop_back();
    spaces.push_back(std::make_unique<KnobSpace>("third", five, [cost](PointView p) {
      Point whole(p.begin(), p.end());
      whole.push_back(p[4]);
      return cost(whole);
    }));
    for (const auto& space : spaces) question.spaces.push_back(space.get());
    question.objective = *objective_named("latency");
    question.exploration = {"random", 500, 3};
  }
  std::vector<std::unique_ptr<KnobSpace>> spaces;
  AgentsQuestion question;
};

struct Studied {
  std::vector<StabilityRow> rows;
  std::int64_t samples = 0;
};

Studied study(const AgentsQuestion& question, const StabilityOptions& options, std::size_t thread_count = 2) {
  ThreadPool threads(thread_count);
  const auto data = explore(question.spaces, question.objective, question.exploration, threads);
  EXPECT_TRUE(data);
  Studied result;
  auto rows = stability(question, *data, options, threads, result.samples);
  EXPECT_TRUE(rows);
  result.rows = *rows;
  return result;
}

const StabilityRow& row_of(const Studied& studied, const std::string& varied, const std::string& to = "") {
  for (const StabilityRow& row : studied.rows) {
    if (row.varied == varied && row.to == to) return row;
  }
  ADD_FAILURE() << "no row " << varied << " " << to;
  return studied.rows.at(0);
}

StabilityOptions few() {
  StabilityOptions options;
  options.resamples = 20;
  options.seeds = 2;
  return options;
}

TEST(Explore, ChargesEveryProblemAlikeAndKeepsOutcomes) {
  const Problems problems(pairs);
  ThreadPool threads(2);
  for (const std::string policy : {"random", "sobol", "genetic"}) {
    const auto data = explore(problems.question.spaces, problems.question.objective, {policy, 70, 1}, threads);
    ASSERT_TRUE(data) << data.error().message;
    std::vector<int> counts(3, 0);
    for (const auto& sample : data->samples) {
      ++counts[sample.problem];
      EXPECT_EQ(sample.outcome, sample.problem < 2 ? pairs(sample.point) : sample.outcome);
      EXPECT_EQ(sample.verdict.score[0], sample.outcome.metrics.latency);
    }
    EXPECT_EQ(counts, std::vector<int>(3, 70)) << policy;
  }
  const auto wrong = explore(problems.question.spaces, problems.question.objective, {"sobel", 70, 1}, threads);
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("did you mean 'sobol'?"));
}

TEST(ClusterAgents, FindsWhatTheObjectiveTiesTogether) {
  const Problems problems(pairs);
  ThreadPool threads(1);
  const auto data = explore(problems.question.spaces, problems.question.objective, problems.question.exploration, threads);
  ASSERT_TRUE(data);
  for (const Dependence dependence : all_dependences()) {
    const auto by_latency = cluster_agents(to_table(*data, problems.question.spaces), {dependence, 0.1}, {});
    EXPECT_EQ(by_latency.clusters, (std::vector<std::size_t>{0, 0, 1, 1, 2, 2})) << name_of(dependence);
    EXPECT_EQ(by_latency.assignment.origin,
              "clusters (" + std::string(name_of(dependence)) + ", quantile 0.1, average linkage, silhouette)");
    const auto contrast = cluster_agents(to_table(*data, problems.question.spaces), {dependence, 0.1, true}, {});
    EXPECT_EQ(contrast.clusters, by_latency.clusters) << name_of(dependence);
    EXPECT_THAT(contrast.assignment.origin, HasSubstr(" contrast, quantile"));
    const auto by_energy = cluster_agents(to_table(rescored(*data, *objective_named("energy")), problems.question.spaces),
                                          {dependence, 0.1}, {});
    EXPECT_EQ(by_energy.clusters, (std::vector<std::size_t>{0, 1, 0, 2, 1, 2})) << name_of(dependence);
  }
}

TEST(Stability, IsOneWhereTheAnswerIsClearAndSeesAnotherObjective) {
  const Studied studied = study(Problems(pairs).question, few());
  EXPECT_GT(row_of(studied, "bootstrap").mean, 0.95);
  EXPECT_EQ(row_of(studied, "bootstrap").count, 20u);
  EXPECT_EQ(row_of(studied, "samples", "50 %").mean, 1.0);
  EXPECT_GT(row_of(studied, "samples", "10 %").mean, 0.9);
  EXPECT_EQ(row_of(studied, "samples", "10 %").count, 20u);
  EXPECT_EQ(row_of(studied, "seed").mean, 1.0);
  EXPECT_EQ(row_of(studied, "seed").count, 2u);
  EXPECT_GT(row_of(studied, "layer").mean, 0.6);
  EXPECT_EQ(row_of(studied, "layer").count, 3u);
  EXPECT_EQ(row_of(studied, "exploration", "sobol").mean, 1.0);
  for (const std::string measure : {"spearman", "distance", "mutual-information"}) {
    EXPECT_EQ(row_of(studied, "measure", measure).mean, 1.0) << measure;
  }
  for (const std::string linkage : {"complete", "ward"}) EXPECT_EQ(row_of(studied, "linkage", linkage).mean, 1.0) << linkage;
  // By energy no pair stays together: the index of {01}{23}{45} and {02}{14}{35} is (0 - 0.6) / (3 - 0.6).
  EXPECT_NEAR(row_of(studied, "objective", "energy").mean, -0.25, 1e-12);
  EXPECT_EQ(row_of(studied, "objective", "energy").agents, 3.0);
  // Nothing in this space ties parameters together but the objective.
  EXPECT_LT(row_of(studied, "objective", "none").mean, 0.7);
  EXPECT_EQ(row_of(studied, "contrast", "on").mean, 1.0);
  // Two other seeds and two other policies, each 500 samples of three problems.
  EXPECT_EQ(studied.samples, 4 * 3 * 500);
}

TEST(Stability, HasNoRowForWhatIsNotAChange) {
  const Studied studied = study(Problems(pairs).question, few());
  for (const StabilityRow& row : studied.rows) {
    EXPECT_FALSE(row.varied == "objective" && row.to == "latency");
    EXPECT_FALSE(row.varied == "exploration" && row.to == "random");
    EXPECT_FALSE(row.varied == "measure" && row.to == "pearson");
    EXPECT_FALSE(row.varied == "linkage" && row.to == "average");
  }
}

TEST(Stability, IsLowWhereThereIsNothingToFind) {
  const Studied studied = study(Problems(noise).question, few());
  EXPECT_LT(row_of(studied, "bootstrap").mean, 0.6);
  EXPECT_LT(row_of(studied, "samples", "10 %").mean, 0.4);
  EXPECT_LT(row_of(studied, "layer").mean, 0.5);
}

TEST(Stability, DoesNotDependOnTheNumberOfThreads) {
  const Problems problems(noise);
  StabilityOptions options = few();
  options.policies = {"genetic"};
  const Studied one = study(problems.question, options, 1);
  for (const std::size_t threads : {2u, 3u}) {
    const Studied other = study(problems.question, options, threads);
    ASSERT_EQ(one.rows.size(), other.rows.size());
    for (std::size_t i = 0; i < one.rows.size(); ++i) {
      EXPECT_EQ(one.rows[i].mean, other.rows[i].mean) << one.rows[i].varied;
      EXPECT_EQ(one.rows[i].low, other.rows[i].low);
      EXPECT_EQ(one.rows[i].agents, other.rows[i].agents);
    }
  }
}

TEST(Stability, PassesOnWhatIsWrong) {
  const Problems problems(pairs);
  ThreadPool threads(1);
  StabilityOptions options = few();
  options.resamples = 0;
  options.objectives = {"latancy"};
  std::int64_t samples = 0;
  const auto rows = stability(problems.question, {}, options, threads, samples);
  ASSERT_FALSE(rows);
  EXPECT_THAT(rows.error().message, HasSubstr("latency"));
}

TEST(Percentile, IsLinearBetweenTheSortedValues) {
  EXPECT_EQ(percentile({3, 1, 2}, 0.5), 2.0);
  EXPECT_EQ(percentile({3, 1, 2}, 0.25), 1.5);
  EXPECT_EQ(percentile({4}, 0.95), 4.0);
  EXPECT_EQ(percentile({5, 1}, 1), 5.0);
  EXPECT_TRUE(std::isnan(percentile({}, 0.5)));
}

}  // namespace
}  // namespace tilewright
