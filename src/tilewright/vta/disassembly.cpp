#include "tilewright/vta/disassembly.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "tilewright/vta/number_format.hpp"

namespace tilewright::vta {
namespace {

constexpr std::array<std::string_view, 3> kModules = {"load", "compute", "store"};

std::string tokens_text(const Instruction& instruction) {
  const auto module = static_cast<std::size_t>(module_of(instruction));
  const std::string_view previous = module > 0 ? kModules[module - 1] : "nobody";
  const std::string_view next = module < 2 ? kModules[module + 1] : "nobody";
  std::string text;
  const auto add = [&](bool flag, std::string_view verb, std::string_view whom) {
    if (flag) text += fmt::format("{}{} {}", text.empty() ? "  " : ", ", verb, whom);
  };
  add(instruction.pop_prev, "pop", previous);
  add(instruction.pop_next, "pop", next);
  add(instruction.push_prev, "push", previous);
  add(instruction.push_next, "push", next);
  return text;
}

std::string transfer_text(const Instruction& instruction, const std::string& dram) {
  std::string text = fmt::format("{}[{}] {} {}, {}x{} stride {}", name_of(instruction.buffer), instruction.sram_base,
                                 instruction.opcode == Opcode::Store ? "to" : "from", dram, instruction.y_size,
                                 instruction.x_size, instruction.x_stride);
  if (instruction.y_pad_0 || instruction.y_pad_1 || instruction.x_pad_0 || instruction.x_pad_1) {
    text += fmt::format(" pads y {}/{} x {}/{}", instruction.y_pad_0, instruction.y_pad_1, instruction.x_pad_0,
                        instruction.x_pad_1);
  }
  return text;
}

std::string loops_text(const Instruction& instruction) {
  return fmt::format("uops {}..{} iter {}x{} acc +{}/+{}", instruction.uop_begin, instruction.uop_end, instruction.iter_out,
                     instruction.iter_in, instruction.dst_factor_out, instruction.dst_factor_in);
}

std::string_view name_of(AluOpcode opcode) {
  constexpr std::array<std::string_view, 5> kNames = {"min", "max", "add", "shr", "mul"};
  const auto index = static_cast<std::size_t>(opcode);
  return index < kNames.size() ? kNames[index] : "unknown";
}

// Without tokens. `dram` is the address as it is to be shown.
std::string action_text(const Instruction& instruction, const std::string& dram) {
  switch (instruction.opcode) {
    case Opcode::Load:
    case Opcode::Store: {
      const std::string_view verb = instruction.opcode == Opcode::Load ? "load  " : "store ";
      if (is_noop(instruction)) return fmt::format("{}nothing", verb);
      return fmt::format("{}{}", verb, transfer_text(instruction, dram));
    }
    case Opcode::Gemm:
      if (instruction.reset) return "reset " + loops_text(instruction);
      return fmt::format("gemm  {} inp +{}/+{} wgt +{}/+{}", loops_text(instruction), instruction.src_factor_out,
                         instruction.src_factor_in, instruction.wgt_factor_out, instruction.wgt_factor_in);
    case Opcode::Alu:
      if (instruction.use_imm) {
        return fmt::format("{}   {} by {}", name_of(instruction.alu_opcode), loops_text(instruction), instruction.imm);
      }
      return fmt::format("{}   {} by acc +{}/+{}", name_of(instruction.alu_opcode), loops_text(instruction),
                         instruction.src_factor_out, instruction.src_factor_in);
    case Opcode::Finish:
      return "finish";
  }
  return "unknown";
}

// The micro-op buffer as it is when an instruction's turn comes in program order. Micro-ops that streams write themselves
// are not followed.
class UopView {
 public:
  UopView(const Program& program, const Machine& machine, const Encoding& encoding)
      : program_(program), encoding_(encoding), uops_(static_cast<std::size_t>(depth(machine, Buffer::Uop))) {
    for (std::size_t i = 0; i < program.sections.size(); ++i) {
      if (!program.sections[i].bytes.empty()) order_.push_back(i);
    }
    std::ranges::sort(order_, {}, [&](std::size_t i) { return program.sections[i].address; });
  }

  void load(const Instruction& instruction) {
    std::size_t at = instruction.sram_base;
    for (std::size_t y = 0; y < instruction.y_size; ++y) {
      const std::uint64_t first = instruction.dram_base + std::uint64_t{y} * instruction.x_stride;
      for (std::size_t x = 0; x < instruction.x_size && at < uops_.size(); ++x, ++at) uops_[at] = at_dram((first + x) * 4);
    }
  }

  // "dst 0..8 src 0..10 wgt 0..17", the least and greatest index of each.
  std::string text(const Instruction& instruction) const {
    const std::size_t end = std::min<std::size_t>(instruction.uop_end, uops_.size());
    if (instruction.uop_begin >= end) return "no micro-ops";
    const std::span uops(uops_.begin() + instruction.uop_begin, uops_.begin() + static_cast<std::ptrdiff_t>(end));
    const auto range = [&](std::string_view name, std::uint16_t MicroOp::*index) {
      const auto [least, most] = std::ranges::minmax(uops, {}, index);
      return fmt::format("{} {}..{}", name, least.*index, most.*index);
    };
    std::string text = range("dst", &MicroOp::dst);
    if (instruction.opcode == Opcode::Alu ? instruction.use_imm : instruction.reset) return text;
    text += range(" src", &MicroOp::src);
    if (instruction.opcode == Opcode::Gemm) text += range(" wgt", &MicroOp::wgt);
    return text;
  }

 private:
  MicroOp at_dram(std::uint64_t address) const {
    const auto after =
        std::ranges::upper_bound(order_, address, {}, [&](std::size_t i) { return program_.sections[i].address; });
    if (after == order_.begin()) return {};
    const Section& section = program_.sections[*std::prev(after)];
    const std::uint64_t offset = address - section.address;
    if (section.bytes.size() < 4 || offset > section.bytes.size() - 4) return {};
    return encoding_.decode(word32_at(std::span(section.bytes).subspan(offset), 0));
  }

  const Program& program_;
  const Encoding& encoding_;
  std::vector<std::size_t> order_;  // of sections with bytes, by address
  std::vector<MicroOp> uops_;
};

std::string instruction_line(std::size_t index, const Word& word, const Machine& machine, const Encoding& encoding,
                             UopView& uops) {
  Instruction instruction;
  if (!encoding.decode(word, instruction)) {
    std::string bytes;
    for (const std::uint8_t byte : word) bytes += fmt::format(" {:02x}", byte);
    return fmt::format("{:6}  unknown{}\n", index, bytes);
  }
  const bool is_transfer = instruction.opcode == Opcode::Load || instruction.opcode == Opcode::Store;
  std::string dram;
  if (is_transfer) {
    dram =
        fmt::format("{:#x}", instruction.dram_base * static_cast<std::uint64_t>(element_bytes(machine, instruction.buffer)));
  }
  if (instruction.opcode == Opcode::Load && instruction.buffer == Buffer::Uop) uops.load(instruction);
  std::string line = fmt::format("{:6}  {:7}  {}", index, kModules[static_cast<std::size_t>(module_of(instruction))],
                                 action_text(instruction, dram));
  if (instruction.opcode == Opcode::Gemm || instruction.opcode == Opcode::Alu)
    line += fmt::format(" ({})", uops.text(instruction));
  return line + tokens_text(instruction) + "\n";
}

}  // namespace

std::string to_text(const Instruction& instruction) {
  return action_text(instruction, fmt::format("dram[{:#x}]", instruction.dram_base)) + tokens_text(instruction);
}

std::string listing(const Program& program, const Machine& machine) {
  constexpr std::array<std::string_view, 6> kKinds = {"unknown", "data", "micro-ops", "stream", "zeros", "dump"};
  const Encoding encoding(machine);
  UopView uops(program, machine, encoding);
  std::string text;
  for (const Section& section : program.sections) {
    const auto kind = static_cast<std::size_t>(section.kind);
    text += fmt::format("{} at {:#x}, {} bytes, tag {}\n", kKinds[kind < kKinds.size() ? kind : 0], section.address,
                        section.size, section.tag);
    if (section.kind != SectionKind::Stream) continue;
    Word word;
    for (std::size_t i = 0; (i + 1) * word.size() <= section.bytes.size(); ++i) {
      std::copy_n(section.bytes.begin() + static_cast<std::ptrdiff_t>(i * word.size()), word.size(), word.begin());
      text += instruction_line(i, word, machine, encoding, uops);
    }
  }
  return text;
}

}  // namespace tilewright::vta
