#include "tilewright/study/comparison.hpp"

#include <atomic>

#include "tiny.hpp"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Comparison : public ::testing::Test {
 protected:
  Comparison() { mapping_.layer = "fc"; }

  ComparisonStudy compared(const ComparisonOptions& options) {
    const auto plan = plan_comparison(job(), options, threads_);
    EXPECT_TRUE(plan) << plan.error().message;
    RunContext context{threads_};
    return *compare(*plan, context);
  }
  std::string refusal(const ComparisonOptions& options) {
    const auto plan = plan_comparison(job(), options, threads_);
    return plan ? "" : plan.error().message;
  }
  const MappingJob& job() {
    if (!job_) job_.emplace(tiny_job(threads_, mapping_));
    return *job_;
  }

  ThreadPool threads_{2};
  MappingOptions mapping_;
  std::optional<MappingJob> job_;
};

TEST_F(Comparison, IsPlannedBeforeTheFirstSample) {
  const auto plan = plan_comparison(job(), {.samples = 900, .budgets = {300, 100, 300}}, threads_);
  ASSERT_TRUE(plan);
  EXPECT_THAT(plan->budgets, ElementsAre(100, 300, 900));
  EXPECT_EQ(plan->contenders.front().label, "agents");
  for (const Contender& contender : plan->contenders) EXPECT_NE(contender.label, "exhaustive");
  EXPECT_TRUE(plan->unsuited.empty());

  EXPECT_THAT(refusal({.searches = {"gama"}}), HasSubstr("did you mean 'gamma'?"));
  EXPECT_THAT(refusal({.searches = {"random", "random"}}), HasSubstr("has random twice"));
  EXPECT_THAT(refusal({.searches = {"random"}, .ablate = Ablation::Critic}), HasSubstr("both given"));
  EXPECT_THAT(refusal({.ablate = Ablation::Transfer}), HasSubstr("--transfer-from NETWORK"));
  EXPECT_THAT(refusal({.samples = 10, .budgets = {20}}), HasSubstr("expected at most the 10 of --samples"));
  EXPECT_THAT(refusal({.searches = {"agents+team"}}), HasSubstr("--from DIR"));
  EXPECT_THAT(refusal({.settings = {"gamma.populaton=3"}}), HasSubstr("did you mean 'population'?"));
}

TEST_F(Comparison, MeasuresEveryoneByTheBestKnown) {
  const ComparisonStudy study = compared({.searches = {"random", "genetic"}, .samples = 30, .seeds = 3});
  EXPECT_EQ(study.runs, 6U);
  EXPECT_EQ(study.finished_runs, 6U);
  EXPECT_FALSE(study.partial);
  ASSERT_EQ(study.rows.size(), 6U);
  double least = 1e300;
  for (const ComparisonRow& row : study.rows) {
    EXPECT_GE(row.factor, 1);
    EXPECT_EQ(row.samples, 30);
    least = std::min(least, row.factor);
  }
  EXPECT_EQ(least, 1);
  EXPECT_FALSE(study.contenders[0].standings[0].first_wins);
  ASSERT_TRUE(study.contenders[1].standings[0].first_wins);
  EXPECT_THAT(study.best, ElementsAre(*study.layers[0].best));
}

// Gives one and the same point for ever: what an audit is there to show.
class Stubborn final : public PointSearcher {
 public:
  explicit Stubborn(const DesignSpace& space) {
    Rng rng(1, "stubborn");
    point_ = random_point(space, rng);
  }
  void ask(std::size_t, std::vector<Point>& points) override { points.push_back(point_); }
  void tell(std::span<const Point>, std::span<const Verdict>) override {}
  void notice(std::span<const Point>, std::span<const Verdict>) override {}

 private:
  Point point_;
};

TEST_F(Comparison, TakesSearchersOfTheCallerUnderTheSameLedgerAndAudit) {
  const auto make = [](const SearchRequest& request, ThreadPool&) -> Result<std::unique_ptr<Searcher>> {
    std::vector<std::unique_ptr<PointSearcher>> all;
    for (const DesignSpace* space : request.spaces) all.push_back(std::make_unique<Stubborn>(*space));
    return each_alone(std::move(all));
  };
  const std::vector<OwnSearcher> own = {{"stubborn", make}};
  const ComparisonOptions options{.searches = {"stubborn", "random"}, .samples = 30, .seeds = 2};
  const auto plan = plan_comparison(job(), options, threads_, own);
  ASSERT_TRUE(plan) << plan.error().message;
  RunContext context{threads_};
  const ComparisonStudy study = *compare(*plan, context);
  ASSERT_EQ(study.contenders.size(), 2U);
  EXPECT_EQ(study.contenders[0].label, "stubborn");
  EXPECT_EQ(study.contenders[0].audit->distinct, 1);
  EXPECT_NEAR(study.contenders[0].repeated, 29.0 / 30, 1e-12);
  EXPECT_GT(study.contenders[1].audit->distinct, 10);
  const auto twice = plan_comparison(job(), options, threads_, {{"random", make}});
  EXPECT_THAT(twice.error().message, HasSubstr("there is a searcher 'random' already"));
  EXPECT_THAT(refusal(options), HasSubstr("searcher 'stubborn' is not known"));
}

TEST_F(Comparison, RemembersWhatOthersFound) {
  auto plan = plan_comparison(job(), {.searches = {"random"}, .samples = 20, .seeds = 1}, threads_);
  ASSERT_TRUE(plan);
  RunContext context{threads_};
  const ComparisonStudy first = *compare(*plan, context);
  KnownBest better = *first.layers[0].best;
  better.value /= 2;
  better.searcher = "somebody";
  ComparisonPlan again = std::move(plan).value();
  again.earlier = {better};
  const ComparisonStudy second = *compare(again, context);
  EXPECT_TRUE(second.layers[0].best_is_earlier);
  EXPECT_DOUBLE_EQ(second.rows[0].factor, 2 * first.rows[0].factor);
  EXPECT_THAT(second.best, ElementsAre(better));
}

TEST_F(Comparison, TakesAnAssignmentOverFromAnotherNetwork) {
  job_.emplace(tiny_job(threads_));
  job_->inputs.hardware = "zoo:gamma-edge";
  const ComparisonStudy study = compared({.ablate = Ablation::Transfer,
                                          .transfer_from = "zoo:alexnet",
                                          .settings = {"agents.hidden=8"},
                                          .samples = 48,
                                          .seeds = 1});
  ASSERT_EQ(study.contenders.size(), 3U);
  EXPECT_EQ(study.contenders[1].label, "of zoo:alexnet");
  for (const ComparedContender& contender : study.contenders) EXPECT_GE(contender.agents, 1);
}

TEST(ComparisonOnMemoryLevels, MeasuresEveryoneByTheBestKnown) {
  ThreadPool threads(2);
  MappingOptions mapping;
  mapping.no_classics = true;
  const HierarchyJob job = tiny_levels_job(threads, mapping);
  EXPECT_TRUE(job.known().empty());
  const auto plan = plan_comparison(job, {.searches = {"genetic", "random"}, .samples = 60, .seeds = 3}, threads);
  ASSERT_TRUE(plan) << plan.error().message;
  RunContext context{threads};
  const ComparisonStudy study = *compare(*plan, context);
  EXPECT_EQ(title_of(study), "tiny on eyeriss-dram, edp");
  EXPECT_EQ(study.model, "hierarchy");
  EXPECT_EQ(study.space, "all mappings");
  EXPECT_EQ(study.finished_runs, 6U);
  ASSERT_EQ(study.layers.size(), 3U);
  for (std::size_t i = 0; i < study.layers.size(); ++i) {
    // The value of the best is what the space gives for its point.
    const DesignSpace& space = *job.problems[i].space;
    double least = 1e300;
    for (const ComparisonRow& row : study.rows) {
      if (row.layer == i) least = std::min(least, row.value);
    }
    ASSERT_TRUE(study.layers[i].best);
    EXPECT_EQ(study.layers[i].best->value, least);
    EXPECT_EQ(study.layers[i].parameters, space.parameters().size());
    EXPECT_THAT(study.layers[i].best->design, HasSubstr("place."));
  }
}

TEST(ComparisonOnMemoryLevels, TellsTheSearchersTheClassicsWhereItIsAsked) {
  ThreadPool threads(1);
  const HierarchyJob job = tiny_levels_job(threads);
  const std::vector<Proposal> known = job.known();
  ASSERT_FALSE(known.empty());
  const auto plan = plan_comparison(job, {.searches = {"random"}, .samples = 1, .seeds = 1}, threads);
  RunContext context{threads};
  const ComparisonStudy study = *compare(*plan, context);
  std::vector<std::vector<double>> judged(job.problems.size());
  for (const Proposal& proposal : known) {
    const Outcome outcome = job.problems[proposal.problem].space->evaluator()->evaluate(proposal.point);
    if (outcome.feasible) judged[proposal.problem].push_back(outcome.metrics.edp());
  }
  for (std::size_t i = 0; i < judged.size(); ++i) {
    ASSERT_FALSE(judged[i].empty());
    EXPECT_LE(study.layers[i].best->value, *std::ranges::min_element(judged[i]));
  }
}

TEST_F(Comparison, IsPartialWhenItIsStopped) {
  const auto plan = plan_comparison(job(), {.searches = {"random"}, .samples = 20'000, .seeds = 4}, threads_);
  ASSERT_TRUE(plan);
  std::atomic<bool> asked = false;
  const Progress progress{{}, [&](const ProgressState&) { asked = true; }};
  RunContext context{.threads = threads_, .progress = progress, .stop = StopToken(&asked)};
  const ComparisonStudy study = *compare(*plan, context);
  EXPECT_TRUE(study.partial);
  EXPECT_LT(study.finished_runs, study.runs);
  EXPECT_THAT(remarks_of(study).front(), HasSubstr("was stopped"));
}

TEST(ComparisonOptions, AreWrittenAsTheyAreRead) {
  ComparisonOptions options;
  const OptionTable table = options_of(options);
  const auto read = [&](const char* name, const char* text) -> std::string {
    const auto field = std::ranges::find(table, std::string_view(name), &OptionField::name);
    const Result<Done> done = std::get<Worded>(field->target).read(text);
    return done ? *value_text(*field) : done.error().message;
  };
  EXPECT_EQ(read("searches", "random, gamma"), "random,gamma");
  EXPECT_EQ(read("budgets", "500,2000"), "500,2000");
  EXPECT_EQ(read("targets", "random:100000"), "random:100000");
  EXPECT_EQ(options.target->samples, 100'000);
  EXPECT_THAT(read("budgets", "5,many"), HasSubstr("--budgets has 'many'"));
  EXPECT_THAT(read("targets", "random"), HasSubstr("expected SEARCHER:SAMPLES"));
  EXPECT_THAT(read("ablate", "critik"), HasSubstr("did you mean 'critic'?"));
}

}  // namespace
}  // namespace tilewright
