// How many cycles a stream of instructions takes, by events: fetch, load, compute and store as actors, tokens between them,
// one read port and one write channel to memory. Needs no data. The model and its constants are in docs/vta_timing.md.
//
//   sequential  the Chisel core of 2019 to 2021: equal to its RTL, cycle for cycle (machines with the default widths)
//   pipelined   the core since June 2021, one GEMM step per cycle, several reads in flight: equal to an RTL of it likewise
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/names.hpp"
#include "tilewright/base/result.hpp"
#include "tilewright/vta/fault.hpp"
#include "tilewright/vta/instruction.hpp"
#include "tilewright/vta/machine.hpp"

namespace tilewright::vta {

namespace timing {
struct Engine;
}

enum class Core : std::uint8_t { Sequential, Pipelined };

// Direct: the first data of a read that waited for nobody comes L + 2 cycles after its command, and that of the next one
// right behind it. Registered: through a register, so everything one cycle later, with one cycle between two reads.
enum class Memory : std::uint8_t { Direct, Registered };

}  // namespace tilewright::vta

namespace tilewright {

template <>
struct Names<vta::Core> {
  static constexpr std::string_view kWhat = "core";
  static constexpr NameTable<vta::Core, 2> kTable = {
      {{vta::Core::Sequential, "sequential"}, {vta::Core::Pipelined, "pipelined"}}};
};

template <>
struct Names<vta::Memory> {
  static constexpr std::string_view kWhat = "memory";
  static constexpr NameTable<vta::Memory, 2> kTable = {
      {{vta::Memory::Direct, "direct"}, {vta::Memory::Registered, "registered"}}};
};

}  // namespace tilewright

namespace tilewright::vta {

inline std::string_view name_of(Core core) { return name(core); }
inline std::string_view name_of(Memory memory) { return name(memory); }

struct TimingOptions {
  Core core = Core::Pipelined;
  std::int64_t read_latency = 16;   // cycles from a read command to its first data
  std::int64_t write_latency = 16;  // cycles from the last data of a write to its acknowledge
  std::int64_t bus_bytes = 8;       // per cycle and direction
  std::int64_t burst_bytes = 2048;  // a burst never crosses a multiple of it
  Memory memory = Memory::Direct;   // how data follows data
};
// The options themselves, or why no such memory exists: latencies are 0 to 1,000,000 cycles, bus_bytes a power of two from 4
// to 128, burst_bytes a power of two from bus_bytes (and 16) to 2^20.
Result<TimingOptions> check(TimingOptions options, const std::string& where);
// "pipelined core, direct memory, latencies 16 and 16", for headings.
std::string to_text(const TimingOptions& options);

struct ModuleCycles {
  std::int64_t busy = 0;         // executing
  std::int64_t token_stall = 0;  // an instruction waits for tokens
  std::int64_t bus_stall = 0;    // of the busy ones: more than it would take if nobody else used the read port
  std::int64_t instructions = 0;
};

// One instruction at work, for timelines: cycles [begin, end). FINISH has none.
struct Span {
  Module module = Module::Load;
  std::int32_t instruction = 0;
  std::int64_t begin = 0, end = 0;
};

struct Timing {
  std::optional<Fault> fault;           // a deadlock, or a stream without FINISH; the rest is then as far as it came
  std::int64_t cycles = 0;              // from launch to FINISH
  std::array<ModuleCycles, 3> modules;  // by Module
  std::int64_t gemm_cycles = 0, alu_cycles = 0;
  std::int64_t gemm_steps = 0, alu_steps = 0;          // GEMM without resets
  std::int64_t reset_steps = 0, alu_tensor_steps = 0;  // resets; ALU steps with two operands in the accumulators
  std::array<std::int64_t, 6> bytes{};  // over the bus, by Buffer: whole beats, so that they add up to the beats below
  std::int64_t fetch_bytes = 0;
  std::int64_t read_bursts = 0, read_beats = 0;
  std::int64_t write_bursts = 0, write_beats = 0;
  std::int64_t read_busy = 0, write_busy = 0;  // cycles from a command to its last data (read) or acknowledge (write)
};

// A stream's time, again and again without new memory. One machine and one memory per simulator; not for two threads at
// once.
class TimingSimulator {
 public:
  TimingSimulator(const Machine& machine, const TimingOptions& options);  // ones that passed `check`
  ~TimingSimulator();
  TimingSimulator(TimingSimulator&&) noexcept;
  TimingSimulator& operator=(TimingSimulator&&) noexcept;

  // `spans`, when given, is cleared and gets every instruction's, in the order of their ends within each module.
  Timing run(std::span<const Instruction> stream, std::vector<Span>* spans = nullptr);

 private:
  std::unique_ptr<timing::Engine> engine_;
};

// One stream; those of a program are timed one after the other. `spans` as in TimingSimulator::run.
Timing time_stream(std::span<const Instruction> stream, const Machine& machine, const TimingOptions& options,
                   std::vector<Span>* spans = nullptr);

}  // namespace tilewright::vta
