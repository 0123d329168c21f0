#include "tilewright/cost/evaluator.hpp"

#include <cmath>

#include "mapper_style.hpp"
#include "tilewright/cost/audit.hpp"

namespace tilewright {
namespace {

// ResNet-18's 64x64 3x3 layer as GAMMA's table has it: 56x56 inputs, 54x54 outputs.
Nest gamma_layer() {
  Nest nest;
  nest[Dim::K] = nest[Dim::C] = 64;
  nest[Dim::Y] = nest[Dim::X] = 56;
  nest[Dim::R] = nest[Dim::S] = 3;
  nest[Dim::OutY] = nest[Dim::OutX] = 54;
  return nest;
}

// K over clusters, C inside; output tiles of `outputs` rows and columns.
Mapping weight_stationary(std::int32_t outputs) {
  constexpr auto T = Directive::Kind::Temporal;
  constexpr auto S = Directive::Kind::Spatial;
  Mapping mapping;
  MappingLevel outer, inner;
  for (const Directive& directive :
       {Directive{S, Dim::K, 1, 1}, Directive{T, Dim::C, 16, 16}, Directive{T, Dim::OutY, outputs, outputs},
        Directive{T, Dim::OutX, outputs, outputs}, Directive{T, Dim::R, 3, 3}, Directive{T, Dim::S, 3, 3}}) {
    outer.directives.push_back(directive);
  }
  inner.cluster_size = 16;
  for (const Directive& directive :
       {Directive{T, Dim::K, 1, 1}, Directive{S, Dim::C, 1, 1}, Directive{T, Dim::OutY, outputs, outputs},
        Directive{T, Dim::OutX, outputs, outputs}, Directive{T, Dim::R, 3, 3}, Directive{T, Dim::S, 3, 3}}) {
    inner.directives.push_back(directive);
  }
  mapping.levels.push_back(outer);
  mapping.levels.push_back(inner);
  return mapping;
}

Accelerator machine(std::int64_t pes) {
  Accelerator accelerator;
  accelerator.pes = pes;
  return accelerator;
}

Infeasible::Reason reason_of(const Evaluation& evaluation) { return std::get<Infeasible>(evaluation).reason; }

TEST(Evaluate, TilesLargerThanTheOutputsAreCaught) {
  const Accelerator accelerator = machine(1024);
  const Cost honest = std::get<Cost>(evaluate(weight_stationary(54), gamma_layer(), accelerator));
  EXPECT_EQ(honest.macs, macs(gamma_layer()));
  EXPECT_GE(honest.runtime.value, 104976);  // 107,495,424 MACs on 1024 processing elements
  // MAESTRO takes the same mapping with 56 instead of 54 outputs for a miracle.
  const Cost exploit = std::get<Cost>(evaluate(weight_stationary(56), gamma_layer(), accelerator, Model::Maestro));
  EXPECT_LT(exploit.runtime.value, 1000);
  EXPECT_EQ(reason_of(evaluate(weight_stationary(56), gamma_layer(), accelerator)), Infeasible::Reason::MacsMiscounted);
}

TEST(Evaluate, SoundEnergyIsTheSumOfItsParts) {
  const Accelerator accelerator = machine(1024);
  const Cost cost = std::get<Cost>(evaluate(weight_stationary(54), gamma_layer(), accelerator));
  std::int64_t l1 = 0, l2 = 0;
  for (const Traffic& traffic : cost.traffic) {
    l1 += traffic.l1_read + traffic.l1_write;
    l2 += traffic.l2_read + traffic.l2_write;
  }
  EXPECT_DOUBLE_EQ(cost.energy_parts.mac.value, 107495424 * 0.23);
  EXPECT_DOUBLE_EQ(cost.energy_parts.l1.value, static_cast<double>(l1) * 1.68 * 0.23);
  EXPECT_DOUBLE_EQ(cost.energy_parts.l2.value, static_cast<double>(l2) * 18.61 * 0.23);
  EXPECT_DOUBLE_EQ(cost.energy.value * 1000,
                   cost.energy_parts.mac.value + cost.energy_parts.l1.value + cost.energy_parts.l2.value);
  // MAESTRO's column has neither MACs nor L1 accesses in a file's first layer.
  const Cost column = std::get<Cost>(evaluate(weight_stationary(54), gamma_layer(), accelerator, Model::Maestro));
  EXPECT_LT(column.energy.value * 1000, cost.energy_parts.l2.value);
}

TEST(Evaluate, MaestroAddsTheL1EnergyOfTheLayerBefore) {
  Evaluator evaluator(gamma_layer(), machine(1024), {.model = Model::Maestro});
  const Cost first = std::get<Cost>(evaluator.evaluate(weight_stationary(54)));
  const Cost second = std::get<Cost>(evaluator.evaluate(weight_stationary(54), &first));
  std::int64_t l1 = 0;
  for (const Traffic& traffic : first.traffic) l1 += traffic.l1_read + traffic.l1_write;
  EXPECT_NEAR(second.energy.value - first.energy.value, static_cast<double>(l1) * 1.68 * 0.00023, 1e-3);
}

TEST(Evaluate, EnergyTablesScaleTheirPart) {
  Accelerator accelerator = machine(1024);
  const Cost plain = std::get<Cost>(evaluate(weight_stationary(54), gamma_layer(), accelerator));
  accelerator.energy.l2_access = accelerator.energy.l2_access * 2;
  const Cost doubled = std::get<Cost>(evaluate(weight_stationary(54), gamma_layer(), accelerator));
  EXPECT_DOUBLE_EQ(doubled.energy_parts.l2.value, 2 * plain.energy_parts.l2.value);
  EXPECT_EQ(doubled.energy_parts.l1, plain.energy_parts.l1);
}

TEST(Evaluate, EveryLimitIsHardByDefault) {
  const Accelerator free = machine(1024);
  const Cost cost = std::get<Cost>(evaluate(weight_stationary(54), gamma_layer(), free));
  using Reason = Infeasible::Reason;
  const auto with = [&](Reason reason) {
    Accelerator tight = free;
    if (reason == Reason::L1Overflow) tight.l1 = {cost.l1.value - 1};
    if (reason == Reason::L2Overflow) tight.l2 = {cost.l2.value - 1};
    return tight;
  };
  for (const Reason reason : {Reason::L1Overflow, Reason::L2Overflow}) {
    const Evaluation hard = evaluate(weight_stationary(54), gamma_layer(), with(reason));
    EXPECT_EQ(reason_of(hard), reason);
    EXPECT_EQ(std::get<Infeasible>(hard).need, std::get<Infeasible>(hard).limit + 1);
    const auto soft = evaluate(weight_stationary(54), gamma_layer(), with(reason), Model::Sound, Constraints::Soft);
    EXPECT_GT(std::get<Cost>(soft).violation, 0);
  }
  EXPECT_EQ(reason_of(evaluate(weight_stationary(54), gamma_layer(), machine(15))), Reason::PeOverflow);
  Accelerator exact = free;
  exact.l1 = cost.l1;
  exact.l2 = cost.l2;
  EXPECT_EQ(std::get<Cost>(evaluate(weight_stationary(54), gamma_layer(), exact)).violation, 0);
}

TEST(Evaluate, BandwidthBelowThePeakIsInfeasible) {
  Accelerator accelerator = machine(1024);
  const Cost free = std::get<Cost>(evaluate(weight_stationary(1), gamma_layer(), accelerator));
  ASSERT_GT(free.peak_bandwidth, 1);
  accelerator.noc.bandwidth = 1;
  const Evaluation evaluation = evaluate(weight_stationary(1), gamma_layer(), accelerator);
  EXPECT_EQ(reason_of(evaluation), Infeasible::Reason::NocBandwidth);
}

TEST(Evaluate, NothingAbortsAndEveryReasonHasASentence) {
  Accelerator accelerator = machine(1024);
  Mapping mapping = weight_stationary(54);
  mapping.levels[1].cluster_size = 2000;
  EXPECT_EQ(to_sentence(std::get<Infeasible>(evaluate(mapping, gamma_layer(), accelerator, Model::Maestro))),
            "the clusters need 2,000 processing elements, the machine has 1,024");
  EXPECT_EQ(reason_of(evaluate(Mapping{}, gamma_layer(), accelerator)), Infeasible::Reason::NoSpatialMap);
  accelerator.noc.bandwidth = 0;
  EXPECT_EQ(reason_of(evaluate(weight_stationary(54), gamma_layer(), accelerator, Model::Maestro)),
            Infeasible::Reason::NoBandwidth);
  for (int reason = 0; reason <= static_cast<int>(Infeasible::Reason::OffchipBandwidth); ++reason) {
    const Infeasible infeasible{static_cast<Infeasible::Reason>(reason), 1, Dim::K, 5, 3};
    EXPECT_FALSE(name_of(infeasible.reason).empty());
    EXPECT_GT(to_sentence(infeasible).size(), 20u);
  }
}

TEST(Evaluate, ACostNeverBreaksTheAudit) {
  Rng rng(21, "audit");
  constexpr NestKind kKinds[] = {NestKind::Convolution, NestKind::Depthwise, NestKind::Grouped, NestKind::MatrixMultiply};
  int feasible = 0;
  for (int i = 0; i < 4000; ++i) {
    const Nest nest = draw_nest(rng, kKinds[i % 4], 24, i % 3 == 0);
    Accelerator accelerator = machine(rng.between(1, 512));
    accelerator.simd_lanes = rng.between(1, 4);
    const Evaluation evaluation =
        evaluate(draw_mapping(rng, nest, {.levels = 1 + i % 3, .wild = i % 2 == 0}), nest, accelerator);
    const auto* cost = std::get_if<Cost>(&evaluation);
    if (cost == nullptr) continue;
    ++feasible;
    EXPECT_EQ(cost->macs, macs(nest));
    EXPECT_GE(cost->leaf_macs, macs(nest));
    EXPECT_GE(cost->runtime.value * accelerator.pes * accelerator.simd_lanes, macs(nest).value);
    EXPECT_TRUE(std::isfinite(cost->energy.value));
  }
  EXPECT_GT(feasible, 500);
}

TEST(Evaluate, IsAPureFunctionOfTheMapping) {
  Rng rng(5, "pure");
  const Nest nest = gamma_layer();
  Evaluator evaluator(nest, machine(168));
  std::vector<Mapping> mappings;
  std::vector<std::int64_t> first;
  for (int i = 0; i < 200; ++i) {
    mappings.push_back(draw_mapping(rng, nest, {.levels = 1 + i % 3}));
    const Evaluation evaluation = evaluator.evaluate(mappings.back());
    first.push_back(std::holds_alternative<Cost>(evaluation) ? std::get<Cost>(evaluation).runtime.value : -1);
  }
  for (std::size_t i = mappings.size(); i-- > 0;) {
    const Evaluation evaluation = evaluator.evaluate(mappings[i]);
    EXPECT_EQ(std::holds_alternative<Cost>(evaluation) ? std::get<Cost>(evaluation).runtime.value : -1, first[i]);
  }
}

}  // namespace
}  // namespace tilewright
