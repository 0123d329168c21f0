// What can be said about a stream without its data: whether every instruction is one that exists and stays inside the
// buffers, and whether the tokens let all of them run and FINISH come last.
//
// A token queue has one producer and one consumer, both in order, so the k-th token taken is always the k-th given,
// whichever module is faster. Hence "happens before" does not depend on speed: it is the order inside each module plus
// one edge from every giver to its taker. Each instruction carries a clock, the number of instructions of each module that
// happened before it; FINISH is last in every order if its clock counts all others.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tilewright/vta/fault.hpp"
#include "tilewright/vta/instruction.hpp"
#include "tilewright/vta/machine.hpp"

namespace tilewright::vta {

// Bytes of DRAM that exist: [begin, end).
struct DramRange {
  std::uint64_t begin = 0, end = 0;
};

// The instructions of a stream section. A Fault names the first that is none.
std::optional<Fault> decode_stream(std::span<const std::uint8_t> bytes, const Encoding& encoding,
                                   std::vector<Instruction>& instructions);

// Flags, buffers and what a transfer reaches, and the range of micro-ops. What the micro-ops themselves reach depends on
// data.
std::optional<Fault> check_instruction(const Instruction& instruction, const Machine& machine, const DramRange& dram);

// Which of several instructions that could run goes first.
enum class ModuleOrder : std::uint8_t { Oldest, LoadFirst, ComputeFirst, StoreFirst };

struct TokenTrace {
  std::optional<Fault> fault;        // Deadlock, FinishNotLast or LeftoverToken
  std::vector<std::uint32_t> order;  // of execution, as far as it went
};
TokenTrace follow_tokens(std::span<const Instruction> stream, ModuleOrder order = ModuleOrder::Oldest);

}  // namespace tilewright::vta
