#include "tilewright/space/hierarchy_outcome.hpp"

#include <fmt/format.h>

namespace tilewright {
namespace {

using hierarchy::Infeasible;

constexpr std::uint8_t kLevels = 64;  // room for the level beside the reason
constexpr std::uint8_t kMacs = kLevels - 1;
static_assert(hierarchy::kMostLevels < kMacs);

}  // namespace

std::optional<double> area_of(const hierarchy::Machine& machine) {
  if (!machine.mac.area) return std::nullopt;
  double sum = machine.mac.area->value * static_cast<double>(machine.mac.instances);
  for (const hierarchy::StorageLevel& level : machine.levels) {
    if (level.technology == hierarchy::Technology::Dram && !level.area) continue;  // another chip
    if (!level.area) return std::nullopt;
    sum += level.area->value * static_cast<double>(level.instances);
  }
  return sum;
}

Metrics metrics_of(const hierarchy::Cost& cost, std::int64_t computes, const hierarchy::Machine& machine) {
  const double cycles = static_cast<double>(cost.cycles.value);
  return {.latency = cycles,
          .energy = cost.energy.value * 1e-3,
          .area = area_of(machine),
          .power = cost.energy.value * machine.clock_ghz / cycles,
          .macs = static_cast<double>(computes),
          .pes = static_cast<double>(machine.mac.instances)};
}

Outcome outcome_of(const hierarchy::Evaluation& evaluation, std::int64_t computes, const hierarchy::Machine& machine) {
  if (const auto* infeasible = std::get_if<Infeasible>(&evaluation)) {
    const std::uint8_t level = infeasible->level == hierarchy::kMacLevel ? kMacs : infeasible->level;
    return {false, static_cast<std::uint8_t>(static_cast<std::uint8_t>(infeasible->reason) * kLevels + level), {}};
  }
  return {true, 0, metrics_of(std::get<hierarchy::Cost>(evaluation), computes, machine)};
}

std::string hierarchy_reason(std::uint8_t reason, const hierarchy::Machine& machine) {
  if (reason == kRestrictedReason) return "restricted";
  const std::uint8_t level = reason % kLevels;
  return fmt::format("{} of {}", name_of(static_cast<Infeasible::Reason>(reason / kLevels)),
                     level == kMacs ? machine.mac.name : machine.levels[level].name);
}

}  // namespace tilewright
