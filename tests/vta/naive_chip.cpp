#include "naive_chip.hpp"

#include <algorithm>

namespace tilewright::vta {
namespace {

std::int64_t get(const std::vector<std::uint8_t>& memory, std::int64_t number, int bits) {
  std::int64_t value = 0;
  for (int i = 0; i < bits; ++i) {
    const std::int64_t bit = number * bits + i;
    if (memory[static_cast<std::size_t>(bit / 8)] >> (bit % 8) & 1)
      value += (i == bits - 1 ? -1 : 1) * (std::int64_t{1} << i);
  }
  return value;
}

void put(std::vector<std::uint8_t>& memory, std::int64_t number, int bits, std::int64_t value) {
  for (int i = 0; i < bits; ++i) {
    const std::int64_t bit = number * bits + i;
    std::uint8_t& byte = memory[static_cast<std::size_t>(bit / 8)];
    const auto mask = static_cast<std::uint8_t>(1 << (bit % 8));
    byte = static_cast<std::uint8_t>((value >> i & 1) != 0 ? byte | mask : byte & ~mask);
  }
}

// What is left of a number in 32 bits.
std::int64_t wrapped(std::int64_t value) {
  const std::int64_t low = value & 0xffffffff;
  return low >= 0x80000000 ? low - 0x100000000 : low;
}

std::int64_t alu(AluOpcode opcode, std::int64_t x, std::int64_t y) {
  switch (opcode) {
    case AluOpcode::Min:
      return std::min(x, y);
    case AluOpcode::Max:
      return std::max(x, y);
    case AluOpcode::Add:
      return wrapped(x + y);
    case AluOpcode::Mul:
      return wrapped(x * y);
    case AluOpcode::Shr:
      break;
  }
  if (y < 0) return wrapped(x * (std::int64_t{1} << (-y % 32)));
  const std::int64_t divisor = std::int64_t{1} << (y % 32);
  return (x - ((x % divisor) + divisor) % divisor) / divisor;  // rounds down
}

}  // namespace

NaiveChip::NaiveChip(const Machine& machine) : machine_(machine) {
  for (const Buffer buffer : {Buffer::Uop, Buffer::Wgt, Buffer::Inp, Buffer::Acc}) {
    memory(buffer).resize(static_cast<std::size_t>(depth(machine, buffer) * element_bytes(machine, buffer)));
  }
}

NaiveChip::Memory& NaiveChip::memory(Buffer buffer) { return memories_[static_cast<std::size_t>(buffer)]; }

void NaiveChip::run(std::span<const Instruction> stream, Memory& dram) {
  for (const Instruction& instruction : stream) {
    if (instruction.opcode == Opcode::Finish || is_noop(instruction)) continue;
    if (instruction.opcode == Opcode::Load) {
      load(instruction, dram);
    } else if (instruction.opcode == Opcode::Store) {
      store(instruction, dram);
    } else {
      const Encoding encoding(machine_);
      for (int outer = 0; outer < instruction.iter_out; ++outer) {
        for (int inner = 0; inner < instruction.iter_in; ++inner) {
          for (int u = instruction.uop_begin; u < instruction.uop_end; ++u) {
            const MicroOp uop = encoding.decode(static_cast<std::uint32_t>(get(memory(Buffer::Uop), u, 32)));
            step(instruction, uop.dst + outer * instruction.dst_factor_out + inner * instruction.dst_factor_in,
                 uop.src + outer * instruction.src_factor_out + inner * instruction.src_factor_in,
                 uop.wgt + outer * instruction.wgt_factor_out + inner * instruction.wgt_factor_in);
          }
        }
      }
    }
  }
}

void NaiveChip::load(const Instruction& instruction, const Memory& dram) {
  const bool widens = instruction.buffer == Buffer::Acc8;
  Memory& target = memory(widens ? Buffer::Acc : instruction.buffer);
  const std::int64_t bytes = element_bytes(machine_, widens ? Buffer::Acc : instruction.buffer);
  const std::int64_t dram_bytes = element_bytes(machine_, instruction.buffer);
  const int rows = instruction.y_pad_0 + instruction.y_size + instruction.y_pad_1;
  const int columns = instruction.x_pad_0 + instruction.x_size + instruction.x_pad_1;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const std::int64_t element = instruction.sram_base + std::int64_t{row} * columns + column;
      const int y = row - instruction.y_pad_0;
      const int x = column - instruction.x_pad_0;
      const bool is_pad = y < 0 || y >= instruction.y_size || x < 0 || x >= instruction.x_size;
      const std::int64_t from = (instruction.dram_base + std::int64_t{y} * instruction.x_stride + x) * dram_bytes;
      for (std::int64_t i = 0; i < bytes; ++i) {
        std::uint8_t byte = 0;
        if (!is_pad && !widens) byte = dram[static_cast<std::size_t>(from + i)];
        if (!is_pad && widens) byte = static_cast<std::uint8_t>(get(dram, from + i / 4, 8) >> (8 * (i % 4)));
        target[static_cast<std::size_t>(element * bytes + i)] = byte;
      }
    }
  }
}

void NaiveChip::store(const Instruction& instruction, Memory& dram) {
  const std::int64_t numbers = machine_.batch() * machine_.block_out();
  for (int y = 0; y < instruction.y_size; ++y) {
    for (int x = 0; x < instruction.x_size; ++x) {
      const std::int64_t from = instruction.sram_base + std::int64_t{y} * instruction.x_size + x;
      const std::int64_t to = instruction.dram_base + std::int64_t{y} * instruction.x_stride + x;
      for (std::int64_t i = 0; i < numbers; ++i) {
        put(dram, to * numbers + i, 1 << machine_.log_inp_width,
            get(memory(Buffer::Acc), from * numbers + i, 1 << machine_.log_acc_width));
      }
    }
  }
}

void NaiveChip::step(const Instruction& instruction, std::int64_t dst, std::int64_t src, std::int64_t wgt) {
  const int acc_bits = 1 << machine_.log_acc_width;
  const std::int64_t ins = machine_.block_in();
  const std::int64_t outs = machine_.block_out();
  Memory& acc = memory(Buffer::Acc);
  for (std::int64_t b = 0; b < machine_.batch(); ++b) {
    for (std::int64_t o = 0; o < outs; ++o) {
      const std::int64_t at = (dst * machine_.batch() + b) * outs + o;
      std::int64_t result = get(acc, at, acc_bits);
      if (instruction.opcode == Opcode::Alu) {
        const std::int64_t other = get(acc, (src * machine_.batch() + b) * outs + o, acc_bits);
        result = alu(instruction.alu_opcode, result, instruction.use_imm ? instruction.imm : other);
      } else if (instruction.reset) {
        result = 0;
      } else {
        for (std::int64_t k = 0; k < ins; ++k) {
          const std::int64_t x =
              get(memory(Buffer::Inp), (src * machine_.batch() + b) * ins + k, 1 << machine_.log_inp_width);
          const std::int64_t w = get(memory(Buffer::Wgt), (wgt * outs + o) * ins + k, 1 << machine_.log_wgt_width);
          result = wrapped(result + wrapped(x * w));
        }
      }
      put(acc, at, acc_bits, result);
    }
  }
}

}  // namespace tilewright::vta
