// What a machine costs: area, energy and temperature by simple published proxies, part by part. They rank machines; they are
// not a layout. docs/vta_timing.md says where each number comes from and how sure it is.
#pragma once

#include <array>
#include <cstdint>

#include "tilewright/base/result.hpp"
#include "tilewright/vta/machine.hpp"
#include "tilewright/vta/timing.hpp"

namespace tilewright::vta {

// In units of one SRAM bit; relative_area divides by the default machine's total.
struct Area {
  double macs = 0, alu = 0;
  double uop = 0, inp = 0, wgt = 0, acc = 0, out = 0;
  double total() const { return macs + alu + uop + inp + wgt + acc + out; }
};
// What a part costs, in bits of SRAM. The defaults are those of the device on which the default core was placed.
struct AreaRates {
  double mac = 4700;        // 70 look-up tables of 67 bits
  double alu_lane = 30000;  // 450 look-up tables
  double ram_depth = 512;   // the least depth of a RAM block: below it, width costs more than bytes
};
Area area_of(const Machine& machine, const AreaRates& rates = {});
double relative_area(const Machine& machine, const AreaRates& rates = {});

// In nanojoules, for one stream.
struct Energy {
  double macs = 0, alu = 0, sram = 0, dram = 0, idle = 0;
  double total() const { return macs + alu + sram + dram + idle; }
};
struct PhysicalOptions {
  double clock_mhz = 100;
  double ambient_celsius = 25;
  double kelvin_per_watt = 20;  // lumped, from junction to ambient
};
// The options, or an Error that names the flag of the first one outside its range.
Result<PhysicalOptions> check(const PhysicalOptions& options);

Energy energy_of(const Timing& timing, const Machine& machine, const PhysicalOptions& options);

// Of one byte read from or written to a buffer, in picojoules: grows with the root of its depth.
double access_picojoules(const Machine& machine, Buffer buffer);
// What the machine takes without doing anything.
double idle_watts(const Machine& machine);

double power_watts(const Energy& energy, std::int64_t cycles, const PhysicalOptions& options);
double temperature_celsius(double watts, const PhysicalOptions& options);

}  // namespace tilewright::vta
