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
  const int cases = more != nullptr ? std::atoi(more) : 400;
  Rng rng(3, "brute-force");
  int compared = 0, feasible = 0;
  std::int64_t mappings = 0;
  for (int number = 0; compared < cases && number < 100 * cases && !testing::Test::HasFailure(); ++number) {
    const RandomQuestion drawn = random_question(rng);
    const auto truth = brute_force(drawn.problem, drawn.machine, drawn.judge, drawn.restriction, 20'000);
    if (!truth) continue;
    ++compared;
    feasible += truth->mappings > 0 ? 1 : 0;
    mappings += truth->mappings;
    const Question question{drawn.problem, drawn.machine, drawn.judge, drawn.restriction};
    const Floor floor = floor_of(question);
    for (const Goal goal : {Goal::Latency, Goal::Energy, Goal::Edp}) {
      const Answer answer = find_optimum(question, {.goal = goal});
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
  EXPECT_GT(2 * feasible, cases);
}

}  // namespace
}  // namespace tilewright::optimum
