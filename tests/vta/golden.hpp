// The golden data of tests/data/vta, read once: programs with the results of the real functional simulator and the cycles of
// real hardware, illegal programs with their verdicts, and encoded instructions.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tilewright/vta/functional.hpp"
#include "tilewright/vta/instruction.hpp"
#include "tilewright/vta/machine.hpp"
#include "tilewright/vta/program.hpp"

namespace tilewright::vta {

using Bytes = std::vector<std::uint8_t>;

struct GoldenRun {
  std::int64_t read_latency = 0, write_latency = 0;
  std::int64_t cycles = 0;                  // of all streams
  std::vector<std::int64_t> stream_cycles;  // of each
  // Of each: read commands, read beats, cycles with a read under way, write commands, write beats.
  std::vector<std::array<std::int64_t, 5>> stream_counts;
};

struct GoldenCase {
  std::string name, kind;
  Machine machine;
  Profile profile;  // without the count of instructions
  std::int64_t instruction_count = 0;
  std::vector<GoldenRun> runs;         // none when the hardware was not run
  bool are_cycles_comparable = false;  // false when the hardware skipped a part of the work
  Bytes program, expected;
};

// A program of another machine that the RTL of the pipelined core ran.
struct GoldenPipelined {
  std::string name, family;
  std::vector<Instruction> stream;
  struct Run {
    std::int64_t read_latency = 0, write_latency = 0, cycles = 0;
    std::array<std::int64_t, 4> counts{};  // read bursts, read beats, write bursts, write beats
  };
  std::vector<Run> runs;
};

struct GoldenNegative {
  std::string name, verdict;
  std::vector<std::string> also_accepted;
  int code = 0;
  std::int64_t stream = -1, instruction = -1;
  std::optional<std::array<std::int64_t, 4>> tokens;
  Bytes program;
};

struct GoldenWord {
  std::string config_name, mnemonic;  // "LOAD", …, "UOP"
  std::map<std::string, std::int64_t> fields;
  Bytes bytes;
};

struct GoldenLayout {
  std::string config_name;
  Machine machine;
  std::map<std::string, std::vector<std::tuple<std::string, int, int>>> formats;  // "mem": name, lowest bit, width
  std::map<std::string, int> log_depths;                                          // by name of buffer
};

const std::vector<GoldenCase>& golden_cases();
const std::vector<GoldenPipelined>& golden_pipelined();
const Machine& golden_pipelined_machine();
const std::vector<GoldenNegative>& golden_negatives();
const std::vector<GoldenLayout>& golden_layouts();
const std::vector<GoldenWord>& golden_words();

// A case by its name; throws when there is none, which fails the test.
const GoldenCase& golden_case(const std::string& name);

}  // namespace tilewright::vta
