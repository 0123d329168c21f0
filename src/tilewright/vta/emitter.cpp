#include "tilewright/vta/emitter.hpp"

#include <algorithm>

#include "tilewright/vta/generator_loops.hpp"

namespace tilewright::vta {
namespace {

// Where the part of the micro-ops that begins at `begin` ends, when not all of them fit at a time. Parts are whole rounds,
// or equal parts of one round: so the distance is kept when the loops of the instruction come back to the same accumulators.
std::int64_t part_end(const StepNest& nest, std::int64_t begin, std::int64_t capacity) {
  if (nest.places <= capacity) return std::min(nest.uop_count, begin + capacity / nest.places * nest.places);
  const std::int64_t parts = ceil_div(nest.places, capacity), round = begin / nest.places * nest.places;
  std::int64_t part = 1;
  while (round + part * nest.places / parts <= begin) ++part;
  return round + part * nest.places / parts;
}

// The length of a micro-op load. A last burst of one beat after full ones is lost by the RTL of 2020.
std::int64_t safe_length(std::int64_t count) {
  const std::int64_t even = count + (count & 1);
  return even > 512 && even % 512 == 2 ? even + 2 : even;
}

}  // namespace

Emitter::Emitter(const Machine& machine, const Addresses& addresses, Code& code)
    : code_(code), uop_address_(static_cast<std::int64_t>(addresses.uops / 4)), capacity_(uop_capacity(machine)) {
  TW_ASSERT(addresses.uops % 8 == 0);
  code_.instructions.clear();
  code_.uops.clear();
  code_.is_whole = true;
  load_uops(0, 0, 0);  // its length is known at the end
}

void Emitter::transfer(Opcode opcode, Buffer buffer, std::int64_t sram, std::int64_t dram, const FoldedRectangle& f) {
  for (std::int64_t k = 0; k < f.levels[3].count; ++k) {
    for (std::int64_t j = 0; j < f.levels[2].count; ++j, sram += f.size) {
      Instruction& instruction = code_.instructions.emplace_back();
      instruction.opcode = opcode;
      instruction.buffer = buffer;
      instruction.y_pad_0 = f.pads[0];
      instruction.y_pad_1 = f.pads[1];
      instruction.x_pad_0 = f.pads[2];
      instruction.x_pad_1 = f.pads[3];
      instruction.sram_base = static_cast<std::uint16_t>(sram);
      instruction.y_size = static_cast<std::uint16_t>(f.rows);
      instruction.x_size = static_cast<std::uint16_t>(f.levels[0].count);
      instruction.x_stride = static_cast<std::uint16_t>(f.stride);
      instruction.dram_base = static_cast<std::uint32_t>(dram + k * f.levels[3].stride + j * f.levels[2].stride);
    }
  }
}

void Emitter::load_uops(std::int64_t sram, std::int64_t dram, std::int64_t count) {
  Instruction& load = code_.instructions.emplace_back();
  load.opcode = Opcode::Load;
  load.buffer = Buffer::Uop;
  load.sram_base = static_cast<std::uint16_t>(sram);
  load.dram_base = static_cast<std::uint32_t>(uop_address_ + dram);
  load.y_size = 1;
  load.x_size = load.x_stride = static_cast<std::uint16_t>(count);
}

// Kernels are put on chip one behind the other. Those of generation 0 come with the first instruction. When there is no
// room, a new generation begins at the front, and its kernels are loaded one by one; the compute module runs in order, so
// nothing that is still needed is overwritten.
Emitter::Place Emitter::place(std::uint64_t key, std::int64_t count) {
  const std::size_t mask = kKernels - 1;
  std::size_t at = static_cast<std::size_t>(key * 0x9e3779b97f4a7c15u >> 54) & mask;
  while (kernels_[at].key != 0 && kernels_[at].key != key) at = (at + 1) & mask;
  const bool known = kernels_[at].key == key;
  if (known && kernels_[at].generation == generation_) return {kernels_[at].sram, kernels_[at].dram, false};

  if (!known && remembered_ >= kKernels / 2) {
    kernels_.fill({});
    remembered_ = 0;
    ++generation_;
    next_ = 0;
    return place(key, count);
  }
  const std::int64_t length = safe_length(count);
  TW_ASSERT(length <= capacity_);
  if (next_ + length > capacity_) {
    ++generation_;
    next_ = 0;
  }
  Kernel& kernel = kernels_[at];
  if (!known) {
    kernel = {key, static_cast<std::uint32_t>(code_.uops.size()), generation_, static_cast<std::uint16_t>(length), 0};
    code_.uops.resize(code_.uops.size() + static_cast<std::size_t>(length));
    ++remembered_;
  }
  kernel.generation = generation_;
  kernel.sram = static_cast<std::uint16_t>(next_);
  next_ += length;
  if (generation_ == 0) {
    first_load_ = next_;
  } else {
    load_uops(kernel.sram, kernel.dram, length);
  }
  return {kernel.sram, kernel.dram, !known};
}

void Emitter::write_out(const StepNest& nest, MicroOp first, std::size_t at) {
  MicroOp* const uops = code_.uops.data() + at;
  uops[0] = first;
  std::size_t done = 1;
  for (int i = 0; i < nest.written_count; ++i) {
    const StepLoop& loop = nest.written[static_cast<std::size_t>(i)];
    const std::size_t block = done;
    for (std::int64_t turn = 1; turn < loop.count; ++turn) {
      for (std::size_t j = 0; j < block; ++j, ++done) {
        uops[done] = {static_cast<std::uint16_t>(uops[j].dst + turn * loop.dst),
                      static_cast<std::uint16_t>(uops[j].src + turn * loop.src),
                      static_cast<std::uint16_t>(uops[j].wgt + turn * loop.wgt)};
      }
    }
  }
}

void Emitter::steps(Opcode opcode, AluOpcode alu_opcode, std::uint64_t key, const StepNest& nest, MicroOp first) {
  const auto narrow = [](std::int64_t value) { return static_cast<std::uint16_t>(value); };
  std::uint64_t part = 0;
  for (std::int64_t begin = 0, length = 0; begin < nest.uop_count; begin += length, ++part) {
    length = (nest.uop_count <= capacity_ ? nest.uop_count : part_end(nest, begin, capacity_)) - begin;
    const Place here = place(key | part << 40, length);
    if (here.fresh && length == nest.uop_count) {
      write_out(nest, first, here.dram);
    } else if (here.fresh) {
      const std::size_t end = code_.uops.size();
      code_.uops.resize(end + static_cast<std::size_t>(nest.uop_count));
      write_out(nest, first, end);
      std::copy_n(code_.uops.begin() + static_cast<std::ptrdiff_t>(end) + begin, length,
                  code_.uops.begin() + static_cast<std::ptrdiff_t>(here.dram));
      code_.uops.resize(end);
    }
    const std::int64_t piece = std::min(nest.piece, length);
    for (std::int64_t done = 0; done < length; done += piece) {
      Instruction& instruction = code_.instructions.emplace_back();
      instruction.opcode = opcode;
      instruction.alu_opcode = alu_opcode;
      instruction.uop_begin = narrow(here.sram + done);
      instruction.uop_end = narrow(here.sram + std::min(done + piece, length));
      instruction.iter_out = narrow(nest.outer.count);
      instruction.iter_in = narrow(nest.inner.count);
      instruction.dst_factor_out = narrow(nest.outer.dst);
      instruction.dst_factor_in = narrow(nest.inner.dst);
      instruction.src_factor_out = narrow(nest.outer.src);
      instruction.src_factor_in = narrow(nest.inner.src);
      instruction.wgt_factor_out = narrow(nest.outer.wgt);
      instruction.wgt_factor_in = narrow(nest.inner.wgt);
    }
  }
}

std::uint16_t Emitter::one_uop(std::uint64_t key, MicroOp uop) {
  const Place here = place(key, 1);
  if (here.fresh) code_.uops[here.dram] = uop;
  return here.sram;
}

void Emitter::reset(std::int64_t first, std::int64_t count) {
  const auto dst = static_cast<std::uint16_t>(first);
  const std::uint16_t uop = one_uop(kernel_key(KernelUse::Reset, dst), {dst, 0, 0});
  Instruction& instruction = flat(Opcode::Gemm, uop, count);
  instruction.reset = true;
}

void Emitter::immediate(AluOpcode opcode, int imm, std::int64_t first, std::int64_t count) {
  const auto dst = static_cast<std::uint16_t>(first);
  const std::uint16_t uop = one_uop(kernel_key(KernelUse::Immediate, dst), {dst, dst, 0});
  Instruction& instruction = flat(Opcode::Alu, uop, count);
  instruction.alu_opcode = opcode;
  instruction.use_imm = true;
  instruction.imm = static_cast<std::int16_t>(imm);
  instruction.src_factor_in = instruction.dst_factor_in;
}

// One micro-op over `count` neighbours.
Instruction& Emitter::flat(Opcode opcode, std::uint16_t uop, std::int64_t count) {
  Instruction& instruction = code_.instructions.emplace_back();
  instruction.opcode = opcode;
  instruction.uop_begin = uop;
  instruction.uop_end = static_cast<std::uint16_t>(uop + 1);
  instruction.iter_out = 1;
  instruction.iter_in = static_cast<std::uint16_t>(count);
  instruction.dst_factor_in = count > 1 ? 1 : 0;
  return instruction;
}

void Emitter::shift(int amount, std::int64_t first, std::int64_t count) {
  while (amount != 0) {
    const int step = std::clamp(amount, -16, 15);
    immediate(AluOpcode::Shr, step, first, count);
    amount -= step;
  }
}

void Emitter::finish(std::size_t last_store) {
  at(last_store).push_prev = true;
  Instruction& wait = code_.instructions.emplace_back();
  wait.opcode = Opcode::Load;
  wait.buffer = Buffer::Uop;
  wait.pop_next = true;
  code_.instructions.emplace_back().opcode = Opcode::Finish;

  const std::int64_t length = safe_length(first_load_);
  if (static_cast<std::int64_t>(code_.uops.size()) < length) code_.uops.resize(static_cast<std::size_t>(length));
  code_.instructions.front().x_size = code_.instructions.front().x_stride = static_cast<std::uint16_t>(length);
}

}  // namespace tilewright::vta
