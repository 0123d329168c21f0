// Our own form of a machine with memory levels.
//
//   format: tilewright-accelerator-2
//   name: small
//   clock_ghz: 1
//   bits: {weights: 4, inputs: 8, outputs: 8, partial_sums: 32}    # of an element; without it, the words of each level
//   mac: {instances: 64, mesh_x: 8, word_bits: 8, energy_pj: 0.25}
//   levels:                                                        # the innermost first
//   - {name: registers, technology: registers, instances: 64, mesh_x: 8, capacity: 64, word_bits: 8}
//   - name: buffer
//     technology: sram
//     capacity: 65536                                              # words
//     word_bits: 8
//     block_size: 8                                                # words per access
//     bandwidth: {read: 64, write: 64}                             # words per cycle
//     energy_pj: {read: 12, fill: 13, update: 13}                  # of an access; or one number
//     network: {hop_pj: 0.05, router_pj: 0.1, multicast: true, links: true}
//     keep: [inputs, outputs]
//     bypass: [weights]
//   - {name: dram, technology: dram, word_bits: 8, block_size: 64, bandwidth: {shared: 16}}
#include "tilewright/hierarchy/machine_yaml.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/base/yaml.hpp"

namespace tilewright::hierarchy {
namespace {

constexpr std::string_view kFormat = "tilewright-accelerator-2";

// The map under `key`, or an empty one that stands for all defaults.
Result<Yaml> section(const Yaml& root, std::string_view key, std::initializer_list<std::string_view> keys) {
  const Yaml* found = root.find(key);
  if (found == nullptr) return Yaml{};
  TW_TRY(const Done known, found->only_keys(keys));
  return *found;
}

Result<std::optional<double>> maybe_number(const Yaml& node, std::string_view key) {
  if (node.find(key) == nullptr) return std::optional<double>{};
  TW_TRY(const double value, node.number(key, 0));
  return std::optional<double>{value};
}

Result<bool> truth(const Yaml& node, std::string_view key, bool otherwise) {
  const Yaml* found = node.find(key);
  if (found == nullptr) return otherwise;
  TW_TRY(const std::string word, found->as_text(key));
  if (word == "true" || word == "yes") return true;
  if (word == "false" || word == "no") return false;
  return found->error(fmt::format("{} is '{}', expected true or false", key, word));
}

Result<std::vector<TensorKind>> kinds(const Yaml& node, std::string_view key) {
  TW_TRY(const std::vector<Yaml> words, node.list(key));
  std::vector<TensorKind> kinds;
  for (const Yaml& given : words) {
    TW_TRY(const std::string word, given.as_text(key));
    const auto kind = named<TensorKind>(word);
    if (!kind) return given.error(fmt::format("{} is '{}', expected weights, inputs or outputs", key, word));
    kinds.push_back(*kind);
  }
  return kinds;
}

Result<AccessEnergy> energy_of(const Yaml& node, const StorageLevel& level, const ReferenceComponent* component) {
  const AccessEnergy table = component == nullptr || component->actions.empty()
                                 ? table_energy(level)
                                 : access_energy(*component, level.cluster_size);
  const Yaml* found = node.find("energy_pj");
  if (found == nullptr) return table;
  if (found->kind == Yaml::Kind::Scalar) {
    TW_TRY(const double access, found->as_number("energy_pj"));
    return AccessEnergy{{access}, {access}, {access}};
  }
  TW_TRY(const Done known, found->only_keys({"read", "fill", "update"}));
  TW_TRY(const double read, found->number("read", table.read.value));
  TW_TRY(const double fill, found->number("fill", table.fill.value));
  TW_TRY(const double update, found->number("update", table.update.value));
  return AccessEnergy{{read}, {fill}, {update}};
}

Result<StorageLevel> level_of(const Yaml& node, const EnergyReference* reference) {
  TW_TRY(const Done known,
         node.only_keys({"name", "technology", "instances", "mesh_x", "capacity", "word_bits", "block_size", "cluster_size",
                         "multiple_buffering", "min_utilization", "bandwidth", "overlap", "energy_pj", "network",
                         "leakage_pj", "area_um2", "keep", "bypass"}));
  StorageLevel level;
  TW_TRY(level.name, node.text("name"));
  TW_TRY(const std::string technology, node.text("technology", "sram"));
  const Result<Technology> found = named<Technology>(technology);
  if (!found) return node.find("technology")->error(found.error().message);
  level.technology = *found;
  TW_TRY(level.instances, node.integer("instances", 1));
  TW_TRY(level.mesh_x, node.integer("mesh_x", level.instances));
  if (node.find("capacity") != nullptr) {
    TW_TRY(level.capacity, node.integer("capacity"));
  }
  TW_TRY(level.word_bits, node.integer("word_bits", level.word_bits));
  TW_TRY(level.block_size, node.integer("block_size", 1));
  TW_TRY(level.cluster_size, node.integer("cluster_size", 1));
  TW_TRY(level.multiple_buffering, node.number("multiple_buffering", 1));
  TW_TRY(level.min_utilization, node.number("min_utilization", 0));
  TW_TRY(const Yaml bandwidth, section(node, "bandwidth", {"read", "write", "shared"}));
  TW_TRY(level.read_bandwidth, maybe_number(bandwidth, "read"));
  TW_TRY(level.write_bandwidth, maybe_number(bandwidth, "write"));
  TW_TRY(level.shared_bandwidth, maybe_number(bandwidth, "shared"));
  TW_TRY(level.overlaps, truth(node, "overlap", true));
  TW_TRY(const Yaml network, section(node, "network", {"hop_pj", "router_pj", "multicast", "links"}));
  TW_TRY(level.energy_per_hop.value, network.number("hop_pj", 0));
  TW_TRY(level.router_energy.value, network.number("router_pj", 0));
  TW_TRY(level.multicast, truth(network, "multicast", true));
  TW_TRY(level.links, truth(network, "links", true));
  const ReferenceComponent* component = reference == nullptr ? nullptr : reference->find(level.name);
  TW_TRY(level.leakage.value, node.number("leakage_pj", component == nullptr ? 0 : leakage(*component).value));
  TW_TRY(const std::optional<double> area, maybe_number(node, "area_um2"));
  if (component != nullptr) level.area = component->area;
  if (area) level.area = SquareMicrometres{*area};
  TW_TRY(level.keeps, kinds(node, "keep"));
  TW_TRY(level.bypasses, kinds(node, "bypass"));
  if (auto fault = fault_of(level)) return node.error(fmt::format("level '{}': {}", level.name, *fault));
  TW_TRY(level.energy, energy_of(node, level, component));
  if (auto fault = fault_of(level)) return node.error(fmt::format("level '{}': {}", level.name, *fault));
  return level;
}

Result<MacArray> mac_of(const Yaml& root, const EnergyReference* reference) {
  MacArray mac;
  const Yaml* node = root.find("mac");
  if (node == nullptr) return root.error("mac is missing, expected {instances: …}");
  TW_TRY(const Done known, node->only_keys({"name", "instances", "mesh_x", "word_bits", "energy_pj", "area_um2"}));
  TW_TRY(mac.name, node->text("name", "mac"));
  TW_TRY(mac.instances, node->integer("instances"));
  TW_TRY(mac.mesh_x, node->integer("mesh_x", mac.instances));
  TW_TRY(mac.word_bits, node->integer("word_bits", 16));
  const ReferenceComponent* component = reference == nullptr ? nullptr : reference->find(mac.name);
  const bool priced = component != nullptr && !component->actions.empty();
  TW_TRY(mac.energy.value, node->number("energy_pj", (priced ? mac_energy(*component) : table_energy(mac)).value));
  TW_TRY(const std::optional<double> area, maybe_number(*node, "area_um2"));
  if (component != nullptr) mac.area = component->area;
  if (area) mac.area = SquareMicrometres{*area};
  if (auto fault = fault_of(mac)) return node->error("mac: " + *fault);
  return mac;
}

std::string kind_list(std::string_view key, const std::vector<TensorKind>& kinds) {
  if (kinds.empty()) return "";
  std::vector<std::string> words;
  for (const TensorKind kind : kinds) words.emplace_back(name(kind));
  return fmt::format("  {}: [{}]\n", key, join(words, ", "));
}

std::string to_yaml(const StorageLevel& level) {
  std::string text = fmt::format("- name: {}\n  technology: {}\n  instances: {}\n  mesh_x: {}\n", yaml_scalar(level.name),
                                 name(level.technology), level.instances, level.mesh_x);
  if (level.capacity) text += fmt::format("  capacity: {}\n", *level.capacity);
  text += fmt::format("  word_bits: {}\n  block_size: {}\n", level.word_bits, level.block_size);
  if (level.cluster_size != 1) text += fmt::format("  cluster_size: {}\n", level.cluster_size);
  if (level.multiple_buffering != 1) text += fmt::format("  multiple_buffering: {}\n", level.multiple_buffering);
  if (level.min_utilization != 0) text += fmt::format("  min_utilization: {}\n", level.min_utilization);
  std::vector<std::string> parts;
  if (level.read_bandwidth) parts.push_back(fmt::format("read: {}", *level.read_bandwidth));
  if (level.write_bandwidth) parts.push_back(fmt::format("write: {}", *level.write_bandwidth));
  if (level.shared_bandwidth) parts.push_back(fmt::format("shared: {}", *level.shared_bandwidth));
  if (!parts.empty()) text += fmt::format("  bandwidth: {{{}}}\n", join(parts, ", "));
  if (!level.overlaps) text += "  overlap: false\n";
  text += fmt::format("  energy_pj: {{read: {}, fill: {}, update: {}}}\n", level.energy.read.value, level.energy.fill.value,
                      level.energy.update.value);
  text += fmt::format("  network: {{hop_pj: {}, router_pj: {}, multicast: {}, links: {}}}\n", level.energy_per_hop.value,
                      level.router_energy.value, level.multicast, level.links);
  if (level.leakage.value != 0) text += fmt::format("  leakage_pj: {}\n", level.leakage.value);
  if (level.area) text += fmt::format("  area_um2: {}\n", level.area->value);
  return text + kind_list("keep", level.keeps) + kind_list("bypass", level.bypasses);
}

}  // namespace

Result<Machine> machine_from_yaml(const std::string& text, const std::string& where, const EnergyReference* reference) {
  TW_TRY(const Yaml root, parse_yaml_document(text, where, kFormat));
  TW_TRY(const Done known, root.only_keys({"format", "name", "source", "clock_ghz", "bits", "mac", "levels"}));
  Machine machine;
  TW_TRY(machine.name, root.text("name", std::filesystem::path(where).stem().string()));
  TW_TRY(machine.source, root.text("source", ""));
  TW_TRY(machine.clock_ghz, root.number("clock_ghz", 1.0));
  TW_TRY(const Yaml bits, section(root, "bits", {"weights", "inputs", "outputs", "partial_sums"}));
  TW_TRY(machine.bits.weights, bits.integer("weights", 0));
  TW_TRY(machine.bits.inputs, bits.integer("inputs", 0));
  TW_TRY(machine.bits.outputs, bits.integer("outputs", 0));
  TW_TRY(machine.bits.partial_sums, bits.integer("partial_sums", machine.bits.outputs));
  TW_TRY(machine.mac, mac_of(root, reference));
  TW_TRY(const std::vector<Yaml> levels, root.list("levels"));
  for (const Yaml& node : levels) {
    TW_TRY(StorageLevel level, level_of(node, reference));
    machine.levels.push_back(std::move(level));
  }
  return check(std::move(machine), root.position());
}

std::string to_yaml(const Machine& machine) {
  std::string text = fmt::format("format: {}\nname: {}\n", kFormat, yaml_scalar(machine.name));
  if (!machine.source.empty()) text += fmt::format("source: {}\n", yaml_scalar(machine.source));
  text += fmt::format("clock_ghz: {}\n", machine.clock_ghz);
  const ElementBits& bits = machine.bits;
  if (bits != ElementBits{}) {
    text += fmt::format("bits: {{weights: {}, inputs: {}, outputs: {}, partial_sums: {}}}\n", bits.weights, bits.inputs,
                        bits.outputs, bits.partial_sums);
  }
  const MacArray& mac = machine.mac;
  text += fmt::format("mac:\n  name: {}\n  instances: {}\n  mesh_x: {}\n  word_bits: {}\n  energy_pj: {}\n",
                      yaml_scalar(mac.name), mac.instances, mac.mesh_x, mac.word_bits, mac.energy.value);
  if (mac.area) text += fmt::format("  area_um2: {}\n", mac.area->value);
  text += "levels:\n";
  for (const StorageLevel& level : machine.levels) text += to_yaml(level);
  return text;
}

}  // namespace tilewright::hierarchy
