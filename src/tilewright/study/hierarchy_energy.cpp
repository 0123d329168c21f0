#include "tilewright/study/hierarchy_energy.hpp"

#include <algorithm>

namespace tilewright {

std::vector<EnergyPart> energy_parts(const hierarchy::Analysis& analysis, const hierarchy::Problem& problem,
                                     const hierarchy::Machine& machine) {
  std::vector<EnergyPart> parts;
  for (std::size_t index = machine.levels.size(); index-- > 0;) {
    const hierarchy::StorageLevel& storage = machine.levels[index];
    const hierarchy::LevelAnalysis& level = analysis.levels[index];
    Picojoules tensors;
    for (std::size_t tensor = 0; tensor < problem.tensors.size(); ++tensor) {
      if (!level.tensors[tensor].kept) continue;
      tensors += level.tensors[tensor].energy;
      parts.push_back({storage.name, problem.tensors[tensor].name, level.tensors[tensor].energy, level.tensors[tensor],
                       problem.tensors[tensor].kind});
    }
    if (level.network_energy.value > 0) parts.push_back({storage.name, "network", level.network_energy});
    if (storage.leakage.value > 0) parts.push_back({storage.name, "leakage", {level.energy.value - tensors.value}});
  }
  parts.push_back({machine.mac.name, "computing", analysis.mac_energy});
  return parts;
}

void add_parts(std::vector<EnergyPart>& sums, const std::vector<EnergyPart>& parts, double count) {
  for (const EnergyPart& part : parts) {
    const std::string what = part.kind ? std::string(name(*part.kind)) : part.what;
    const auto same =
        std::ranges::find_if(sums, [&](const EnergyPart& sum) { return sum.level == part.level && sum.what == what; });
    if (same != sums.end()) {
      same->energy += part.energy * count;
      continue;
    }
    const auto last = std::ranges::find(sums.rbegin(), sums.rend(), part.level, &EnergyPart::level);
    sums.insert(last == sums.rend() ? sums.end() : last.base(), {part.level, what, part.energy * count, {}, part.kind});
  }
}

}  // namespace tilewright
