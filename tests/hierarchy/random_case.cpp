#include "random_case.hpp"

#include <algorithm>

namespace tilewright::hierarchy {
namespace {

Problem random_problem(Rng& rng) {
  for (;;) {
    const char* names[] = {"conv", "dwconv", "gemm", "bgemm"};
    const Shape shape = *shape_named(names[rng.below(4)]);
    NamedNumbers bounds, coefficients;
    std::int64_t points = 1;
    for (const char dim : shape.dims) {
      const std::int64_t bound = rng.below(3) == 0 ? 1 : rng.between(1, shape.dims.size() > 4 ? 5 : 9);
      bounds.emplace_back(std::string(1, dim), bound);
      points *= bound;
    }
    for (const auto& [name, otherwise] : shape.coefficients) coefficients.emplace_back(name, rng.between(1, 4));
    if (points <= 400) return *problem_of(shape, bounds, coefficients, "random");
  }
}

void shuffle(Rng& rng, Block& block, std::size_t dim_count) {
  for (std::size_t at = dim_count; at-- > 1;)
    std::swap(block.order[at], block.order[static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(at) + 1))]);
  block.split = static_cast<std::uint8_t>(rng.below(static_cast<std::int64_t>(dim_count) + 1));
}

// A factor of what is left of a dimension: a divisor, or any that leaves the least to do when it need not divide.
std::int64_t take(Rng& rng, std::int64_t& left, Factors factors) {
  if (left == 1 || rng.below(2) == 0) return 1;
  std::int64_t factor = rng.between(1, left);
  while (factors == Factors::Exact && left % factor != 0) --factor;
  left = (left + factor - 1) / factor;
  return factor;
}

}  // namespace

Case random_case(Rng& rng, Factors factors) {
  Case made;
  made.problem = random_problem(rng);
  const auto level_count = static_cast<std::size_t>(rng.between(2, 4));
  const std::size_t dim_count = made.problem.dims.size();
  for (std::size_t level = 0; level < level_count; ++level) made.mapping.levels.push_back({});
  for (std::size_t dim = 0; dim < dim_count; ++dim) {
    std::int64_t left = made.problem.bounds[dim];
    for (std::size_t level = 0; level < level_count; ++level) {
      LevelMapping& mapped = made.mapping.levels[level];
      if (rng.below(2) == 0) mapped.spatial.factors[dim] = take(rng, left, factors);
      mapped.temporal.factors[dim] = take(rng, left, factors);
    }
    made.mapping.levels.back().temporal.factors[dim] *= left;
  }
  // Every level is as wide as the mapping wants it.
  std::int64_t columns = 1, rows = 1;
  Machine& machine = made.machine;
  machine.name = "random";
  machine.levels.resize(level_count);
  for (std::size_t level = level_count; level-- > 0;) {
    LevelMapping& mapped = made.mapping.levels[level];
    shuffle(rng, mapped.spatial, dim_count);
    shuffle(rng, mapped.temporal, dim_count);
    mapped.keeps = static_cast<TensorMask>(level + 1 == level_count ? 0xff : rng.below(8));
    StorageLevel& storage = machine.levels[level];
    storage.name = "level" + std::to_string(level);
    storage.technology = level + 1 == level_count ? Technology::Dram : Technology::Sram;
    storage.instances = columns * rows;
    storage.mesh_x = columns;
    storage.word_bits = std::int64_t{8} << rng.below(3);
    storage.block_size = rng.between(1, 4);
    if (rng.below(2) == 0) storage.read_bandwidth = 0.25 * static_cast<double>(rng.between(1, 16));
    if (rng.below(2) == 0) storage.write_bandwidth = 0.25 * static_cast<double>(rng.between(1, 16));
    if (rng.below(4) == 0) storage.shared_bandwidth = 0.25 * static_cast<double>(rng.between(1, 16));
    storage.energy = {{rng.uniform()}, {rng.uniform()}, {rng.uniform()}};
    storage.energy_per_hop = {rng.uniform()};
    storage.router_energy = {rng.uniform()};
    for (std::size_t at = 0; at < dim_count; ++at) {
      const std::uint8_t dim = mapped.spatial.order[at];
      (at < mapped.spatial.split ? columns : rows) *= mapped.spatial.factors[dim];
    }
  }
  machine.mac.instances = columns * rows;
  machine.mac.mesh_x = columns;
  machine.mac.energy = {1};
  machine = *check(std::move(machine), "random");
  made.mapping = *check(made.mapping, made.problem, machine, factors, "random");
  return made;
}

}  // namespace tilewright::hierarchy
