#include "brute_force.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace tilewright::optimum {
namespace {

using hierarchy::Machine;
using hierarchy::Mapping;
using hierarchy::Problem;
using hierarchy::Restriction;

struct Walker {
  const Problem& problem;
  const Machine& machine;
  const Restriction& restriction;
  const std::function<bool(const Mapping&)>& visit;
  Mapping mapping = {};
  bool along_y[hierarchy::kMostLevels][hierarchy::kMostDims] = {};

  std::size_t dims() const { return problem.dims.size(); }
  std::size_t levels() const { return machine.levels.size(); }

  bool keeps(std::size_t level) {
    if (level == levels()) return factors(0, 0, problem.bounds[0]);
    const std::uint32_t all = (1u << problem.tensors.size()) - 1;
    for (std::uint32_t mask = 0; mask <= all; ++mask) {
      if (level + 1 == levels() && mask != all) continue;
      if ((mask & restriction.levels[level].bypasses) != 0) continue;
      if ((restriction.levels[level].keeps & all & ~mask) != 0) continue;
      mapping.levels[level].keeps = static_cast<hierarchy::TensorMask>(mask);
      if (!keeps(level + 1)) return false;
    }
    return true;
  }

  // Slots of a dimension: level 0 x, level 0 y, level 0 time, level 1 x, …
  bool factors(std::size_t dim, std::size_t slot, std::int64_t left) {
    if (slot == 3 * levels()) {
      if (left != 1) return true;
      return dim + 1 == dims() ? spatial_orders(0) : factors(dim + 1, 0, problem.bounds[dim + 1]);
    }
    const std::size_t level = slot / 3;
    hierarchy::LevelMapping& mapped = mapping.levels[level];
    const bool fans = machine.fan_x(level) * machine.fan_y(level) > 1;
    for (std::int64_t factor = 1; factor <= left; ++factor) {
      if (left % factor != 0) continue;
      if (slot % 3 == 2) {
        mapped.temporal.factors[dim] = factor;
      } else {
        if (factor > 1 && (!fans || (slot % 3 == 1 && mapped.spatial.factors[dim] > 1))) continue;
        if (slot % 3 == 0) {
          mapped.spatial.factors[dim] = factor;
          along_y[level][dim] = false;
        } else if (factor > 1) {
          mapped.spatial.factors[dim] = factor;
          along_y[level][dim] = true;
        }
      }
      const bool goes_on = factors(dim, slot + 1, left / factor);
      if (slot % 3 == 1 && factor > 1) mapped.spatial.factors[dim] = 1, along_y[level][dim] = false;
      if (slot % 3 == 0) mapped.spatial.factors[dim] = 1;
      if (slot % 3 == 2) mapped.temporal.factors[dim] = 1;
      if (!goes_on) return false;
    }
    return true;
  }

  void set_order(hierarchy::Block& block, const std::vector<std::uint8_t>& first) const {
    std::size_t at = 0;
    for (const std::uint8_t dim : first) block.order[at++] = dim;
    for (std::uint8_t dim = 0; dim < dims(); ++dim) {
      if (std::find(first.begin(), first.end(), dim) == first.end()) block.order[at++] = dim;
    }
  }

  bool spatial_orders(std::size_t level) {
    if (level == levels()) return temporal_orders(0);
    hierarchy::Block& block = mapping.levels[level].spatial;
    std::vector<std::uint8_t> x, y;
    for (std::uint8_t dim = 0; dim < dims(); ++dim) {
      if (block.factors[dim] > 1) (along_y[level][dim] ? y : x).push_back(dim);
    }
    do {
      do {
        std::vector<std::uint8_t> order = x;
        order.insert(order.end(), y.begin(), y.end());
        set_order(block, order);
        block.split = static_cast<std::uint8_t>(x.size());
        if (!spatial_orders(level + 1)) return false;
      } while (std::next_permutation(y.begin(), y.end()));
    } while (std::next_permutation(x.begin(), x.end()));
    return true;
  }

  bool temporal_orders(std::size_t level) {
    if (level == levels()) return violation(restriction, mapping, problem, machine) ? true : visit(mapping);
    hierarchy::Block& block = mapping.levels[level].temporal;
    std::vector<std::uint8_t> order;
    for (std::uint8_t dim = 0; dim < dims(); ++dim) {
      if (block.factors[dim] > 1) order.push_back(dim);
    }
    do {
      set_order(block, order);
      if (!temporal_orders(level + 1)) return false;
    } while (std::next_permutation(order.begin(), order.end()));
    return true;
  }
};

}  // namespace

void for_all_mappings(const Problem& problem, const Machine& machine, const Restriction& restriction,
                      const std::function<bool(const Mapping&)>& visit) {
  Walker walker{problem, machine, restriction, visit};
  for (std::size_t level = 0; level < machine.levels.size(); ++level) walker.mapping.levels.push_back({});
  walker.keeps(0);
}

std::optional<BruteForce> brute_force(const Problem& problem, const Machine& machine, hierarchy::Judge judge,
                                      const Restriction& restriction, std::int64_t most) {
  hierarchy::Evaluator evaluator(problem, machine, {.judge = judge});
  BruteForce found;
  found.latency = found.energy = found.edp = std::numeric_limits<double>::infinity();
  std::int64_t seen = 0;
  for_all_mappings(problem, machine, restriction, [&](const Mapping& mapping) {
    const auto evaluation = evaluator.evaluate(mapping);
    if (++seen > most) return false;
    if (const auto* cost = std::get_if<hierarchy::Cost>(&evaluation)) {
      ++found.mappings;
      found.latency = std::min(found.latency, static_cast<double>(cost->cycles.value));
      found.energy = std::min(found.energy, cost->energy.value);
      found.edp = std::min(found.edp, cost->edp());
    }
    return true;
  });
  return seen > most ? std::nullopt : std::optional(found);
}

}  // namespace tilewright::optimum
