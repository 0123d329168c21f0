#include "timing_stepper.hpp"

#include <algorithm>
#include <array>
#include <deque>

namespace tilewright::vta {
namespace {

constexpr std::size_t kFetchClient = 0, kUopClient = 1, kInpClient = 2, kWgtClient = 3, kAccClient = 4, kNobody = 5;

// One beat per cycle from the second cycle after a command (plus the latency) on; no command while one is under way.
struct Port {
  enum { Idle, Address, Data } state = Idle;
  std::size_t client = kNobody;
  std::int64_t beats = 0, wait = 0;
  bool delivers() const { return state == Data && wait == 0; }
};

// A counter of eight bits.
struct Semaphore {
  int count = 0;
  bool post = false, wait = false;
  void tick() {
    if (post && !wait && count != 255) ++count;
    if (!post && wait && count != 0) --count;
    post = wait = false;
  }
};

struct Reader {  // of a load with rows and pads, and of micro-ops
  enum { Idle, TopPad, LeftPad, Command, Data, RightPad, BottomPad } state = Idle;
  std::size_t client = kNobody;
  std::int64_t pad_left = 0;     // cycles
  std::int64_t row = 0, at = 0;  // beats of this row already asked for
  std::int64_t asked = 0, got = 0;
};

struct Writer {
  enum { Idle, Command, Address, Data, Gap, Acknowledge } state = Idle;
  std::int64_t row = 0, at = 0, asked = 0, sent = 0, wait = 0;
};

struct Stage {
  std::deque<std::size_t> queue;
  enum { Idle, Sync, Work } state = Idle;
  std::int64_t work_left = 0;  // GEMM and ALU
  Reader reader;
};

std::int64_t element_beats(Buffer buffer) { return buffer == Buffer::Wgt ? 32 : buffer == Buffer::Acc ? 8 : 2; }

class SteppedCore {
 public:
  SteppedCore(std::span<const Instruction> stream, std::int64_t read_latency, std::int64_t write_latency)
      : stream_(stream), read_latency_(read_latency), write_latency_(write_latency) {}

  Stepped run(std::int64_t most_cycles) {
    for (now_ = 2; now_ < most_cycles && !result_.finished; ++now_) cycle();
    return result_;
  }

 private:
  const Instruction& head(const Stage& stage) const { return stream_[stage.queue.front()]; }
  static std::int64_t beats_of_row(const Instruction& load) {
    if (load.buffer == Buffer::Uop) return (load.x_size >> 1) + (load.x_size & 1) + (load.sram_base & 1);
    return load.x_size * element_beats(load.buffer);
  }

  // What the reader asks for next: to the end of the row, of 256 beats (micro-ops) or of 2048 bytes.
  void ask(Reader& reader, const Instruction& load) const {
    const std::int64_t left = beats_of_row(load) - reader.at;
    std::int64_t most = 256;
    if (load.buffer != Buffer::Uop) {
      const std::int64_t bytes = 8 * element_beats(load.buffer);
      const std::int64_t address = (load.dram_base + reader.row * load.x_stride) * bytes + 8 * reader.at;
      most = (2048 - address % 2048) / 8;
    }
    reader.asked = std::min(left, most);
    reader.got = 0;
  }
  bool row_over(const Reader& reader, const Instruction& load) const {
    const std::int64_t left = beats_of_row(load) - reader.at;
    return left == 0 || (load.buffer == Buffer::Uop && left == 1 && reader.at > 0);  // the forgotten beat
  }
  void begin_row(Reader& reader, const Instruction& load) const {
    reader.at = 0;
    ask(reader, load);
    reader.pad_left = load.buffer == Buffer::Uop ? 0 : load.x_pad_0 * element_beats(load.buffer);
    reader.state = reader.pad_left > 0 ? Reader::LeftPad : Reader::Command;
  }
  void begin_read(Reader& reader, const Instruction& load) const {
    reader.row = 0;
    reader.client = load.buffer == Buffer::Uop   ? kUopClient
                    : load.buffer == Buffer::Inp ? kInpClient
                    : load.buffer == Buffer::Wgt ? kWgtClient
                                                 : kAccClient;
    begin_row(reader, load);
    if (load.buffer == Buffer::Uop || load.y_pad_0 == 0) return;
    reader.pad_left = load.y_pad_0 * width(load) * element_beats(load.buffer);
    reader.state = Reader::TopPad;
  }
  static std::int64_t width(const Instruction& load) { return load.x_pad_0 + load.x_size + load.x_pad_1; }
  void after_right_pad(Reader& reader, const Instruction& load, bool& done) const {
    const bool last = load.buffer == Buffer::Uop || reader.row + 1 == load.y_size;
    if (!last) {
      ++reader.row;
      begin_row(reader, load);
    } else if (load.buffer != Buffer::Uop && load.y_pad_1 > 0) {
      reader.pad_left = load.y_pad_1 * width(load) * element_beats(load.buffer);
      reader.state = Reader::BottomPad;
    } else {
      reader.state = Reader::Idle;
      done = true;
    }
  }
  // One cycle of a reader; true in its last one.
  bool read(Reader& reader, const Instruction& load, bool granted, bool data) const {
    bool done = false;
    switch (reader.state) {
      case Reader::Idle:
        break;
      case Reader::TopPad:
        if (--reader.pad_left == 0) begin_row(reader, load);
        break;
      case Reader::LeftPad:
        if (--reader.pad_left == 0) reader.state = Reader::Command;
        break;
      case Reader::Command:
        if (granted) reader.state = Reader::Data;
        break;
      case Reader::Data:
        if (!data || ++reader.got < reader.asked) break;
        reader.at += reader.asked;
        if (!row_over(reader, load)) {
          ask(reader, load);
          reader.state = Reader::Command;
        } else if (load.buffer != Buffer::Uop && load.x_pad_1 > 0) {
          reader.pad_left = load.x_pad_1 * element_beats(load.buffer);
          reader.state = Reader::RightPad;
        } else {
          after_right_pad(reader, load, done);
        }
        break;
      case Reader::RightPad:
        if (--reader.pad_left == 0) after_right_pad(reader, load, done);
        break;
      case Reader::BottomPad:
        if (--reader.pad_left == 0) {
          reader.state = Reader::Idle;
          done = true;
        }
        break;
    }
    return done;
  }

  void ask_write(const Instruction& store) {
    const std::int64_t address = (store.dram_base + writer_.row * store.x_stride) * 16 + 8 * writer_.at;
    writer_.asked = std::min<std::int64_t>(store.x_size * 2 - writer_.at, (2048 - address % 2048) / 8);
    writer_.sent = 0;
    writer_.state = Writer::Command;
  }
  bool write(const Instruction& store) {
    switch (writer_.state) {
      case Writer::Idle:
        break;
      case Writer::Command:
        ++result_.write_bursts;
        writer_.state = Writer::Address;
        break;
      case Writer::Address:
        writer_.state = Writer::Data;
        break;
      case Writer::Data:
        ++result_.write_beats;
        if (++writer_.sent == writer_.asked) {
          writer_.state = Writer::Acknowledge;
          writer_.wait = write_latency_;
        } else if (writer_.sent % 2 == 0) {
          writer_.state = Writer::Gap;
        }
        break;
      case Writer::Gap:
        writer_.state = Writer::Data;
        break;
      case Writer::Acknowledge:
        if (writer_.wait-- > 0) break;
        writer_.at += writer_.asked;
        if (writer_.at == store.x_size * 2) {
          writer_.at = 0;
          ++writer_.row;
        }
        if (writer_.row == store.y_size) {
          writer_.state = Writer::Idle;
          return true;
        }
        ask_write(store);
        break;
    }
    return false;
  }

  void cycle() {
    Stage &load = stages_[0], &compute = stages_[1];
    // What everybody sees of the registers in this cycle.
    const bool data = port_.delivers();
    const std::size_t to = port_.client;
    std::array<bool, 5> asks{};
    asks[kFetchClient] = fetch_ == Fetch::Command;
    for (const Stage* stage : {&load, &compute})
      if (stage->reader.state == Reader::Command) asks[stage->reader.client] = true;
    std::size_t granted = kNobody;
    if (port_.state == Port::Idle) granted = static_cast<std::size_t>(std::ranges::find(asks, true) - asks.begin());
    std::array<std::size_t, 3> waiting{};
    for (std::size_t m = 0; m < 3; ++m) waiting[m] = stages_[m].queue.size();
    std::array<int, 4> tokens{};
    for (std::size_t q = 0; q < 4; ++q) tokens[q] = semaphores_[q].count;

    const std::int64_t burst = granted == kFetchClient                          ? 2 * group()
                               : granted == kUopClient || granted == kAccClient ? compute.reader.asked
                               : granted != kNobody                             ? load.reader.asked
                                                                                : 0;
    tick_port(granted, burst);
    for (std::size_t m = 0; m < 3; ++m) tick_stage(m, waiting[m], tokens, granted, data ? to : kNobody);
    tick_fetch(granted, data && to == kFetchClient, waiting);
    for (Semaphore& semaphore : semaphores_) semaphore.tick();
  }

  void tick_port(std::size_t granted, std::int64_t burst) {
    if (port_.state == Port::Data) ++result_.read_busy;
    switch (port_.state) {
      case Port::Idle:
        if (granted == kNobody) break;
        port_ = {Port::Address, granted, burst, 0};
        ++result_.read_bursts;
        break;
      case Port::Address:
        port_.state = Port::Data;
        port_.wait = read_latency_;
        break;
      case Port::Data:
        if (port_.wait > 0) {
          --port_.wait;
          break;
        }
        ++result_.read_beats;
        if (--port_.beats == 0) port_.state = Port::Idle;
        break;
    }
  }

  // Semaphores: load to compute, compute to load, compute to store, store to compute.
  void tick_stage(std::size_t m, std::size_t waiting, const std::array<int, 4>& tokens, std::size_t granted,
                  std::size_t data_for) {
    Stage& stage = stages_[m];
    if (waiting == 0) return;
    const Instruction& instruction = head(stage);
    bool done = false;
    if (stage.state == Stage::Idle) {
      const std::size_t prev = m == 1 ? 0 : 2, next = m == 1 ? 3 : 1;
      const bool pop_prev = m != 0 && instruction.pop_prev, pop_next = m != 2 && instruction.pop_next;
      if ((pop_prev && tokens[prev] == 0) || (pop_next && tokens[next] == 0)) return;
      if (pop_prev) semaphores_[prev].wait = true;
      if (pop_next) semaphores_[next].wait = true;
      begin(stage, instruction);
      return;
    }
    if (stage.state == Stage::Sync) {
      done = true;
    } else if (m == 2) {
      done = write(instruction);
    } else if (instruction.opcode == Opcode::Load) {
      done = read(stage.reader, instruction, granted == stage.reader.client, data_for == stage.reader.client);
    } else {
      done = --stage.work_left == 0;
    }
    if (!done) return;
    if (m == 0 && instruction.push_next) semaphores_[0].post = true;
    if (m == 1 && instruction.push_prev) semaphores_[1].post = true;
    if (m == 1 && instruction.push_next) semaphores_[2].post = true;
    if (m == 2 && instruction.push_prev) semaphores_[3].post = true;
    stage.queue.pop_front();
    stage.state = Stage::Idle;
  }

  void begin(Stage& stage, const Instruction& instruction) {
    if (instruction.opcode == Opcode::Finish) {
      result_.finished = true;
      result_.cycles = now_;
      return;
    }
    stage.state = is_noop(instruction) ? Stage::Sync : Stage::Work;
    if (stage.state == Stage::Sync) return;
    const std::int64_t steps = steps_of(instruction);
    if (instruction.opcode == Opcode::Load) {
      begin_read(stage.reader, instruction);
    } else if (instruction.opcode == Opcode::Store) {
      writer_ = {};
      ask_write(instruction);
    } else if (instruction.opcode == Opcode::Gemm) {
      stage.work_left = 4 * steps + (instruction.reset ? 0 : 3);  // micro-op, index, operands, multiply; the last write
    } else {
      stage.work_left = (instruction.use_imm ? 5 : 6) * steps;  // micro-op, index, one operand, the other, result
    }
  }

  std::int64_t group() const { return std::min<std::int64_t>(128, static_cast<std::int64_t>(stream_.size() - fetched_)); }

  void tick_fetch(std::size_t granted, bool data, const std::array<std::size_t, 3>& waiting) {
    switch (fetch_) {
      case Fetch::Idle:
        break;
      case Fetch::Command:
        if (granted != kFetchClient) break;
        fetch_beats_ = 2 * group();
        fetch_ = Fetch::Data;
        break;
      case Fetch::Data:
        if (!data || --fetch_beats_ > 0) break;
        held_ = group();
        fetch_ = Fetch::Drain;
        break;
      case Fetch::Drain:
        if (held_ == 0) {
          fetch_ = fetched_ < stream_.size() ? Fetch::Command : Fetch::Idle;
          break;
        }
        const auto m = static_cast<std::size_t>(module_of(stream_[fetched_]));
        if (waiting[m] == 512) break;
        stages_[m].queue.push_back(fetched_++);
        --held_;
        break;
    }
  }

  std::span<const Instruction> stream_;
  std::int64_t read_latency_, write_latency_, now_ = 0;
  Stepped result_;
  Port port_;
  std::array<Stage, 3> stages_;
  std::array<Semaphore, 4> semaphores_;
  Writer writer_;
  enum class Fetch { Idle, Command, Data, Drain } fetch_ = Fetch::Command;
  std::size_t fetched_ = 0;
  std::int64_t fetch_beats_ = 0, held_ = 0;
};

}  // namespace

Stepped step_stream(std::span<const Instruction> stream, std::int64_t read_latency, std::int64_t write_latency,
                    std::int64_t most_cycles) {
  return SteppedCore(stream, read_latency, write_latency).run(most_cycles);
}

}  // namespace tilewright::vta
