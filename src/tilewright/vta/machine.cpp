#include "tilewright/vta/machine.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/vta/packing.hpp"

namespace tilewright::vta {
namespace {

// log2 of the bits of one element in DRAM.
int log_element_bits(const Machine& machine, Buffer buffer) {
  switch (buffer) {
    case Buffer::Uop:
      return 5;
    case Buffer::Wgt:
      return machine.log_wgt_width + machine.log_block_out + machine.log_block_in;
    case Buffer::Inp:
      return machine.log_inp_width + machine.log_batch + machine.log_block_in;
    case Buffer::Acc:
      return machine.log_acc_width + machine.log_batch + machine.log_block_out;
    case Buffer::Out:
      return machine.log_inp_width + machine.log_batch + machine.log_block_out;
    case Buffer::Acc8:
      return 3 + machine.log_batch + machine.log_block_out;
  }
  return 5;
}

constexpr int kMostLogElementBits = 18;  // 32 KiB, far above what a bus could feed

struct Bound {
  const char* key;
  int Machine::*value;
  int least, most;
};
// Wide enough for every machine that can be encoded, narrow enough for sums and shifts of them.
constexpr Bound kBounds[] = {
    {"LOG_INP_WIDTH", &Machine::log_inp_width, 0, 5},       {"LOG_WGT_WIDTH", &Machine::log_wgt_width, 0, 5},
    {"LOG_ACC_WIDTH", &Machine::log_acc_width, 0, 5},       {"LOG_BATCH", &Machine::log_batch, 0, 15},
    {"LOG_BLOCK_IN", &Machine::log_block_in, 0, 15},        {"LOG_BLOCK_OUT", &Machine::log_block_out, 0, 15},
    {"LOG_UOP_BUFF_SIZE", &Machine::log_uop_buffer, 0, 24}, {"LOG_INP_BUFF_SIZE", &Machine::log_inp_buffer, 0, 24},
    {"LOG_WGT_BUFF_SIZE", &Machine::log_wgt_buffer, 0, 24}, {"LOG_ACC_BUFF_SIZE", &Machine::log_acc_buffer, 0, 24},
};

struct Size {
  Buffer buffer;
  const char* key;
  int Machine::*log_bytes;
  int most_log_depth;  // sram_base has 16 bits, and uop_end must reach one past the last
};
constexpr Size kSizes[] = {
    {Buffer::Uop, "LOG_UOP_BUFF_SIZE", &Machine::log_uop_buffer, 15},
    {Buffer::Inp, "LOG_INP_BUFF_SIZE", &Machine::log_inp_buffer, 16},
    {Buffer::Wgt, "LOG_WGT_BUFF_SIZE", &Machine::log_wgt_buffer, 16},
    {Buffer::Acc, "LOG_ACC_BUFF_SIZE", &Machine::log_acc_buffer, 16},
};

// ": make LOG_ACC_BUFF_SIZE at most 17", the least change of one buffer after which the format fits; "" when none does.
std::string remedy(const Machine& machine, Format format, int most_bits) {
  for (int less = 1; less < 16; ++less) {
    for (const Size& size : kSizes) {
      Machine smaller = machine;
      smaller.*size.log_bytes -= less;
      if (log_depth(smaller, size.buffer) >= 1 && packing_of(format, smaller).bits <= most_bits) {
        return fmt::format(": make {} at most {}", size.key, smaller.*size.log_bytes);
      }
    }
  }
  return "";
}

}  // namespace

std::string_view name_of(Buffer buffer) {
  switch (buffer) {
    case Buffer::Uop:
      return "uop";
    case Buffer::Wgt:
      return "wgt";
    case Buffer::Inp:
      return "inp";
    case Buffer::Acc:
      return "acc";
    case Buffer::Out:
      return "out";
    case Buffer::Acc8:
      return "acc8";
  }
  return "unknown";
}

int log_depth(const Machine& machine, Buffer buffer) {
  switch (buffer) {
    case Buffer::Uop:
      return machine.log_uop_buffer - 2;
    case Buffer::Wgt:
      return machine.log_wgt_buffer + 3 - log_element_bits(machine, buffer);
    case Buffer::Inp:
      return machine.log_inp_buffer + 3 - log_element_bits(machine, buffer);
    default:
      return machine.log_acc_buffer + 3 - log_element_bits(machine, Buffer::Acc);
  }
}

std::int64_t element_bytes(const Machine& machine, Buffer buffer) {
  return (std::int64_t{1} << log_element_bits(machine, buffer)) / 8;
}

Result<Machine> check(Machine machine, const std::string& where) {
  for (const Bound& bound : kBounds) {
    const int value = machine.*bound.value;
    if (value < bound.least || value > bound.most) {
      return invalid(fmt::format("{}: {} is {}, expected {} to {}, nearest {}", where, bound.key, value, bound.least,
                                 bound.most, std::clamp(value, bound.least, bound.most)));
    }
  }
  for (const Buffer buffer : {Buffer::Inp, Buffer::Wgt, Buffer::Acc, Buffer::Out}) {
    const int log_bits = log_element_bits(machine, buffer);
    if (log_bits < 3) {
      return invalid(
          fmt::format("{}: an element of {} has {} bits, expected at least 8", where, name_of(buffer), 1 << log_bits));
    }
    if (log_bits > kMostLogElementBits) {
      return invalid(
          fmt::format("{}: an element of {} has {} bytes, expected at most {}: make the blocks or the batch smaller", where,
                      name_of(buffer), element_bytes(machine, buffer), (1 << kMostLogElementBits) / 8));
    }
  }
  for (const Size& size : kSizes) {
    const int value = machine.*size.log_bytes;
    const int least = value - log_depth(machine, size.buffer) + 1;
    const int most = least - 1 + size.most_log_depth;
    if (value < least || value > most) {
      return invalid(fmt::format("{}: {} is {}, expected {} to {} with elements of {} bytes", where, size.key, value, least,
                                 most, element_bytes(machine, size.buffer)));
    }
  }
  constexpr std::pair<Format, const char*> kFormats[] = {
      {Format::Alu, "the ALU instruction"}, {Format::Gemm, "the GEMM instruction"}, {Format::MicroOp, "the micro-op"}};
  for (const auto& [format, name] : kFormats) {
    const int bits = packing_of(format, machine).bits;
    const int most = format == Format::MicroOp ? 32 : 128;
    if (bits > most) {
      return invalid(fmt::format("{}: {} needs {} bits, expected at most {}{}", where, name, bits, most,
                                 remedy(machine, format, most)));
    }
  }
  return machine;
}

}  // namespace tilewright::vta
