#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
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

// The machine, whose source says what the tables priced; an Error when they were meant for another one.
Result<Machine> named_by(const EnergyReference* reference, Result<Machine> machine, const std::string& where) {
  if (reference == nullptr || !machine) return machine;
  std::vector<std::string> names{machine->mac.name}, priced;
  for (const StorageLevel& level : machine->levels) names.push_back(level.name);
  std::ranges::copy_if(names, std::back_inserter(priced),
                       [&](const std::string& name) { return reference->find(name) != nullptr; });
  if (priced.empty()) {
    return invalid(fmt::format("{}: has no component of the machine {}, expected some of {}", where,
                               printable(machine->name), join(names, ", ")));
  }
  Machine told = *std::move(machine);
  told.source += fmt::format("{}{} of Accelergy for {}", told.source.empty() ? "" : "; ",
                             std::filesystem::path(where).filename().string(), join(priced, ", "));
  return told;
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

Result<Machine> read_machine(const std::string& source, const std::string& energies) {
  const auto as_levels = [&]() -> Result<Machine> {
    if (!energies.empty()) {
      return invalid(fmt::format("{}: names energies of levels, but {} gives its own, expected a machine with memory levels",
                                 energies, printable(source)));
    }
    TW_TRY(const Accelerator accelerator, read_accelerator(source));
    return machine_of(accelerator);
  };
  std::optional<EnergyReference> reference;
  if (!energies.empty()) {
    TW_TRY(const std::string tables, read_file(energies));
    TW_TRY(reference, energy_reference_from_yaml(tables, energies));
  }
  const EnergyReference* const known = reference ? &*reference : nullptr;
  if (is_zoo_source(source)) {
    const Result<std::string> text = zoo_text("machines", std::string_view(source).substr(4));
    if (text) return named_by(known, machine_from_yaml(*text, source, known), energies);
    const Result<std::string> older = zoo_text("accelerators", std::string_view(source).substr(4));
    return older ? as_levels() : text.error();
  }
  const std::string ending = std::filesystem::path(source).extension().string();
  if (ending == ".m" || ending == ".txt") return as_levels();
  TW_TRY(const std::string text, read_file(source));
  TW_TRY(const Yaml root, parse_yaml(text, source));
  if (root.find("architecture") != nullptr || root.find("arch") != nullptr) {
    return named_by(known, machine_from_timeloop(text, source, known), energies);
  }
  const Yaml* format = root.find("format");
  if (format != nullptr && format->scalar == "tilewright-accelerator-1") return as_levels();
  return named_by(known, machine_from_yaml(text, source, known), energies);
}

}  // namespace tilewright::hierarchy
