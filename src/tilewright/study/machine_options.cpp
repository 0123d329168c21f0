#include "tilewright/study/machine_options.hpp"

#include <fmt/format.h>

namespace tilewright {

OptionTable options_of(vta::TimingOptions& timing) {
  const OptionTraits group{.group = "Core and memory"};
  return {{"core", worded(timing.core), "sequential (RTL of 2019 to 2021) or pipelined (since 2021), both cycle for cycle",
           group},
          {"memory", worded(timing.memory),
           "direct (data behind data) or registered (a cycle later, and one between two reads)", group},
          {"read_latency", &timing.read_latency, "cycles from a read command to its first data", group},
          {"write_latency", &timing.write_latency, "cycles from the last data of a write to its acknowledge", group},
          {"bus_bytes", &timing.bus_bytes, "per cycle and direction", group},
          {"burst_bytes", &timing.burst_bytes, "a burst never crosses a multiple of it", group}};
}

OptionTable options_of(vta::PhysicalOptions& physical, std::string_view heading) {
  const OptionTraits group{.group = heading};
  return {{"clock_mhz", &physical.clock_mhz, "for time and power; cycles do not depend on it", group},
          {"ambient_celsius", &physical.ambient_celsius, "around the package", group},
          {"kelvin_per_watt", &physical.kelvin_per_watt, "thermal resistance from junction to ambient", group}};
}

Result<vta::Machine> read_compiled_machine(const std::string& source) {
  TW_TRY(const vta::Machine machine, vta::read_machine(source));
  if (machine.log_inp_width == 3 && machine.log_wgt_width == 3 && machine.log_acc_width == 5) return machine;
  return invalid(
      fmt::format("{}: inputs, weights and accumulators have {}, {} and {} bits, expected 8, 8 and 32: networks "
                  "are quantised to that",
                  source, 1 << machine.log_inp_width, 1 << machine.log_wgt_width, 1 << machine.log_acc_width));
}

}  // namespace tilewright
