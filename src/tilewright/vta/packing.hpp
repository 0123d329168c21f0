// Where the fields of instructions and micro-ops lie. They are placed from bit 0 upward in a fixed order; a field that would
// cross bit 64 starts at bit 64. Widths of indices follow from the depths of the machine's buffers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tilewright/vta/machine.hpp"

namespace tilewright::vta {

enum class Format : std::uint8_t { Memory, Gemm, Alu, MicroOp };  // FINISH has the fields of Gemm and uses the first five
inline constexpr std::size_t kFormatCount = 4;

struct Field {
  std::string_view name;  // as in the reference: "uop_bgn"
  int lowest = 0;         // bit
  int width = 0;          // bits
};

struct Packing {
  std::array<Field, 17> places;
  std::size_t count = 0;
  int bits = 0;  // up to the end of the last field

  std::span<const Field> fields() const { return {places.data(), count}; }
};

// Also of a machine that `check` refuses, so that it can say why.
Packing packing_of(Format format, const Machine& machine);

}  // namespace tilewright::vta
