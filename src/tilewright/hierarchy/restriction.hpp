// A restriction: which mappings a search may propose.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/hierarchy/mapping.hpp"

namespace tilewright::hierarchy {

struct BlockRestriction {
  std::array<std::int64_t, kMostDims> exactly{};  // factor of a dimension; 0 = free
  std::array<std::int64_t, kMostDims> at_most{};  // 0 = free
  std::vector<std::uint8_t> innermost;            // the order begins with these dimensions …
  std::vector<std::uint8_t> outermost;            // … and ends with these, the outermost last
  std::optional<std::uint8_t> split;
  bool operator==(const BlockRestriction&) const = default;
};

struct LevelRestriction {
  TensorMask keeps = 0;     // has to keep these
  TensorMask bypasses = 0;  // must not keep these; the others are free
  BlockRestriction spatial, temporal;
  bool operator==(const LevelRestriction&) const = default;
};

struct Restriction {
  std::vector<LevelRestriction> levels;  // as many as the machine has, the innermost first
  double least_parallelism = 0;          // share of the MACs in use
  bool operator==(const Restriction&) const = default;
};

// Nothing but what the machine itself demands of its levels.
Restriction restriction_of(const Machine& machine, const Problem& problem);

// "level 'L2' cuts K into 4, expected 1": the first thing that the restriction forbids. Loops of one trip stand anywhere.
std::optional<std::string> violation(const Restriction& restriction, const Mapping& mapping, const Problem& problem,
                                     const Machine& machine);

}  // namespace tilewright::hierarchy
