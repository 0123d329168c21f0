#include "tilewright/vta/timing_transfer.hpp"

namespace tilewright::vta::timing {
namespace {

int log2_of(std::int64_t power) { return std::countr_zero(static_cast<std::uint64_t>(power)); }

// Of the sequential core: two micro-ops per beat of 8 bytes, one more beat when the first goes to the second half of a word;
// cut by length, whatever the address; rows and pads do not exist.
Transfer sequential_uop_load(const Instruction& load, const Costs& costs) {
  const std::int64_t per_beat = std::max<std::int64_t>((std::int64_t{1} << costs.limits.bus_shift) / 4, 1);
  std::int64_t beats = (load.x_size + per_beat - 1) / per_beat + (load.sram_base % per_beat != 0 ? 1 : 0);
  const std::int64_t limit = std::int64_t{1} << (costs.limits.burst_shift - costs.limits.bus_shift);
  if (beats > limit && beats % limit == 1) --beats;  // the RTL forgets a last burst of one beat
  Transfer transfer;
  transfer.row_bytes = transfer.row_left = beats << costs.limits.bus_shift;
  transfer.rows_left = 1;
  return transfer;
}

}  // namespace

Costs costs_of(const Machine& machine, const TimingOptions& options) {
  Costs costs;
  costs.sequential = options.core == Core::Sequential;
  costs.core = costs.sequential ? kSequential : kPipelined;
  costs.reads.latency = options.read_latency;
  costs.write_latency = options.write_latency;
  costs.reads.output_register = options.memory == Memory::Registered ? 1 : 0;
  costs.limits.bus_shift = log2_of(options.bus_bytes);
  costs.limits.burst_shift = log2_of(options.burst_bytes);
  costs.group = options.burst_bytes / 16;
  for (const Buffer buffer : {Buffer::Uop, Buffer::Wgt, Buffer::Inp, Buffer::Acc, Buffer::Out, Buffer::Acc8}) {
    const std::int64_t on_chip = element_bytes(machine, buffer == Buffer::Acc8 ? Buffer::Acc : buffer);
    costs.element_shift[static_cast<std::size_t>(buffer)] =
        log2_of(std::max<std::int64_t>(element_bytes(machine, buffer), 1));
    costs.element_beats[static_cast<std::size_t>(buffer)] = costs.limits.beats_of(on_chip);
    costs.is_wide[static_cast<std::size_t>(buffer)] =
        !costs.sequential && options.bus_bytes >= element_bytes(machine, buffer);
  }
  return costs;
}

Written write_of(const Instruction& store, const Costs& costs) {
  const int shift = costs.element_shift[static_cast<std::size_t>(Buffer::Out)];
  Transfer rows;
  rows.address = rows.row_address = std::uint64_t{store.dram_base} << shift;
  rows.stride_bytes = std::int64_t{store.x_stride} << shift;
  rows.row_bytes = rows.row_left = std::int64_t{store.x_size} << shift;
  rows.rows_left = store.y_size;
  Written written;
  while (!rows.done()) {
    written.beats += rows.next(costs.limits).beats;
    ++written.bursts;
  }
  // The last beat of a burst is not followed by a cycle without one, which its acknowledge makes up for.
  const std::int64_t elements = std::int64_t{store.x_size} * store.y_size;
  const auto out = static_cast<std::size_t>(Buffer::Out);
  const Cycle data = costs.sequential     ? (costs.element_beats[out] + 1) * elements
                     : costs.is_wide[out] ? written.beats + written.bursts
                                          : written.beats + std::max(elements, written.bursts);
  written.underway = data + written.bursts * costs.write_latency;
  written.cycles = costs.core.store_rest + written.underway + written.bursts * costs.core.store_per_burst;
  return written;
}

Cycle least_store_cycles(std::int64_t elements, const Costs& costs) {
  const auto out = static_cast<std::size_t>(Buffer::Out);
  if (costs.is_wide[out]) return costs.limits.beats_of(elements << costs.element_shift[out]);
  return (costs.element_beats[out] + 1) * elements;
}

Transfer transfer_of(const Instruction& load, const Costs& costs) {
  if (load.buffer == Buffer::Uop && costs.sequential) return sequential_uop_load(load, costs);
  const auto index = static_cast<std::size_t>(load.buffer);
  const int shift = costs.element_shift[index];
  const Cycle zero = costs.element_beats[index];
  const Cycle width = Cycle{load.x_pad_0} + load.x_size + load.x_pad_1;
  Transfer transfer;
  transfer.buffer = load.buffer;
  transfer.address = transfer.row_address = std::uint64_t{load.dram_base} << shift;
  transfer.stride_bytes = std::int64_t{load.x_stride} << shift;
  transfer.row_bytes = transfer.row_left = std::int64_t{load.x_size} << shift;
  transfer.rows_left = load.y_size;
  if (costs.sequential) {
    transfer.pad_before = load.y_pad_0 * width * zero;
    transfer.left = load.x_pad_0 * zero;
    transfer.right = load.x_pad_1 * zero;
    transfer.pad_after = load.y_pad_1 * width * zero;
  } else {
    transfer.pad_before = load.y_pad_0;
  }
  return transfer;
}

Zeros zeros_of(const Instruction& load, const Costs& costs, Cycle begin) {
  const Cycle sides = Cycle{load.x_pad_0} + load.x_pad_1, width = sides + load.x_size;
  Zeros zeros;
  zeros.next = begin + costs.write_after(load.buffer);
  zeros.before = load.y_pad_0 * width + load.y_size * sides;
  zeros.after = load.y_pad_1 * width;
  if (sides == 0 && zeros.after > 0) zeros.steps = load.y_size;
  return zeros;
}

}  // namespace tilewright::vta::timing
