#include "tilewright/vta/packing.hpp"

#include <algorithm>

namespace tilewright::vta {
namespace {

void place(Packing& packing, std::string_view name, int width) {
  int lowest = packing.bits;
  if (lowest < 64 && lowest + width > 64) lowest = 64;
  packing.places[packing.count++] = {name, lowest, width};
  packing.bits = lowest + width;
}

void place_memory(Packing& packing) {
  place(packing, "memory_type", 3);
  place(packing, "sram_base", 16);
  place(packing, "dram_base", 32);
  place(packing, "y_size", 16);
  place(packing, "x_size", 16);
  place(packing, "x_stride", 16);
  place(packing, "y_pad_0", 4);
  place(packing, "y_pad_1", 4);
  place(packing, "x_pad_0", 4);
  place(packing, "x_pad_1", 4);
}

void place_loops(Packing& packing, int uop, int acc) {
  place(packing, "reset_reg", 1);
  place(packing, "uop_bgn", uop);
  place(packing, "uop_end", uop + 1);
  place(packing, "iter_out", 14);
  place(packing, "iter_in", 14);
  place(packing, "dst_factor_out", acc);
  place(packing, "dst_factor_in", acc);
}

}  // namespace

Packing packing_of(Format format, const Machine& machine) {
  const int uop = log_depth(machine, Buffer::Uop);
  const int inp = log_depth(machine, Buffer::Inp);
  const int wgt = log_depth(machine, Buffer::Wgt);
  const int acc = log_depth(machine, Buffer::Acc);

  Packing packing;
  if (format == Format::MicroOp) {
    place(packing, "dst_idx", acc);
    place(packing, "src_idx", std::max(acc, inp));
    place(packing, "wgt_idx", wgt);
    return packing;
  }
  place(packing, "opcode", 3);
  for (const std::string_view flag : {"pop_prev", "pop_next", "push_prev", "push_next"}) place(packing, flag, 1);
  if (format == Format::Memory) {
    place_memory(packing);
    return packing;
  }
  place_loops(packing, uop, acc);
  place(packing, "src_factor_out", format == Format::Gemm ? inp : acc);
  place(packing, "src_factor_in", format == Format::Gemm ? inp : acc);
  if (format == Format::Gemm) {
    place(packing, "wgt_factor_out", wgt);
    place(packing, "wgt_factor_in", wgt);
  } else {
    place(packing, "alu_opcode", 3);
    place(packing, "use_imm", 1);
    place(packing, "imm", 16);
  }
  return packing;
}

}  // namespace tilewright::vta
