// The sound model's checks: counts that cannot be true, and limits of the machine.
#pragma once

#include <array>
#include <optional>

#include "tilewright/cost/cost.hpp"
#include "tilewright/hardware/accelerator.hpp"

namespace tilewright {

// The first audit rule `cost` breaks: (a) counted MACs are the true ones, (b) all of them reach the processing elements,
// (c) no more than PEs x SIMD lanes of them happen in one cycle.
std::optional<Infeasible> audit(const Cost& cost, Macs true_macs, const Accelerator& accelerator);

// A limit of the machine and what the mapping asks of it.
struct Limit {
  Infeasible::Reason reason;
  std::int64_t need = 0;
  std::int64_t limit = 0;
  bool broken() const { return need > limit; }
};
std::array<Limit, 4> limits(const Cost& cost, const Accelerator& accelerator);

}  // namespace tilewright
