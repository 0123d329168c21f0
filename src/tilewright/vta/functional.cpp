#include "tilewright/vta/functional.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "tilewright/vta/dram.hpp"
#include "tilewright/vta/execution.hpp"

namespace tilewright::vta {
namespace {

constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kMostDumpBytes = std::uint64_t{1} << 28;

Fault section_fault(FaultKind kind, std::string sentence) {
  Fault fault;
  fault.kind = kind;
  fault.sentence = std::move(sentence);
  return fault;
}

std::optional<Fault> check_section(const Section& section, std::size_t index) {
  const bool has_bytes = section.kind != SectionKind::Zeros && section.kind != SectionKind::Dump;
  if (section.bytes.size() != (has_bytes ? section.size : 0)) {
    return section_fault(FaultKind::Truncated, fmt::format("section {} has {} bytes, expected {}", index,
                                                           section.bytes.size(), has_bytes ? section.size : 0));
  }
  // Compared without a sum, which a section that lies could make wrap round.
  if (section.address < kDramBegin || section.address > kDramMostEnd || section.size > kDramMostEnd - section.address) {
    return section_fault(FaultKind::DramRange,
                         fmt::format("section {} has {} bytes at {:#x}, expected inside {:#x} to {:#x}", index, section.size,
                                     section.address, kDramBegin, kDramMostEnd));
  }
  if (section.kind != SectionKind::Stream) return {};
  if (section.address % sizeof(Word) != 0) {
    return section_fault(FaultKind::BadSection, fmt::format("section {} is a stream at {:#x}, expected at a multiple of {}",
                                                            index, section.address, sizeof(Word)));
  }
  if (section.size % sizeof(Word) != 0) {
    return section_fault(FaultKind::Truncated, fmt::format("section {} is a stream of {} bytes, expected a multiple of {}",
                                                           index, section.size, sizeof(Word)));
  }
  return {};
}

std::optional<Fault> check_overlaps(const Program& program) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < program.sections.size(); ++i) {
    if (program.sections[i].kind != SectionKind::Dump && program.sections[i].size > 0) order.push_back(i);
  }
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(program.sections[i].address, i); });
  for (std::size_t k = 1; k < order.size(); ++k) {
    const Section& before = program.sections[order[k - 1]];
    const Section& section = program.sections[order[k]];
    if (before.address + before.size <= section.address) continue;
    return section_fault(FaultKind::BadSection,
                         fmt::format("section {} begins at {:#x} inside section {}, expected from {:#x} on", order[k],
                                     section.address, order[k - 1], before.address + before.size));
  }
  return {};
}

std::optional<Fault> check_sections(const Program& program) {
  std::uint64_t dump_bytes = 0;
  std::size_t stream_count = 0;
  for (std::size_t i = 0; i < program.sections.size(); ++i) {
    const Section& section = program.sections[i];
    if (auto fault = check_section(section, i)) return fault;
    if (section.kind == SectionKind::Dump) dump_bytes += section.size;
    if (section.kind == SectionKind::Stream) ++stream_count;
    if (dump_bytes > kMostDumpBytes) {
      return section_fault(FaultKind::BadSection, fmt::format("{} or more bytes are to be dumped, expected at most {}",
                                                              dump_bytes, kMostDumpBytes));
    }
  }
  if (stream_count == 0) {
    return section_fault(FaultKind::BadSection, "there is no stream of instructions, expected at least one");
  }
  return check_overlaps(program);
}

DramRange range_of(const Program& program) {
  DramRange range{.begin = kDramBegin, .end = kDramBegin};
  for (const Section& section : program.sections) range.end = std::max(range.end, section.address + section.size);
  range.end = (range.end + kPageBytes - 1) / kPageBytes * kPageBytes;
  return range;
}

std::optional<Fault> place_sections(const Program& program, Dram& dram, std::uint8_t fill) {
  constexpr std::array<std::uint8_t, kPageBytes> kZeros{};
  for (std::size_t i = 0; i < program.sections.size(); ++i) {
    const Section& section = program.sections[i];
    bool fits = true;
    if (section.kind != SectionKind::Zeros) {
      fits = dram.write(section.address, section.bytes);
    } else if (fill != 0) {
      for (std::uint64_t at = 0; fits && at < section.size; at += kPageBytes) {
        const std::size_t count = std::min<std::uint64_t>(kPageBytes, section.size - at);
        fits = dram.write(section.address + at, std::span(kZeros).first(count));
      }
    }
    if (!fits) {
      return section_fault(
          FaultKind::DramRange,
          fmt::format("sections 0 to {} need more than {} bytes, expected at most that", i, kDramMostBytes));
    }
  }
  return {};
}

bool is_loop(const Instruction& instruction) {
  return instruction.opcode == Opcode::Gemm || instruction.opcode == Opcode::Alu;
}

// Reads the stream from DRAM, because one that ran before may have changed it.
std::optional<Fault> run_stream(const Section& section, const Machine& machine, const Encoding& encoding,
                                const ExecutionOptions& options, Dram& dram, Chip& chip, Profile& profile) {
  std::vector<std::uint8_t> bytes(section.size);
  dram.read(section.address, bytes);
  std::vector<Instruction> stream;
  if (auto fault = decode_stream(bytes, encoding, stream)) return fault;
  const auto blame = [](std::optional<Fault> fault, std::size_t index) {
    if (fault) fault->instruction = static_cast<std::int64_t>(index);
    return fault;
  };
  for (std::size_t i = 0; i < stream.size(); ++i) {
    if (auto fault = check_instruction(stream[i], machine, dram.range())) return blame(fault, i);
  }
  TokenTrace trace = follow_tokens(stream, options.order);
  if (trace.fault) return trace.fault;
  std::int64_t steps = profile.gemm_steps + profile.alu_steps, told = steps, all = steps;
  for (const Instruction& instruction : stream) all += is_loop(instruction) ? steps_of(instruction) : 0;
  if (options.progress) chip.tell_steps([&](std::int64_t more) { options.progress(told += more, all); });
  for (const std::uint32_t i : trace.order) {
    if (is_loop(stream[i]) && (steps += steps_of(stream[i])) > options.most_steps) {
      return blame(section_fault(FaultKind::TooLong, fmt::format("the program has made {} steps, expected at most {}", steps,
                                                                 options.most_steps)),
                   i);
    }
    if (auto fault = chip.run(stream[i], dram, profile)) return blame(fault, i);
  }
  return {};
}

}  // namespace

Execution execute(const Program& program, const Machine& machine, const ExecutionOptions& options) {
  Execution execution;
  if ((execution.fault = check_sections(program))) return execution;
  Dram dram(range_of(program), options.fill);
  if ((execution.fault = place_sections(program, dram, options.fill))) return execution;

  const Encoding encoding(machine);
  Chip chip(machine, encoding, options.fill);
  std::int64_t stream_index = 0;
  for (const Section& section : program.sections) {
    if (section.kind != SectionKind::Stream) continue;
    execution.fault = run_stream(section, machine, encoding, options, dram, chip, execution.profile);
    if (execution.fault) {
      execution.fault->stream = stream_index;
      return execution;
    }
    ++stream_index;
  }
  for (const Section& section : program.sections) {
    if (section.kind != SectionKind::Dump) continue;
    Section dump{
        .kind = SectionKind::Data, .tag = section.tag, .address = section.address, .size = section.size, .bytes = {}};
    dump.bytes.resize(section.size);
    dram.read(section.address, dump.bytes);
    execution.dumps.push_back(std::move(dump));
  }
  return execution;
}

}  // namespace tilewright::vta
