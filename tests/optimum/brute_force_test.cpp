// The search against every mapping there is.
#include "brute_force.hpp"

#include <cstdio>

#include <gtest/gtest.h>

#include "random_question.hpp"
#include "tilewright/hierarchy/machine_yaml.hpp"
#include "tilewright/hierarchy/mapping_text.hpp"
#include "tilewright/optimum/floor.hpp"
#include "tilewright/optimum/optimum.hpp"

namespace tilewright::optimum {
namespace {

double value_in(const BruteForce& found, Goal goal) {
  return goal == Goal::Latency ? found.latency : goal == Goal::Energy ? found.energy : found.edp;
}

std::string shown(const RandomQuestion& drawn) {
  std::string text = to_yaml(drawn.machine) + "judge " + std::string(name(drawn.judge)) + ", problem " + drawn.problem.name;
  for (std::size_t dim = 0; dim < drawn.problem.dims.size(); ++dim)
    text += " " + std::string(1, drawn.problem.dims[dim]) + std::to_string(drawn.problem.bounds[dim]);
  for (const auto& level : drawn.restriction.levels)
    text += " keeps " + std::to_string(level.keeps) + "/" + std::to_string(level.bypasses);
  return text;
}

TEST(OptimumBruteForce, SameOptimumOnSmallProblems) {
  const char* more = std::getenv("TILEWRIGHT_OPTIMUM_CASES");
  const int cases = more != nullptr ? std::atoi(more) : 2'000;
  Rng rng(3, "brute-force");
  int compared = 0, feasible = 0;
  std::int64_t mappings = 0;
  for (int number = 0; compared < cases && number < 100 * cases && !testing::Test::HasFailure(); ++number) {
    const RandomQuestion drawn = random_question(rng);
    const auto truth = brute_force(drawn.problem, drawn.machine, drawn.judge, drawn.restriction, 5'000);
    if (!truth) continue;
    ++compared;
    feasible += truth->mappings > 0 ? 1 : 0;
    mappings += truth->mappings;
    const Question question{drawn.problem, drawn.machine, drawn.judge, drawn.restriction};
    const Floor floor = floor_of(question);
    for (const Goal goal : {Goal::Latency, Goal::Energy, Goal::Edp}) {
      Options options{.goal = goal};
      if (number % 2 == 0) options.few_insides = 0;  // the way of large spaces
      const Answer answer = find_optimum(question, options);
      const double best = value_in(*truth, goal);
      ASSERT_EQ(answer.mapping.has_value(), truth->mappings > 0) << number << " " << shown(drawn);
      if (!answer.mapping) continue;
      EXPECT_LE(floor.value(goal), best) << number << " floor " << name(goal) << " " << shown(drawn);
      EXPECT_NEAR(answer.certificate.incumbent, best, 2 * kTolerance * best)
          << number << " " << name(goal) << " " << shown(drawn) << "\n"
          << to_text(*answer.mapping, drawn.problem, drawn.machine);
      EXPECT_LE(answer.certificate.lower_bound, best);
      EXPECT_TRUE(answer.certificate.proven());
    }
  }
  std::printf("%d problems, %d of them with mappings, %lld mappings\n", compared, feasible,
              static_cast<long long>(mappings));
  EXPECT_EQ(compared, cases);
  EXPECT_GT(3 * feasible, cases);
}

// Outputs with words that nothing visits: model timeloop may count fewer reads than none, so there is a floor and no proof.
TEST(OptimumBruteForce, OutputsWithGapsHaveAFloorOnly) {
  Rng rng(5, "gaps");
  int compared = 0;
  for (int number = 0; compared < 300; ++number) {
    RandomQuestion drawn = random_question(rng);
    for (hierarchy::Tensor& tensor : drawn.problem.tensors) {
      if (tensor.kind == hierarchy::TensorKind::Output) tensor.ranks.back().front().coefficient = 2;
    }
    drawn.judge = hierarchy::Judge::Timeloop;
    const auto truth = brute_force(drawn.problem, drawn.machine, drawn.judge, drawn.restriction, 2'000);
    if (!truth || truth->mappings == 0) continue;
    ++compared;
    const Question question{drawn.problem, drawn.machine, drawn.judge, drawn.restriction};
    for (const Goal goal : {Goal::Latency, Goal::Energy, Goal::Edp}) {
      const double best = value_in(*truth, goal);
      EXPECT_LE(floor_of(question).value(goal), best) << number << " " << name(goal) << " " << shown(drawn);
      EXPECT_LE(find_optimum(question, {.goal = goal}).certificate.lower_bound, best) << number << " " << shown(drawn);
    }
  }
}

// A level without room for a word, which may be kept or not: what it cannot keep is no mapping, and the others are looked
// at.
TEST(OptimumBruteForce, LevelsWithoutRoomHideNothing) {
  Rng rng(6, "no room");
  int compared = 0;
  for (int number = 0; compared < 200; ++number) {
    RandomQuestion drawn = random_question(rng);
    if (drawn.machine.levels.size() < 3) continue;
    hierarchy::StorageLevel& level = drawn.machine.levels[1];
    level.capacity = rng.between(0, 1);
    level.multiple_buffering = 2;
    level.min_utilization = 0;
    drawn.restriction.levels[1].keeps = drawn.restriction.levels[1].bypasses = 0;
    const auto truth = brute_force(drawn.problem, drawn.machine, drawn.judge, drawn.restriction, 5'000);
    if (!truth || truth->mappings == 0) continue;
    ++compared;
    for (const Goal goal : {Goal::Latency, Goal::Energy, Goal::Edp}) {
      const double best = value_in(*truth, goal);
      const Answer answer = find_optimum({drawn.problem, drawn.machine, drawn.judge, drawn.restriction}, {.goal = goal});
      EXPECT_NEAR(answer.certificate.incumbent, best, 2 * kTolerance * best) << number << " " << shown(drawn);
      EXPECT_LE(answer.certificate.lower_bound, best) << number << " " << shown(drawn);
    }
  }
}

// Small problems with their true optimum.
template <typename Check>
void for_known_optima(std::string_view stream, int cases, const Check& check) {
  Rng rng(5, stream);
  for (int compared = 0; compared < cases && !testing::Test::HasFailure();) {
    const RandomQuestion drawn = random_question(rng);
    const auto truth = brute_force(drawn.problem, drawn.machine, drawn.judge, drawn.restriction, 2'000);
    if (!truth || truth->mappings == 0) continue;
    ++compared;
    check(drawn, Question{drawn.problem, drawn.machine, drawn.judge, drawn.restriction}, *truth);
  }
}

TEST(OptimumBruteForce, TheOptimumStaysWithoutAnyOfTheBounds) {
  for_known_optima("hooks", 60, [](const RandomQuestion& drawn, const Question& question, const BruteForce& truth) {
    for (const Options::Bounds bounds :
         {Options::Bounds{.insides = false}, Options::Bounds{.pairs = false}, Options::Bounds{.paths = false},
          Options::Bounds{.orders = false}, Options::Bounds{false, false, false, false}}) {
      const Answer answer = find_optimum(question, {.goal = Goal::Edp, .bounds = bounds});
      EXPECT_NEAR(answer.certificate.incumbent, truth.edp, 2 * kTolerance * truth.edp) << shown(drawn);
    }
  });
}

TEST(OptimumBruteForce, NothingIsFoundBelowTheOptimum) {
  for_known_optima("below", 100, [](const RandomQuestion& drawn, const Question& question, const BruteForce& truth) {
    for (const Goal goal : {Goal::Latency, Goal::Energy, Goal::Edp}) {
      for (const std::int64_t few : {std::int64_t{0}, std::int64_t{300'000}}) {
        const Answer answer =
            find_optimum(question, {.goal = goal, .few_insides = few, .incumbent = value_in(truth, goal) * (1 - 1e-4)});
        EXPECT_FALSE(answer.mapping.has_value()) << shown(drawn);
        EXPECT_EQ(answer.certificate.closed, Closed::Exhausted);
      }
    }
  });
}

TEST(OptimumBruteForce, ABudgetOfNodesLeavesAValidBound) {
  for_known_optima("nodes", 60, [](const RandomQuestion& drawn, const Question& question, const BruteForce& truth) {
    for (const std::int64_t nodes : {0, 3, 20}) {
      const Answer answer = find_optimum(question, {.goal = Goal::Edp, .nodes = nodes, .few_insides = nodes % 2 * 300'000});
      EXPECT_LE(answer.certificate.lower_bound, truth.edp) << shown(drawn);
      EXPECT_GE(answer.certificate.incumbent, truth.edp * (1 - 1e-12)) << shown(drawn);
    }
  });
}

TEST(OptimumBruteForce, LimitsAreKept) {
  for_known_optima("limits", 60, [](const RandomQuestion& drawn, const Question& question, const BruteForce& truth) {
    const double most = truth.latency * 1.5;
    double best = std::numeric_limits<double>::infinity();
    hierarchy::Evaluator evaluator(drawn.problem, drawn.machine, {.judge = drawn.judge});
    for_all_mappings(drawn.problem, drawn.machine, drawn.restriction, [&](const hierarchy::Mapping& mapping) {
      const auto evaluation = evaluator.evaluate(mapping);
      const auto* cost = std::get_if<hierarchy::Cost>(&evaluation);
      if (cost != nullptr && static_cast<double>(cost->cycles.value) <= most) best = std::min(best, cost->energy.value);
      return true;
    });
    const Answer answer = find_optimum(question, {.goal = Goal::Energy, .limits = {.cycles = most}});
    EXPECT_NEAR(answer.certificate.incumbent, best, 2 * kTolerance * best) << shown(drawn);
  });
}

}  // namespace
}  // namespace tilewright::optimum
