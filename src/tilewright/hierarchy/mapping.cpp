#include "tilewright/hierarchy/mapping.hpp"

#include <numeric>

#include <fmt/format.h>

namespace tilewright::hierarchy {
namespace {

std::optional<std::string> block_fault(const Block& block, const Problem& problem) {
  std::uint32_t seen = 0;
  const std::size_t dim_count = problem.dims.size();
  for (std::size_t at = 0; at < dim_count; ++at) {
    const std::uint8_t dim = block.order[at];
    if (dim >= dim_count || (seen >> dim & 1) != 0) return "the order is not one of " + problem.dims;
    seen |= std::uint32_t{1} << dim;
    if (block.factors[at] < 1) {
      return fmt::format("the factor of {} is {}, expected at least 1", problem.dims[at], block.factors[at]);
    }
  }
  return std::nullopt;
}

}  // namespace

Block::Block() {
  factors.fill(1);
  std::iota(order.begin(), order.end(), std::uint8_t{0});
}

Result<Mapping> check(Mapping mapping, const Problem& problem, const Machine& machine, Factors factors,
                      const std::string& where) {
  if (mapping.levels.size() != machine.levels.size()) {
    return invalid(fmt::format("{}: the mapping has {} levels, expected the {} of the machine", where, mapping.levels.size(),
                               machine.levels.size()));
  }
  std::array<std::int64_t, kMostDims> product;
  product.fill(1);
  TensorMask kept = 0;
  for (std::size_t index = 0; index < mapping.levels.size(); ++index) {
    const LevelMapping& level = mapping.levels[index];
    kept |= level.keeps;
    for (const Block* block : {&level.spatial, &level.temporal}) {
      if (auto fault = block_fault(*block, problem)) {
        return invalid(fmt::format("{}: level '{}': {}", where, machine.levels[index].name, *fault));
      }
      for (std::size_t dim = 0; dim < problem.dims.size(); ++dim) {
        if (__builtin_mul_overflow(product[dim], block->factors[dim], &product[dim])) product[dim] = -1;
        if (product[dim] < 1 || product[dim] > kMostCount) {
          return invalid(fmt::format("{}: the factors of {} multiply to more than 2^53, expected {}", where,
                                     problem.dims[dim], problem.bounds[dim]));
        }
      }
    }
  }
  std::int64_t points = 1;
  for (std::size_t dim = 0; dim < problem.dims.size(); ++dim) {
    if (__builtin_mul_overflow(points, product[dim], &points) || points > kMostCount)
      return invalid(where + ": all factors multiply to more than 2^53, expected at most that");
  }
  for (std::size_t dim = 0; dim < problem.dims.size(); ++dim) {
    const bool right = factors == Factors::Exact ? product[dim] == problem.bounds[dim] : product[dim] >= problem.bounds[dim];
    if (!right) {
      return invalid(fmt::format("{}: the factors of {} multiply to {}, expected {}{}", where, problem.dims[dim],
                                 product[dim], factors == Factors::Exact ? "" : "at least ", problem.bounds[dim]));
    }
  }
  for (std::size_t tensor = 0; tensor < problem.tensors.size(); ++tensor) {
    if ((kept >> tensor & 1) == 0)
      return invalid(
          fmt::format("{}: no level keeps tensor '{}', expected at least one", where, problem.tensors[tensor].name));
  }
  return mapping;
}

Mapping outermost_mapping(const Problem& problem, const Machine& machine) {
  Mapping mapping;
  for (std::size_t index = 0; index < machine.levels.size(); ++index) mapping.levels.push_back({});
  for (std::size_t dim = 0; dim < problem.dims.size(); ++dim)
    mapping.levels.back().temporal.factors[dim] = problem.bounds[dim];
  return mapping;
}

}  // namespace tilewright::hierarchy
