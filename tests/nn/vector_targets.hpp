// Runs a piece of work once per kind of vector instructions that this processor has and we compile for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <hwy/detect_targets.h>
#include <hwy/targets.h>

namespace tilewright {

struct VectorTarget {
  std::int64_t bit;
  std::string name;
  bool has_fma;  // all of these give the same bits
};

inline std::vector<VectorTarget> vector_targets() {
  std::vector<VectorTarget> all;
  const std::vector<VectorTarget> known = {
      {HWY_AVX3, "AVX3", true}, {HWY_AVX2, "AVX2", true}, {HWY_SSE4, "SSE4", false}, {HWY_SCALAR, "scalar", false}};
  for (const VectorTarget& target : known)
    if (target.bit == HWY_SCALAR || (hwy::SupportedTargets() & target.bit) != 0) all.push_back(target);
  return all;
}

// Calls work(target) for each; afterwards the best one is in use again.
template <typename Work>
void for_each_vector_target(const Work& work) {
  for (const VectorTarget& target : vector_targets()) {
    hwy::SetSupportedTargetsForTest(target.bit);
    hwy::GetChosenTarget().Update(target.bit);
    work(target);
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

}  // namespace tilewright
