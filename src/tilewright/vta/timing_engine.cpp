#include "tilewright/vta/timing_engine.hpp"

#include <utility>

namespace tilewright::vta::timing {
namespace {

// Inlined, so that a loop over bursts keeps the port in registers.
template <bool kSequentialCore>
[[gnu::always_inline]] inline Cycle grant_read(ReadPort& port, DataEnds& data_ends, Cycle at, Cycle beats, Cycle latency) {
  if constexpr (kSequentialCore) {
    port.busy += latency + beats;
    return port.command_at = at + latency + beats + 2;
  }
  if (at >= port.data_begin) port.period_begin = at;
  port.data_begin = std::max(port.period_begin + latency, port.data_end);
  const Cycle end = port.data_begin + beats + 1;
  port.busy += end - std::max(at, port.data_end);
  port.data_end = end;
  data_ends[port.commands++ % kTagCount] = end;
  port.command_at = std::max(at + 1, data_ends[port.commands % kTagCount]);
  return end;
}

// Of those that ask for the port in the same cycle.
int priority_of(Buffer buffer) {
  if (buffer == Buffer::Uop) return 1;
  if (buffer == Buffer::Inp) return 2;
  return buffer == Buffer::Wgt ? 3 : 4;
}

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
  data_ends = {};
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
  if (fetched < stream.size()) requests[kFetchSlot] = fetch_clock + 1;
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
      timing.cycles = start;
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
      start_transfer<M>(instruction, start);
      if (!lane.transfer.done()) return;
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

template <Module M>
void Engine::complete(const Instruction& instruction, Cycle begin_at, Cycle end_at) {
  Lane& lane = lanes[static_cast<std::size_t>(M)];
  if (spans) spans->push_back({M, lane.queue[lane.done], begin_at, end_at});
  timing.modules[static_cast<std::size_t>(M)].busy += end_at - begin_at;
  lane.ended[lane.done++] = end_at;
  lane.idle_at = end_at;
  if (fetched < group_end) awake |= 8u;
  if (M == Module::Load && instruction.push_next) {
    give(kLoadToCompute, end_at);
    awake |= 2u;
  }
  if (M == Module::Compute && instruction.push_prev) {
    give(kComputeToLoad, end_at);
    awake |= 1u;
  }
  if (M == Module::Compute && instruction.push_next) {
    give(kComputeToStore, end_at);
    awake |= 4u;
  }
  if (M == Module::Store && instruction.push_prev) {
    give(kStoreToCompute, end_at);
    awake |= 2u;
  }
}

template <Module M>
void Engine::start_transfer(const Instruction& instruction, Cycle at) {
  constexpr Slot kSlot = M == Module::Load ? kLoadSlot : kComputeSlot;
  Lane& lane = lanes[static_cast<std::size_t>(M)];
  lane.transfer = transfer_of(instruction, costs);
  lane.begin = at;
  lane.bursts = lane.beats = 0;
  const Cycle first = at + costs.core.command_after + lane.transfer.pad_before;
  if (lane.transfer.done()) {  // no rows: pads only
    complete<M>(instruction, at, first + lane.transfer.pad_after + costs.core.data_rest + lane.transfer.zero_elements);
    return;
  }
  requests[kSlot] = first + lane.transfer.left;
  priorities[kSlot] = priority_of(instruction.buffer);
}

void Engine::grant() {
  const Cycle earliest = std::min({requests[0], requests[1], requests[2]});
  if (earliest == kNever) return diagnose();
  const Cycle at = std::max(earliest, port.command_at);
  std::size_t winner = kFetchSlot;
  int best = 5;
  for (std::size_t slot = 0; slot < requests.size(); ++slot) {
    if (requests[slot] <= at && priorities[slot] < best) {
      best = priorities[slot];
      winner = slot;
    }
  }
  if (winner == kFetchSlot) return fetch_group(at);
  const Cycle others = std::min(requests[kFetchSlot], requests[winner == kLoadSlot ? kComputeSlot : kLoadSlot]);
  if (winner == kLoadSlot)
    costs.sequential ? transfer<Module::Load, true>(at, others) : transfer<Module::Load, false>(at, others);
  else
    costs.sequential ? transfer<Module::Compute, true>(at, others) : transfer<Module::Compute, false>(at, others);
}

void Engine::fetch_group(Cycle at) {
  const auto count = std::min(static_cast<std::int64_t>(stream.size() - fetched), costs.group);
  const Cycle beats = costs.limits.beats_of(16 * count);
  const Cycle end = costs.sequential ? grant_read<true>(port, data_ends, at, beats, costs.read_latency)
                                     : grant_read<false>(port, data_ends, at, beats, costs.read_latency);
  ++timing.read_bursts;
  timing.fetch_bytes += beats << costs.limits.bus_shift;
  requests[kFetchSlot] = kNever;
  group_end = fetched + static_cast<std::size_t>(count);
  fetch_clock = end + costs.core.dispatch_after;
  awake |= 8u;
}

// Bursts of the instruction at work, from the command in cycle `at` until somebody else asks for the port in time.
template <Module M, bool kSequentialCore>
void Engine::transfer(Cycle at, Cycle others) {
  constexpr Slot kSlot = M == Module::Load ? kLoadSlot : kComputeSlot;
  Lane& lane = lanes[static_cast<std::size_t>(M)];
  Transfer moved = lane.transfer;
  ReadPort used = port;
  const Cycle latency = costs.read_latency;
  const BurstLimits limits = costs.limits;
  Cycle request = requests[kSlot], end = 0, waited = 0;
  std::int64_t bursts = lane.bursts, beats = lane.beats;
  bool over = false;
  for (;;) {
    const Burst burst = moved.next(limits);
    over = moved.done();
    ++bursts;
    beats += burst.beats;
    if constexpr (kSequentialCore) {
      waited += at - request;
      end = grant_read<true>(used, data_ends, at, burst.beats, latency);
      if (burst.ends_row) end += moved.right + (over ? moved.pad_after : moved.left);
      request = end;
    } else {
      end = grant_read<false>(used, data_ends, at, burst.beats, latency);
      request = at + 2;  // a queue of one command per reader, filled in one cycle and emptied in the next
    }
    if (over) break;
    at = std::max(request, used.command_at);
    if (others <= at) break;
  }
  port = used;
  ModuleCycles& counted = timing.modules[static_cast<std::size_t>(M)];
  counted.bus_stall += waited;
  if (!over) {
    lane.transfer = moved;
    lane.bursts = bursts;
    lane.beats = beats;
    requests[kSlot] = request;
    return;
  }
  if constexpr (!kSequentialCore) {
    const Cycle rest = costs.core.data_rest;
    const Cycle alone = costs.core.command_after + moved.pad_before + latency + beats + bursts;
    const Cycle zeros = costs.core.command_after + moved.zero_elements;
    end = std::max(end, lane.begin + zeros) + rest;
    // Behind the data of others the latency is hidden, so it can also be less than alone.
    counted.bus_stall += std::max<Cycle>(end - lane.begin - std::max(alone, zeros) - rest, 0);
  }
  timing.read_bursts += bursts;
  timing.bytes[static_cast<std::size_t>(moved.buffer)] += beats << costs.limits.bus_shift;
  requests[kSlot] = kNever;
  awake |= 1u << static_cast<unsigned>(M);
  complete<M>(stream[static_cast<std::size_t>(lane.queue[lane.done])], lane.begin, end);
}

}  // namespace tilewright::vta::timing
