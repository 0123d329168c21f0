// What tests that compare a model with the walk share: small machines, small layers, and the words to say what differs.
#pragma once

#include <algorithm>
#include <set>
#include <string_view>

#include <gtest/gtest.h>

#include "loop_walk.hpp"
#include "random_mapping.hpp"
#include "tilewright/cost/evaluator.hpp"

namespace tilewright {

using Kind = Directive::Kind;
inline constexpr std::size_t kInput = 0, kWeight = 1, kOutput = 2;

// Nothing but multiplications takes time.
inline Accelerator free_network(std::int64_t pes, std::int64_t simd_lanes = 1) {
  Accelerator accelerator;
  accelerator.pes = pes;
  accelerator.noc.hops = 0;
  accelerator.simd_lanes = simd_lanes;
  return accelerator;
}

template <typename Check>
void for_random_cases(TileStyle style, std::uint64_t count, const Check& check) {
  const Rng root(2025, "loop walk");
  for (std::uint64_t i = 0; i < count; ++i) {
    Rng rng = root.fork("style", static_cast<std::uint64_t>(style)).fork("case", i);
    const RandomCase drawn = random_case(rng, style);
    SCOPED_TRACE(to_text(drawn));
    check(drawn, rng);
    if (testing::Test::HasFailure()) return;
  }
}

inline Mapping one_level(std::initializer_list<Directive> directives) {
  Mapping mapping;
  mapping.levels.push_back({});
  for (const Directive& directive : directives) mapping.levels[0].directives.push_back(directive);
  return mapping;
}

inline void add_level(Mapping& mapping, std::int32_t cluster_size, std::initializer_list<Directive> directives) {
  mapping.levels.push_back({});
  mapping.levels.back().cluster_size = cluster_size;
  for (const Directive& directive : directives) mapping.levels.back().directives.push_back(directive);
}

inline Nest convolution_nest(const ConvolutionShape& shape) { return nest_of(convolution("convolution", shape)).value(); }
inline Nest matrix_nest(std::int64_t rows, std::int64_t inner, std::int64_t columns) {
  return nest_of(matrix_multiply("matrix", {.rows = rows, .inner = inner, .columns = columns})).value();
}

// Why a mapping is infeasible; empty if it has a cost.
inline std::string_view refusal(const Evaluation& evaluation) {
  const auto* infeasible = std::get_if<Infeasible>(&evaluation);
  return infeasible == nullptr ? std::string_view() : name_of(infeasible->reason);
}

inline std::set<Dim> dims_of(const Nest& nest, std::size_t operand) {
  if (nest.kind == NestKind::MatrixMultiply) {
    return operand == kInput    ? std::set{Dim::G, Dim::M, Dim::K}
           : operand == kWeight ? std::set{Dim::G, Dim::K, Dim::N}
                                : std::set{Dim::G, Dim::M, Dim::N};
  }
  if (operand == kInput) return {Dim::N, Dim::G, Dim::C, Dim::Y, Dim::X, Dim::OutY, Dim::OutX};
  if (operand == kWeight) return {Dim::G, Dim::K, Dim::C, Dim::R, Dim::S};
  return {Dim::N, Dim::G, nest.kind == NestKind::Depthwise ? Dim::C : Dim::K, Dim::Y, Dim::X, Dim::OutY, Dim::OutX};
}

// What the walk says crossed from L2 to the array.
inline std::int64_t walked_traffic(const LoopWalk& walk, std::size_t operand) {
  std::int64_t sum = 0;
  for (const WalkedStep& step : walk.steps) sum += step.elements[operand].once_fresh;
  return sum;
}

}  // namespace tilewright
