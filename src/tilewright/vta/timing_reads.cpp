// Commands on the read port: which one is next, and the loads that they belong to.
#include "tilewright/vta/timing_engine.hpp"

namespace tilewright::vta::timing {
namespace {

// Of those that ask for the port in the same cycle.
int priority_of(Buffer buffer) {
  if (buffer == Buffer::Uop) return 1;
  if (buffer == Buffer::Inp) return 2;
  return buffer == Buffer::Wgt ? 3 : 4;
}

// Bursts of a load of the pipelined core: the first command goes out in cycle `at`, each further one when the port is free
// and the load has had the time to ask, and none from cycle `others` on. True when all are out; else `at` is when the next
// one asks.
[[gnu::always_inline]] inline bool send_bursts(Reading& reading, ReadPort& port, LastBeats& last_beats, Cycle& at,
                                               Cycle others, const Costs& costs) {
  const Cycle write_after = costs.write_after(reading.transfer.buffer);
  const BurstLimits limits = costs.limits;
  const ReadTimes times = costs.reads;
  const bool has_zeros = reading.zeros.any();
  for (;;) {
    const Cycle beats = reading.transfer.next(limits).beats;
    send(port, last_beats, at, beats, times);
    ++reading.bursts;
    reading.beats += beats;
    if (has_zeros) reading.zeros.make_way(port.first_beat + write_after, port.last_beat + write_after + 1);
    if (reading.transfer.done()) return true;
    at += 2;  // a place for one command per reader, emptied in one cycle and filled in the next
    const Cycle next = command_cycle(port, last_beats, std::min(at, others));
    if (others <= next) return false;
    at = next;
  }
}

// The first cycle in which the module is idle again.
Cycle end_of(const Reading& reading, const ReadPort& port, const Costs& costs) {
  return std::max(port.last_beat + costs.write_after(reading.transfer.buffer) + 1, reading.zeros.end()) + 1;
}

// The end of a load if nobody else used the port.
Cycle undisturbed_end(const Instruction& load, Cycle begin, const Costs& costs) {
  Reading reading{.transfer = transfer_of(load, costs), .zeros = zeros_of(load, costs, begin), .begin = begin};
  ReadPort port;
  LastBeats last_beats;
  Cycle at = begin + costs.core.command_after + reading.transfer.pad_before;
  send_bursts(reading, port, last_beats, at, kNever, costs);
  return end_of(reading, port, costs);
}

}  // namespace

void Engine::grant() {
  const Cycle earliest = std::min({requests[0], requests[1], requests[2]});
  if (earliest == kNever) return diagnose();
  const Cycle at = costs.sequential ? std::max(earliest, port.free_at) : command_cycle(port, last_beats, earliest);
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
    costs.sequential ? read_sequential<Module::Load>(at, others) : read<Module::Load>(at, others);
  else
    costs.sequential ? read_sequential<Module::Compute>(at, others) : read<Module::Compute>(at, others);
}

void Engine::fetch_group(Cycle at) {
  const auto count = std::min(static_cast<std::int64_t>(stream.size() - fetched), costs.group);
  const Cycle beats = costs.limits.beats_of(16 * count);
  Cycle end = 0;
  if (costs.sequential) {
    end = read_alone(port, at, beats, costs.reads);
  } else {
    send(port, last_beats, at, beats, costs.reads);
    end = port.last_beat;
  }
  ++timing.read_bursts;
  timing.fetch_bytes += beats << costs.limits.bus_shift;
  requests[kFetchSlot] = kNever;
  group_end = fetched + static_cast<std::size_t>(count);
  fetch_clock = end + costs.core.dispatch_after;
  awake |= 8u;
}

// Commands of the instruction at work, from the one in cycle `at` until somebody else asks for the port in time.
template <Module M>
void Engine::read(Cycle at, Cycle others) {
  constexpr Slot kSlot = M == Module::Load ? kLoadSlot : kComputeSlot;
  Lane& lane = lanes[static_cast<std::size_t>(M)];
  ReadPort used = port;
  Reading reading = lane.reading;
  if (reading.bursts == 0) reading.is_disturbed = at > requests[kSlot] || at <= used.last_beat;
  if (reading.bursts == 0) reading.first_command = used.commands;
  const bool over = send_bursts(reading, used, last_beats, at, others, costs);
  port = used;
  if (!over) {
    lane.reading = reading;
    requests[kSlot] = at;
    return;
  }
  if (port.commands - reading.first_command > static_cast<std::size_t>(reading.bursts)) reading.is_disturbed = true;
  lane.reading = reading;
  const Cycle end_at = end_of(reading, port, costs);
  Cycle bus_stall = 0;
  if (reading.is_disturbed) {
    const Instruction& load = stream[static_cast<std::size_t>(lane.queue[lane.done])];
    // Behind the data of others the latency is hidden, so it can also be less than alone.
    bus_stall = std::max<Cycle>(end_at - undisturbed_end(load, reading.begin, costs), 0);
  }
  end_read<M>(end_at, bus_stall);
}

template <Module M>
void Engine::read_sequential(Cycle at, Cycle others) {
  constexpr Slot kSlot = M == Module::Load ? kLoadSlot : kComputeSlot;
  Reading& reading = lanes[static_cast<std::size_t>(M)].reading;
  Transfer transfer = reading.transfer;
  ReadPort used = port;
  const BurstLimits limits = costs.limits;
  const ReadTimes times = costs.reads;
  Cycle request = requests[kSlot], waited = 0;
  std::int64_t bursts = 0, beats = 0;
  bool over = false;
  do {
    const Burst burst = transfer.next(limits);
    over = transfer.done();
    ++bursts;
    beats += burst.beats;
    waited += at - request;
    request = read_alone(used, at, burst.beats, times);
    if (burst.ends_row) request += transfer.right + (over ? transfer.pad_after : transfer.left);
    at = std::max(request, used.free_at);
  } while (!over && at < others);
  port = used;
  reading.bursts += bursts;
  reading.beats += beats;
  if (over) return end_read<M>(request, waited);
  reading.transfer = transfer;
  timing.modules[static_cast<std::size_t>(M)].bus_stall += waited;
  requests[kSlot] = request;
}

template <Module M>
void Engine::end_read(Cycle end_at, Cycle bus_stall) {
  const Lane& lane = lanes[static_cast<std::size_t>(M)];
  const Reading& reading = lane.reading;
  timing.modules[static_cast<std::size_t>(M)].bus_stall += bus_stall;
  timing.read_bursts += reading.bursts;
  timing.bytes[static_cast<std::size_t>(reading.transfer.buffer)] += reading.beats << costs.limits.bus_shift;
  requests[M == Module::Load ? kLoadSlot : kComputeSlot] = kNever;
  awake |= 1u << static_cast<unsigned>(M);
  complete<M>(stream[static_cast<std::size_t>(lane.queue[lane.done])], reading.begin, end_at);
}

template <Module M>
void Engine::start_read(const Instruction& load, Cycle at) {
  Reading& reading = lanes[static_cast<std::size_t>(M)].reading;
  reading.begin = at;
  reading.bursts = reading.beats = 0;
  reading.transfer = transfer_of(load, costs);
  if (!costs.sequential) reading.zeros = zeros_of(load, costs, at);
  const Transfer& transfer = reading.transfer;
  const Cycle first = at + costs.core.command_after + transfer.pad_before;
  if (transfer.done()) {  // no rows: pads only
    return complete<M>(load, at, std::max(first + transfer.pad_after, costs.sequential ? 0 : reading.zeros.end() + 1));
  }
  constexpr Slot kSlot = M == Module::Load ? kLoadSlot : kComputeSlot;
  requests[kSlot] = first + transfer.left;
  priorities[kSlot] = priority_of(load.buffer);
}

template void Engine::start_read<Module::Load>(const Instruction&, Cycle);
template void Engine::start_read<Module::Compute>(const Instruction&, Cycle);

}  // namespace tilewright::vta::timing
