// Accelergy's answers, as Timeloop reads them: energy per action (ERT, versions 0.2 to 0.4) and area (ART) of components.
//
//   ERT: {version: 0.4, tables: [{name: "chip.pe[0..15].L1", actions: [{name: read, energy: 0.2}, …]}]}
//   ART: {version: 0.4, tables: [{name: "chip.pe[0..15].L1", area: 120.5}]}
//
// A component is known by the last part of its name, without the range. An action that is there several times, for other
// arguments, costs the most of them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "tilewright/base/yaml.hpp"
#include "tilewright/hierarchy/machine.hpp"

namespace tilewright::hierarchy {

struct ReferenceComponent {
  std::map<std::string, double, std::less<>> actions;  // pJ
  std::optional<SquareMicrometres> area;               // of one copy
};

struct EnergyReference {
  std::map<std::string, ReferenceComponent, std::less<>> components;

  // Null when the tables do not have it.
  const ReferenceComponent* find(std::string_view component) const;
};

// The tables of a file that has `ERT:`, `ART:` or both.
Result<EnergyReference> energy_reference_from_yaml(const std::string& text, const std::string& where);
// Of a document that may have none of them.
Result<std::optional<EnergyReference>> energy_reference_in(const Yaml& root);

// Of one access: a read is `random_read` or `read`, a fill or update its own action or a write. What is not there costs what
// the most expensive action does, shared by the copies of a cluster.
AccessEnergy access_energy(const ReferenceComponent& component, std::int64_t cluster_size);
// Per copy and cycle.
Picojoules leakage(const ReferenceComponent& component);
Picojoules mac_energy(const ReferenceComponent& component);

}  // namespace tilewright::hierarchy
