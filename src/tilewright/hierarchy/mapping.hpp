// A mapping: how the loops of a problem are cut into factors, one block of loops per level in time and one in space.
//
//   inner → outer:  spatial(0) temporal(0) spatial(1) temporal(1) …
//
// spatial(i) spreads the tile of level i over the copies of the level inside it (of the MACs for i = 0); temporal(i) are the
// loops that run while level i holds its tile. A tensor that a level does not keep passes it by.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "tilewright/base/inline_vector.hpp"
#include "tilewright/base/result.hpp"
#include "tilewright/hierarchy/machine.hpp"
#include "tilewright/hierarchy/problem.hpp"

namespace tilewright::hierarchy {

using TensorMask = std::uint8_t;  // bit t = tensor t
inline constexpr TensorMask kAllTensors = 0xff;

struct Block {
  std::array<std::int64_t, kMostDims> factors;  // of every dimension; 1 = no loop
  std::array<std::uint8_t, kMostDims> order;    // dimensions, the innermost first
  std::uint8_t split = kMostDims;               // in space: the first `split` of the order lie along X, the others along Y

  Block();  // no loops, dimensions in the order of the problem
  bool operator==(const Block&) const = default;
};

struct LevelMapping {
  Block spatial, temporal;
  TensorMask keeps = kAllTensors;
  TensorMask without_links = 0;      // tensors that neighbours do not pass on
  TensorMask without_multicast = 0;  // tensors of which every copy gets its own
  bool operator==(const LevelMapping&) const = default;
};

struct Mapping {
  InlineVector<LevelMapping, kMostLevels> levels;  // the innermost first
  bool operator==(const Mapping&) const = default;
};

// `Exact`: the factors of a dimension multiply to its bound. `Ragged`: to at least that, the last tile is cut at the bound.
enum class Factors : std::uint8_t { Exact, Ragged };

// The mapping itself, or a sentence that names what is wrong with it. Whether it fits the machine is for the evaluator.
Result<Mapping> check(Mapping mapping, const Problem& problem, const Machine& machine, Factors factors,
                      const std::string& where);

// Everything in the outermost level, nothing spread.
Mapping outermost_mapping(const Problem& problem, const Machine& machine);

}  // namespace tilewright::hierarchy
