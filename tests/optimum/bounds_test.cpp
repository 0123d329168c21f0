// Every bound by itself, held against what the judge says of mappings drawn by chance: never above.
#include <gtest/gtest.h>

#include "../hierarchy/random_case.hpp"
#include "brute_force.hpp"
#include "random_question.hpp"
#include "tilewright/hierarchy/mapping_text.hpp"
#include "tilewright/optimum/floor.hpp"
#include "tilewright/optimum/orders.hpp"
#include "tilewright/optimum/outside.hpp"

namespace tilewright::optimum {
namespace {

using hierarchy::Mapping;

struct Seen {
  double energy = 0, cycles = 0;
};

// Calls check with every `nth` mapping that fits.
template <typename Check>
void for_mappings(const RandomQuestion& drawn, std::int64_t nth, std::int64_t most, const Check& check) {
  hierarchy::Evaluator evaluator(drawn.problem, drawn.machine, {.judge = drawn.judge});
  std::int64_t number = 0;
  for_all_mappings(drawn.problem, drawn.machine, drawn.restriction, [&](const Mapping& mapping) {
    if (++number > most) return false;
    if (number % nth != 0) return true;
    const auto evaluation = evaluator.evaluate(mapping);
    if (const auto* cost = std::get_if<hierarchy::Cost>(&evaluation))
      check(mapping, Seen{cost->energy.value, static_cast<double>(cost->cycles.value)});
    return !testing::Test::HasFailure();
  });
}

// Energy with leakage, and cycles, that the costs of an inside say.
Seen seen_of(const Model& model, const Inside& inside, const Costs& costs) {
  const double cycles = std::max(inside.compute_cycles, model.prices.cycles(costs));
  return {costs[0] + inside.leakage * cycles, cycles};
}

void expect_below(const Seen& bound, const Seen& exact, const std::string& what) {
  EXPECT_LE(bound.energy * (1 - 1e-11), exact.energy) << what;
  EXPECT_LE(bound.cycles * (1 - 1e-11), exact.cycles) << what;
}

// The two outermost blocks of a mapping, as the order oracle takes them.
Costs least_of_orders(const Model& model, const Inside& inside, const Mapping& mapping) {
  const std::size_t outermost = model.level_count - 1;
  Outside outside(model, mapping);
  hierarchy::Extents extents = inside.extents;
  hierarchy::TensorMask inner_sums = 0;
  Orders::Task task;
  for (std::uint8_t dim = 0; dim < model.dim_count; ++dim) {
    const std::int64_t trips = mapping.levels[outermost - 1].temporal.factors[dim];
    if (trips > 1) {
      task.buffer.loops.push_back({trips, extents[dim], dim});
      for (std::size_t tensor = 0; tensor < model.flows.size(); ++tensor) {
        if (model.is_output(tensor) && !model.flows[tensor].is_relevant(dim))
          inner_sums = static_cast<hierarchy::TensorMask>(inner_sums | 1u << tensor);
      }
    }
    extents[dim] *= trips;
  }
  outside.set(extents, inner_sums);
  task.outermost = outside.outermost_block(extents);
  for (const hierarchy::Loop& loop : task.outermost.loops) task.buffer.outside *= static_cast<double>(loop.trips);
  Costs base = inside.base;
  for (std::size_t at = 0; at < model.prices.count(); ++at) base[at] += outside.base()[at];
  task.base = &base;
  for (const Stream& stream : inside.streams) task.both.push_back(&stream);
  for (const Stream& stream : outside.streams()) task.last.push_back(&stream);
  Orders orders(model, Goal::Edp, {});
  orders.set(task);
  return orders.least();
}

TEST(OptimumBounds, AreNeverAboveARandomMapping) {
  Rng rng(9, "bounds");
  std::int64_t compared = 0;
  for (int number = 0; number < 250 && !testing::Test::HasFailure(); ++number) {
    const RandomQuestion drawn = random_question(rng);
    const Question question{drawn.problem, drawn.machine, drawn.judge, drawn.restriction};
    const Model model(question);
    const Floor floor = floor_of(question);
    hierarchy::Loops loops;
    for_mappings(drawn, 1 + rng.below(50), 3'000, [&](const Mapping& mapping, const Seen& exact) {
      ++compared;
      const std::string what = "case " + std::to_string(number) + "\n" + to_text(mapping, drawn.problem, drawn.machine);
      expect_below({floor.energy, floor.cycles}, exact, "floor, " + what);
      const std::size_t outermost = model.level_count - 1;
      Inside inside;
      inside.mapping = mapping;
      inside.mapping.levels[outermost].temporal = inside.mapping.levels[outermost - 1].temporal = {};
      build(model, loops, inside, Inner::Known);
      expect_below(seen_of(model, inside, inside.least), exact, "inside, " + what);
      expect_below(seen_of(model, inside, least_of_orders(model, inside, mapping)), exact, "orders, " + what);
      for (std::size_t level = 1; level + 1 < outermost; ++level) {
        for (std::size_t dim = 0; dim < model.dim_count; ++dim)
          inside.mapping.levels[0].temporal.factors[dim] *= mapping.levels[level].temporal.factors[dim];
        inside.mapping.levels[level].temporal = {};
      }
      build(model, loops, inside, Inner::Together);
      expect_below(seen_of(model, inside, inside.least), exact, "inside together, " + what);
      expect_below(seen_of(model, inside, least_of_orders(model, inside, mapping)), exact, "orders together, " + what);
    });
  }
  EXPECT_GT(compared, 5'000);
}

// Ragged ones, too, which are not in the space that is searched.
TEST(OptimumBounds, TheFloorIsNeverAboveAMappingOfAnyFactors) {
  Rng rng(4, "floor");
  for (int number = 0; number < 6'000 && !testing::Test::HasFailure(); ++number) {
    const bool timeloop = number % 3 == 0;
    const hierarchy::Judge judge = timeloop ? hierarchy::Judge::Timeloop : hierarchy::Judge::Hierarchy;
    const hierarchy::Case drawn =
        hierarchy::random_case(rng, timeloop ? hierarchy::Factors::Exact : hierarchy::Factors::Ragged);
    if (refusal(judge, drawn.problem)) continue;
    const hierarchy::Restriction restriction = restriction_of(drawn.machine, drawn.problem);
    const Floor floor = floor_of({drawn.problem, drawn.machine, judge, restriction});
    hierarchy::Evaluator evaluator(drawn.problem, drawn.machine, {.judge = judge});
    const auto evaluation = evaluator.evaluate(drawn.mapping);
    const auto* cost = std::get_if<hierarchy::Cost>(&evaluation);
    if (cost == nullptr) continue;
    expect_below({floor.energy, floor.cycles}, {cost->energy.value, static_cast<double>(cost->cycles.value)},
                 "case " + std::to_string(number) + "\n" + to_text(drawn.mapping, drawn.problem, drawn.machine));
  }
}

}  // namespace
}  // namespace tilewright::optimum
