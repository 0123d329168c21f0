// A network and a machine that studies are done with in no time.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tilewright/hierarchy/machine_yaml.hpp"
#include "tilewright/study/any_job.hpp"
#include "tilewright/study/run_context.hpp"

namespace tilewright {

// Three distinct layers of four; the second occurs twice.
inline Network tiny_network() {
  return *network_from_yaml(
      "format: tilewright-network-1\nname: tiny\nlayers:\n"
      "  - {name: conv1, op: conv, in: [8, 12, 12], out: 16, kernel: 3, stride: 2}\n"
      "  - {name: conv2, op: depthwise, in: [16, 10, 10], kernel: 3, count: 2}\n"
      "  - {name: fc, op: fc, in: 64, out: 40}\n",
      "tiny.yaml");
}

inline Accelerator small_machine() { return *read_accelerator("zoo:gamma-edge"); }

inline MappingJob tiny_job(ThreadPool& threads, const MappingOptions& options = {}) {
  Result<MappingJob> job = mapping_job(tiny_network(), small_machine(), options, threads);
  EXPECT_TRUE(job) << job.error().message;
  return std::move(job).value();
}

// The same layers on a machine with memory levels.
inline HierarchyJob tiny_levels_job(ThreadPool& threads, const MappingOptions& options = {}) {
  Result<HierarchyJob> job = hierarchy_job(tiny_network(), *hierarchy::read_machine("zoo:eyeriss-dram"), options, threads);
  EXPECT_TRUE(job) << job.error().message;
  return std::move(job).value();
}

}  // namespace tilewright
