#include "tilewright/vta/execution.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

#include <fmt/format.h>

#include "tilewright/vta/number_format.hpp"
#include "tilewright/vta/step_kernels.hpp"

namespace tilewright::vta {
namespace {

constexpr std::int64_t kStepsBetweenCalls = 1 << 22;

std::size_t lanes(std::int64_t count) { return static_cast<std::size_t>(count); }

struct Reach {
  std::int64_t dst = 0, src = 0, wgt = 0;  // greatest index of each
};

// Factors are not negative, so the last iterations go furthest.
std::int64_t furthest(const Instruction& instruction, std::uint16_t factor_out, std::uint16_t factor_in) {
  return (instruction.iter_out - std::int64_t{1}) * factor_out + (instruction.iter_in - std::int64_t{1}) * factor_in;
}

Reach reach_of(const Instruction& instruction, std::span<const MicroOp> uops) {
  Reach reach;
  for (const MicroOp& uop : uops) {
    reach.dst = std::max<std::int64_t>(reach.dst, uop.dst);
    reach.src = std::max<std::int64_t>(reach.src, uop.src);
    reach.wgt = std::max<std::int64_t>(reach.wgt, uop.wgt);
  }
  reach.dst += furthest(instruction, instruction.dst_factor_out, instruction.dst_factor_in);
  reach.src += furthest(instruction, instruction.src_factor_out, instruction.src_factor_in);
  reach.wgt += furthest(instruction, instruction.wgt_factor_out, instruction.wgt_factor_in);
  return reach;
}

// Calls zero(first element, count) for pads and put(first element, row of DRAM) for data, over the rectangle of a load.
template <typename Zero, typename Put>
void for_each_row(const Instruction& load, const Zero& zero, const Put& put) {
  const std::size_t columns = std::size_t{load.x_pad_0} + load.x_size + load.x_pad_1;
  std::size_t element = load.sram_base;
  zero(element, load.y_pad_0 * columns);
  element += load.y_pad_0 * columns;
  for (std::size_t y = 0; y < load.y_size; ++y) {
    zero(element, load.x_pad_0);
    put(element + load.x_pad_0, y);
    zero(element + load.x_pad_0 + load.x_size, load.x_pad_1);
    element += columns;
  }
  zero(element, load.y_pad_1 * columns);
}

}  // namespace

Chip::Chip(const Machine& machine, const Encoding& encoding, std::uint8_t fill)
    : machine_(machine), encoding_(encoding), is_narrow_(machine.log_inp_width <= 3 && machine.log_wgt_width <= 3) {
  const std::uint32_t word = fill * 0x01010101u;
  const auto numbers = [&](Buffer buffer, std::int64_t per_element) { return lanes(depth(machine, buffer) * per_element); };
  const std::size_t inp_count = numbers(Buffer::Inp, machine.batch() * machine.block_in());
  const std::size_t wgt_count = numbers(Buffer::Wgt, machine.block_out() * machine.block_in());
  const std::int32_t inp = sign_extended(word, machine.log_inp_width);
  const std::int32_t wgt = sign_extended(word, machine.log_wgt_width);
  if (is_narrow_) {
    narrow_.inp.assign(inp_count, static_cast<std::int16_t>(inp));
    narrow_.wgt.assign(wgt_count, static_cast<std::int16_t>(wgt));
  } else {
    wide_.inp.assign(inp_count, inp);
    wide_.wgt.assign(wgt_count, wgt);
  }
  acc_.assign(numbers(Buffer::Acc, machine.batch() * machine.block_out()), sign_extended(word, machine.log_acc_width));
  uops_.assign(numbers(Buffer::Uop, 1), encoding_.decode(word));
}

std::optional<Fault> Chip::run(const Instruction& instruction, Dram& dram, Profile& profile) {
  ++profile.instructions;
  if (is_noop(instruction) || instruction.opcode == Opcode::Finish) return {};
  if (instruction.opcode == Opcode::Store) return store(instruction, dram, profile);
  if (instruction.opcode == Opcode::Load) {
    load(instruction, dram, profile);
    return {};
  }
  const std::int64_t steps = steps_of(instruction);
  if (steps == 0) return {};
  if (auto fault = check_indices(instruction)) return fault;
  if (instruction.opcode == Opcode::Alu) {
    profile.alu_steps += steps;
    alu(instruction);
  } else if (instruction.reset) {
    reset(instruction);
  } else {
    profile.gemm_steps += steps;
    gemm(instruction);
  }
  return {};
}

void Chip::load(const Instruction& instruction, const Dram& dram, Profile& profile) {
  const std::size_t bytes = lanes(element_bytes(machine_, instruction.buffer));
  row_.resize(instruction.x_size * bytes);
  const auto next_row = [&](std::size_t y) {
    dram.read((instruction.dram_base + std::uint64_t{y} * instruction.x_stride) * bytes, row_);
    return std::span<const std::uint8_t>(row_);
  };
  // Into `target`, of which an element has `per_element` numbers.
  const auto load_numbers = [&](auto& target, std::int64_t per_element, int log_width) {
    const std::size_t count = lanes(per_element);
    for_each_row(
        instruction,
        [&](std::size_t element, std::size_t elements) {
          std::fill_n(target.begin() + static_cast<std::ptrdiff_t>(element * count), elements * count, 0);
        },
        [&](std::size_t element, std::size_t y) {
          unpack(next_row(y), log_width, std::span(target).subspan(element * count, instruction.x_size * count));
        });
  };

  std::int64_t counted = element_bytes(machine_, instruction.buffer) * instruction.x_size * instruction.y_size;
  const std::int64_t inp_numbers = machine_.batch() * machine_.block_in();
  const std::int64_t wgt_numbers = machine_.block_out() * machine_.block_in();
  const std::int64_t acc_numbers = machine_.batch() * machine_.block_out();
  switch (instruction.buffer) {
    case Buffer::Inp:
      profile.inp_bytes += counted;
      if (is_narrow_) return load_numbers(narrow_.inp, inp_numbers, machine_.log_inp_width);
      return load_numbers(wide_.inp, inp_numbers, machine_.log_inp_width);
    case Buffer::Wgt:
      profile.wgt_bytes += counted;
      if (is_narrow_) return load_numbers(narrow_.wgt, wgt_numbers, machine_.log_wgt_width);
      return load_numbers(wide_.wgt, wgt_numbers, machine_.log_wgt_width);
    case Buffer::Acc:
      profile.acc_bytes += counted;
      return load_numbers(acc_, acc_numbers, machine_.log_acc_width);
    case Buffer::Acc8:
      counted = element_bytes(machine_, Buffer::Acc) * instruction.x_size * instruction.y_size;
      profile.acc_bytes += counted;
      return load_numbers(acc_, acc_numbers, 3);
    default:
      break;
  }
  profile.uop_bytes += counted;
  for_each_row(
      instruction,
      [&](std::size_t element, std::size_t elements) {
        std::fill_n(uops_.begin() + static_cast<std::ptrdiff_t>(element), elements, MicroOp{});
      },
      [&](std::size_t element, std::size_t y) {
        const auto words = next_row(y);
        for (std::size_t x = 0; x < instruction.x_size; ++x) uops_[element + x] = encoding_.decode(word32_at(words, x));
      });
}

std::optional<Fault> Chip::store(const Instruction& instruction, Dram& dram, Profile& profile) {
  const std::size_t bytes = lanes(element_bytes(machine_, Buffer::Out));
  const std::size_t count = lanes(machine_.batch() * machine_.block_out());
  row_.resize(instruction.x_size * bytes);
  for (std::size_t y = 0; y < instruction.y_size; ++y) {
    const std::size_t element = instruction.sram_base + y * instruction.x_size;
    pack(std::span<const std::int32_t>(acc_).subspan(element * count, instruction.x_size * count), machine_.log_inp_width,
         row_);
    if (!dram.write((instruction.dram_base + std::uint64_t{y} * instruction.x_stride) * bytes, row_)) {
      Fault fault;
      fault.kind = FaultKind::DramRange;
      fault.sentence = fmt::format("the program wrote all over its DRAM, expected at most {} bytes of it", kDramMostBytes);
      return fault;
    }
  }
  profile.out_bytes += element_bytes(machine_, Buffer::Out) * instruction.x_size * instruction.y_size;
  return {};
}

std::optional<Fault> Chip::check_indices(const Instruction& instruction) const {
  const std::span<const MicroOp> uops(uops_.begin() + instruction.uop_begin, uops_.begin() + instruction.uop_end);
  const Reach reach = reach_of(instruction, uops);
  const auto beyond = [&](std::int64_t index, Buffer buffer) -> std::optional<Fault> {
    if (index < depth(machine_, buffer)) return {};
    Fault fault;
    fault.kind = FaultKind::SramRange;
    fault.sentence =
        fmt::format("micro-ops reach element {} of {}, expected below {}", index, name_of(buffer), depth(machine_, buffer));
    return fault;
  };
  if (auto fault = beyond(reach.dst, Buffer::Acc)) return fault;
  if (instruction.opcode == Opcode::Alu) return beyond(reach.src, Buffer::Acc);
  if (instruction.reset) return {};
  if (auto fault = beyond(reach.src, Buffer::Inp)) return fault;
  return beyond(reach.wgt, Buffer::Wgt);
}

template <typename Step>
void Chip::for_each_step(const Instruction& instruction, const Step& step) {
  for (std::size_t outer = 0; outer < instruction.iter_out; ++outer) {
    for (std::size_t inner = 0; inner < instruction.iter_in; ++inner) {
      const std::size_t dst = outer * instruction.dst_factor_out + inner * instruction.dst_factor_in;
      const std::size_t src = outer * instruction.src_factor_out + inner * instruction.src_factor_in;
      const std::size_t wgt = outer * instruction.wgt_factor_out + inner * instruction.wgt_factor_in;
      for (std::size_t u = instruction.uop_begin; u < instruction.uop_end; ++u) {
        const MicroOp& uop = uops_[u];
        step(dst + uop.dst, src + uop.src, wgt + uop.wgt);
      }
      untold_ += instruction.uop_end - instruction.uop_begin;
      if (untold_ >= kStepsBetweenCalls && told_) told_(std::exchange(untold_, 0));
    }
  }
}

void Chip::gemm(const Instruction& instruction) {
  const StepShape shape{.batch = lanes(machine_.batch()),
                        .block_in = lanes(machine_.block_in()),
                        .block_out = lanes(machine_.block_out()),
                        .log_acc_width = machine_.log_acc_width};
  const auto multiply = [&](const auto& operands, const auto& kernel) {
    for_each_step(instruction, [&](std::size_t dst, std::size_t src, std::size_t wgt) {
      kernel(acc_.data() + dst * shape.batch * shape.block_out, operands.inp.data() + src * shape.batch * shape.block_in,
             operands.wgt.data() + wgt * shape.block_out * shape.block_in, shape);
    });
  };
  if (!is_narrow_) return multiply(wide_, multiply_wrapping<std::int32_t>);
  if (machine_.log_acc_width < 5) return multiply(narrow_, multiply_wrapping<std::int16_t>);
  switch (machine_.block_in()) {
    case 8:
      return multiply(narrow_, multiply_narrow<8>);
    case 16:
      return multiply(narrow_, multiply_narrow<16>);
    case 32:
      return multiply(narrow_, multiply_narrow<32>);
    case 64:
      return multiply(narrow_, multiply_narrow<64>);
    default:
      return multiply(narrow_, multiply_wrapping<std::int16_t>);
  }
}

void Chip::reset(const Instruction& instruction) {
  const std::size_t count = lanes(machine_.batch() * machine_.block_out());
  for_each_step(instruction, [&](std::size_t dst, std::size_t, std::size_t) {
    std::fill_n(acc_.begin() + static_cast<std::ptrdiff_t>(dst * count), count, 0);
  });
}

void Chip::alu(const Instruction& instruction) {
  const std::size_t count = lanes(machine_.batch() * machine_.block_out());
  const int log_width = machine_.log_acc_width;
  const auto apply = [&](const auto& operation) {
    for_each_step(instruction, [&](std::size_t dst, std::size_t src, std::size_t) {
      std::int32_t* to = acc_.data() + dst * count;
      const std::int32_t* from = acc_.data() + src * count;
      for (std::size_t i = 0; i < count; ++i) {
        const std::int32_t y = instruction.use_imm ? instruction.imm : from[i];
        to[i] = sign_extended(static_cast<std::uint32_t>(operation(to[i], y)), log_width);
      }
    });
  };
  switch (instruction.alu_opcode) {
    case AluOpcode::Min:
      return apply([](std::int32_t x, std::int32_t y) { return std::min(x, y); });
    case AluOpcode::Max:
      return apply([](std::int32_t x, std::int32_t y) { return std::max(x, y); });
    case AluOpcode::Add:
      return apply(wrapping_add);
    case AluOpcode::Shr:
      return apply(shifted_right);
    case AluOpcode::Mul:
      return apply(wrapping_product);
  }
}

}  // namespace tilewright::vta
