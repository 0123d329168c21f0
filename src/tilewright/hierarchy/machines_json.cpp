#include <cmath>

#include <fmt/format.h>

#include "tilewright/base/json_place.hpp"
#include "tilewright/hierarchy/timeloop_records.hpp"

namespace tilewright::hierarchy {
namespace {

Result<std::int64_t> whole(const JsonPlace& place, const std::string& key, std::int64_t least) {
  TW_TRY(const JsonPlace member, place.member(key));
  return member.integer(least, kMostCount);
}

Result<double> real(const JsonPlace& place, const std::string& key) {
  TW_TRY(const JsonPlace member, place.member(key));
  return member.number();
}

Result<std::optional<double>> bandwidth(const JsonPlace& place, const std::string& key) {
  const auto member = place.find(key);
  if (!member || member->json->is_null()) return std::optional<double>{};
  TW_TRY(const double words, member->number());
  return std::optional<double>{words};
}

Result<StorageLevel> level_of(const JsonPlace& place) {
  StorageLevel level;
  TW_TRY(const JsonPlace name, place.member("name"));
  TW_TRY(level.name, name.text());
  TW_TRY(const JsonPlace dram, place.member("dram"));
  TW_TRY(const bool is_dram, dram.truth());
  level.technology = is_dram ? Technology::Dram : Technology::Sram;
  TW_TRY(level.instances, whole(place, "instances", 1));
  TW_TRY(level.mesh_x, whole(place, "meshX", 1));
  TW_TRY(level.word_bits, whole(place, "word_bits", 1));
  TW_TRY(level.block_size, whole(place, "block_size", 1));
  TW_TRY(level.cluster_size, whole(place, "cluster_size", 1));
  TW_TRY(level.read_bandwidth, bandwidth(place, "read_bandwidth"));
  TW_TRY(level.write_bandwidth, bandwidth(place, "write_bandwidth"));
  TW_TRY(level.shared_bandwidth, bandwidth(place, "shared_bandwidth"));
  TW_TRY(const double access, real(place, "vector_energy"));
  level.energy = {{access}, {access}, {access}};
  TW_TRY(level.energy_per_hop.value, real(place, "energy_per_hop"));
  TW_TRY(level.router_energy.value, real(place, "router_energy"));
  // What a mapping may use is all that counts here; how the capacity came to it does not.
  const auto usable = place.find("effective_capacity_words");
  const auto capacity = usable ? usable : place.find("capacity_words");
  if (capacity && !capacity->json->is_null()) {
    TW_TRY(level.capacity, capacity->integer(0, kMostCount));
  }
  if (const auto share = place.find("min_utilization")) {
    TW_TRY(level.min_utilization, share->number());
  }
  return level;
}

Result<Machine> machine_of(const std::string& name, const JsonPlace& place) {
  Machine machine;
  machine.name = name;
  TW_TRY(const JsonPlace mac, place.member("mac"));
  TW_TRY(machine.mac.instances, whole(mac, "instances", 1));
  TW_TRY(machine.mac.mesh_x, whole(mac, "meshX", 1));
  TW_TRY(machine.mac.word_bits, whole(mac, "word_bits", 1));
  TW_TRY(machine.mac.energy.value, real(mac, "energy"));
  TW_TRY(const JsonPlace levels, place.member("levels"));
  TW_TRY(const std::vector<JsonPlace> listed, levels.elements());
  for (const JsonPlace& given : listed) {
    TW_TRY(StorageLevel level, level_of(given));
    machine.levels.push_back(std::move(level));
  }
  return check(std::move(machine), place.path);
}

}  // namespace

Result<Machines> machines_from_json(const std::string& text, const std::string& where) {
  TW_TRY(const nlohmann::json json, parse_json(text, where));
  const JsonPlace root = JsonPlace::root(json, where);
  if (!json.is_object() || json.empty()) return root.wrong("an object of machines by name");
  Machines machines;
  for (const auto& [name, value] : json.items()) {
    TW_TRY(Machine machine, machine_of(name, {&value, root.path + name}));
    machines.emplace(name, std::move(machine));
  }
  return machines;
}

}  // namespace tilewright::hierarchy
