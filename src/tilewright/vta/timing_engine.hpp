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
#include "tilewright/vta/timing_transfer.hpp"

namespace tilewright::vta::timing {

constexpr std::size_t kQueueDepth = 512;  // instructions that may wait for a module, with the one at work
constexpr std::size_t kMostTokens = 255;  // what the counter of a token queue holds
constexpr Cycle kFirstFetch = 2;
constexpr std::size_t kTagCount = 16;

enum Queue : std::size_t { kLoadToCompute, kComputeToLoad, kComputeToStore, kStoreToCompute };

// The last entries of a sequence of any length.
template <typename T, std::size_t Size>
class Ring {
 public:
  T& operator[](std::size_t position) { return entries_[position % Size]; }
  const T& operator[](std::size_t position) const { return entries_[position % Size]; }

 private:
  std::array<T, Size> entries_{};
};

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

// A module and its queue of instructions.
struct Lane {
  Ring<std::int32_t, kQueueDepth> queue;    // indices in the stream
  Ring<Cycle, kQueueDepth> visible, ended;  // by position in the queue
  std::size_t queued = 0, done = 0;
  Cycle idle_at = 0;

  Cycle begin = 0;  // of the instruction at work, when it reads memory
  Transfer transfer;
  std::int64_t bursts = 0, beats = 0;
};

// The read port: when the next command may go out, and when data has come.
struct ReadPort {
  Cycle command_at = 0;
  Cycle data_begin = 0, data_end = 0;  // of the last command, when several reads are in flight
  Cycle period_begin = 0;              // since when a command has waited for its data without a pause
  std::size_t commands = 0;
  Cycle busy = 0;
};
using DataEnds = std::array<Cycle, kTagCount>;  // of the last commands

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
  DataEnds data_ends{};
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
  void start_transfer(const Instruction& instruction, Cycle at);
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
  template <Module M, bool kSequentialCore>
  void transfer(Cycle at, Cycle others);

  // How a run ends in a fault: a token too many, or nothing that moves.
  void lose(Queue queue, std::size_t number);
  void diagnose();
};

}  // namespace tilewright::vta::timing
