#include "tilewright/vta/timing_engine.hpp"

#include <utility>

namespace tilewright::vta::timing {
namespace {

// module_of, where the compiler can see it.
std::size_t lane_of(const Instruction& instruction) {
  if (instruction.opcode == Opcode::Store) return 2;
  const bool load = instruction.buffer == Buffer::Inp || instruction.buffer == Buffer::Wgt;
  return instruction.opcode == Opcode::Load && load ? 0 : 1;
}

}  // namespace

void Engine::begin(std::span<const Instruction> instructions, std::vector<Span>* into) {
  stream = instructions;
  spans = into;
  if (spans) spans->clear();
  timing = {};
  port = {};
  last_beats = {};
  for (Lane& lane : lanes) {
    lane.queued = lane.done = 0;
    lane.idle_at = 0;
  }
  for (TokenQueue& queue : tokens) {
    queue.given.clear();
    queue.taken_count = 0;
  }
  requests = {stream.empty() ? kNever : kFirstFetch, kNever, kNever};
  priorities = {0, 0, 0};
  fetched = group_end = 0;
  fetch_clock = 0;
  awake = 0;
  finished = false;
}

Timing Engine::run() {
  while (!finished && !timing.fault) {
    while (awake != 0 && !finished) {
      const unsigned now = std::exchange(awake, 0u);
      if (now & 8u) dispatch();
      if (now & 1u) advance<Module::Load>();
      if (now & 2u) advance<Module::Compute>();
      if (now & 4u) advance<Module::Store>();
    }
    if (!finished && !timing.fault) grant();
  }
  timing.read_busy = port.busy;
  timing.read_beats += timing.fetch_bytes >> costs.limits.bus_shift;
  for (const std::int64_t bytes : timing.bytes) timing.read_beats += bytes >> costs.limits.bus_shift;
  timing.read_beats -= timing.write_beats;
  return std::move(timing);
}

// Hands out what is fetched, one instruction per cycle, as long as its queue has room.
void Engine::dispatch() {
  while (fetched < group_end) {
    const std::size_t m = lane_of(stream[fetched]);
    Lane& lane = lanes[m];
    const std::size_t position = lane.queued;
    if (position >= kQueueDepth) {
      if (lane.done + kQueueDepth <= position) return;
      fetch_clock = std::max(fetch_clock, lane.ended[position - kQueueDepth]);
    }
    lane.queue[position] = static_cast<std::int32_t>(fetched++);
    lane.visible[position] = ++fetch_clock;
    ++lane.queued;
    awake |= 1u << m;
  }
  if (fetched < stream.size()) requests[kFetchSlot] = fetch_clock - 1 + costs.core.refetch_after;
}

template <Module M>
void Engine::advance() {
  Lane& lane = lanes[static_cast<std::size_t>(M)];
  ModuleCycles& counted = timing.modules[static_cast<std::size_t>(M)];
  if (M == Module::Load && requests[kLoadSlot] != kNever) return;
  if (M == Module::Compute && requests[kComputeSlot] != kNever) return;
  while (lane.done < lane.queued) {
    const Instruction& instruction = stream[static_cast<std::size_t>(lane.queue[lane.done])];
    const Cycle ready = std::max(lane.idle_at, lane.visible[lane.done]);
    constexpr Queue kPrev = M == Module::Compute ? kLoadToCompute : kComputeToStore;
    constexpr Queue kNext = M == Module::Compute ? kStoreToCompute : kComputeToLoad;
    const bool pop_prev = M != Module::Load && instruction.pop_prev;
    const bool pop_next = M != Module::Store && instruction.pop_next;
    if ((pop_prev && !can_take(kPrev)) || (pop_next && !can_take(kNext))) return;
    Cycle start = ready;
    if (pop_prev) start = std::max(start, next_token(kPrev));
    if (pop_next) start = std::max(start, next_token(kNext));
    if (pop_prev) take(kPrev, start);
    if (pop_next) take(kNext, start);
    counted.token_stall += start - ready;
    ++counted.instructions;

    if (M == Module::Compute && instruction.opcode == Opcode::Finish) {
      timing.cycles = start + costs.core.finish_after;
      ++lane.done;
      finished = true;
      return;
    }
    if (is_noop(instruction)) {
      complete<M>(instruction, start, start + costs.core.noop);
    } else if (M == Module::Store) {
      const Written written = write_of(instruction, costs);
      timing.write_bursts += written.bursts;
      timing.write_beats += written.beats;
      timing.write_busy += written.underway;
      timing.bytes[static_cast<std::size_t>(Buffer::Out)] += written.beats << costs.limits.bus_shift;
      complete<M>(instruction, start, start + written.cycles);
    } else if (M == Module::Load || instruction.opcode == Opcode::Load) {
      start_read<M>(instruction, start);
      if (!lane.reading.transfer.done()) return;
    } else {
      const Cycle cycles = compute_cycles(instruction, costs);
      const Cycle steps = std::max<Cycle>(steps_of(instruction), 0);
      if (instruction.opcode == Opcode::Gemm) {
        timing.gemm_cycles += cycles;
        (instruction.reset ? timing.reset_steps : timing.gemm_steps) += steps;
      } else {
        timing.alu_cycles += cycles;
        timing.alu_steps += steps;
        if (!instruction.use_imm) timing.alu_tensor_steps += steps;
      }
      complete<M>(instruction, start, start + cycles);
    }
    if (timing.fault) return;
  }
}

}  // namespace tilewright::vta::timing
