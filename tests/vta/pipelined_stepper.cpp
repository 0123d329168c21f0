#include <algorithm>
#include <array>
#include <deque>
#include <optional>

#include "timing_stepper.hpp"

namespace tilewright::vta {
namespace {

using Cycles = std::int64_t;
constexpr std::size_t kClients = 5;  // of the read port, by priority: fetch, micro-ops, inputs, weights, accumulators
constexpr Cycles kBeatsOnChip = 2;   // from the bus to the cycle in which a narrow unit writes; a wide one takes one less

struct Command {
  std::size_t client = 0;
  Cycles beats = 0;
};

// The memory of the recorded runs, as their description has it: a queue, a counter, one beat per cycle; then a register or
// none.
class ReadMemory {
 public:
  ReadMemory(Cycles latency, bool is_registered) : latency_(latency), is_registered_(is_registered) {}

  struct Beat {
    std::size_t client;
    bool is_last;
  };
  // What is on the bus in this cycle.
  const std::optional<Beat>& bus() const { return is_registered_ ? registered_ : made_; }

  // The edge at the end of this cycle, in which `accepted` came.
  void tick(const std::optional<Command>& accepted) {
    const bool was_empty = queue_.empty();
    // The oldest leaves when the counter has come to its end and nothing of an older one will be on the bus after this
    // cycle.
    const bool more_to_make = left_ > 0, more_on_bus = more_to_make || (is_registered_ && made_.has_value());
    const bool leaves = !queue_.empty() && counter_ == latency_ && !more_on_bus;
    registered_ = made_;
    made_.reset();
    if (leaves) {
      client_ = queue_.front().client;
      left_ = queue_.front().beats;
      queue_.pop_front();
    }
    if (left_ > 0) {
      --left_;
      made_ = Beat{client_, left_ == 0};
    }
    counter_ = was_empty ? 0 : std::min(counter_ + 1, latency_);
    if (accepted) queue_.push_back(*accepted);
  }

 private:
  Cycles latency_, counter_ = 0, left_ = 0;
  bool is_registered_;
  std::size_t client_ = 0;
  std::deque<Command> queue_;
  std::optional<Beat> made_, registered_;
};

// A counter of eight bits.
struct Counter {
  int count = 0;
  bool up = false, down = false;
  void tick() {
    if (up && !down && count < 255) ++count;
    if (down && !up) --count;
    up = down = false;
  }
};

// Reads what a load asks for, fills the rest with zeros.
struct Loader {
  bool is_wide = false;
  Cycles age = 0;  // cycles since the start
  // Commands.
  std::deque<Cycles> commands;  // beats of those not yet in the slot
  Cycles rows_to_count = 0, underway = 0;
  // Beats on their way from the bus to the buffer.
  std::array<bool, 2> arriving{};
  // The filler: what it has to do, in order; true is a zero, false a row stepped over.
  std::deque<bool> actions;
};

struct Storer {
  std::deque<std::deque<bool>> bursts;  // cycles with a beat and without
  enum { Ask, Offer, Accept, Data, Response } state = Ask;
  Cycles wait = 0;
};

struct Worker {
  Cycles indices_left = 0, period = 1, phase = 0;
  std::array<bool, 4> flight{};  // from index to writing
};

struct Unit {
  std::deque<std::size_t> queue;
  enum { Idle, Start, Noop, Load, Store, Work, Finish } state = Idle;
  Loader loader;
  Storer storer;
  Worker worker;
};

class PipelinedCore {
 public:
  PipelinedCore(std::span<const Instruction> stream, const Machine& machine, const TimingOptions& options)
      : stream_(stream),
        machine_(machine),
        options_(options),
        memory_(options.read_latency, options.memory == Memory::Registered) {}

  Stepped run(Cycles most_cycles) {
    for (now_ = 1; now_ < most_cycles && !result_.finished; ++now_) cycle();
    return result_;
  }

 private:
  const Instruction& instruction(std::size_t index) const { return stream_[index]; }
  std::size_t client_of(Buffer buffer) const {
    return buffer == Buffer::Uop ? 1 : buffer == Buffer::Inp ? 2 : buffer == Buffer::Wgt ? 3 : 4;
  }
  bool is_wide(Buffer buffer) const { return options_.bus_bytes >= element_bytes(machine_, buffer); }

  // Bytes [begin, begin + size) of a row as bursts: first byte and the one behind the last.
  std::vector<std::pair<Cycles, Cycles>> bursts_of(Cycles begin, Cycles size) const {
    std::vector<std::pair<Cycles, Cycles>> bursts;
    while (size > 0) {
      const Cycles most = options_.burst_bytes - begin % options_.burst_bytes, now = std::min(size, most);
      bursts.emplace_back(begin, begin + now);
      begin += now;
      size -= now;
    }
    return bursts;
  }
  Cycles words(Cycles begin, Cycles end) const {
    return (end + options_.bus_bytes - 1) / options_.bus_bytes - begin / options_.bus_bytes;
  }

  void begin_load(Loader& loader, const Instruction& load) const {
    loader = {};
    loader.is_wide = is_wide(load.buffer);
    loader.rows_to_count = load.y_pad_0;
    const Cycles bytes = element_bytes(machine_, load.buffer);
    for (Cycles row = 0; row < load.y_size; ++row)
      for (const auto& [begin, end] : bursts_of((Cycles{load.dram_base} + row * load.x_stride) * bytes, load.x_size * bytes))
        loader.commands.push_back(words(begin, end));
    const int sides = load.x_pad_0 + load.x_pad_1, width = sides + load.x_size;
    loader.actions.insert(loader.actions.end(), static_cast<std::size_t>(load.y_pad_0 * width), true);
    if (sides > 0)
      loader.actions.insert(loader.actions.end(), static_cast<std::size_t>(load.y_size * sides), true);
    else if (load.y_pad_1 > 0)
      loader.actions.insert(loader.actions.end(), load.y_size, false);
    loader.actions.insert(loader.actions.end(), static_cast<std::size_t>(load.y_pad_1 * width), true);
  }

  // A cycle of a load after the one it starts in; true in its last one.
  bool load(Loader& loader, std::size_t client, const std::array<bool, kClients>& is_full) {
    ++loader.age;
    const bool writes = loader.arriving[0];
    const bool is_done =
        loader.commands.empty() && loader.underway == 0 && !writes && !loader.arriving[1] && loader.actions.empty();
    if (is_done) return true;
    loader.arriving = {loader.arriving[1], false};
    // One row of zeros per cycle is counted, then a command is offered, and taken when the slot is empty.
    if (loader.rows_to_count > 0) {
      --loader.rows_to_count;
    } else if (!loader.commands.empty() && !is_full[client]) {
      fill(client, loader.commands.front());
      loader.commands.pop_front();
      ++loader.underway;
    }
    const Cycles first = loader.is_wide ? 1 : 2;
    if (loader.age >= first && !loader.actions.empty() && (!writes || !loader.actions.front())) loader.actions.pop_front();
    return false;
  }

  void begin_store(Storer& storer, const Instruction& store) const {
    storer = {};
    const Cycles bytes = element_bytes(machine_, Buffer::Out);
    for (Cycles row = 0; row < store.y_size; ++row)
      for (const auto& [begin, end] :
           bursts_of((Cycles{store.dram_base} + row * store.x_stride) * bytes, store.x_size * bytes)) {
        std::deque<bool>& beats = storer.bursts.emplace_back();
        const Cycles count = words(begin, end);
        for (Cycles beat = 0; beat < count; ++beat) {
          beats.push_back(true);
          const bool ends_element = (begin + (beat + 1) * options_.bus_bytes) % bytes == 0;
          if (!is_wide(Buffer::Out) && ends_element && beat + 1 < count) beats.push_back(false);
        }
      }
  }
  bool store(Storer& storer) {
    switch (storer.state) {
      case Storer::Ask:
        storer.state = Storer::Offer;
        break;
      case Storer::Offer:
        storer.state = Storer::Accept;
        break;
      case Storer::Accept:
        ++result_.write_bursts;
        storer.state = Storer::Data;
        break;
      case Storer::Data:
        if (storer.bursts.front().front()) ++result_.write_beats;
        storer.bursts.front().pop_front();
        if (!storer.bursts.front().empty()) break;
        storer.bursts.pop_front();
        storer.state = Storer::Response;
        storer.wait = options_.write_latency;
        break;
      case Storer::Response:
        if (storer.wait-- > 0) break;
        storer.state = Storer::Ask;
        return storer.bursts.empty();
    }
    return false;
  }

  static bool work(Worker& worker) {
    const bool is_done = worker.indices_left == 0 && !std::ranges::any_of(worker.flight, std::identity{});
    if (is_done) return true;
    std::rotate(worker.flight.begin(), worker.flight.begin() + 1, worker.flight.end());
    worker.flight.back() = false;
    if (worker.indices_left > 0 && ++worker.phase == worker.period) {
      worker.phase = 0;
      --worker.indices_left;
      worker.flight.back() = true;
    }
    return false;
  }

  void fill(std::size_t client, Cycles beats) { filled_[client] = Command{client, beats}; }

  void cycle() {
    // What everybody sees of the registers in this cycle.
    std::array<bool, kClients> is_full{};
    for (std::size_t i = 0; i < kClients; ++i) is_full[i] = slots_[i].has_value();
    std::array<std::size_t, 3> waiting{};
    for (std::size_t m = 0; m < 3; ++m) waiting[m] = units_[m].queue.size();
    std::array<int, 4> tokens{};
    for (std::size_t q = 0; q < 4; ++q) tokens[q] = counters_[q].count;
    const std::optional<ReadMemory::Beat> beat = memory_.bus();

    std::optional<Command> sent;
    const bool is_last = beat && beat->is_last;
    if (outstanding_ < 16 && !is_last) {
      const auto slot = std::ranges::find_if(slots_, [](const auto& one) { return one.has_value(); });
      if (slot != slots_.end()) std::swap(sent, *slot);
    }
    for (std::size_t m = 0; m < 3; ++m) tick_unit(m, waiting[m], tokens, is_full);
    tick_fetch(beat, waiting);

    // The edge.
    if (sent) {
      ++result_.read_bursts;
      ++outstanding_;
    }
    if (beat) {
      ++result_.read_beats;
      arrive(*beat);
    }
    if (is_last) --outstanding_;
    memory_.tick(sent);
    for (std::size_t i = 0; i < kClients; ++i)
      if (filled_[i]) std::swap(slots_[i], filled_[i]);
    for (auto& one : filled_) one.reset();
    for (Counter& counter : counters_) counter.tick();
    for (std::size_t m = 0; m < 3; ++m)
      if (const auto index = std::exchange(handed_out_[m], {})) units_[m].queue.push_back(*index);
  }

  void arrive(const ReadMemory::Beat& beat) {
    if (beat.client == 0) return;
    Loader& loader = units_[beat.client == 2 || beat.client == 3 ? 0 : 1].loader;
    loader.arriving[loader.is_wide ? 0 : 1] = true;
    if (beat.is_last) --loader.underway;
  }

  // Counters: load to compute, compute to load, compute to store, store to compute.
  void tick_unit(std::size_t m, std::size_t waiting, const std::array<int, 4>& tokens,
                 const std::array<bool, kClients>& is_full) {
    Unit& unit = units_[m];
    if (waiting == 0) return;
    const Instruction& head = instruction(unit.queue.front());
    if (unit.state == Unit::Idle) {
      const std::size_t prev = m == 1 ? 0 : 2, next = m == 1 ? 3 : 1;
      const bool pop_prev = m != 0 && head.pop_prev, pop_next = m != 2 && head.pop_next;
      if ((pop_prev && tokens[prev] == 0) || (pop_next && tokens[next] == 0)) return;
      if (pop_prev) counters_[prev].down = true;
      if (pop_next) counters_[next].down = true;
      begin(unit, head);
      return;
    }
    bool is_done = false;
    switch (unit.state) {
      case Unit::Idle:
        break;
      case Unit::Noop:
        is_done = true;
        break;
      case Unit::Start:
        unit.state = Unit::Work;
        break;
      case Unit::Load:
        is_done = load(unit.loader, client_of(head.buffer), is_full);
        break;
      case Unit::Store:
        is_done = store(unit.storer);
        break;
      case Unit::Work:
        is_done = work(unit.worker);
        break;
      case Unit::Finish:
        result_.finished = true;
        result_.cycles = now_;
        break;
    }
    if (!is_done) return;
    if (m == 0 && head.push_next) counters_[0].up = true;
    if (m == 1 && head.push_prev) counters_[1].up = true;
    if (m == 1 && head.push_next) counters_[2].up = true;
    if (m == 2 && head.push_prev) counters_[3].up = true;
    unit.queue.pop_front();
    unit.state = Unit::Idle;
  }

  void begin(Unit& unit, const Instruction& head) const {
    if (head.opcode == Opcode::Finish) {
      unit.state = Unit::Finish;
    } else if (is_noop(head)) {
      unit.state = Unit::Noop;
    } else if (head.opcode == Opcode::Load) {
      unit.state = Unit::Load;
      begin_load(unit.loader, head);
    } else if (head.opcode == Opcode::Store) {
      unit.state = Unit::Store;
      begin_store(unit.storer, head);
    } else {
      unit.state = Unit::Start;
      unit.worker = {.indices_left = steps_of(head)};
      if (head.opcode == Opcode::Alu && !head.use_imm) unit.worker.period = 2;
    }
  }

  void tick_fetch(const std::optional<ReadMemory::Beat>& beat, const std::array<std::size_t, 3>& waiting) {
    const bool is_mine = beat && beat->client == 0;
    switch (fetch_) {
      case Fetch::Ask: {
        held_ = std::min(static_cast<std::size_t>(options_.burst_bytes / 16), stream_.size() - fetched_);
        const auto bytes = static_cast<Cycles>(held_) * 16;
        fill(0, (bytes + options_.bus_bytes - 1) / options_.bus_bytes);
        fetch_ = Fetch::Read;
        break;
      }
      case Fetch::Read:
        if (is_mine && beat->is_last) fetch_ = Fetch::Turn;
        break;
      case Fetch::Turn:
        fetch_ = Fetch::HandOut;
        break;
      case Fetch::HandOut: {
        const auto m = static_cast<std::size_t>(module_of(instruction(fetched_)));
        if (waiting[m] == 512) break;
        handed_out_[m] = fetched_++;
        if (--held_ == 0) fetch_ = fetched_ < stream_.size() ? Fetch::Rest : Fetch::Over;
        break;
      }
      case Fetch::Rest:
        fetch_ = Fetch::Ask;
        break;
      case Fetch::Over:
        break;
    }
  }

  std::span<const Instruction> stream_;
  const Machine& machine_;
  const TimingOptions& options_;
  ReadMemory memory_;
  Cycles now_ = 0;
  Stepped result_;
  std::array<std::optional<Command>, kClients> slots_, filled_;
  int outstanding_ = 0;
  std::array<Unit, 3> units_;
  std::array<Counter, 4> counters_;
  enum class Fetch { Ask, Read, Turn, HandOut, Rest, Over } fetch_ = Fetch::Ask;
  std::size_t fetched_ = 0, held_ = 0;
  std::array<std::optional<std::size_t>, 3> handed_out_;
};

}  // namespace

Stepped step_pipelined(std::span<const Instruction> stream, const Machine& machine, const TimingOptions& options,
                       std::int64_t most_cycles) {
  return PipelinedCore(stream, machine, options).run(most_cycles);
}

}  // namespace tilewright::vta
