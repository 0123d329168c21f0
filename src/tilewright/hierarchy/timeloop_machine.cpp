// Timeloop's architecture: a tree whose nodes have local components, the outermost first, and one subtree.
#include <cctype>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/hierarchy/machine_yaml.hpp"
#include "tilewright/hierarchy/timeloop_keys.hpp"

namespace tilewright::hierarchy {
namespace {

enum class ComponentKind { Storage, Compute, Network, Other };

ComponentKind kind_of(const std::string& component_class) {
  const std::string word = lower(component_class);
  const auto has = [&](std::string_view part) { return word.find(part) != std::string::npos; };
  if (has("xy_noc") || has("legacy") || has("reductiontree") || has("simplemulticast")) return ComponentKind::Network;
  if (has("dram") || has("sram") || has("regfile") || has("smartbuffer") || has("storage")) return ComponentKind::Storage;
  if (has("mac") || has("compute")) return ComponentKind::Compute;
  return ComponentKind::Other;
}

// Attributes that change what the dense model counts and that we have no counterpart of. Timeloop's front end writes some of
// them with the value that changes nothing.
constexpr std::string_view kRefused[] = {
    "wire_energy",   "tile_width",   "network_fill_latency", "network_drain_latency", "allow_overbooking", "network_fill",
    "network_drain", "network_read", "network_update",       "fill_latency",          "drain_latency"};

Result<std::int64_t> whole(const Yaml& attributes, std::initializer_list<std::string_view> names, std::int64_t otherwise) {
  const Yaml* found = find_key(attributes, names);
  if (found == nullptr) return otherwise;
  return found->as_integer(*names.begin());
}

Result<std::optional<double>> real(const Yaml& attributes, std::initializer_list<std::string_view> names) {
  const Yaml* found = find_key(attributes, names);
  if (found == nullptr) return std::optional<double>{};
  TW_TRY(const double value, found->as_number(*names.begin()));
  return std::optional<double>{value};
}

// "pe[0..15]" -> {"pe", 16}.
struct Copies {
  std::string name;
  std::int64_t count = 1;
};

Result<Copies> copies_of(const Yaml& node) {
  const Yaml* found = find_key(node, {"name"});
  if (found == nullptr) return node.error("name is missing");
  if (found->kind != Yaml::Kind::Scalar) return found->error("name is no text, expected NAME or NAME[0..COUNT-1]");
  const std::string_view text = found->scalar;
  const std::vector<std::string_view> parts = split(text, '[');
  if (parts.size() == 1) return Copies{std::string(text), 1};
  const std::string_view range = parts[1];
  const std::size_t dots = range.find("..");
  if (parts.size() > 2 || dots == std::string_view::npos || !range.ends_with(']'))
    return found->error(fmt::format("name is '{}', expected NAME or NAME[0..COUNT-1]", text));
  const std::int64_t first = parse_integer(range.substr(0, dots)).value_or(-1);
  const std::int64_t last = parse_integer(range.substr(dots + 2, range.size() - dots - 3)).value_or(-1);
  if (first < 0 || last < first || last - first >= kMostMacs)
    return found->error(fmt::format("name is '{}', expected a range of at most {} copies", text, kMostMacs));
  return Copies{std::string(parts[0]), last - first + 1};
}

Result<Done> refuse_unknown(const Yaml& attributes) {
  for (const Yaml::Field& field : attributes.fields) {
    for (const std::string_view refused : kRefused) {
      const std::string& value = field.second.scalar;
      if (value == "false" || value == "null" || parse_real(value) == 0.0) continue;
      if (find_key(attributes, {refused}) == &field.second)
        return field.second.error(
            fmt::format("{} is not supported, expected energy_per_hop and router_energy at most", field.first));
    }
  }
  return Done{};
}

// The capacity and the block follow each other: `width` gives the block, `depth` counts blocks.
Result<Done> set_capacity(const Yaml& attributes, StorageLevel& level) {
  const Yaml* width = find_key(attributes, {"width", "memory_width"});
  if (find_key(attributes, {"block_size", "n_words"}) != nullptr) {
    TW_TRY(level.block_size, whole(attributes, {"block_size", "n_words"}, 1));
  } else if (width != nullptr) {
    TW_TRY(const std::int64_t bits, width->as_integer("width"));
    const std::int64_t word = std::max<std::int64_t>(1, level.word_bits) * std::max<std::int64_t>(1, level.cluster_size);
    if (bits < 1 || bits % word != 0)
      return width->error(
          fmt::format("width is {}, expected a multiple of the {} bits of a word of all copies", bits, word));
    level.block_size = bits / word;
  }
  if (find_key(attributes, {"entries"}) != nullptr) {
    TW_TRY(level.capacity, whole(attributes, {"entries"}, 0));
  } else if (const Yaml* depth = find_key(attributes, {"depth", "memory_depth"})) {
    TW_TRY(const std::int64_t blocks, depth->as_integer("depth"));
    std::int64_t words = 0;
    if (__builtin_mul_overflow(blocks, level.block_size, &words)) return depth->error("depth is too large");
    level.capacity = words;
  } else if (const Yaml* kibibytes = find_key(attributes, {"sizeKB"})) {
    TW_TRY(const std::int64_t size, kibibytes->as_integer("sizeKB"));
    if (size < 0 || size > (std::int64_t{1} << 40))
      return kibibytes->error(fmt::format("sizeKB is {}, expected 0 to 2^40", size));
    level.capacity = size * 1024 * 8 / std::max<std::int64_t>(1, level.word_bits);
  }
  return Done{};
}

Result<StorageLevel> storage_of(const Yaml& node, const Yaml& attributes, const std::string& name,
                                const std::string& component_class, std::int64_t copies,
                                const ReferenceComponent* component) {
  StorageLevel level;
  level.name = name;
  level.technology = component_class.find("DRAM") != std::string::npos             ? Technology::Dram
                     : lower(component_class).find("regfile") != std::string::npos ? Technology::Registers
                                                                                   : Technology::Sram;
  TW_TRY(level.instances, whole(attributes, {"instances"}, copies));
  TW_TRY(level.mesh_x, whole(attributes, {"meshX"}, level.instances));
  TW_TRY(level.word_bits, whole(attributes, {"word_bits", "word_width", "datawidth"}, 16));
  TW_TRY(level.cluster_size, whole(attributes, {"cluster_size"}, 1));
  if (level.word_bits > (1 << 16) || level.cluster_size > kMostMacs)
    return node.error(fmt::format("level '{}': word_bits or cluster_size is too large", name));
  TW_TRY(const Done capacity, set_capacity(attributes, level));
  TW_TRY(const std::optional<double> both, real(attributes, {"bandwidth"}));
  if (both) level.read_bandwidth = level.write_bandwidth = *both / 2;
  for (const auto& [key, into] :
       {std::pair<std::string_view, std::optional<double>*>{"read_bandwidth", &level.read_bandwidth},
        {"write_bandwidth", &level.write_bandwidth},
        {"shared_bandwidth", &level.shared_bandwidth}}) {
    TW_TRY(const std::optional<double> words, real(attributes, {key}));
    if (words) *into = words;
  }
  TW_TRY(const std::optional<double> buffering, real(attributes, {"multiple_buffering"}));
  TW_TRY(const std::optional<double> utilization, real(attributes, {"min_utilization"}));
  TW_TRY(const std::optional<double> hop, real(attributes, {"energy_per_hop"}));
  TW_TRY(const std::optional<double> router, real(attributes, {"router_energy"}));
  TW_TRY(const std::optional<double> access, real(attributes, {"vector_access_energy"}));
  level.multiple_buffering = buffering.value_or(1);
  level.min_utilization = utilization.value_or(0);
  level.energy_per_hop = {hop.value_or(0)};
  level.router_energy = {router.value_or(0)};
  const auto fault_at = [&](const std::string& fault) { return node.error(fmt::format("level '{}': {}", name, fault)); };
  if (auto fault = fault_of(level)) return fault_at(*fault);
  const bool priced = !access && component != nullptr && !component->actions.empty();
  level.energy = access ? AccessEnergy{{*access}, {*access}, {*access}} : table_energy(level);
  if (priced) level.energy = access_energy(*component, level.cluster_size);
  if (priced) level.leakage = leakage(*component);
  if (component != nullptr) level.area = component->area;
  if (auto fault = fault_of(level)) return fault_at(*fault);
  return level;
}

Result<MacArray> mac_of(const Yaml& node, const Yaml& attributes, const std::string& name, std::int64_t copies,
                        const ReferenceComponent* component) {
  MacArray mac;
  mac.name = name;
  TW_TRY(mac.instances, whole(attributes, {"instances"}, copies));
  TW_TRY(mac.mesh_x, whole(attributes, {"meshX"}, mac.instances));
  TW_TRY(mac.word_bits, whole(attributes, {"word_bits", "word_width", "datawidth"}, 16));
  if (auto fault = fault_of(mac)) return node.error(fmt::format("'{}': {}", name, *fault));
  TW_TRY(const std::optional<double> energy, real(attributes, {"energy"}));
  mac.energy = energy ? Picojoules{*energy} : table_energy(mac);
  if (component != nullptr && !component->actions.empty()) mac.energy = mac_energy(*component);
  if (component != nullptr) mac.area = component->area;
  if (auto fault = fault_of(mac)) return node.error(fmt::format("'{}': {}", name, *fault));
  return mac;
}

class TreeReader {
 public:
  explicit TreeReader(const EnergyReference* tables) : reference(tables) {}

  // One component or node of the flat form; its attributes are its own fields or those under `attributes`.
  Result<Done> component(const Yaml& node, std::int64_t copies) {
    TW_TRY(const Copies own, copies_of(node));
    const auto& [name, count] = own;
    const Yaml* class_node = find_key(node, {"class", "technology"});
    std::string component_class = "storage";
    if (class_node != nullptr) {
      TW_TRY(component_class, class_node->as_text("class"));
    }
    const Yaml* attributes = find_key(node, {"attributes"});
    const Yaml& given = attributes == nullptr ? node : *attributes;
    TW_TRY(const Done known, refuse_unknown(given));
    if (copies > kMostMacs / count)
      return node.error(fmt::format("there are more than {} copies, expected at most that", kMostMacs));
    switch (kind_of(component_class)) {
      case ComponentKind::Storage: {
        TW_TRY(StorageLevel level, storage_of(node, given, name, component_class, copies * count, priced(name)));
        if (machine.levels.size() == kMostLevels)
          return node.error(fmt::format("there are more than {} storage levels, expected at most that", kMostLevels));
        machine.levels.insert(machine.levels.begin(), std::move(level));
        return Done{};
      }
      case ComponentKind::Compute: {
        if (has_mac) return node.error("a second compute component, expected one");
        TW_TRY(machine.mac, mac_of(node, given, name, copies * count, priced(name)));
        has_mac = true;
        return Done{};
      }
      case ComponentKind::Network:
        return node.error(fmt::format("class '{}' is a network of its own, which is not supported", component_class));
      case ComponentKind::Other:
        return Done{};
    }
    return Done{};
  }

  Result<Done> tree(const Yaml& node, std::int64_t copies) {
    if (const Yaml* local = find_key(node, {"local"})) {
      for (const Yaml& item : local->items) {
        TW_TRY(const Done read, component(item, copies));
      }
    }
    const Yaml* subtree = find_key(node, {"subtree"});
    if (subtree == nullptr) return Done{};
    if (subtree->kind != Yaml::Kind::List || subtree->items.size() != 1)
      return subtree->error("subtree has several entries, expected one");
    const Yaml& inside = subtree->items[0];
    TW_TRY(const Copies own, copies_of(inside));
    if (copies > kMostMacs / own.count)
      return inside.error(fmt::format("there are more than {} copies, expected at most that", kMostMacs));
    return tree(inside, copies * own.count);
  }

  const ReferenceComponent* priced(const std::string& name) const {
    return reference == nullptr ? nullptr : reference->find(name);
  }

  const EnergyReference* reference;
  Machine machine;
  bool has_mac = false;
};

}  // namespace

Result<Machine> machine_from_timeloop(const std::string& text, const std::string& where, const EnergyReference* reference) {
  TW_TRY(const Yaml root, parse_yaml(text, where));
  TW_TRY(const std::optional<EnergyReference> own, energy_reference_in(root));
  TreeReader reader(reference == nullptr && own ? &*own : reference);
  const Yaml* place = nullptr;
  if (const Yaml* architecture = find_key(root, {"architecture"})) {
    place = architecture;
    if (const Yaml* nodes = find_key(*architecture, {"nodes"}))
      return nodes->error("nodes are of version 0.4, expected a tree of version 0.3 as its front end writes it");
    TW_TRY(const Done read, reader.tree(*architecture, 1));
  } else if (const Yaml* arch = find_key(root, {"arch"})) {
    place = arch;
    const Yaml* storage = find_key(*arch, {"storage"});
    const Yaml* arithmetic = find_key(*arch, {"arithmetic"});
    if (storage == nullptr || storage->kind != Yaml::Kind::List)
      return arch->error("storage is missing, expected a list of levels");
    if (arithmetic == nullptr || arithmetic->kind != Yaml::Kind::Map)
      return arch->error("arithmetic is missing, expected the MACs");
    for (std::size_t at = storage->items.size(); at-- > 0;) {  // the innermost first, where a tree has it last
      TW_TRY(const Done read, reader.component(storage->items[at], 1));
    }
    const Yaml* name = find_key(*arithmetic, {"name"});
    TW_TRY(const std::string mac_name, name == nullptr ? Result<std::string>("mac") : name->as_text("name"));
    TW_TRY(reader.machine.mac, mac_of(*arithmetic, *arithmetic, mac_name, 1, reader.priced(mac_name)));
    reader.has_mac = true;
  } else {
    return root.error("neither architecture nor arch is there, expected one of them");
  }
  if (!reader.has_mac)
    return place->error("there is no compute component, expected one whose class contains mac or compute");
  reader.machine.name = std::filesystem::path(where).stem().string();
  return check(std::move(reader.machine), place->position());
}

}  // namespace tilewright::hierarchy
