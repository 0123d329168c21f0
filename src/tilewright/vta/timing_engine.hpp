// The timing simulator's state and the order in which it advances. Internal to it.
//
// Every actor runs ahead on its own as far as it can; only the read port needs a common clock. Each token queue has one
// giver and one taker, so its n-th taking waits for its n-th giving, whoever is simulated first. When all actors stand
// still, each one that waits for another waits for something that comes after the next command on the read port, so the next
// command can be given to the right one among those that ask for the port.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tilewright/vta/timing.hpp"
#include "tilewright/vta/timing_port.hpp"

namespace tilewright::vta::timing {

constexpr std::size_t kQueueDepth = 512;  // instructions that may wait for a module, with the one at work
constexpr std::size_t kMostTokens = 255;  // what the counter of a token queue holds
constexpr Cycle kFirstFetch = 2;

enum Queue : std::size_t { kLoadToCompute, kComputeToLoad, kComputeToStore, kStoreToCompute };

struct TokenQueue {
  std::vector<Cycle> given;            // cycles at which a token can be seen
  Ring<Cycle, kMostTokens + 1> taken;  // cycles at which it was taken; asked only of the last
  std::size_t taken_count = 0;

  // False when the counter was full in that cycle: the hardware loses the token without a word.
  bool give(Cycle at) {
    const std::size_t i = given.size();
    given.push_back(at);
    return i < kMostTokens || taken_count <= i - kMostTokens || taken[i - kMostTokens] < at;
  }
  bool take(Cycle at) {
    const std::size_t i = taken_count++;
    taken[i] = at;
    return given.size() <= i + kMostTokens || at < given[i + kMostTokens];
  }
};

// A load at work.
struct Reading {
  Transfer transfer;
  Zeros zeros;  // pipelined core
  Cycle begin = 0;
  std::int64_t bursts = 0, beats = 0;
  std::size_t first_command = 0;  // pipelined core: its number on the port
  bool is_disturbed = false;      // pipelined core: the port had something else to do
};

// A module and its queue of instructions.
struct Lane {
  Ring<std::int32_t, kQueueDepth> queue;    // indices in the stream
  Ring<Cycle, kQueueDepth> visible, ended;  // by position in the queue
  std::size_t queued = 0, done = 0;
  Cycle idle_at = 0;

  Reading reading;  // the instruction at work, when it reads memory
};

enum Slot : std::size_t { kFetchSlot, kComputeSlot, kLoadSlot };  // who asks for the read port

struct Engine {
  Costs costs;

  // The run.
  std::span<const Instruction> stream;
  std::vector<Span>* spans = nullptr;
  Timing timing;
  std::array<Lane, 3> lanes;         // by Module
  std::array<TokenQueue, 4> tokens;  // by Queue
  ReadPort port;
  LastBeats last_beats;
  std::array<Cycle, 3> requests{};  // by Slot: since when, or kNever
  std::array<int, 3> priorities{};
  std::size_t fetched = 0, group_end = 0;  // instructions handed out, and fetched
  Cycle fetch_clock = 0;
  unsigned awake = 0;  // modules that may have something to do; bit 3 is fetch
  bool finished = false;

  void begin(std::span<const Instruction> instructions, std::vector<Span>* into);
  Timing run();

  // What the actors do on their own.
  void dispatch();
  template <Module M>
  void advance();
  template <Module M>
  void start_read(const Instruction& instruction, Cycle at);
  template <Module M>
  void complete(const Instruction& instruction, Cycle begin_at, Cycle end_at);
  bool can_take(Queue queue) const { return tokens[queue].given.size() > tokens[queue].taken_count; }
  Cycle next_token(Queue queue) const { return tokens[queue].given[tokens[queue].taken_count]; }
  void give(Queue queue, Cycle at) {
    if (!tokens[queue].give(at)) lose(queue, tokens[queue].given.size() - 1);
  }
  void take(Queue queue, Cycle at) {
    if (!tokens[queue].take(at)) lose(queue, tokens[queue].taken_count - 1 + kMostTokens);
  }

  // What happens on the read port.
  void grant();
  void fetch_group(Cycle at);
  template <Module M>
  void read(Cycle at, Cycle others);
  template <Module M>
  void read_sequential(Cycle at, Cycle others);
  template <Module M>
  void end_read(Cycle end_at, Cycle bus_stall);

  // How a run ends in a fault: a token too many, or nothing that moves.
  void lose(Queue queue, std::size_t number);
  void diagnose();
};

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

}  // namespace tilewright::vta::timing
