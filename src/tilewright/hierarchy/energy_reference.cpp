#include "tilewright/hierarchy/energy_reference.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/hierarchy/timeloop_keys.hpp"

namespace tilewright::hierarchy {
namespace {

// "chip.pe[0..15].L1[1..168]" -> "L1".
std::string_view last_part(std::string_view name) {
  if (name.ends_with(']')) name = name.substr(0, name.rfind('['));
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

Result<double> energy_in(const Yaml& action) {
  const Yaml* energy = find_key(action, {"energy"});
  if (energy == nullptr) return action.error("energy is missing, expected pJ of the action");
  TW_TRY(const double value, energy->as_number("energy"));
  if (!(value >= 0) || value > 1e15) return energy->error(fmt::format("energy is {}, expected 0 to 1e15 pJ", value));
  return value;
}

void add(ReferenceComponent& component, const std::string& action, double energy) {
  double& most = component.actions[action];
  most = std::max(most, energy);
}

// Versions 0.3 and later: [{name, arguments, energy}, …].
Result<Done> add_listed(ReferenceComponent& component, const Yaml& actions) {
  for (const Yaml& action : actions.items) {
    TW_TRY(const std::string name, action.text("name"));
    TW_TRY(const double energy, energy_in(action));
    add(component, name, energy);
  }
  return Done{};
}

// Version 0.2: {read: {energy}} or {read: [{arguments, energy}, …]}.
Result<Done> add_mapped(ReferenceComponent& component, const Yaml& actions) {
  for (const Yaml::Field& action : actions.fields) {
    const bool several = action.second.kind == Yaml::Kind::List;
    for (const Yaml& one : several ? action.second.items : std::vector<Yaml>{action.second}) {
      TW_TRY(const double energy, energy_in(one));
      add(component, action.first, energy);
    }
  }
  return Done{};
}

// Two components that end alike are told apart by nobody.
Result<ReferenceComponent*> new_component(EnergyReference& reference, const std::string& name, const Yaml& place,
                                          bool (*has)(const ReferenceComponent&)) {
  ReferenceComponent& component = reference.components[std::string(last_part(name))];
  if (!has(component)) return &component;
  return place.error(fmt::format("a second component '{}', expected names that differ in their last part", last_part(name)));
}

Result<Done> read_energies(EnergyReference& reference, const Yaml& ert) {
  const Yaml* tables = find_key(ert, {"tables"});
  if (tables == nullptr) return ert.error("tables is missing, expected the components with their actions");
  const auto has = [](const ReferenceComponent& component) { return !component.actions.empty(); };
  for (const Yaml::Field& table : tables->fields) {
    TW_TRY(ReferenceComponent* const component, new_component(reference, table.first, table.second, has));
    TW_TRY([[maybe_unused]] const Done read, add_mapped(*component, table.second));
  }
  for (const Yaml& table : tables->items) {
    TW_TRY(const std::string name, table.text("name"));
    TW_TRY(ReferenceComponent* const component, new_component(reference, name, table, has));
    const Yaml* actions = find_key(table, {"actions"});
    if (actions == nullptr) return table.error(fmt::format("component '{}' has no actions, expected a list", name));
    TW_TRY([[maybe_unused]] const Done read, add_listed(*component, *actions));
  }
  return Done{};
}

Result<Done> read_areas(EnergyReference& reference, const Yaml& art) {
  TW_TRY(const std::vector<Yaml> tables, art.list("tables"));
  for (const Yaml& table : tables) {
    TW_TRY(const std::string name, table.text("name"));
    TW_TRY(ReferenceComponent* const component,
           new_component(reference, name, table, [](const ReferenceComponent& known) { return known.area.has_value(); }));
    TW_TRY(const double area, table.number("area", 0));
    if (!(area >= 0) || area > 1e15) return table.error(fmt::format("area is {}, expected 0 to 1e15 um²", area));
    component->area = SquareMicrometres{area};
  }
  return Done{};
}

double most_expensive(const ReferenceComponent& component) {
  double most = 0;
  for (const auto& [action, energy] : component.actions) most = std::max(most, energy);
  return most;
}

// The first of the actions that is there.
double energy_of(const ReferenceComponent& component, std::initializer_list<std::string_view> actions, double otherwise) {
  for (const std::string_view action : actions) {
    const auto found = component.actions.find(action);
    if (found != component.actions.end()) return found->second;
  }
  return otherwise;
}

}  // namespace

const ReferenceComponent* EnergyReference::find(std::string_view component) const {
  const auto found = components.find(component);
  return found == components.end() ? nullptr : &found->second;
}

Result<std::optional<EnergyReference>> energy_reference_in(const Yaml& root) {
  const Yaml *ert = find_key(root, {"ERT"}), *art = find_key(root, {"ART"});
  if (ert == nullptr && art == nullptr) return std::optional<EnergyReference>{};
  EnergyReference reference;
  if (ert != nullptr) {
    TW_TRY([[maybe_unused]] const Done read, read_energies(reference, *ert));
  }
  if (art != nullptr) {
    TW_TRY([[maybe_unused]] const Done read, read_areas(reference, *art));
  }
  return std::optional(std::move(reference));
}

Result<EnergyReference> energy_reference_from_yaml(const std::string& text, const std::string& where) {
  TW_TRY(const Yaml root, parse_yaml(text, where));
  TW_TRY(std::optional<EnergyReference> reference, energy_reference_in(root));
  if (!reference) return root.error("neither ERT nor ART is there, expected Accelergy's tables of energies or areas");
  return *std::move(reference);
}

AccessEnergy access_energy(const ReferenceComponent& component, std::int64_t cluster_size) {
  const double otherwise = most_expensive(component) / static_cast<double>(cluster_size);
  return {{energy_of(component, {"random_read", "read"}, otherwise)},
          {energy_of(component, {"random_fill", "random_write", "fill", "write"}, otherwise)},
          {energy_of(component, {"random_update", "random_write", "update", "write"}, otherwise)}};
}

Picojoules leakage(const ReferenceComponent& component) { return {energy_of(component, {"leak"}, 0)}; }

Picojoules mac_energy(const ReferenceComponent& component) {
  return {energy_of(component, {"mac_random", "mult_random", "mac", "mult", "compute"}, most_expensive(component))};
}

}  // namespace tilewright::hierarchy
