// A program as a file: what lies in DRAM at the start, the instruction streams to run, and the regions that hold the result.
// The container is `VTAPROG1` (docs/isa.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tilewright/base/result.hpp"

namespace tilewright::vta {

enum class SectionKind : std::uint32_t {
  Data = 1,
  MicroOps = 2,
  Stream = 3,  // instructions, 16 bytes each; streams run in order of the table
  Zeros = 4,   // no bytes in the file
  Dump = 5,    // to be read after the last stream; no bytes in the file
};

struct Section {
  SectionKind kind = SectionKind::Data;
  std::uint32_t tag = 0;
  std::uint64_t address = 0;        // in DRAM
  std::uint64_t size = 0;           // bytes
  std::vector<std::uint8_t> bytes;  // `size` of them for Data, MicroOps and Stream, else none
};

struct Program {
  std::vector<Section> sections;
};

// An Error's message begins with its verdict, "bad_magic", "truncated", "bad_section" or "bad_checksum", where the container
// itself is damaged.
Result<Program> program_from_bytes(std::span<const std::uint8_t> bytes, const std::string& where);
std::vector<std::uint8_t> to_bytes(const Program& program);
// The same with the checksum of all other bytes in bytes 12 to 15, where `to_bytes` has zeros: for files.
std::vector<std::uint8_t> to_file(const Program& program);

}  // namespace tilewright::vta
