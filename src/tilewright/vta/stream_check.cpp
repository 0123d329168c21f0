#include "tilewright/vta/stream_check.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace tilewright::vta {
namespace {

constexpr std::array<std::string_view, 3> kModuleNames = {"load", "compute", "store"};

Fault fault_at(FaultKind kind, std::string sentence) {
  Fault fault;
  fault.kind = kind;
  fault.sentence = std::move(sentence);
  return fault;
}

Fault undefined_instruction(const Instruction& instruction) {
  const auto opcode = static_cast<int>(instruction.opcode);
  if (opcode > static_cast<int>(Opcode::Alu)) {
    return fault_at(FaultKind::BadOpcode, fmt::format("the opcode is {}, expected 0 to 4", opcode));
  }
  if (instruction.opcode == Opcode::Alu) {
    return fault_at(FaultKind::BadAluOpcode,
                    fmt::format("the ALU opcode is {}, expected 0 to 4", static_cast<int>(instruction.alu_opcode)));
  }
  return fault_at(FaultKind::BadMemoryType,
                  fmt::format("the memory type is {}, expected 0 to 5", static_cast<int>(instruction.buffer)));
}

std::optional<Fault> check_flags(const Instruction& instruction) {
  const Module module = module_of(instruction);
  if (module == Module::Load && (instruction.pop_prev || instruction.push_prev)) {
    return fault_at(FaultKind::BadFlag, "a load has a flag towards a module before it, expected one towards compute only");
  }
  if (module == Module::Store && (instruction.pop_next || instruction.push_next)) {
    return fault_at(FaultKind::BadFlag, "a store has a flag towards a module behind it, expected one towards compute only");
  }
  return {};
}

std::optional<Fault> check_buffer(const Instruction& instruction, const Machine& machine) {
  if (instruction.opcode == Opcode::Store) {
    if (instruction.buffer == Buffer::Out) return {};
    return fault_at(FaultKind::BadMemoryType,
                    fmt::format("a store from {}, expected from out", name_of(instruction.buffer)));
  }
  if (instruction.buffer == Buffer::Out) return fault_at(FaultKind::BadMemoryType, "a load to out, expected to acc");
  if (instruction.buffer == Buffer::Acc8 && (machine.log_inp_width != 3 || machine.log_acc_width != 5)) {
    return fault_at(FaultKind::BadMemoryType,
                    fmt::format("a load of 8-bit accumulators on a machine with inputs of {} and accumulators of {} bits, "
                                "expected 8 and 32",
                                1 << machine.log_inp_width, 1 << machine.log_acc_width));
  }
  return {};
}

std::optional<Fault> check_transfer(const Instruction& instruction, const Machine& machine, const DramRange& dram) {
  if (auto fault = check_buffer(instruction, machine)) return fault;
  const std::int64_t columns = std::int64_t{instruction.x_pad_0} + instruction.x_size + instruction.x_pad_1;
  const std::int64_t rows = std::int64_t{instruction.y_pad_0} + instruction.y_size + instruction.y_pad_1;
  if (instruction.opcode == Opcode::Store && (columns != instruction.x_size || rows != instruction.y_size)) {
    return fault_at(FaultKind::StorePad, "a store has pads, expected none");
  }
  const std::int64_t limit = depth(machine, instruction.buffer);
  if (instruction.sram_base + rows * columns > limit) {
    return fault_at(FaultKind::SramRange,
                    fmt::format("a transfer of {} elements from element {} of {}, expected to end by {}", rows * columns,
                                instruction.sram_base, name_of(instruction.buffer), limit));
  }
  if (instruction.y_size == 0) return {};
  const auto bytes = static_cast<std::uint64_t>(element_bytes(machine, instruction.buffer));
  const std::uint64_t begin = instruction.dram_base * bytes;
  const std::uint64_t last_row = (instruction.y_size - std::uint64_t{1}) * instruction.x_stride;
  const std::uint64_t end = begin + (last_row + instruction.x_size) * bytes;
  if (begin < dram.begin || end > dram.end) {
    return fault_at(FaultKind::DramRange,
                    fmt::format("a transfer of DRAM bytes {:#x} to {:#x}, expected inside {:#x} to {:#x}", begin, end,
                                dram.begin, dram.end));
  }
  return {};
}

// Token queues, in the order of Fault::tokens: load to compute, compute to load, compute to store, store to compute.
constexpr std::array<std::string_view, 4> kQueueNames = {"load to compute", "compute to load", "compute to store",
                                                         "store to compute"};
struct Ports {
  int pop_prev, pop_next, push_prev, push_next;  // a queue, or -1
};
constexpr std::array<Ports, 3> kPorts = {{{-1, 1, -1, 0}, {0, 3, 1, 2}, {2, -1, 3, -1}}};

using Clock = std::array<std::uint32_t, 3>;  // instructions of each module that happened before

class TokenRun {
 public:
  explicit TokenRun(std::span<const Instruction> stream) : stream_(stream) {
    for (std::size_t i = 0; i < stream.size(); ++i) {
      queues_[static_cast<std::size_t>(module_of(stream[i]))].push_back(static_cast<std::uint32_t>(i));
    }
  }

  void run(ModuleOrder order, std::vector<std::uint32_t>& executed) {
    executed.reserve(stream_.size());
    while (const auto module = next(order)) {
      executed.push_back(queues_[*module][done_[*module]]);
      step(*module);
    }
  }

  std::optional<Fault> verdict() const {
    std::optional<Fault> fault = unfinished();
    if (!fault && !finish_)
      fault = fault_at(FaultKind::FinishNotLast, "there is no FINISH, expected one as the last instruction");
    // A token that nobody takes may be the one that should have ordered FINISH, so it is named first.
    if (!fault && std::ranges::any_of(tokens_, [](const Fifo& fifo) { return fifo.size() > 0; })) {
      fault = fault_at(FaultKind::LeftoverToken, leftovers());
    }
    if (!fault) fault = finish_not_last();
    if (!fault) return {};
    for (std::size_t i = 0; i < 4; ++i) fault->tokens[i] = static_cast<std::int64_t>(tokens_[i].size());
    return fault;
  }

 private:
  struct Fifo {
    std::vector<Clock> given;
    std::size_t taken = 0;
    std::size_t size() const { return given.size() - taken; }
  };

  bool has_work(std::size_t module) const { return done_[module] < queues_[module].size(); }
  const Instruction& head(std::size_t module) const { return stream_[queues_[module][done_[module]]]; }
  bool is_missing(bool pop, int queue) const {
    return pop && queue >= 0 && tokens_[static_cast<std::size_t>(queue)].size() == 0;
  }
  bool is_ready(std::size_t module) const {
    if (!has_work(module)) return false;
    const Instruction& instruction = head(module);
    return !is_missing(instruction.pop_prev, kPorts[module].pop_prev) &&
           !is_missing(instruction.pop_next, kPorts[module].pop_next);
  }

  std::optional<std::size_t> next(ModuleOrder order) const {
    std::optional<std::size_t> best;
    for (std::size_t module = 0; module < 3; ++module) {
      if (!is_ready(module)) continue;
      if (order != ModuleOrder::Oldest && module == static_cast<std::size_t>(order) - 1) return module;
      if (!best || queues_[module][done_[module]] < queues_[*best][done_[*best]]) best = module;
    }
    return best;
  }

  void step(std::size_t module) {
    const Instruction& instruction = head(module);
    Clock& clock = clocks_[module];
    const auto pop = [&](bool flag, int queue) {
      if (!flag || queue < 0) return;
      Fifo& fifo = tokens_[static_cast<std::size_t>(queue)];
      const Clock& token = fifo.given[fifo.taken++];
      for (std::size_t i = 0; i < 3; ++i) clock[i] = std::max(clock[i], token[i]);
    };
    const auto push = [&](bool flag, int queue) {
      if (flag && queue >= 0) tokens_[static_cast<std::size_t>(queue)].given.push_back(clock);
    };
    pop(instruction.pop_prev, kPorts[module].pop_prev);
    pop(instruction.pop_next, kPorts[module].pop_next);
    clock[module] = static_cast<std::uint32_t>(++done_[module]);
    push(instruction.push_prev, kPorts[module].push_prev);
    push(instruction.push_next, kPorts[module].push_next);
    if (instruction.opcode == Opcode::Finish && !finish_) finish_ = clock;
  }

  // The oldest that waits: the place where execution one by one would stop.
  std::optional<Fault> unfinished() const {
    std::optional<std::size_t> oldest;
    for (std::size_t module = 0; module < 3; ++module) {
      if (!has_work(module)) continue;
      if (!oldest || queues_[module][done_[module]] < queues_[*oldest][done_[*oldest]]) oldest = module;
    }
    if (!oldest) return {};
    const Ports& ports = kPorts[*oldest];
    const int queue = is_missing(head(*oldest).pop_prev, ports.pop_prev) ? ports.pop_prev : ports.pop_next;
    Fault fault = fault_at(FaultKind::Deadlock,
                           fmt::format("{} waits for ever for a token from {}, expected one more instruction that gives it",
                                       kModuleNames[*oldest], kQueueNames[static_cast<std::size_t>(queue)]));
    fault.instruction = queues_[*oldest][done_[*oldest]];
    return fault;
  }

  std::optional<Fault> finish_not_last() const {
    for (std::size_t module = 0; module < 3; ++module) {
      const std::uint32_t before = (*finish_)[module];
      if (before == queues_[module].size()) continue;
      return fault_at(FaultKind::FinishNotLast,
                      fmt::format("nothing orders instruction {} ({}) before FINISH, expected a token that does",
                                  queues_[module][before], kModuleNames[module]));
    }
    return {};
  }

  std::string leftovers() const {
    std::string text;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t count = tokens_[i].size();
      if (count > 0) text += fmt::format("{}{} from {}", text.empty() ? "" : ", ", count, kQueueNames[i]);
    }
    return fmt::format("tokens are left over at the end ({}), expected none", text);
  }

  std::span<const Instruction> stream_;
  std::array<std::vector<std::uint32_t>, 3> queues_;
  std::array<std::size_t, 3> done_{};
  std::array<Clock, 3> clocks_{};
  std::array<Fifo, 4> tokens_;
  std::optional<Clock> finish_;
};

}  // namespace

std::optional<Fault> decode_stream(std::span<const std::uint8_t> bytes, const Encoding& encoding,
                                   std::vector<Instruction>& instructions) {
  instructions.resize(bytes.size() / sizeof(Word));
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    Word word;
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(i * sizeof(Word)), sizeof(Word), word.begin());
    if (encoding.decode(word, instructions[i])) continue;
    Fault fault = undefined_instruction(instructions[i]);
    fault.instruction = static_cast<std::int64_t>(i);
    return fault;
  }
  if (bytes.size() % sizeof(Word) == 0) return {};
  return fault_at(FaultKind::Truncated,
                  fmt::format("the stream has {} bytes, expected a multiple of {}", bytes.size(), sizeof(Word)));
}

std::optional<Fault> check_instruction(const Instruction& instruction, const Machine& machine, const DramRange& dram) {
  if (auto fault = check_flags(instruction)) return fault;
  switch (instruction.opcode) {
    case Opcode::Load:
    case Opcode::Store:
      return is_noop(instruction) ? std::nullopt : check_transfer(instruction, machine, dram);
    case Opcode::Gemm:
    case Opcode::Alu:
      if (steps_of(instruction) > 0 && instruction.uop_end > depth(machine, Buffer::Uop)) {
        return fault_at(FaultKind::UopRange, fmt::format("the micro-ops end at {}, expected at most {}", instruction.uop_end,
                                                         depth(machine, Buffer::Uop)));
      }
      return {};
    case Opcode::Finish:
      return {};
  }
  return {};
}

TokenTrace follow_tokens(std::span<const Instruction> stream, ModuleOrder order) {
  TokenTrace trace;
  TokenRun run(stream);
  run.run(order, trace.order);
  trace.fault = run.verdict();
  return trace;
}

}  // namespace tilewright::vta
