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
constexpr Share kMaestroLane{283, 1.2223};
constexpr Share kMaestroByte{0.104, 0.00345};

Share operator*(Share share, double count) { return {share.area * count, share.power * count}; }

}  // namespace

std::optional<AreaParts> area_of(const Accelerator& accelerator, Bytes l1, Bytes l2) {
  const AreaTable& table = accelerator.area;
  if (!table.known()) return std::nullopt;
  const auto pes = static_cast<double>(accelerator.pes);
  return AreaParts{.pe = *table.pe * (pes * static_cast<double>(accelerator.simd_lanes)),
                   .l1 = table.l1_byte.value_or(*table.buffer_byte) * (pes * static_cast<double>(l1.value)),
                   .l2 = *table.buffer_byte * static_cast<double>(l2.value),
                   .noc = {}};
}

Milliwatts power_of(Nanojoules energy, double cycles, const Accelerator& accelerator) {
  return Milliwatts{1000 * energy.value * accelerator.clock_ghz / cycles} + accelerator.leakage;
}

void set_area_and_power(Cost& cost, const Accelerator& accelerator) {
  if (const auto parts = area_of(accelerator, cost.l1, cost.l2)) {
    cost.area_parts = *parts;
    cost.area = parts->pe + parts->l1 + parts->l2;
  }
  const auto cycles = static_cast<double>(cost.runtime.value);
  const auto milliwatts = [&](Picojoules energy) { return Milliwatts{energy.value * accelerator.clock_ghz / cycles}; };
  cost.power_parts = {.pe = milliwatts(cost.energy_parts.mac),
                      .l1 = milliwatts(cost.energy_parts.l1),
                      .l2 = milliwatts(cost.energy_parts.l2),
                      .noc = {},
                      .leakage = accelerator.leakage};
  cost.power = power_of(cost.energy, cycles, accelerator);
}

void set_maestro_area_and_power(Cost& cost, const Accelerator& accelerator) {
  const double pes = static_cast<double>(accelerator.pes);
  const double bandwidth = static_cast<double>(accelerator.noc.bandwidth);
  const auto bytes = [](Bytes need) { return need.value == 0 ? 1.0 : static_cast<double>(need.value); };
  const Share mac = kMaestroLane * static_cast<double>(accelerator.simd_lanes);
  const Share l1 = kMaestroByte * bytes(cost.l1);
  const Share l2 = kMaestroByte * bytes(cost.l2);

  const double wires = 14.662 * pes + 28.895;
  const double arbiter = 1.2886 * (pes * pes) + 5.5814 * pes + -23.711;
  const Share noc{101.7938 * wires * bandwidth + std::max(395.473 * arbiter, 395.473),
                  0.8 * wires / 1000 * bandwidth + std::max(0.34 * arbiter / 1000, 0.34)};

  Share array = Share{mac.area + l1.area, mac.power + l1.power} * pes;
  double pe_power = mac.power * pes;
  double l1_power = l1.power * pes;
  if (accelerator.pes <= kMostSummedPes) {  // MAESTRO adds element by element, roundings included
    array = {};
    pe_power = l1_power = 0;
    for (std::int64_t pe = 0; pe < accelerator.pes; ++pe) {
      array.area += mac.area + l1.area;
      array.power += mac.power + l1.power;
      pe_power += mac.power;
      l1_power += l1.power;
    }
  }
  cost.area_parts = {{mac.area * pes}, {l1.area * pes}, {l2.area}, {noc.area}};
  cost.area = SquareMicrometres{array.area + l2.area + noc.area};
  cost.power_parts = {{pe_power}, {l1_power}, {l2.power}, {noc.power}, {}};
  cost.power = {array.power + l2.power + noc.power};
}

}  // namespace tilewright
