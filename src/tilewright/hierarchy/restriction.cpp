#include "tilewright/hierarchy/restriction.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tilewright::hierarchy {
namespace {

// Dimensions of a block with more than one trip, the innermost first.
std::vector<std::uint8_t> loops_of(const Block& block, std::size_t dim_count) {
  std::vector<std::uint8_t> loops;
  for (std::size_t at = 0; at < dim_count; ++at) {
    if (block.factors[block.order[at]] > 1) loops.push_back(block.order[at]);
  }
  return loops;
}

std::vector<std::uint8_t> present(const std::vector<std::uint8_t>& dims, const Block& block) {
  std::vector<std::uint8_t> loops;
  for (const std::uint8_t dim : dims) {
    if (block.factors[dim] > 1) loops.push_back(dim);
  }
  return loops;
}

std::string letters(const std::vector<std::uint8_t>& dims, const Problem& problem) {
  std::string text;
  for (const std::uint8_t dim : dims) text += problem.dims[dim];
  return text;
}

std::optional<std::string> block_violation(const BlockRestriction& restriction, const Block& block, const Problem& problem,
                                           bool spatial) {
  for (std::size_t dim = 0; dim < problem.dims.size(); ++dim) {
    const std::int64_t factor = block.factors[dim];
    if (restriction.exactly[dim] != 0 && factor != restriction.exactly[dim])
      return fmt::format("cuts {} into {}, expected {}", problem.dims[dim], factor, restriction.exactly[dim]);
    if (restriction.at_most[dim] != 0 && factor > restriction.at_most[dim])
      return fmt::format("cuts {} into {}, expected at most {}", problem.dims[dim], factor, restriction.at_most[dim]);
  }
  const std::vector<std::uint8_t> loops = loops_of(block, problem.dims.size());
  const std::vector<std::uint8_t> inner = present(restriction.innermost, block);
  const std::vector<std::uint8_t> outer = present(restriction.outermost, block);
  if (!std::equal(inner.begin(), inner.end(), loops.begin()) || !std::equal(outer.rbegin(), outer.rend(), loops.rbegin())) {
    return fmt::format("has its loops in the order {}, expected {} inside and {} outside", letters(loops, problem),
                       inner.empty() ? "any" : letters(inner, problem), outer.empty() ? "any" : letters(outer, problem));
  }
  if (spatial && restriction.split) {
    // Where the order is fixed, so is the axis of every loop.
    for (std::size_t at = 0; at < restriction.innermost.size(); ++at) {
      const std::uint8_t dim = restriction.innermost[at];
      if (block.factors[dim] == 1) continue;
      const auto place = std::find(block.order.begin(), block.order.end(), dim) - block.order.begin();
      if ((at < *restriction.split) != (place < block.split)) {
        return fmt::format("spreads {} along {}, expected the other axis", problem.dims[dim],
                           place < block.split ? "X" : "Y");
      }
    }
  }
  return std::nullopt;
}

}  // namespace

Restriction restriction_of(const Machine& machine, const Problem& problem) {
  Restriction restriction;
  for (const StorageLevel& level : machine.levels) {
    LevelRestriction& restricted = restriction.levels.emplace_back();
    for (std::size_t tensor = 0; tensor < problem.tensors.size(); ++tensor) {
      const TensorMask bit = static_cast<TensorMask>(1u << tensor);
      const TensorKind kind = problem.tensors[tensor].kind;
      if (std::ranges::find(level.keeps, kind) != level.keeps.end()) restricted.keeps |= bit;
      if (std::ranges::find(level.bypasses, kind) != level.bypasses.end()) restricted.bypasses |= bit;
    }
  }
  return restriction;
}

std::optional<std::string> violation(const Restriction& restriction, const Mapping& mapping, const Problem& problem,
                                     const Machine& machine) {
  std::int64_t macs = 1;
  for (std::size_t index = 0; index < restriction.levels.size(); ++index) {
    const LevelRestriction& restricted = restriction.levels[index];
    const LevelMapping& level = mapping.levels[index];
    const auto say = [&](const std::string& what) { return fmt::format("level '{}' {}", machine.levels[index].name, what); };
    for (std::size_t tensor = 0; tensor < problem.tensors.size(); ++tensor) {
      const bool kept = (level.keeps >> tensor & 1) != 0;
      if (kept && (restricted.bypasses >> tensor & 1) != 0)
        return say(fmt::format("keeps {}, expected it to pass by", problem.tensors[tensor].name));
      if (!kept && (restricted.keeps >> tensor & 1) != 0)
        return say(fmt::format("lets {} pass by, expected it to be kept", problem.tensors[tensor].name));
    }
    if (auto what = block_violation(restricted.spatial, level.spatial, problem, true)) return say(*what);
    if (auto what = block_violation(restricted.temporal, level.temporal, problem, false)) return say(*what);
    for (std::size_t dim = 0; dim < problem.dims.size(); ++dim) macs *= level.spatial.factors[dim];
  }
  const double share = static_cast<double>(macs) / static_cast<double>(machine.mac.instances);
  if (share < restriction.least_parallelism) {
    return fmt::format("{} of {} MACs are in use, expected a share of at least {}", macs, machine.mac.instances,
                       restriction.least_parallelism);
  }
  return std::nullopt;
}

}  // namespace tilewright::hierarchy
