#include "tilewright/vta/cost.hpp"

#include <gtest/gtest.h>

namespace tilewright::vta {
namespace {

constexpr Machine kDefault;

Timing some_work() {
  Timing timing;
  timing.cycles = 10'000;
  timing.gemm_steps = 6'000;
  timing.reset_steps = 500;
  timing.alu_steps = 900;
  timing.alu_tensor_steps = 300;
  timing.bytes = {400, 20'000, 8'000, 640, 3'000, 0};
  timing.fetch_bytes = 800;
  return timing;
}

TEST(Area, OfTheDefaultMachinePartByPart) {
  const Area area = area_of(kDefault);
  EXPECT_DOUBLE_EQ(area.uop, 32 * 1024 * 8);
  EXPECT_DOUBLE_EQ(area.inp, 32 * 1024 * 8);
  EXPECT_DOUBLE_EQ(area.wgt, 256 * 1024 * 8);
  EXPECT_DOUBLE_EQ(area.acc, 128 * 1024 * 8);
  EXPECT_DOUBLE_EQ(area.out, 32 * 1024 * 8);
  EXPECT_DOUBLE_EQ(area.macs, 256 * AreaRates{}.mac);
  EXPECT_DOUBLE_EQ(area.alu, 16 * AreaRates{}.alu_lane);
  EXPECT_DOUBLE_EQ(area.total(), area.macs + area.alu + 480 * 1024 * 8);
  EXPECT_DOUBLE_EQ(relative_area(kDefault), 1);
}

TEST(Area, WidthCountsWhereBytesAreFew) {
  Machine shallow = kDefault;
  shallow.log_wgt_buffer = 16;  // 256 elements of 2048 bits: RAM blocks of 512 words stay half empty
  EXPECT_DOUBLE_EQ(area_of(shallow).wgt, 512 * 2048);
  shallow.log_wgt_buffer = 15;
  EXPECT_DOUBLE_EQ(area_of(shallow).wgt, 512 * 2048);
  shallow.log_wgt_buffer = 17;
  EXPECT_DOUBLE_EQ(area_of(shallow).wgt, 512 * 2048);
  EXPECT_DOUBLE_EQ(area_of(shallow, {.ram_depth = 1}).wgt, 128 * 1024 * 8);
}

TEST(Area, GrowsWithEveryKnob) {
  for (int Machine::*knob : {&Machine::log_batch, &Machine::log_block_in, &Machine::log_block_out, &Machine::log_uop_buffer,
                             &Machine::log_inp_buffer, &Machine::log_wgt_buffer, &Machine::log_acc_buffer}) {
    Machine more = kDefault;
    ++(more.*knob);
    EXPECT_GT(relative_area(more), 1);
    EXPECT_LT(relative_area(more), 2);
  }
  // Sixteen times the multipliers is an order of magnitude more area, whatever one believes a multiplier to cost.
  const Machine large{.log_block_in = 6, .log_block_out = 6};
  EXPECT_GT(relative_area(large), 4);
  EXPECT_LT(relative_area(large), 12);
  EXPECT_LT(relative_area(large, {.mac = 10800}), 12);
  EXPECT_GT(relative_area(large, {.mac = 700}), 4);
}

TEST(Energy, AddsUpOverParts) {
  const PhysicalOptions options;
  const Timing whole = some_work();
  Timing half = whole, rest = whole;
  half.cycles = 4'000;
  half.gemm_steps = 1'000;
  half.alu_steps = half.alu_tensor_steps = half.reset_steps = 0;
  half.bytes = {400, 0, 8'000, 0, 0, 0};
  half.fetch_bytes = 0;
  rest.cycles = 6'000;
  rest.gemm_steps = 5'000;
  rest.bytes = {0, 20'000, 0, 640, 3'000, 0};
  const Energy a = energy_of(half, kDefault, options), b = energy_of(rest, kDefault, options),
               all = energy_of(whole, kDefault, options);
  EXPECT_NEAR(a.total() + b.total(), all.total(), 1e-9 * all.total());
  EXPECT_NEAR(a.sram + b.sram, all.sram, 1e-9 * all.sram);
  EXPECT_DOUBLE_EQ(all.total(), all.macs + all.alu + all.sram + all.dram + all.idle);
}

TEST(Energy, CountedByHand) {
  const PhysicalOptions options;
  Timing timing;
  timing.gemm_steps = 1'000;
  const Energy energy = energy_of(timing, kDefault, options);
  EXPECT_DOUBLE_EQ(energy.macs, 256 * 0.3);  // 1000 steps of 256 at 0.3 pJ, in nJ
  EXPECT_DOUBLE_EQ(energy.dram, 0);
  EXPECT_DOUBLE_EQ(energy.idle, 0);
  // Per step: weights from 1024 words at 1.25 pJ a byte; 16 bytes in, 2 x 64 accumulators, 16 out from words of twice the
  // depth; a micro-op from eight times the depth.
  const double root2 = 1.4142135623730951;
  EXPECT_NEAR(energy.sram, 1.25 * (256 + root2 * (16 + 128 + 16) + 2 * root2 * 4), 1e-9);
  timing = {};
  timing.bytes[static_cast<std::size_t>(Buffer::Wgt)] = 8'000;
  EXPECT_NEAR(energy_of(timing, kDefault, options).dram, 1'300, 1e-9);  // 1000 words of 64 bits at 1.3 nJ
  EXPECT_NEAR(access_picojoules({.log_wgt_buffer = 20}, Buffer::Wgt), 2 * access_picojoules(kDefault, Buffer::Wgt), 1e-12);
}

TEST(Energy, GrowsWithWorkAndTimeAndDepth) {
  const PhysicalOptions options;
  const double before = energy_of(some_work(), kDefault, options).total();
  for (std::int64_t Timing::*count :
       {&Timing::cycles, &Timing::gemm_steps, &Timing::reset_steps, &Timing::alu_steps, &Timing::fetch_bytes}) {
    Timing more = some_work();
    more.*count += 100;
    EXPECT_GT(energy_of(more, kDefault, options).total(), before);
  }
  EXPECT_GT(energy_of(some_work(), {.log_acc_buffer = 18}, options).sram, energy_of(some_work(), kDefault, options).sram);
}

TEST(Power, IsEnergyOverTimeAndHeats) {
  PhysicalOptions options;
  const Energy energy{.macs = 300, .sram = 700};
  EXPECT_DOUBLE_EQ(power_watts(energy, 1'000, options), 0.1);  // 1 uJ in 10 us
  EXPECT_DOUBLE_EQ(power_watts(energy, 0, options), 0);
  options.clock_mhz = 200;
  EXPECT_DOUBLE_EQ(power_watts(energy, 1'000, options), 0.2);
  EXPECT_DOUBLE_EQ(temperature_celsius(2, options), 65);
  // Doing nothing takes the idle power, however long and at any clock.
  Timing nothing;
  for (nothing.cycles = 1'000; nothing.cycles < 2'000'000; nothing.cycles *= 100)
    EXPECT_NEAR(power_watts(energy_of(nothing, kDefault, options), nothing.cycles, options), idle_watts(kDefault), 1e-12);
  // A busy default machine at 100 MHz: tenths of a watt, as small FPGA designs and 45 nm accelerators report.
  const double watts = power_watts(energy_of(some_work(), kDefault, {}), some_work().cycles, {});
  EXPECT_GT(watts, 0.03);
  EXPECT_LT(watts, 1);
}

}  // namespace
}  // namespace tilewright::vta
