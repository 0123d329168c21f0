#include "tilewright/cost/area.hpp"

#include <algorithm>

namespace tilewright {
namespace {

// Above this the sum of equal terms is a product: the real program would run out of memory long before.
constexpr std::int64_t kMostSummedPes = std::int64_t{1} << 20;

struct Share {
  double area = 0;
  double power = 0;
};

}  // namespace

void set_area_and_power(Cost& cost, const Accelerator& accelerator, Model model) {
  const double pes = static_cast<double>(accelerator.pes);
  const double lanes = static_cast<double>(accelerator.simd_lanes);
  // No wires carry an unlimited bandwidth: the sound model sizes such a network for what the mapping needs, like the
  // buffers.
  const bool sized_by_need = !is_maestro(model) && accelerator.noc.bandwidth >= kUnlimited;
  const double bandwidth =
      static_cast<double>(sized_by_need ? std::max<std::int64_t>(1, cost.peak_bandwidth) : accelerator.noc.bandwidth);
  const AreaTable& table = accelerator.area;

  const auto bytes = [](Bytes need) { return need.value == 0 ? 1.0 : static_cast<double>(need.value); };
  const Share mac{table.pe.value * lanes, table.pe_power.value * lanes};
  const Share l1{table.buffer_byte.value * bytes(cost.l1), table.buffer_byte_power.value * bytes(cost.l1)};
  const Share l2{table.buffer_byte.value * bytes(cost.l2), table.buffer_byte_power.value * bytes(cost.l2)};

  const double wires = 14.662 * pes + 28.895;
  const double arbiter = 1.2886 * (pes * pes) + 5.5814 * pes + -23.711;
  const Share noc{101.7938 * wires * bandwidth + std::max(395.473 * arbiter, 395.473),
                  0.8 * wires / 1000 * bandwidth + std::max(0.34 * arbiter / 1000, 0.34)};

  Share array{(mac.area + l1.area) * pes, (mac.power + l1.power) * pes};
  double pe_power = mac.power * pes;
  double l1_power = l1.power * pes;
  if (is_maestro(model) && accelerator.pes <= kMostSummedPes) {  // MAESTRO adds element by element, roundings included
    array = {};
    pe_power = l1_power = 0;
    for (std::int64_t pe = 0; pe < accelerator.pes; ++pe) {
      array.area += mac.area + l1.area;
      array.power += mac.power + l1.power;
      pe_power += mac.power;
      l1_power += l1.power;
    }
  }
  cost.area = {array.area + l2.area + noc.area};
  cost.power = {array.power + l2.power + noc.power};
  cost.power_parts = {{pe_power}, {l1_power}, {l2.power}, {noc.power}};
}

}  // namespace tilewright
