// What tests that compare a model with the walk share: small machines, small layers, and the words to say what differs.
#pragma once

#include <algorithm>
#include <set>
#include <string_view>

#include <gtest/gtest.h>

#include "loop_walk.hpp"
#include "random_mapping.hpp"
#include "tilewright/cost/evaluator.hpp"
#include "tilewright/cost/plan.hpp"

namespace tilewright {

using Kind = Directive::Kind;

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

// When an operand that a unit once held is sent again: only in steps that move a loop on it, or also in those that take a
// loop on it back to its first tile.
enum class Resend { WhenItsLoopMoved, WhenALoopBeganAgain };

// What the models say crosses from L2 to the array (rules 1 to 3 at the head of either test), from the walk's steps.
// `first_step`: what the first step alone is sent.
inline std::int64_t traffic_by_the_rules(const RandomCase& drawn, const LoopWalk& walk, std::size_t operand, Resend resend,
                                         std::int64_t* first_step = nullptr) {
  const std::set<Dim> dims = dims_of(drawn.nest, operand);
  const auto& loops = drawn.mapping.levels[0].directives;
  const auto on_operand = [&](std::size_t loop) { return dims.count(loops[loop].dim) > 0; };
  int spatial = 0;
  while (loops[static_cast<std::size_t>(spatial)].kind != Kind::Spatial) ++spatial;
  const bool spread = on_operand(static_cast<std::size_t>(spatial));

  std::int64_t sum = 0;
  for (const WalkedStep& step : walk.steps) {
    const StepElements& elements = step.elements[operand];
    if (step.moved < 0) {
      sum += spread ? elements.each_whole : elements.once_whole;
      if (first_step != nullptr) *first_step = sum;
      continue;
    }
    bool began_again = false;
    for (std::size_t i = 0; i < loops.size(); ++i) began_again |= (step.began_again >> i & 1) != 0 && on_operand(i);
    const bool sent_again = began_again && resend == Resend::WhenALoopBeganAgain;
    if (!sent_again && !on_operand(static_cast<std::size_t>(step.moved))) continue;
    const bool shared = !spread || spatial > step.moved || (spatial == step.moved && !began_again);
    const bool keeps = !began_again && spatial != step.moved;
    sum +=
        shared ? (keeps ? elements.once_fresh : elements.once_whole) : (keeps ? elements.each_fresh : elements.each_whole);
  }
  return sum;
}

}  // namespace tilewright
