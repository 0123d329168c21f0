#include <algorithm>

#include "tilewright/space/codesign_space.hpp"
#include "tilewright/vta/generator_loops.hpp"
#include "tilewright/vta/timing_transfer.hpp"

namespace tilewright {
namespace {

constexpr double kRequest = 4;  // cycles of a read besides its latency

vta::Pace pace_of(const vta::Machine& machine, const vta::TimingOptions& timing) {
  return {.step = static_cast<double>(vta::timing::costs_of(machine, timing).core.gemm_step),
          .bus_bytes = static_cast<double>(timing.bus_bytes),
          .latency = static_cast<double>(timing.read_latency) + kRequest};
}

}  // namespace

std::optional<CodesignSpace::Estimated> CodesignSpace::estimated_best(PointView hardware) const {
  Point point(parameters_.size(), 0);
  std::ranges::copy(hardware.first(hardware_), point.begin());
  if (!site(point).encodable) return std::nullopt;
  const vta::Machine& machine = site(point).machine;
  const vta::ElementLoops loops = vta::element_loops(layer_, machine);
  const vta::Pace pace = pace_of(machine, options_.timing);

  std::vector<Choices> choices(parameters_.size());
  for (std::size_t parameter = hardware_; parameter < point.size(); ++parameter) {
    this->choices(point, parameter, choices[parameter]);
  }
  std::optional<Estimated> best;
  const auto visit = [&](const auto& deeper, std::size_t parameter) -> void {
    if (parameter == point.size()) {
      const vta::Schedule candidate = schedule(point);
      if (vta::misfit(loops, machine, candidate)) return;
      const double cycles = vta::estimated_cycles(loops, machine, vta::tiling(loops, machine, candidate), pace);
      if (!best || cycles < best->cycles) best = Estimated{point, cycles};
      return;
    }
    // The estimate sees only how many contexts there are, not whose.
    const std::int32_t count = parameter == hardware_ + 1 ? 1 : choices[parameter].count();
    for (std::int32_t n = 0; n < count; ++n) {
      point[parameter] = choices[parameter][n];
      deeper(deeper, parameter + 1);
    }
  };
  visit(visit, hardware_);
  return best;
}

}  // namespace tilewright
