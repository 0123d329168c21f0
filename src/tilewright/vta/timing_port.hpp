// The read port and the memory behind it: when a command may go out and when its data comes. Internal to the timing
// simulator.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "tilewright/vta/timing_transfer.hpp"

namespace tilewright::vta::timing {

// The last entries of a sequence of any length.
template <typename T, std::size_t Size>
class Ring {
 public:
  T& operator[](std::size_t position) { return entries_[position % Size]; }
  const T& operator[](std::size_t position) const { return entries_[position % Size]; }

 private:
  std::array<T, Size> entries_{};
};

constexpr std::size_t kMostCommands = 16;      // of the pipelined core, not yet answered
using LastBeats = Ring<Cycle, kMostCommands>;  // of the last commands, by number

struct ReadPort {
  Cycle free_at = 0;                       // before it the next command does not go out
  Cycle first_beat = 0, last_beat = 0;     // on the bus, of the last command
  std::size_t commands = 0, answered = 0;  // sent; of these, answered when the next one goes out
  Cycle busy = 0;                          // cycles from a command to its last beat
};

// The functions below are inlined and take values, so that a loop over bursts keeps the port in registers.

// The sequential core waits for the end of a read. The cycle in which it goes on.
[[gnu::always_inline]] inline Cycle read_alone(ReadPort& port, Cycle at, Cycle beats, ReadTimes times) {
  const Cycle latency = times.latency + times.output_register;
  port.busy += latency + beats;
  return port.free_at = at + latency + beats + 2;
}

// The pipelined core: the cycle in which the next command goes out, if the first that waits has waited since `at`. None goes
// in a cycle in which the list of those under way is full, or busy with the last beat of one of them.
[[gnu::always_inline]] inline Cycle command_cycle(ReadPort& port, const LastBeats& last_beats, Cycle at) {
  at = std::max(at, port.free_at);
  for (;; at = last_beats[port.answered] + 1) {
    while (port.answered < port.commands && last_beats[port.answered] < at) ++port.answered;
    if (port.answered == port.commands) break;
    if (last_beats[port.answered] > at && port.commands - port.answered < kMostCommands) break;
  }
  return port.free_at = at;
}

// A command that goes out in cycle `at`. The latency is paid by one that finds no other waiting for its data.
[[gnu::always_inline]] inline void send(ReadPort& port, LastBeats& last_beats, Cycle at, Cycle beats, ReadTimes times) {
  Cycle leaves = port.last_beat;  // the memory's queue
  if (at >= port.first_beat - times.output_register) leaves = std::max(leaves, at + times.latency + 1);
  port.busy -= std::max(at, port.last_beat);
  port.first_beat = leaves + 1 + times.output_register;
  port.last_beat = port.first_beat + beats - 1;
  port.busy += port.last_beat;
  last_beats[port.commands++] = port.last_beat;
  port.free_at = at + 1;
}

}  // namespace tilewright::vta::timing
