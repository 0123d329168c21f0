// Why a program cannot run: a value with the instruction to blame, never a hang or a crash.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tilewright::vta {

enum class FaultKind : std::uint8_t {
  BadMagic,
  Truncated,
  BadSection,   // of an unknown kind, over another one, or outside the address space
  BadChecksum,  // not the bytes that were written
  BadOpcode,
  BadAluOpcode,
  BadMemoryType,
  BadFlag,  // not a program
  SramRange,
  UopRange,
  DramRange,
  StorePad,  // reaches outside
  TooLong,   // more steps than the caller allows
  Deadlock,
  FinishNotLast,
  LeftoverToken,  // modules wait for each other, or do not end together
};
std::string_view name_of(FaultKind kind);  // "sram_range"
int exit_code(FaultKind kind);             // 2 malformed or out of range, 4 deadlock or FINISH not last, 5 tokens left over

struct Fault {
  FaultKind kind = FaultKind::Truncated;
  std::int64_t stream = -1;              // -1: no single one is to blame
  std::int64_t instruction = -1;         // index in its stream
  std::array<std::int64_t, 4> tokens{};  // left in load-to-compute, compute-to-load, compute-to-store, store-to-compute
  std::string sentence;                  // what is, what was expected
};

// `sram_range: stream 0, instruction 4: …`.
std::string to_text(const Fault& fault);

}  // namespace tilewright::vta
