#include "tilewright/hierarchy/machine.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"

namespace tilewright::hierarchy {
namespace {

// "instances is 0, expected at least 1", or nothing.
std::optional<std::string> outside(std::string_view field, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value < least) return fmt::format("{} is {}, expected at least {}", field, value, least);
  if (value > most) return fmt::format("{} is {}, expected at most {}", field, value, most);
  return std::nullopt;
}

// Wide enough for any machine, and narrow enough that no sum or product of what is counted leaves a double.
std::optional<std::string> not_positive(std::string_view field, const std::optional<double>& value) {
  if (!value || (*value >= 1e-12 && *value <= 1e15)) return std::nullopt;
  return fmt::format("{} is {}, expected a number from 1e-12 to 1e15", field, *value);
}

std::optional<std::string> negative(std::string_view field, double value) {
  if (value >= 0 && value <= 1e15) return std::nullopt;
  return fmt::format("{} is {}, expected a number from 0 to 1e15", field, value);
}

std::optional<std::string> mesh_fault(std::int64_t instances, std::int64_t mesh_x) {
  if (auto fault = outside("instances", instances, 1, kMostMacs)) return fault;
  if (auto fault = outside("mesh_x", mesh_x, 1, instances)) return fault;
  if (instances % mesh_x != 0) return fmt::format("mesh_x is {}, expected a divisor of {}", mesh_x, instances);
  return std::nullopt;
}

constexpr std::int64_t kMostElementBits = 1024;

std::optional<std::string> bits_fault(const ElementBits& bits) {
  if (auto fault = outside("bits of weights", bits.weights, 0, kMostElementBits)) return fault;
  if (auto fault = outside("bits of inputs", bits.inputs, 0, kMostElementBits)) return fault;
  if (auto fault = outside("bits of outputs", bits.outputs, 0, kMostElementBits)) return fault;
  return outside("bits of partial_sums", bits.partial_sums, 0, kMostElementBits);
}

}  // namespace

std::optional<std::string> fault_of(const StorageLevel& level) {
  if (level.name.empty()) return "has no name";
  if (auto fault = mesh_fault(level.instances, level.mesh_x)) return fault;
  if (level.capacity) {
    if (auto fault = outside("capacity", *level.capacity, 0, kMostCount)) return fault;
  }
  if (auto fault = outside("word_bits", level.word_bits, 1, 1 << 16)) return fault;
  if (auto fault = outside("block_size", level.block_size, 1, 1 << 24)) return fault;
  if (auto fault = outside("cluster_size", level.cluster_size, 1, level.instances)) return fault;
  if (!(level.multiple_buffering >= 1 && level.multiple_buffering <= 1e6))
    return fmt::format("multiple_buffering is {}, expected a number from 1 to 1e6", level.multiple_buffering);
  if (!(level.min_utilization >= 0 && level.min_utilization <= 1))
    return fmt::format("min_utilization is {}, expected 0 to 1", level.min_utilization);
  if (auto fault = not_positive("read_bandwidth", level.read_bandwidth)) return fault;
  if (auto fault = not_positive("write_bandwidth", level.write_bandwidth)) return fault;
  if (auto fault = not_positive("shared_bandwidth", level.shared_bandwidth)) return fault;
  if (auto fault = negative("energy of a read", level.energy.read.value)) return fault;
  if (auto fault = negative("energy of a fill", level.energy.fill.value)) return fault;
  if (auto fault = negative("energy of an update", level.energy.update.value)) return fault;
  if (auto fault = negative("energy_per_hop", level.energy_per_hop.value)) return fault;
  if (auto fault = negative("router_energy", level.router_energy.value)) return fault;
  if (auto fault = negative("leakage", level.leakage.value)) return fault;
  if (level.area) {
    if (auto fault = negative("area", level.area->value)) return fault;
  }
  for (const TensorKind kept : level.keeps) {
    for (const TensorKind bypassed : level.bypasses) {
      if (kept == bypassed) return "a tensor is both kept and bypassed, expected one of them";
    }
  }
  return std::nullopt;
}

std::optional<std::string> fault_of(const MacArray& mac) {
  if (mac.name.empty()) return "has no name";
  if (auto fault = mesh_fault(mac.instances, mac.mesh_x)) return fault;
  if (auto fault = outside("word_bits", mac.word_bits, 1, 1 << 16)) return fault;
  if (mac.area) {
    if (auto fault = negative("area", mac.area->value)) return fault;
  }
  return negative("energy", mac.energy.value);
}

std::optional<std::int64_t> StorageLevel::usable() const {
  if (!capacity) return std::nullopt;
  return static_cast<std::int64_t>(std::floor(static_cast<double>(*capacity) / multiple_buffering));
}

std::int64_t Machine::fan_x(std::size_t level) const {
  return (level == 0 ? mac.mesh_x : levels[level - 1].mesh_x) / levels[level].mesh_x;
}

std::int64_t Machine::fan_y(std::size_t level) const {
  return (level == 0 ? mac.mesh_y() : levels[level - 1].mesh_y()) / levels[level].mesh_y();
}

std::optional<std::size_t> Machine::level_named(std::string_view level) const {
  for (std::size_t index = 0; index < levels.size(); ++index) {
    if (levels[index].name == level) return index;
  }
  return std::nullopt;
}

Result<Machine> check(Machine machine, const std::string& where) {
  if (machine.levels.empty()) return invalid(where + ": the machine has no storage level, expected at least one");
  if (machine.levels.size() > kMostLevels) {
    return invalid(fmt::format("{}: the machine has {} storage levels, expected at most {}", where, machine.levels.size(),
                               kMostLevels));
  }
  if (auto fault = fault_of(machine.mac)) return invalid(where + ": mac: " + *fault);
  if (auto fault = bits_fault(machine.bits)) return invalid(where + ": " + *fault);
  if (auto fault = not_positive("clock_ghz", machine.clock_ghz)) return invalid(where + ": " + *fault);
  for (std::size_t index = 0; index < machine.levels.size(); ++index) {
    const StorageLevel& level = machine.levels[index];
    const auto refuse = [&](const std::string& sentence) {
      return invalid(fmt::format("{}: level '{}': {}", where, level.name, sentence));
    };
    if (auto fault = fault_of(level)) return refuse(*fault);
    if (*machine.level_named(level.name) != index || level.name == machine.mac.name)
      return refuse("another level has that name, too");
    const std::int64_t inside_x = index == 0 ? machine.mac.mesh_x : machine.levels[index - 1].mesh_x;
    const std::int64_t inside_y = index == 0 ? machine.mac.mesh_y() : machine.levels[index - 1].mesh_y();
    if (inside_x % level.mesh_x != 0 || inside_y % level.mesh_y() != 0) {
      return refuse(fmt::format("a mesh of {} x {} does not divide that of the level inside, {} x {}", level.mesh_x,
                                level.mesh_y(), inside_x, inside_y));
    }
  }
  return machine;
}

Result<ElementBits> element_bits(std::string_view text, ElementBits bits) {
  const std::array<std::pair<std::string_view, std::int64_t*>, 4> fields = {{{"weights", &bits.weights},
                                                                             {"inputs", &bits.inputs},
                                                                             {"outputs", &bits.outputs},
                                                                             {"partial_sums", &bits.partial_sums}}};
  for (const std::string_view part : split(text, ',')) {
    const auto equals = part.find('=');
    const std::string_view word = trim(part.substr(0, equals));
    const auto field = std::ranges::find(fields, word, &std::pair<std::string_view, std::int64_t*>::first);
    if (equals == std::string_view::npos || field == fields.end()) {
      return invalid(
          fmt::format("--bits has '{}', expected weights=N, inputs=N, outputs=N or partial_sums=N", printable(part)));
    }
    const auto number = parse_integer(trim(part.substr(equals + 1)));
    if (!number || *number < 1 || *number > kMostElementBits) {
      return invalid(
          fmt::format("--bits: {} is '{}', expected 1 to {}", word, printable(part.substr(equals + 1)), kMostElementBits));
    }
    *field->second = *number;
  }
  return bits;
}

AccessEnergy table_energy(const StorageLevel& level) {
  const auto all = [](double energy) { return AccessEnergy{{energy}, {energy}, {energy}}; };
  if (level.technology == Technology::Dram)
    return all(200.0 * static_cast<double>(level.word_bits) * static_cast<double>(level.block_size) / 16.0);
  if (!level.capacity || *level.capacity == 0) return all(0);
  const double width = static_cast<double>(level.word_bits * level.block_size * level.cluster_size);
  const double height = static_cast<double>((*level.capacity + level.block_size - 1) / level.block_size);
  const double kibibytes = width * height / 8192.0;
  const double scale = 1.0 + (kibibytes - 0.5) * 5.0 / 99.5;
  return all(scale * width / 16.0 / static_cast<double>(level.cluster_size));
}

Picojoules table_energy(const MacArray& mac) {
  const double scale = static_cast<double>(mac.word_bits) / 16.0;
  return {scale * scale};
}

}  // namespace tilewright::hierarchy
