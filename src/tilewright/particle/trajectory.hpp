// Recorded trajectories of the original packages (JSON, or gzip'ed JSON named *.gz), stepped again with our physics. The
// form of the files is in trajectory_file.hpp.
//
// Equal means the same bits. One thing in a recording depends on the machine it was made on: NumPy's exp, which prey outside
// the arena are charged by, is the C library's, except on processors with AVX-512, where its last bits differ; record with
// NPY_DISABLE_CPU_FEATURES="AVX512F AVX512CD AVX512_SKX" there.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "tilewright/base/result.hpp"

namespace tilewright {

struct Trajectory;

struct ReplayVerdict {
  std::string scenario;
  std::string dialect;
  std::size_t steps = 0;
  std::size_t numbers = 0;  // compared
  // "step 7: agent 2 vel[0] is 0.1, recorded 0.2" (step 0 is the start); empty when all are equal to the last bit.
  std::string first_difference;
};

// A file that is not a trajectory is an Error; a difference is not.
Result<ReplayVerdict> replay_trajectory(const std::filesystem::path& path);
ReplayVerdict replay(const Trajectory& trajectory);

}  // namespace tilewright
