// Our own form of an accelerator. A limit that is not given is no limit; an energy that is not given is MAESTRO's; an
// area that is not given is unknown.
//
//   format: tilewright-accelerator-1
//   name: eyeriss
//   pes: 168
//   clusters: [14]                # units per cluster, outermost first: 12 clusters of 14
//   l1_bytes: 512
//   l2_bytes: 110592
//   noc: {bandwidth: 64, hops: 1, hop_latency: 1}
//   offchip_bandwidth: 16
//   clock_ghz: 0.2
//   leakage_mw: 8
//   energy_pj: {mac: 0.23, l1_access: 0.39, l2_access: 4.28}
//   area: {pe_um2: 10300, buffer_byte_um2: 14.8, l1_byte_um2: 0}
#include <filesystem>

#include <fmt/format.h>

#include "tilewright/base/yaml.hpp"
#include "tilewright/hardware/accelerator.hpp"

namespace tilewright {
namespace {

constexpr std::string_view kFormat = "tilewright-accelerator-1";

// The map under `key`, or an empty one that stands for all defaults.
Result<Yaml> section(const Yaml& root, std::string_view key, std::initializer_list<std::string_view> keys) {
  const Yaml* found = root.find(key);
  if (found == nullptr) return Yaml{};
  TW_TRY(const Done known, found->only_keys(keys));
  return *found;
}

Result<Noc> noc_of(const Yaml& root) {
  TW_TRY(const Yaml node, section(root, "noc", {"bandwidth", "hops", "hop_latency"}));
  Noc noc;
  TW_TRY(const std::int64_t bandwidth, node.integer("bandwidth", noc.bandwidth));
  TW_TRY(const std::int64_t hops, node.integer("hops", noc.hops));
  TW_TRY(const std::int64_t hop_latency, node.integer("hop_latency", noc.hop_latency));
  return Noc{bandwidth, hops, hop_latency};
}

Result<EnergyTable> energy_of(const Yaml& root) {
  TW_TRY(const Yaml node, section(root, "energy_pj", {"mac", "l1_access", "l2_access"}));
  const EnergyTable table;
  TW_TRY(const double mac, node.number("mac", table.mac.value));
  TW_TRY(const double l1_access, node.number("l1_access", table.l1_access.value));
  TW_TRY(const double l2_access, node.number("l2_access", table.l2_access.value));
  return EnergyTable{{mac}, {l1_access}, {l2_access}};
}

Result<AreaTable> area_of(const Yaml& root) {
  TW_TRY(const Yaml node, section(root, "area", {"pe_um2", "buffer_byte_um2", "l1_byte_um2"}));
  AreaTable table;
  for (const auto& [key, figure] :
       {std::pair("pe_um2", &table.pe), {"buffer_byte_um2", &table.buffer_byte}, {"l1_byte_um2", &table.l1_byte}}) {
    if (node.find(key) == nullptr) continue;
    TW_TRY(const double value, node.number(key, 0));
    *figure = SquareMicrometres{value};
  }
  return table;
}

// The node of "noc.bandwidth", or the nearest one above it that is there.
const Yaml& node_at(const Yaml& root, std::string_view field) {
  const auto dot = field.find('.');
  const Yaml* node = root.find(field.substr(0, dot));
  if (node == nullptr) return root;
  return dot == std::string_view::npos ? *node : node_at(*node, field.substr(dot + 1));
}

// "l1_bytes: 512\n", or nothing for a number without a limit.
std::string limit_line(std::string_view key, std::int64_t value) {
  return value == kUnlimited ? "" : fmt::format("{}: {}\n", key, value);
}

std::string to_yaml(const AreaTable& area) {
  std::string text;
  for (const auto& [key, figure] :
       {std::pair("pe_um2", area.pe), {"buffer_byte_um2", area.buffer_byte}, {"l1_byte_um2", area.l1_byte}}) {
    if (figure) text += fmt::format("  {}: {}\n", key, figure->value);
  }
  return text.empty() ? "" : "area:\n" + text;
}

}  // namespace

Result<Accelerator> accelerator_from_yaml(const std::string& text, const std::string& where) {
  TW_TRY(const Yaml root, parse_yaml_document(text, where, kFormat));
  TW_TRY(const Done known,
         root.only_keys({"format", "name", "source", "pes", "clusters", "l1_bytes", "l2_bytes", "noc", "offchip_bandwidth",
                         "simd_lanes", "clock_ghz", "leakage_mw", "energy_pj", "area"}));
  const Accelerator defaults;
  TW_TRY(const std::string name, root.text("name", std::filesystem::path(where).stem().string()));
  TW_TRY(const std::string source, root.text("source", ""));
  TW_TRY(const std::int64_t pes, root.integer("pes"));
  TW_TRY(const std::vector<Yaml> sizes, root.list("clusters"));
  std::vector<std::int64_t> clusters;
  for (const Yaml& size : sizes) {
    TW_TRY(const std::int64_t units, size.as_integer("size of a cluster"));
    clusters.push_back(units);
  }
  TW_TRY(const std::int64_t l1, root.integer("l1_bytes", defaults.l1.value));
  TW_TRY(const std::int64_t l2, root.integer("l2_bytes", defaults.l2.value));
  TW_TRY(const Noc noc, noc_of(root));
  TW_TRY(const std::int64_t offchip_bandwidth, root.integer("offchip_bandwidth", defaults.offchip_bandwidth));
  TW_TRY(const std::int64_t simd_lanes, root.integer("simd_lanes", defaults.simd_lanes));
  TW_TRY(const double clock_ghz, root.number("clock_ghz", defaults.clock_ghz));
  TW_TRY(const double leakage, root.number("leakage_mw", defaults.leakage.value));
  TW_TRY(const EnergyTable energy, energy_of(root));
  TW_TRY(const AreaTable area, area_of(root));
  const Accelerator accelerator{.name = name,
                                .source = source,
                                .pes = pes,
                                .clusters = clusters,
                                .l1 = {l1},
                                .l2 = {l2},
                                .noc = noc,
                                .offchip_bandwidth = offchip_bandwidth,
                                .simd_lanes = simd_lanes,
                                .clock_ghz = clock_ghz,
                                .leakage = {leakage},
                                .energy = energy,
                                .area = area};
  if (const auto fault = fault_of(accelerator))
    return node_at(root, fault->field).error(fmt::format("{} {}", fault->field, fault->sentence));
  return accelerator;
}

std::string to_yaml(const Accelerator& accelerator) {
  const auto& [mac, l1_access, l2_access] = accelerator.energy;
  std::string text = fmt::format("format: {}\nname: {}\n", kFormat, yaml_scalar(accelerator.name));
  if (!accelerator.source.empty()) text += fmt::format("source: {}\n", yaml_scalar(accelerator.source));
  text += fmt::format("pes: {}\n", accelerator.pes);
  if (!accelerator.clusters.empty()) text += fmt::format("clusters: [{}]\n", fmt::join(accelerator.clusters, ", "));
  text += limit_line("l1_bytes", accelerator.l1.value);
  text += limit_line("l2_bytes", accelerator.l2.value);
  text += "noc:\n";
  if (accelerator.noc.bandwidth != kUnlimited) text += fmt::format("  bandwidth: {}\n", accelerator.noc.bandwidth);
  text += fmt::format("  hops: {}\n  hop_latency: {}\n", accelerator.noc.hops, accelerator.noc.hop_latency);
  text += limit_line("offchip_bandwidth", accelerator.offchip_bandwidth);
  text += fmt::format("simd_lanes: {}\nclock_ghz: {}\n", accelerator.simd_lanes, accelerator.clock_ghz);
  if (accelerator.leakage.value > 0) text += fmt::format("leakage_mw: {}\n", accelerator.leakage.value);
  text +=
      fmt::format("energy_pj:\n  mac: {}\n  l1_access: {}\n  l2_access: {}\n", mac.value, l1_access.value, l2_access.value);
  return text + to_yaml(accelerator.area);
}

}  // namespace tilewright
