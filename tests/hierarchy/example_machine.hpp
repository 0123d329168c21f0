// The machine, problem and mapping that docs/hierarchy.md works through by hand.
#pragma once

#include "tilewright/hierarchy/evaluator.hpp"

namespace tilewright::hierarchy {

// 16 PEs in a mesh of 4 x 4: registers, a shared buffer, DRAM.
inline Machine example_machine() {
  Machine machine;
  machine.name = "example";
  machine.mac.instances = 16;
  machine.mac.mesh_x = 4;
  machine.mac.energy = table_energy(machine.mac);
  StorageLevel l1, l2, dram;
  l1.name = "L1";
  l1.technology = Technology::Registers;
  l1.instances = 16;
  l1.mesh_x = 4;
  l1.capacity = 32;
  l2.name = "L2";
  l2.capacity = 32768;
  l2.block_size = 4;
  l2.read_bandwidth = l2.write_bandwidth = 16;
  dram.name = "DRAM";
  dram.technology = Technology::Dram;
  dram.block_size = 4;
  dram.read_bandwidth = dram.write_bandwidth = 8;
  machine.levels = {l1, l2, dram};
  for (StorageLevel& level : machine.levels) level.energy = table_energy(level);
  return *check(machine, "example");
}

inline Problem example_problem() {
  return *problem_of(*shape_named("gemm"), {{"M", 64}, {"N", 64}, {"K", 32}}, {}, "example");
}

inline Block block(const Problem& problem, std::array<std::int64_t, 3> factors, std::string_view order,
                   std::uint8_t split = 3) {
  Block block;
  for (std::size_t dim = 0; dim < 3; ++dim) block.factors[dim] = factors[dim];
  for (std::size_t at = 0; at < 3; ++at) block.order[at] = *problem.dim_named(order[at]);
  block.split = split;
  return block;
}

// DRAM: M4 | L2: M2, N8, K8 | over the PEs: N4 on Y, M4 on X | L1: N2, M2, K4. B passes L2 by.
inline Mapping example_mapping() {
  const Problem problem = example_problem();
  Mapping mapping;
  for (int level = 0; level < 3; ++level) mapping.levels.push_back({});
  mapping.levels[0].temporal = block(problem, {2, 2, 4}, "KMN");
  mapping.levels[1].spatial = block(problem, {4, 4, 1}, "MNK", 1);
  mapping.levels[1].temporal = block(problem, {2, 8, 8}, "KNM");
  mapping.levels[1].keeps = 0b101;
  mapping.levels[2].temporal = block(problem, {4, 1, 1}, "MNK");
  return *check(mapping, problem, example_machine(), Factors::Exact, "example");
}

}  // namespace tilewright::hierarchy
