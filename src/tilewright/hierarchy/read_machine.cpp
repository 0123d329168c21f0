#include <algorithm>
#include <filesystem>

#include "tilewright/base/file.hpp"
#include "tilewright/base/yaml.hpp"
#include "tilewright/hierarchy/machine_yaml.hpp"
#include "tilewright/zoo/zoo.hpp"

namespace tilewright::hierarchy {
namespace {

std::optional<std::int64_t> limit(std::int64_t value) {
  return value == kUnlimited ? std::nullopt : std::optional<std::int64_t>(value);
}

std::optional<double> rate(std::int64_t value) {
  return value == kUnlimited ? std::nullopt : std::optional<double>(static_cast<double>(value));
}

StorageLevel plain_level(const char* name, Picojoules access) {
  StorageLevel level;
  level.name = name;
  level.word_bits = 8;
  level.energy = {access, access, access};
  return level;
}

}  // namespace

Result<Machine> machine_of(const Accelerator& accelerator) {
  Machine machine;
  machine.name = accelerator.name;
  machine.source = accelerator.source;
  machine.clock_ghz = accelerator.clock_ghz;
  // Units of the innermost cluster stand below each other, clusters side by side.
  const std::int64_t rows = accelerator.clusters.empty() ? 1 : accelerator.clusters.back();
  const std::int64_t columns = accelerator.pes / std::max<std::int64_t>(1, rows);
  machine.mac.instances = accelerator.pes * accelerator.simd_lanes;
  machine.mac.mesh_x = columns * accelerator.simd_lanes;
  machine.mac.word_bits = 8;
  machine.mac.energy = accelerator.energy.mac;
  StorageLevel l1 = plain_level("L1", accelerator.energy.l1_access);
  l1.instances = accelerator.pes;
  l1.mesh_x = columns;
  l1.capacity = limit(accelerator.l1.value);
  StorageLevel l2 = plain_level("L2", accelerator.energy.l2_access);
  l2.capacity = limit(accelerator.l2.value);
  l2.read_bandwidth = l2.write_bandwidth = rate(accelerator.noc.bandwidth);
  l2.leakage = {accelerator.leakage.value / accelerator.clock_ghz};  // 1 mW at 1 GHz is 1 pJ per cycle
  StorageLevel dram = plain_level("DRAM", {0});
  dram.technology = Technology::Dram;
  dram.energy = table_energy(dram);
  dram.shared_bandwidth = rate(accelerator.offchip_bandwidth);
  machine.levels = {l1, l2, dram};
  return check(std::move(machine), accelerator.name);
}

Result<Machine> read_machine(const std::string& source) {
  const auto as_levels = [&]() -> Result<Machine> {
    TW_TRY(const Accelerator accelerator, read_accelerator(source));
    return machine_of(accelerator);
  };
  if (is_zoo_source(source)) {
    const Result<std::string> text = zoo_text("machines", std::string_view(source).substr(4));
    if (text) return machine_from_yaml(*text, source);
    const Result<std::string> older = zoo_text("accelerators", std::string_view(source).substr(4));
    return older ? as_levels() : text.error();
  }
  const std::string ending = std::filesystem::path(source).extension().string();
  if (ending == ".m" || ending == ".txt") return as_levels();
  TW_TRY(const std::string text, read_file(source));
  TW_TRY(const Yaml root, parse_yaml(text, source));
  if (root.find("architecture") != nullptr || root.find("arch") != nullptr) return machine_from_timeloop(text, source);
  const Yaml* format = root.find("format");
  if (format != nullptr && format->scalar == "tilewright-accelerator-1") return as_levels();
  return machine_from_yaml(text, source);
}

}  // namespace tilewright::hierarchy
