#include "random_question.hpp"

#include <algorithm>

namespace tilewright::optimum {
namespace {

using hierarchy::Machine;
using hierarchy::Problem;
using hierarchy::StorageLevel;
using hierarchy::TensorMask;

Problem random_problem(Rng& rng) {
  const char* names[] = {"conv", "conv", "dwconv", "gconv", "gemm", "bgemm"};
  const hierarchy::Shape shape = *hierarchy::shape_named(names[rng.below(6)]);
  const std::int64_t sizes[] = {2, 3, 4, 2, 3, 6};
  std::vector<std::int64_t> bounds(shape.dims.size(), 1);
  int primes = static_cast<int>(rng.between(3, 6));
  while (primes > 0) {
    const auto dim = static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(bounds.size())));
    if (bounds[dim] > 1) {
      --primes;  // now and then there are fewer
      continue;
    }
    bounds[dim] = sizes[rng.below(6)];
    primes -= bounds[dim] == 4 || bounds[dim] == 6 ? 2 : 1;
  }
  hierarchy::NamedNumbers named, coefficients;
  for (std::size_t dim = 0; dim < bounds.size(); ++dim) named.emplace_back(std::string(1, shape.dims[dim]), bounds[dim]);
  for (const auto& [name, otherwise] : shape.coefficients)
    coefficients.emplace_back(name, rng.below(2) == 0 ? 1 : rng.between(1, 3));
  return *hierarchy::problem_of(shape, named, coefficients, "random");
}

void set_level(Rng& rng, StorageLevel& level, bool outermost) {
  level.technology = outermost ? hierarchy::Technology::Dram : hierarchy::Technology::Sram;
  if (!outermost && rng.below(3) > 0) level.capacity = rng.below(12) == 0 ? rng.between(0, 1) : rng.between(2, 40);
  level.word_bits = std::int64_t{8} << rng.below(2);
  level.block_size = rng.between(1, 3);
  if (rng.below(4) == 0) level.multiple_buffering = 2;
  if (rng.below(2) == 0) level.read_bandwidth = 0.25 * static_cast<double>(rng.between(1, 12));
  if (rng.below(2) == 0) level.write_bandwidth = 0.25 * static_cast<double>(rng.between(1, 12));
  if (rng.below(4) == 0) level.shared_bandwidth = 0.25 * static_cast<double>(rng.between(1, 12));
  const double scale = outermost ? 20 : 1;
  level.energy = {{scale * rng.uniform()}, {scale * rng.uniform()}, {scale * rng.uniform()}};
  if (rng.below(5) == 0) level.energy_per_hop = {rng.uniform()};
  if (rng.below(5) == 0) level.router_energy = {rng.uniform()};
  if (rng.below(5) == 0) level.leakage = {0.2 * rng.uniform()};
  level.multicast = rng.below(5) > 0;
  level.links = rng.below(3) > 0;
  level.overlaps = rng.below(4) > 0;
  if (!outermost && level.capacity && rng.below(8) == 0) level.min_utilization = 0.3 * rng.uniform();
}

Machine random_machine(Rng& rng) {
  Machine machine;
  machine.name = "random";
  const auto levels = static_cast<std::size_t>(rng.between(2, 4));
  machine.levels.resize(levels);
  std::int64_t columns = 1, rows = 1;
  int spreads = 0;
  for (std::size_t index = levels; index-- > 0;) {
    StorageLevel& level = machine.levels[index];
    level.name = "level" + std::to_string(index);
    level.instances = columns * rows;
    level.mesh_x = columns;
    set_level(rng, level, index + 1 == levels);
    if (rng.below(3) == 0) level.cluster_size = level.instances;
    if (spreads < 2 && rng.below(2) == 0) {
      columns *= rng.between(1, 4);
      rows *= rng.between(1, 3);
      ++spreads;
    }
  }
  machine.mac.instances = columns * rows;
  machine.mac.mesh_x = columns;
  machine.mac.energy = {rng.uniform()};
  const std::int64_t sums[] = {16, 0, 4};
  if (rng.below(2) == 0) machine.bits = {4, 8, 8, sums[rng.below(3)]};
  return *hierarchy::check(std::move(machine), "random");
}

}  // namespace

RandomQuestion random_question(Rng& rng) {
  RandomQuestion made;
  made.problem = random_problem(rng);
  made.machine = random_machine(rng);
  made.judge = rng.below(2) == 0 ? hierarchy::Judge::Timeloop : hierarchy::Judge::Hierarchy;
  made.restriction = restriction_of(made.machine, made.problem);
  const auto all = static_cast<TensorMask>((1u << made.problem.tensors.size()) - 1);
  for (std::size_t level = 0; level + 1 < made.machine.levels.size(); ++level) {
    hierarchy::LevelRestriction& rule = made.restriction.levels[level];
    // One tensor may be left free.
    const auto free = static_cast<TensorMask>(rng.below(3) == 0 ? 1u << rng.below(3) : 0u);
    rule.keeps = static_cast<TensorMask>(rng.below(8) & ~free);
    rule.bypasses = static_cast<TensorMask>(all & ~rule.keeps & ~free);
    for (std::uint8_t dim = 0; dim < made.problem.dims.size(); ++dim) {
      if (rng.below(10) == 0) rule.temporal.exactly[dim] = 1;
      if (rng.below(10) == 0) rule.spatial.at_most[dim] = 2;
      if (rng.below(12) == 0 && rule.temporal.outermost.empty()) rule.temporal.outermost.push_back(dim);
    }
    if (rng.below(8) == 0) {
      const auto dim = static_cast<std::uint8_t>(rng.below(static_cast<std::int64_t>(made.problem.dims.size())));
      if (std::ranges::find(rule.temporal.outermost, dim) == rule.temporal.outermost.end())
        rule.temporal.innermost.push_back(dim);
    }
  }
  if (rng.below(10) == 0) made.restriction.least_parallelism = 0.5;
  return made;
}

}  // namespace tilewright::optimum
