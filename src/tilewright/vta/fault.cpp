#include "tilewright/vta/fault.hpp"

#include <fmt/format.h>

namespace tilewright::vta {

std::string_view name_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::BadMagic:
      return "bad_magic";
    case FaultKind::Truncated:
      return "truncated";
    case FaultKind::BadSection:
      return "bad_section";
    case FaultKind::BadChecksum:
      return "bad_checksum";
    case FaultKind::BadOpcode:
      return "bad_opcode";
    case FaultKind::BadAluOpcode:
      return "bad_alu_opcode";
    case FaultKind::BadMemoryType:
      return "bad_memory_type";
    case FaultKind::BadFlag:
      return "bad_flag";
    case FaultKind::SramRange:
      return "sram_range";
    case FaultKind::UopRange:
      return "uop_range";
    case FaultKind::DramRange:
      return "dram_range";
    case FaultKind::StorePad:
      return "store_pad";
    case FaultKind::TooLong:
      return "too_long";
    case FaultKind::Deadlock:
      return "deadlock";
    case FaultKind::FinishNotLast:
      return "finish_not_last";
    case FaultKind::LeftoverToken:
      return "leftover_token";
  }
  return "unknown";
}

int exit_code(FaultKind kind) {
  switch (kind) {
    case FaultKind::Deadlock:
    case FaultKind::FinishNotLast:
      return 4;
    case FaultKind::LeftoverToken:
      return 5;
    default:
      return 2;
  }
}

std::string to_text(const Fault& fault) {
  std::string text = fmt::format("{}: ", name_of(fault.kind));
  if (fault.stream >= 0) text += fmt::format("stream {}{}", fault.stream, fault.instruction >= 0 ? ", " : ": ");
  if (fault.instruction >= 0) text += fmt::format("instruction {}: ", fault.instruction);
  return text + fault.sentence;
}

}  // namespace tilewright::vta
