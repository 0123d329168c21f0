#include "tilewright/vta/cost.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tilewright::vta {
namespace {

// Picojoules at 45 nm.
constexpr double kMultiplyAdd = 0.3;       // 8-bit multiply 0.2, 32-bit add 0.1
constexpr double kAluOperation = 0.1;      // 32-bit add
constexpr double kSramByte = 10.0 / 8;     // of a RAM of 8 KiB, 64 bits wide
constexpr double kSramByteDepth = 1024;    // elements of that RAM
constexpr double kDramByte = 1300.0 / 8;   // 64 bits in a burst
constexpr double kIdleNanowattPerBit = 5;  // and per what is as large as a bit

double width_bits(const Machine& machine, Buffer buffer) {
  return 8.0 * static_cast<double>(element_bytes(machine, buffer));
}

double buffer_area(const Machine& machine, Buffer buffer, const AreaRates& rates) {
  const double width = width_bits(machine, buffer);
  return width * std::max(static_cast<double>(depth(machine, buffer)), rates.ram_depth);
}

}  // namespace

Area area_of(const Machine& machine, const AreaRates& rates) {
  Area area;
  area.macs = rates.mac * static_cast<double>(machine.macs_per_step());
  area.alu = rates.alu_lane * static_cast<double>(machine.batch() * machine.block_out());
  area.uop = buffer_area(machine, Buffer::Uop, rates);
  area.inp = buffer_area(machine, Buffer::Inp, rates);
  area.wgt = buffer_area(machine, Buffer::Wgt, rates);
  area.acc = buffer_area(machine, Buffer::Acc, rates);
  area.out = buffer_area(machine, Buffer::Out, rates);
  return area;
}

double relative_area(const Machine& machine, const AreaRates& rates) {
  return area_of(machine, rates).total() / area_of(Machine{}, rates).total();
}

double access_picojoules(const Machine& machine, Buffer buffer) {
  return kSramByte * std::sqrt(static_cast<double>(depth(machine, buffer)) / kSramByteDepth);
}

double idle_watts(const Machine& machine) { return area_of(machine).total() * kIdleNanowattPerBit * 1e-9; }

Energy energy_of(const Timing& timing, const Machine& machine, const PhysicalOptions& options) {
  const auto gemm = static_cast<double>(timing.gemm_steps), reset = static_cast<double>(timing.reset_steps);
  const auto alu = static_cast<double>(timing.alu_steps), tensor = static_cast<double>(timing.alu_tensor_steps);
  const auto element = [&](Buffer buffer) {
    return static_cast<double>(element_bytes(machine, buffer)) * access_picojoules(machine, buffer);
  };
  // A step reads its micro-op and its operands; GEMM and ALU write the accumulator and, but for a reset, its copy in OUT.
  double sram = (gemm + reset + alu) * element(Buffer::Uop);
  sram += gemm * (element(Buffer::Inp) + element(Buffer::Wgt));
  sram += (2 * gemm + reset + 2 * alu + tensor) * element(Buffer::Acc);
  sram += (gemm + alu) * element(Buffer::Out);
  auto dram_bytes = static_cast<double>(timing.fetch_bytes);
  for (const Buffer buffer : {Buffer::Uop, Buffer::Wgt, Buffer::Inp, Buffer::Acc, Buffer::Out, Buffer::Acc8}) {
    const auto bytes = static_cast<double>(timing.bytes[static_cast<std::size_t>(buffer)]);
    dram_bytes += bytes;
    const double widened = buffer == Buffer::Acc8 ? 4 : 1;
    sram += widened * bytes * access_picojoules(machine, buffer);
  }
  Energy energy;
  energy.macs = 1e-3 * gemm * static_cast<double>(machine.macs_per_step()) * kMultiplyAdd;
  energy.alu = 1e-3 * alu * static_cast<double>(machine.batch() * machine.block_out()) * kAluOperation;
  energy.sram = 1e-3 * sram;
  energy.dram = 1e-3 * dram_bytes * kDramByte;
  energy.idle = 1e3 * idle_watts(machine) * static_cast<double>(timing.cycles) / options.clock_mhz;  // W us = 1000 nJ
  return energy;
}

Result<PhysicalOptions> check(const PhysicalOptions& options) {
  if (!(options.clock_mhz > 0 && options.clock_mhz <= 1e6)) {
    return invalid(fmt::format("--clock-mhz is {}, expected above 0 and at most 1000000", options.clock_mhz));
  }
  if (!(options.ambient_celsius >= -273.15 && options.ambient_celsius <= 1e4)) {
    return invalid(fmt::format("--ambient-celsius is {}, expected -273.15 to 10000", options.ambient_celsius));
  }
  if (!(options.kelvin_per_watt >= 0 && options.kelvin_per_watt <= 1e6)) {
    return invalid(fmt::format("--kelvin-per-watt is {}, expected 0 to 1000000", options.kelvin_per_watt));
  }
  return options;
}

double power_watts(const Energy& energy, std::int64_t cycles, const PhysicalOptions& options) {
  if (cycles <= 0) return 0;
  return energy.total() * 1e-3 * options.clock_mhz / static_cast<double>(cycles);
}

double temperature_celsius(double watts, const PhysicalOptions& options) {
  return options.ambient_celsius + watts * options.kelvin_per_watt;
}

}  // namespace tilewright::vta
