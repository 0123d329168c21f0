// Area and power of the sound and exact models, and where they are unknown.
#include "tilewright/cost/area.hpp"

#include "tilewright/cost/columns.hpp"
#include "tilewright/cost/evaluator.hpp"
#include "tilewright/mapping/dataflows.hpp"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

Nest small_nest() {
  return *nest_of(convolution(
      "layer",
      {.out_channels = 8, .in_channels = 4, .in_height = 10, .in_width = 10, .kernel_height = 3, .kernel_width = 3}));
}

Accelerator machine() {
  Accelerator machine;
  machine.pes = 16;
  machine.clock_ghz = 0.5;
  machine.simd_lanes = 2;
  return machine;
}

Cost cost_of(const Accelerator& machine, Model model) {
  const Nest nest = small_nest();
  const Evaluation evaluation = evaluate(*dataflow("kcp_ws", nest, machine), nest, machine, model, Constraints::Hard);
  EXPECT_TRUE(std::holds_alternative<Cost>(evaluation)) << to_sentence(std::get<Infeasible>(evaluation));
  return std::get<Cost>(evaluation);
}

TEST(Area, IsElementsAndBytesTimesTheirFigures) {
  Accelerator known = machine();
  known.area = {.pe = {{100}}, .buffer_byte = {{2}}, .l1_byte = {}};
  const auto shared = area_of(known, Bytes{10}, Bytes{1000});
  ASSERT_TRUE(shared);
  EXPECT_EQ(shared->pe, SquareMicrometres{16 * 2 * 100});
  EXPECT_EQ(shared->l1, SquareMicrometres{16 * 10 * 2});
  EXPECT_EQ(shared->l2, SquareMicrometres{1000 * 2});
  known.area.l1_byte = SquareMicrometres{5};
  EXPECT_EQ(area_of(known, Bytes{10}, Bytes{1000})->l1, SquareMicrometres{16 * 10 * 5});
}

TEST(Area, IsTheSumOfItsParts) {
  Accelerator known = machine();
  known.area = {.pe = {{100}}, .buffer_byte = {{2}}, .l1_byte = {{3}}};
  for (const Model model : {Model::Sound, Model::Exact}) {
    const Cost cost = cost_of(known, model);
    ASSERT_TRUE(cost.area);
    const AreaParts parts = *area_of(known, cost.l1, cost.l2);
    EXPECT_EQ(*cost.area, parts.pe + parts.l1 + parts.l2);
    EXPECT_EQ(cost.area_parts.l2, parts.l2);
  }
}

TEST(Area, IsUnknownWithoutFigures) {
  Accelerator half = machine();
  half.area.pe = SquareMicrometres{100};
  for (const Accelerator& accelerator : {machine(), half}) {
    for (const Model model : {Model::Sound, Model::Exact}) {
      const Cost cost = cost_of(accelerator, model);
      EXPECT_FALSE(cost.area);
      const Row row = row_of(cost, small_nest(), accelerator, model);
      const std::size_t area = 5;
      ASSERT_EQ(columns()[area].key, "area");
      std::string json, text;
      append_json(json, row[area]);
      append_text(text, row[area]);
      EXPECT_EQ(json, "null");
      EXPECT_EQ(text, "");
    }
  }
}

TEST(Power, IsEnergyOverTimeAndLeakage) {
  for (const Model model : {Model::Sound, Model::Exact}) {
    for (const double leakage : {0.0, 12.5}) {
      Accelerator leaky = machine();
      leaky.leakage = {leakage};
      const Cost cost = cost_of(leaky, model);
      const double seconds = static_cast<double>(cost.runtime.value) / (leaky.clock_ghz * 1e9);
      const double watts = cost.energy.value * 1e-9 / seconds + leakage * 1e-3;
      EXPECT_NEAR(cost.power.value / (watts * 1e3), 1, 1e-12);
      const PowerParts& parts = cost.power_parts;
      EXPECT_NEAR((parts.pe + parts.l1 + parts.l2 + parts.leakage).value / cost.power.value, 1, 1e-12);
    }
  }
}

// With more than a million elements they are multiplied, no longer added one by one.
TEST(Area, OfMaestroIsTheSumOfItsPartsForAnyNumberOfElements) {
  for (const std::int64_t pes : {16, 1 << 20, (1 << 20) + 1}) {
    Accelerator large = machine();
    large.pes = pes;
    Cost cost;
    cost.l1 = Bytes{300};
    cost.l2 = Bytes{90'000};
    set_maestro_area_and_power(cost, large);
    const AreaParts& area = cost.area_parts;
    const PowerParts& power = cost.power_parts;
    EXPECT_NEAR((area.pe + area.l1 + area.l2 + area.noc).value / cost.area->value, 1, 1e-9) << pes;
    EXPECT_NEAR((power.pe + power.l1 + power.l2 + power.noc).value / cost.power.value, 1, 1e-9) << pes;
    EXPECT_NEAR(area.l1.value / area.l2.value, static_cast<double>(300 * pes) / 90'000, 1e-9 * static_cast<double>(pes));
    EXPECT_NEAR(power.l1.value / power.l2.value, static_cast<double>(300 * pes) / 90'000, 1e-9 * static_cast<double>(pes));
  }
}

// The regression is a fact about that program, not about a machine.
TEST(Area, OfMaestroDoesNotDependOnTheMachinesFigures) {
  Accelerator known = machine();
  known.area = {.pe = {{100}}, .buffer_byte = {{2}}, .l1_byte = {{3}}};
  known.leakage = {1000};
  for (const Model model : {Model::Maestro, Model::MaestroE1d8efd}) {
    const Cost theirs = cost_of(machine(), model), same = cost_of(known, model);
    ASSERT_TRUE(theirs.area);
    EXPECT_EQ(theirs.area, same.area);
    EXPECT_EQ(theirs.power, same.power);
  }
}

}  // namespace
}  // namespace tilewright
