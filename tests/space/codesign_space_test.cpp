// The co-design space against the published sizes, the generator and simulator by hand, and plain enumeration.
#include "tilewright/space/codesign_space.hpp"

#include <cmath>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <unordered_set>

#include <gtest/gtest.h>

#include "tilewright/space/codesign_optimum.hpp"
#include "tilewright/vta/layouts.hpp"

namespace tilewright {
namespace {

Layer square(std::int64_t size, std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
             std::int64_t pad) {
  return convolution("layer", {.out_channels = out,
                               .in_channels = in,
                               .in_height = size,
                               .in_width = size,
                               .kernel_height = kernel,
                               .kernel_width = kernel,
                               .stride = stride,
                               .pad = pad});
}
const Layer kC2 = square(56, 64, 64, 3, 1, 1), kC11 = square(7, 512, 512, 3, 1, 1);

// Two blocks each way, a kernel with padding: small enough to try every point.
Layer tiny() { return square(6, 32, 32, 3, 1, 1); }

CodesignSpaceOptions unlimited() {
  CodesignSpaceOptions options;
  options.area_budget = 1e9;
  options.give_up = 0;
  return options;
}

std::int64_t size_of(const Layer& layer, const CodesignSpaceOptions& options) {
  return std::llround(std::pow(10, CodesignSpace("layer", layer, options).log10_size()));
}

TEST(CodesignSpace, HasThePublishedSizes) {
  CodesignSpaceOptions fixed;
  fixed.fixed_machine = true;
  struct Row {
    Layer layer;
    std::int64_t size;
  };
  // AlexNet's, VGG's and ResNet's convolutions and the sizes of AutoTVM's spaces for them.
  const Row rows[] = {{square(224, 3, 64, 11, 4, 2), 192},
                      {square(27, 64, 192, 5, 1, 2), 1152},
                      {square(13, 192, 384, 3, 1, 1), 768},
                      {square(13, 384, 256, 3, 1, 1), 640},
                      {square(13, 256, 256, 3, 1, 1), 400},
                      {square(224, 3, 64, 3, 1, 1), 1728},
                      {square(224, 64, 64, 3, 1, 1), 5184},
                      {square(112, 128, 128, 3, 1, 1), 6400},
                      {square(56, 256, 256, 3, 1, 1), 6400},
                      {square(28, 512, 512, 3, 1, 1), 5184},
                      {square(14, 512, 512, 3, 1, 1), 2304},
                      {square(224, 3, 64, 7, 2, 3), 1200},
                      {kC2, 2304},
                      {square(56, 64, 128, 3, 2, 1), 1728},
                      {square(28, 128, 128, 3, 1, 1), 2304},
                      {square(28, 128, 256, 3, 2, 1), 1280},
                      {square(14, 256, 256, 3, 1, 1), 1600},
                      {square(14, 256, 512, 3, 2, 1), 480},
                      {square(14, 256, 512, 1, 2, 0), 480},
                      {kC11, 576}};
  for (const Row& row : rows) EXPECT_EQ(size_of(row.layer, fixed), row.size) << row.layer.in_height << " " << row.size;

  EXPECT_EQ(size_of(kC2, {}), 56'320);
  EXPECT_EQ(size_of(square(28, 512, 512, 3, 1, 1), {}), 167'760);
  EXPECT_EQ(size_of(kC11, {}), 18'640);
}

TEST(CodesignSpace, EnumerationIsTheProductOfChoicesAndReachesEveryValue) {
  const CodesignSpace space("c11", kC11, {});
  std::set<std::vector<int>> machines;
  std::unordered_set<std::uint64_t> points;
  std::vector<std::set<std::int32_t>> reached(space.parameters().size());
  std::int64_t count = 0;
  for_each_point(space, [&](const Point& point) {
    ++count;
    points.insert(hash_of(point));
    for (std::size_t p = 0; p < point.size(); ++p) reached[p].insert(point[p]);
    const vta::Machine machine = space.machine(point);
    machines.insert({machine.log_batch, machine.log_block_in, machine.log_block_out});
  });
  EXPECT_EQ(count, 18'640);
  EXPECT_EQ(points.size(), 18'640U);
  EXPECT_EQ(machines.size(), 41U);
  for (std::size_t p = 0; p < reached.size(); ++p) {
    EXPECT_EQ(reached[p].size(), static_cast<std::size_t>(space.parameters()[p].value_count)) << space.parameters()[p].name;
  }
  EXPECT_EQ(space.hardware_parameters(), 3U);
  EXPECT_EQ(space.parameters()[0].role, Role::Hardware);
  EXPECT_EQ(space.parameters()[3].role, Role::Scheduling);
  EXPECT_EQ(space.parameters()[5].role, Role::Tile);
  EXPECT_EQ(name_of(Role::Hardware), "hardware");
  EXPECT_EQ(name_of(Role::Scheduling), "scheduling");
}

TEST(CodesignSpace, EvaluationIsGeneratingAndTimingByHand) {
  CodesignSpaceOptions options = unlimited();
  options.search_buffers = true;
  const Layer layer = square(14, 64, 128, 3, 2, 1);
  const CodesignSpace space("layer", layer, options);
  ASSERT_EQ(space.hardware_parameters(), 6U);
  Rng rng(1, "codesign");
  const auto one = space.evaluator(), other = space.evaluator();
  std::vector<Point> points;
  std::vector<Outcome> outcomes;
  int feasible = 0;
  for (int n = 0; n < 300; ++n) {
    points.push_back(random_point(space, rng));
    const Point& point = points.back();
    ASSERT_TRUE(is_legal(space, point));
    const vta::Machine machine = space.machine(point);
    const vta::Schedule schedule = space.schedule(point);
    ASSERT_EQ(space.point_of(machine, schedule), point);
    const Outcome outcome = one->evaluate(point);
    outcomes.push_back(outcome);
    const auto misfit = vta::misfit(layer, machine, schedule);
    ASSERT_EQ(outcome.feasible, !misfit);
    const CodesignSpace::Excess excess = space.excess(point);
    EXPECT_TRUE(excess.encodable);
    EXPECT_EQ(excess.buffers > 0,
              misfit && misfit->kind >= vta::MisfitKind::InpOverflow && misfit->kind <= vta::MisfitKind::AccOverflow);
    if (misfit) {
      EXPECT_EQ(outcome.reason, static_cast<std::uint8_t>(misfit->kind));
      continue;
    }
    ++feasible;
    vta::Code code;
    vta::generate(layer, machine, schedule, options.finishing, vta::addresses_of(layer, machine), code);
    const vta::Timing timing = vta::time_stream(code.instructions, machine, options.timing);
    const vta::Energy energy = vta::energy_of(timing, machine, options.physical);
    EXPECT_EQ(outcome.metrics.latency, static_cast<double>(timing.cycles));
    EXPECT_EQ(outcome.metrics.energy, energy.total());
    EXPECT_EQ(outcome.metrics.area, vta::relative_area(machine));
    // nJ per cycle at 100 MHz: a tenth of a watt.
    EXPECT_NEAR(outcome.metrics.power, 100 * energy.total() / static_cast<double>(timing.cycles), 1e-6);
    EXPECT_LE(space.least_cycles(point), outcome.metrics.latency);
  }
  EXPECT_GT(feasible, 100);
  for (std::size_t n = points.size(); n-- > 0;) EXPECT_EQ(other->evaluate(points[n]), outcomes[n]);
}

TEST(CodesignSpace, EveryParameterChangesTheCostOfSomePoint) {
  CodesignSpaceOptions options = unlimited();
  options.search_buffers = true;
  Layer layer = square(8, 64, 64, 3, 1, 1);
  layer.batch = 8;
  const CodesignSpace space("layer", layer, options);
  const auto evaluator = space.evaluator();
  Rng rng(2, "codesign");
  std::vector<bool> matters(space.parameters().size(), false);
  Choices choices;
  for (int n = 0; n < 150; ++n) {
    const Point point = random_point(space, rng);
    const Outcome before = evaluator->evaluate(point);
    for (std::size_t p = 0; p < point.size(); ++p) {
      if (matters[p]) continue;
      space.choices(point, p, choices);
      Point changed = point;
      changed[p] = choices[static_cast<std::int32_t>(rng.below(choices.count()))];
      if (!is_legal(space, changed)) continue;
      const Outcome after = evaluator->evaluate(changed);
      if (before.feasible && after.feasible && before.metrics.latency != after.metrics.latency) matters[p] = true;
    }
  }
  for (std::size_t p = 0; p < matters.size(); ++p) {
    // A buffer's size decides what fits and what it costs, never how long a program takes.
    const bool is_buffer = p >= 3 && p < space.hardware_parameters();
    EXPECT_TRUE(matters[p] || is_buffer) << space.parameters()[p].name;
  }
}

TEST(CodesignSpace, BufferSizesDecideWhatFitsAndWhatItCosts) {
  CodesignSpaceOptions options = unlimited();
  options.search_buffers = true;
  const CodesignSpace space("layer", kC2, options);
  const auto evaluator = space.evaluator();
  vta::Schedule schedule{.tile_h = 14, .tile_w = 56, .tile_ci = 2, .tile_co = 2};
  vta::Machine machine;
  const Outcome roomy = evaluator->evaluate(space.point_of(machine, schedule).value());
  ASSERT_TRUE(roomy.feasible);
  machine.log_wgt_buffer -= 1;
  const Outcome smaller = evaluator->evaluate(space.point_of(machine, schedule).value());
  ASSERT_TRUE(smaller.feasible);
  EXPECT_LT(smaller.metrics.area, roomy.metrics.area);
  EXPECT_LT(smaller.metrics.energy, roomy.metrics.energy);
  machine.log_inp_buffer -= 1;
  const Outcome overflow = evaluator->evaluate(space.point_of(machine, schedule).value());
  EXPECT_EQ(space.reason_name(overflow.reason), "inp-overflow");  // 2 * 16 * 58 elements, room for 1024
  EXPECT_EQ(space.excess(space.point_of(machine, schedule).value()).buffers, 2 * 16 * 58 / 1024.0 - 1);
  machine.log_acc_buffer += 2;  // twice is the largest
  EXPECT_EQ(space.point_of(machine, schedule), std::nullopt);
}

TEST(CodesignSpace, LimitsAreHard) {
  CodesignSpaceOptions options;
  options.area_budget = 2;
  options.give_up = 0;
  const CodesignSpace space("layer", tiny(), options);
  const auto evaluator = space.evaluator();
  double most_watts = 0, least_watts = 1e9;
  std::set<std::string> reasons;
  for_each_point(space, [&](const Point& point) {
    const Outcome outcome = evaluator->evaluate(point);
    const double area = vta::relative_area(space.machine(point));
    if (!outcome.feasible) reasons.insert(space.reason_name(outcome.reason));
    EXPECT_EQ(!outcome.feasible && outcome.reason == static_cast<std::uint8_t>(CodesignReason::OverArea), area > 2);
    EXPECT_DOUBLE_EQ(space.excess(point).area, std::max(0.0, area / 2 - 1));
    if (!outcome.feasible) return;
    most_watts = std::max(most_watts, outcome.metrics.power / 1000);
    least_watts = std::min(least_watts, outcome.metrics.power / 1000);
  });
  EXPECT_TRUE(reasons.contains("over-area"));

  CodesignSpaceOptions cool = options;
  cool.most_watts = 0.5 * (most_watts + least_watts);
  CodesignSpaceOptions cold = options;
  cold.most_celsius = vta::temperature_celsius(cool.most_watts, cold.physical);
  const CodesignSpace by_power("layer", tiny(), cool), by_heat("layer", tiny(), cold);
  const auto power = by_power.evaluator(), heat = by_heat.evaluator();
  std::int64_t kept = 0, refused = 0;
  for_each_point(space, [&](const Point& point) {
    const Outcome free = evaluator->evaluate(point);
    if (!free.feasible) return;
    const Outcome outcome = power->evaluate(point);
    EXPECT_EQ(outcome.feasible, free.metrics.power <= 1000 * cool.most_watts);
    EXPECT_EQ(heat->evaluate(point).feasible, outcome.feasible);
    EXPECT_TRUE(outcome.feasible || space.reason_name(outcome.reason) == "over-power");
    ++(outcome.feasible ? kept : refused);
  });
  EXPECT_GT(kept, 0);
  EXPECT_GT(refused, 0);

  // With the default's buffers no other machine is as small as the default.
  CodesignSpaceOptions masked;
  masked.mask_area = true;
  EXPECT_EQ(size_of(kC2, masked), 2304);
  masked.area_budget = 1e-3;
  EXPECT_EQ(size_of(kC2, masked), 56'320);
}

// The 62 configurations of convolutions that TVM's tuner found for the default machine on a Pynq board (TopHub, v0.10:
// YOLO-tiny, ResNet-18 and 50, AlexNet, VGG and a grouped network).
TEST(CodesignSpace, HasThePublishedTunedTiles) {
  std::ifstream file(TILEWRIGHT_TEST_DATA "/vta/tuned_tiles.csv");
  std::string line;
  ASSERT_TRUE(std::getline(file, line));
  CodesignSpaceOptions options;
  options.fixed_machine = true;
  int rows = 0;
  while (std::getline(file, line)) {
    std::vector<std::int64_t> n;
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) n.push_back(std::stoll(field));
    ASSERT_EQ(n.size(), 14U) << line;
    Layer layer = square(n[0], n[1], n[2], n[3], n[4], n[5]);
    layer.groups = n[6];
    const vta::Schedule schedule{n[7], n[8], n[9], n[10], n[11], static_cast<int>(n[12]), static_cast<int>(n[13])};
    const CodesignSpace space("layer", layer, options);
    const auto point = space.point_of(vta::Machine{}, schedule);
    ASSERT_TRUE(point) << line;
    EXPECT_TRUE(space.evaluator()->evaluate(*point).feasible) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 62);
}

TEST(CodesignSpace, SlowProgramsAreGivenUpWithoutBeingGenerated) {
  CodesignSpaceOptions patient = unlimited(), options = unlimited();
  options.give_up = 2;
  const CodesignSpace all("layer", tiny(), patient), some("layer", tiny(), options);
  EXPECT_NE(all.problem_key(), some.problem_key());
  const auto slow = all.evaluator(), quick = some.evaluator();
  std::int64_t given_up = 0;
  for_each_point(all, [&](const Point& point) {
    const Outcome outcome = slow->evaluate(point), limited = quick->evaluate(point);
    if (!outcome.feasible) {
      EXPECT_EQ(outcome, limited);
      return;
    }
    EXPECT_LE(all.least_cycles(point), outcome.metrics.latency);
    const double serial = serial_cycles(tiny(), all.machine(point), options);
    EXPECT_EQ(limited.feasible, outcome.metrics.latency <= 2 * serial);
    given_up += limited.feasible ? 0 : 1;
  });
  EXPECT_GT(given_up, 0);
}

TEST(CodesignSpace, TheBestPointIsNeverGivenUp) {
  const Layer layers[] = {fully_connected("fc", 1, 10, 10), fully_connected("fc", 1, 512, 1000), square(8, 16, 16, 1, 1, 0),
                          square(1, 8, 8, 1, 1, 0), square(12, 3, 16, 5, 2, 2)};
  for (const Layer& layer : layers) {
    for (const vta::Core core : {vta::Core::Sequential, vta::Core::Pipelined}) {
      for (const std::int64_t latency : {0, 2000}) {
        for (const std::int64_t bus : {4, 128}) {
          CodesignSpaceOptions options;
          options.fixed_machine = true;
          options.timing = {core, latency, latency, bus, 2048};
          const auto optimum = codesign_optimum(CodesignSpace("layer", layer, options));
          ASSERT_TRUE(optimum) << layer.out_channels << " " << latency << " " << bus;
          EXPECT_LT(optimum->outcome.metrics.latency, 2 * serial_cycles(layer, options.base, options));
        }
      }
    }
  }
}

TEST(CodesignSpace, NoProgramIsFasterThanItsBound) {
  std::vector<Layer> layers = {square(9, 20, 40, 5, 2, 2), square(7, 96, 96, 1, 1, 0), fully_connected("fc", 3, 200, 70),
                               matrix_multiply("mm", {.batch = 2, .rows = 12, .inner = 64, .columns = 48}),
                               convolution("dw", {.out_channels = 48,
                                                  .in_channels = 48,
                                                  .in_height = 10,
                                                  .in_width = 10,
                                                  .kernel_height = 3,
                                                  .kernel_width = 3,
                                                  .pad = 1,
                                                  .groups = 48})};
  Rng rng(3, "codesign");
  int feasible = 0;
  for (const Layer& layer : layers) {
    for (const vta::Core core : {vta::Core::Sequential, vta::Core::Pipelined}) {
      CodesignSpaceOptions options = unlimited();
      options.timing.core = core;
      options.timing.read_latency = rng.between(0, 100);
      options.timing.bus_bytes = core == vta::Core::Pipelined ? 32 : 8;
      options.finishing.residual = rng.below(2) == 0;
      options.finishing.bias = rng.below(2) == 0;
      options.finishing.shift = static_cast<int>(rng.between(-1, 20));
      const CodesignSpace space("layer", layer, options);
      const auto evaluator = space.evaluator();
      for (int n = 0; n < 100; ++n) {
        const Point point = random_point(space, rng);
        const Outcome outcome = evaluator->evaluate(point);
        if (!outcome.feasible) continue;
        ++feasible;
        EXPECT_LE(space.least_cycles(point), outcome.metrics.latency) << layer.name;
      }
    }
  }
  EXPECT_GT(feasible, 500);
}

TEST(CodesignSpace, TheEstimatedScheduleIsCloseToTheOptimumOfItsMachine) {
  for (const Layer& layer : {square(56, 64, 64, 3, 1, 1), square(14, 256, 256, 3, 1, 1), square(28, 128, 256, 1, 2, 0)}) {
    for (const std::int64_t bus : {8, 64}) {
      CodesignSpaceOptions options;
      options.fixed_machine = true;
      options.timing.bus_bytes = bus;
      const CodesignSpace space("layer", layer, options);
      const auto estimated = space.estimated_best(Point(space.hardware_parameters(), 0));
      ASSERT_TRUE(estimated);
      EXPECT_TRUE(is_legal(space, estimated->point));
      const Outcome outcome = space.evaluator()->evaluate(estimated->point);
      ASSERT_TRUE(outcome.feasible);
      EXPECT_LT(outcome.metrics.latency, 1.1 * codesign_optimum(space)->outcome.metrics.latency) << layer.name << ' ' << bus;
      EXPECT_NEAR(estimated->cycles / outcome.metrics.latency, 1, 0.2);
    }
  }
}

TEST(CodesignSpace, MachinesWithoutRoomForATileHaveNoEstimate) {
  CodesignSpaceOptions options;
  options.fixed_machine = true;
  options.base.log_wgt_buffer = 8;  // one element
  EXPECT_FALSE(CodesignSpace("layer", square(8, 16, 16, 3, 1, 1), options).estimated_best(Point(3, 0)));
}

TEST(CodesignSpace, TheProvenOptimumIsThatOfTryingAll) {
  for (const double budget : {1.0, 1.3, 1e9}) {
    CodesignSpaceOptions options;
    options.area_budget = budget;
    const CodesignSpace space("layer", tiny(), options);
    const auto evaluator = space.evaluator();
    double best = 1e300;
    std::int64_t count = 0;
    for_each_point(space, [&](const Point& point) {
      ++count;
      const Outcome outcome = evaluator->evaluate(point);
      if (outcome.feasible) best = std::min(best, outcome.metrics.latency);
    });
    const auto optimum = codesign_optimum(space);
    ASSERT_TRUE(optimum);
    EXPECT_EQ(optimum->outcome.metrics.latency, best);
    EXPECT_EQ(evaluator->evaluate(optimum->point), optimum->outcome);
    EXPECT_EQ(optimum->points, count);
    EXPECT_LT(optimum->measured, count / 2);
  }
  CodesignSpaceOptions hopeless;
  hopeless.area_budget = 0.01;
  EXPECT_FALSE(codesign_optimum(CodesignSpace("layer", tiny(), hopeless)));
}

TEST(CodesignSpace, MachinesThatCannotBeEncodedAreInfeasibleWhenThereIsNoOther) {
  CodesignSpaceOptions options;
  options.fixed_machine = true;
  options.base.log_block_out = 3;  // 4096 accumulators cannot be addressed
  const CodesignSpace space("layer", tiny(), options);
  Rng rng(4, "codesign");
  const Point point = random_point(space, rng);
  EXPECT_EQ(space.reason_name(space.evaluator()->evaluate(point).reason), "not-encodable");
  EXPECT_FALSE(space.excess(point).encodable);
}

TEST(CodesignSpace, KeysTellProblemsAndDesignsApart) {
  const CodesignSpace space("one", kC11, {});
  EXPECT_EQ(space.problem_key(), CodesignSpace("other name", kC11, {}).problem_key());
  EXPECT_NE(space.problem_key(), CodesignSpace("one", kC2, {}).problem_key());
  CodesignSpaceOptions options;
  options.timing.read_latency = 17;
  EXPECT_NE(space.problem_key(), CodesignSpace("one", kC11, options).problem_key());
  std::set<std::string> designs;
  for_each_point(space, [&](const Point& point) {
    std::string bytes;
    space.append_design(point, bytes);
    designs.insert(bytes);
  });
  EXPECT_EQ(designs.size(), 18'640U);
  EXPECT_NE(space.problem_text().find("\"area_budget\":1.0"), std::string::npos) << space.problem_text();
  EXPECT_EQ(space.features().size(), CodesignSpace("mm", matrix_multiply("mm", {}), {}).features().size());
  EXPECT_EQ(space.value_name(1, 0), "8");
}

}  // namespace
}  // namespace tilewright
