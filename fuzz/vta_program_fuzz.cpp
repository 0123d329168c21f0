// Any bytes given to the simulator end in dumps or in a Fault, and a container that reads is written back as it was.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "tilewright/vta/disassembly.hpp"
#include "tilewright/vta/functional.hpp"

namespace {

using namespace tilewright::vta;

constexpr std::uint64_t kMostDumped = 1 << 16;  // larger ones take long and say nothing new
const ExecutionOptions kShort{.most_steps = 1 << 10};

const std::vector<Machine>& machines() {
  static const std::vector<Machine> all = {
      {},
      {.log_inp_width = 2,
       .log_wgt_width = 1,
       .log_acc_width = 4,
       .log_uop_buffer = 8,
       .log_inp_buffer = 10,
       .log_wgt_buffer = 12,
       .log_acc_buffer = 12},
      {.log_inp_width = 4,
       .log_wgt_width = 5,
       .log_batch = 1,
       .log_block_in = 1,
       .log_block_out = 2,
       .log_uop_buffer = 7,
       .log_inp_buffer = 7,
       .log_wgt_buffer = 9,
       .log_acc_buffer = 10},
  };
  return all;
}

bool dumps_little(const Program& program) {
  std::uint64_t size = 0;
  for (const Section& section : program.sections) {
    if (section.kind == SectionKind::Dump) size += std::min(section.size, kMostDumped);
  }
  return size < kMostDumped;
}

void run(const Program& program, const Machine& machine) {
  const Execution execution = execute(program, machine, kShort);
  if (execution.fault && (!execution.dumps.empty() || execution.fault->sentence.empty())) std::abort();
  for (const Section& dump : execution.dumps) {
    if (dump.bytes.size() != dump.size) std::abort();
  }
  if (!program.sections.empty() && listing(program, machine).empty()) std::abort();
}

// A stream with opcodes and buffers that exist, so that more of it gets as far as running, over DRAM with the same bytes.
Program framed(const std::uint8_t* data, std::size_t size) {
  std::vector<std::uint8_t> stream(data, data + size / 16 * 16);
  for (std::size_t i = 0; i < stream.size(); i += 16) {
    const int opcode = (stream[i] & 7) % 5;
    stream[i] = static_cast<std::uint8_t>((stream[i] & ~7) | opcode);
    if (opcode > 1) continue;
    stream[i + 3] = 0;  // DRAM addresses in the first pages
    stream[i + 4] &= 0x3;
    for (const std::size_t high : {5u, 6u, 7u, 9u, 11u, 13u}) stream[i + high] = 0;
  }
  stream.resize(stream.size() + 16);
  stream[stream.size() - 16] = static_cast<std::uint8_t>(Opcode::Finish);
  const std::uint64_t count = stream.size();
  return {{{SectionKind::Data, 0, 0x1000, size, {data, data + size}},
           {SectionKind::Stream, 0, 0x1000000, count, std::move(stream)},
           {SectionKind::Dump, 0, 0x1000, size, {}}}};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto program = program_from_bytes({data, size}, "fuzz");
  if (program) {
    if (!std::ranges::equal(to_bytes(*program), std::vector<std::uint8_t>(data, data + size))) std::abort();
    const Machine& machine = machines()[size % machines().size()];
    if (dumps_little(*program)) run(*program, machine);
  }
  if (size == 0 || size > 4096) return 0;
  run(framed(data + 1, size - 1), machines()[data[0] % machines().size()]);
  return 0;
}
