#include "tilewright/agents/all_searchers.hpp"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../twins.hpp"
#include "course.hpp"
#include "target_space.hpp"
#include "tilewright/hierarchy/machine_yaml.hpp"
#include "tilewright/space/archgym_space.hpp"
#include "tilewright/space/hierarchy_space.hpp"
#include "tilewright/workload/layer.hpp"

namespace tilewright {
namespace {

using testing::HasSubstr;
using Spaces = std::vector<const DesignSpace*>;

// Quick where it is not the quality of the search that is tested.
const Settings kQuick = {
    {"bayesian.points", "30"}, {"bayesian.candidates", "30"}, {"bayesian.refined", "10"}, {"bayesian.fit_points", "20"},
    {"bayesian.batch", "8"},   {"agents.hidden", "8"},        {"rl.hidden", "8"},         {"gamma.population", "20"},
    {"dcoc.hidden", "8"},      {"dcoc.worlds", "8"},          {"dcoc.steps", "8"},        {"dcoc.batch", "32"},
    {"chameleon.hidden", "8"}, {"chameleon.worlds", "16"},    {"chameleon.steps", "25"},  {"autotvm.steps", "20"},
    {"autotvm.chains", "16"}};

Layer small_layer() {
  ConvolutionShape shape{.out_channels = 12, .in_channels = 8, .in_height = 10, .in_width = 8};
  shape.kernel_height = shape.kernel_width = 3;
  return convolution("layer", shape);
}

Accelerator machine(std::int64_t pes = 16) {
  Accelerator accelerator;
  accelerator.pes = pes;
  accelerator.l1.value = 400;
  accelerator.l2.value = 40'000;
  return accelerator;
}

std::string refusal(const SearchRequest& request) {
  ThreadPool threads(1);
  const auto made = make_searcher(request, threads);
  return made ? "" : made.error().message;
}

class EachSearcher : public testing::TestWithParam<std::string> {};
std::vector<std::string> registered() {
  std::vector<std::string> names;
  for (const SearcherInfo& info : all_searchers()) names.emplace_back(info.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(AllSearchers, EachSearcher, testing::ValuesIn(registered()), [](const auto& tested) {
  std::string name = tested.param;
  std::erase(name, '-');
  return name;
});

TEST_P(EachSearcher, KeepsBudgetAndLawOnMappings) {
  MappingSpaceOptions options;
  options.tiles = Tiles::Divisors;
  const bool exhaustive = GetParam() == "exhaustive";
  const MappingSpace one("one",
                         *nest_of(exhaustive ? convolution("flat", {.out_channels = 4, .in_channels = 3}) : small_layer()),
                         machine(), options);
  const MappingSpace other("other", *nest_of(fully_connected("dense", 1, 24, 30)), machine(), options);
  const Spaces spaces = {&one, &other};
  std::vector<std::vector<Point>> runs;
  for (const std::size_t count : {1U, 2U}) {
    ThreadPool threads(count);
    const auto made = make_searcher({GetParam(), spaces, 120, 3, kQuick}, threads);
    ASSERT_TRUE(made) << made.error().message;
    const Course course = run(**made, spaces, 120, threads, "edp");
    std::vector<Point>& points = runs.emplace_back();
    for (const Proposal& proposal : course.proposals) {
      const DesignSpace& space = *spaces[proposal.problem];
      ASSERT_TRUE(is_legal(space, proposal.point));
      Point canonical = proposal.point;
      space.canonicalise(canonical);
      EXPECT_EQ(canonical, proposal.point);
      points.push_back(proposal.point);
    }
    for (const Ledger& ledger : course.ledgers) {
      EXPECT_EQ(ledger.samples, 120);
      EXPECT_TRUE(ledger.best);
      EXPECT_LT(ledger.repeated, 60);
    }
    EXPECT_EQ(agents_story(**made) != nullptr, GetParam() == "agents");
  }
  EXPECT_EQ(runs[0], runs[1]);
}

TEST_P(EachSearcher, WorksOnTheSpaceOfTheGym) {
  const ArchgymSpace space("gym", *nest_of(small_layer()), machine(), {});
  ThreadPool threads(1);
  const auto made = make_searcher({GetParam(), {&space}, 60, 3, kQuick}, threads);
  if (GetParam() == "gamma" || GetParam() == "exhaustive") {  // another genome; 10^16 points
    EXPECT_FALSE(made);
    return;
  }
  ASSERT_TRUE(made) << made.error().message;
  const Course course = run(**made, {&space}, 60, threads, "edp");
  EXPECT_EQ(course.ledgers[0].samples, 60);
  for (const Proposal& proposal : course.proposals) EXPECT_TRUE(is_legal(space, proposal.point));
}

TEST_P(EachSearcher, WorksWhereThereIsNothingToChoose) {
  const MappingSpace space("one", *nest_of(convolution("one", {})), machine(1), {});
  ASSERT_TRUE(space.parameters().empty());
  ThreadPool threads(1);
  const auto made = make_searcher({GetParam(), {&space}, 20, 1, kQuick}, threads);
  ASSERT_TRUE(made) << made.error().message;
  const Course course = run(**made, {&space}, 20, threads, "edp");
  EXPECT_GE(course.ledgers[0].valid, 1);
  EXPECT_LE(course.ledgers[0].samples, 20);
  EXPECT_EQ(course.ledgers[0].best->outcome.metrics.macs, 1);
}

TEST_P(EachSearcher, SettingsInForceReadBack) {
  const auto defaults = settings_in_force(GetParam(), {});
  ASSERT_TRUE(defaults);
  ASSERT_FALSE(defaults->empty());
  Settings given;
  for (const SettingValue& setting : *defaults) given[GetParam() + "." + setting.name] = setting.value;
  EXPECT_EQ(*settings_in_force(GetParam(), given), *defaults);
  given[GetParam() + ".nonsense"] = "1";
  EXPECT_FALSE(settings_in_force(GetParam(), given));
}

// By a recursion over the masks that knows nothing of the searcher.
TEST(AllSearchers, ExhaustiveProposesEveryCanonicalMappingOnce) {
  for (const Tiles tiles : {Tiles::Any, Tiles::Divisors}) {
    MappingSpaceOptions options;
    options.tiles = tiles;
    options.least_levels = 1;
    Accelerator tight = machine(3);
    tight.l1.value = 20;
    const MappingSpace space("small", *nest_of(convolution("flat", {.out_channels = 4, .in_channels = 3})), tight, options);
    std::set<Point> expected;
    double best = INFINITY;
    const auto evaluator = space.evaluator();
    Point point(space.parameters().size());
    const auto walk = [&](const auto& self, std::size_t parameter) -> void {
      if (parameter == point.size()) {
        Point canonical = point;
        space.canonicalise(canonical);
        if (!expected.insert(canonical).second) return;
        const Outcome outcome = evaluator->evaluate(canonical);
        if (outcome.feasible) best = std::min(best, outcome.metrics.edp());
        return;
      }
      Choices choices;
      space.choices(point, parameter, choices);
      for (std::int32_t n = 0; n < choices.count(); ++n) {
        point[parameter] = choices[n];
        self(self, parameter + 1);
      }
    };
    walk(walk, 0);
    ThreadPool threads(2);
    const auto made = make_searcher({"exhaustive", {&space}, 1'000'000, 1, {}}, threads);
    ASSERT_TRUE(made) << made.error().message;
    const Course course = run(**made, {&space}, 1'000'000, threads, "edp");
    std::set<Point> proposed;
    for (const Proposal& proposal : course.proposals) EXPECT_TRUE(proposed.insert(proposal.point).second);
    EXPECT_EQ(proposed, expected);
    EXPECT_EQ(course.ledgers[0].best->score[0], best);
  }
}

TEST(AllSearchers, ASingleAgentSolvesASmallSpaceByLearning) {
  ThreadPool threads(1);
  const TargetSpace space("target", 0.3F, 6);  // 36,864 points
  const Twins runs = twins("rl", 4, [&](std::uint64_t seed, bool learns) {
    const Settings settings = {{"rl.hidden", "16"}, {"rl.learning_rate", learns ? "0.003" : "0"}};
    const auto made = make_searcher({"rl", {&space}, 1000, seed, settings}, threads);
    EXPECT_TRUE(made);
    return -run(**made, {&space}, 1000, threads, "latency").ledgers[0].best->score[0];
  });
  for (const double learned : runs.learning) EXPECT_GT(learned, -1.0001);  // the optimum
  expect_ahead(runs, 0.1);
}

TEST(AllSearchers, PerLayerTeamsAreApart) {
  const TargetSpace one("one", 0.2F), other("other", 0.7F);
  ThreadPool threads(1);
  const auto points_of_first = [&](const Spaces& spaces, const char* joint) {
    Settings settings = kQuick;
    settings["agents.joint"] = joint;
    auto made = make_searcher({"agents", spaces, 100, 1, settings}, threads);
    EXPECT_TRUE(made);
    EXPECT_EQ(agents_story(**made) != nullptr, std::string(joint) == "true");
    std::vector<Point> points;
    for (const Proposal& proposal : run(**made, spaces, 100, threads, "latency").proposals) {
      if (proposal.problem == 0) points.push_back(proposal.point);
    }
    EXPECT_EQ(points.size(), 100U);
    return points;
  };
  // A problem by itself does not care who else is there.
  EXPECT_EQ(points_of_first({&one, &other}, "false"), points_of_first({&one}, "false"));
  EXPECT_NE(points_of_first({&one, &other}, "true"), points_of_first({&one}, "true"));
}

TEST(AllSearchers, EveryNameHasASummary) {
  std::set<std::string_view> names;
  for (const SearcherInfo& info : all_searchers()) {
    EXPECT_TRUE(names.insert(info.name).second);
    EXPECT_FALSE(info.summary.empty());
  }
  EXPECT_EQ(all_searchers()[0].name, "agents");
  EXPECT_EQ(names.size(), 12U);
}

TEST(AllSearchers, AgentsOnMemoryLevelsBeginByTheBudget) {
  const hierarchy::Problem problem = hierarchy::problem_of(small_layer()).value();
  const auto space = HierarchySpace::make("layer", problem, hierarchy::read_machine("zoo:simple3").value(), {}).value();
  const auto completed = [&](std::size_t problems, std::int64_t samples, const Settings& given = {}) {
    return completed_settings({"agents", Spaces(problems, space.get()), samples, 1, given});
  };
  const auto as = [](const std::string& batch, const std::string& patience) {
    return Settings{{"agents.batch", batch}, {"agents.patience", patience}, {"agents.critic", "none"}};
  };
  EXPECT_EQ(completed(1, 100'000), as("128", "5000"));
  EXPECT_EQ(completed(1, 20'000), as("50", "1000"));
  EXPECT_EQ(completed(1, 1'000), as("6", "300"));
  EXPECT_EQ(completed(8, 100'000), as("16", "5000"));
  EXPECT_EQ(completed(50, 100'000), as("6", "5000"));
  const Settings given = {{"agents.batch", "9"}, {"agents.critic", "own"}, {"agents.patience", "0"}, {"gamma.seed", "1"}};
  EXPECT_EQ(completed(1, 100'000, given), given);
  const MappingSpace flat("layer", *nest_of(small_layer()), machine(), {});
  EXPECT_EQ(completed_settings({"agents", {&flat}, 100'000, 1, {}}), Settings{});
  EXPECT_EQ(completed_settings({"agents", {space.get(), &flat}, 100'000, 1, {}}), Settings{});
}

TEST(AllSearchers, MistakesAreSentences) {
  const TargetSpace space("target", 0.3F);
  EXPECT_THAT(refusal({"agent", {&space}, 10, 1, {}}),
              HasSubstr("searcher 'agent' is not known (did you mean 'agents'?), expected one of agents, rl, random"));
  EXPECT_THAT(refusal({"random", {&space}, 10, 1, {{"genetics.population", "3"}}}),
              HasSubstr("--set genetics.population=3: searcher 'genetics' is not known (did you mean 'genetic'?)"));
  EXPECT_THAT(refusal({"agents", {&space}, 10, 1, {{"agents.bacth", "3"}}}), HasSubstr("did you mean 'batch'?"));
  EXPECT_THAT(refusal({"rl", {&space}, 10, 1, {{"rl.learner", "mappo"}}}), HasSubstr("expected one of ippo, maddpg, masac"));
  const SavedTeam team;
  SearchRequest request{"genetic", {&space}, 10, 1, {}};
  request.from = &team;
  EXPECT_THAT(refusal(request), HasSubstr("--from gives a trained team to agents, but --search is genetic"));
}

// A setting of a searcher that is not asked for is checked nevertheless.
TEST(AllSearchers, SettingsOfOthersAreChecked) {
  const TargetSpace space("target", 0.3F);
  EXPECT_EQ(refusal({"random", {&space}, 10, 1, {{"genetic.population", "30"}}}), "");
  EXPECT_THAT(refusal({"random", {&space}, 10, 1, {{"genetic.popluation", "30"}}}), HasSubstr("did you mean 'population'?"));
  EXPECT_THAT(refusal({"random", {&space}, 10, 1, {{"agents.batch", "many"}}}), HasSubstr("agents.batch is 'many'"));
}

}  // namespace
}  // namespace tilewright
