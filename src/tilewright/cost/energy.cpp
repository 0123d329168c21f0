#include "tilewright/cost/energy.hpp"

namespace tilewright {
namespace {

constexpr double kMacNanojoules = 0.00023;
constexpr double kL1Multiplier = 1.68;
constexpr double kL2Multiplier = 18.61;

const Traffic& of(const Cost& cost, Operand operand) { return cost.traffic[static_cast<std::size_t>(operand)]; }

std::int64_t l1_accesses(const Cost& cost) {
  std::int64_t sum = 0;
  for (const Traffic& traffic : cost.traffic) sum += traffic.l1_read + traffic.l1_write;
  return sum;
}

}  // namespace

EnergyParts sound_energy(const Cost& cost, const EnergyTable& table) {
  std::int64_t l2 = 0;
  for (const Traffic& traffic : cost.traffic) l2 += traffic.l2_read + traffic.l2_write;
  return {table.mac * static_cast<double>(cost.macs.value), table.l1_access * static_cast<double>(l1_accesses(cost)),
          table.l2_access * static_cast<double>(l2)};
}

// Terms are added one by one, in the real program's order: the printed sixth digit depends on it.
Nanojoules maestro_energy(const Cost& cost, const Cost* previous) {
  double energy = 0;
  const auto add_l1 = [&](const Cost& layer) {
    for (const Traffic& traffic : layer.traffic) {
      energy += static_cast<double>(traffic.l1_read) * kL1Multiplier;
      energy += static_cast<double>(traffic.l1_write) * kL1Multiplier;
    }
  };
  if (!cost.flat && previous != nullptr) add_l1(*previous);
  for (const Operand operand : {Operand::Input, Operand::Weight}) {
    energy += static_cast<double>(of(cost, operand).l2_read) * kL2Multiplier;
    energy += static_cast<double>(of(cost, operand).l2_write) * kL2Multiplier;
  }
  energy += static_cast<double>(of(cost, Operand::Output).l2_write) * kL2Multiplier;
  if (cost.flat) add_l1(cost);
  return {energy * kMacNanojoules};
}

}  // namespace tilewright
