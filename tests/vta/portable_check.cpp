#include "portable_check.hpp"

#include <algorithm>
#include <array>
#include <deque>

namespace tilewright::vta {
namespace {

// How many instructions of each module (by Module) are known to be over.
using Clock = std::array<std::int64_t, 3>;

void join(Clock& clock, const Clock& other) {
  for (std::size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

enum class Writer : std::uint8_t { Nobody, Load, Reset, Gemm, Alu };

struct Cell {
  std::int64_t load = 0, compute = 0, store = 0;  // last instruction of the module that touched it, counted from 1
  Writer writer = Writer::Nobody;
};

class Judge {
 public:
  Judge(const Code& code, const Machine& machine, const Addresses& addresses)
      : code_(code),
        machine_(machine),
        uop_base_(static_cast<std::int64_t>(addresses.uops / 4)),
        uops_(static_cast<std::size_t>(depth(machine, Buffer::Uop))),
        inp_(static_cast<std::size_t>(depth(machine, Buffer::Inp))),
        wgt_(static_cast<std::size_t>(depth(machine, Buffer::Wgt))),
        acc_(static_cast<std::size_t>(depth(machine, Buffer::Acc))) {}

  std::string run() {
    for (index_ = 0; index_ < code_.instructions.size() && rule_.empty(); ++index_) judge(code_.instructions[index_]);
    if (!rule_.empty()) return "instruction " + std::to_string(index_ - 1) + ": " + rule_;
    for (const auto& queue : tokens_) {
      if (!queue.empty()) return "tokens are left over";
    }
    if (code_.instructions.empty() || code_.instructions.back().opcode != Opcode::Finish) return "FINISH is not last";
    const Clock all = now_[1];
    if (all[0] < count_[0] || all[2] < count_[2]) return "FINISH does not wait for all loads and stores";
    return "";
  }

 private:
  void require(bool kept, const char* rule) {
    if (!kept && rule_.empty()) rule_ = rule;
  }

  // Queues between modules: load to compute, compute to load, compute to store, store to compute.
  void pop(std::size_t queue, std::size_t module) {
    require(!tokens_[queue].empty(), "pops a token that only a later instruction gives");
    if (tokens_[queue].empty()) return;
    join(now_[module], tokens_[queue].front());
    tokens_[queue].pop_front();
  }

  void judge(const Instruction& i) {
    const auto module = static_cast<std::size_t>(module_of(i));
    if (module == 0) {
      require(!i.pop_prev && !i.push_prev, "load has no module before it");
      if (i.pop_next) pop(1, 0);
    } else if (module == 1) {
      if (i.pop_prev) pop(0, 1);
      if (i.pop_next) pop(3, 1);
    } else {
      require(!i.pop_next && !i.push_next, "store has no module behind it");
      if (i.pop_prev) pop(2, 2);
    }
    ++count_[module];
    here_ = count_[module];
    if (!is_noop(i)) execute(i);
    now_[module][module] = here_;
    if (module == 0 && i.push_next) tokens_[0].push_back(now_[0]);
    if (module == 1 && i.push_prev) tokens_[1].push_back(now_[1]);
    if (module == 1 && i.push_next) tokens_[2].push_back(now_[1]);
    if (module == 2 && i.push_prev) tokens_[3].push_back(now_[2]);
  }

  void execute(const Instruction& i) {
    switch (i.opcode) {
      case Opcode::Load:
        return i.buffer == Buffer::Uop ? load_uops(i) : load(i);
      case Opcode::Store:
        return store(i);
      case Opcode::Gemm:
      case Opcode::Alu:
        return steps(i);
      case Opcode::Finish:
        return require(index_ + 1 == code_.instructions.size(), "FINISH is not last");
    }
  }

  void load_uops(const Instruction& i) {
    const std::int64_t from = static_cast<std::int64_t>(i.dram_base) - uop_base_;
    require(i.y_size == 1, "micro-ops are loaded in several rows");
    require(i.sram_base % 2 == 0 && from % 2 == 0, "a micro-op chunk starts at an odd index");
    require(i.x_size <= 512 || (i.x_size % 512 != 1 && i.x_size % 512 != 2), "the last burst would be lost");
    require(i.sram_base + i.x_size <= std::min<std::int64_t>(2048, depth(machine_, Buffer::Uop)), "micro-ops do not fit");
    require(from >= 0 && from + i.x_size <= static_cast<std::int64_t>(code_.uops.size()), "micro-ops are not there");
    if (!rule_.empty()) return;
    std::copy_n(code_.uops.begin() + from, i.x_size, uops_.begin() + i.sram_base);
    loaded_ = std::max<std::int64_t>(loaded_, i.sram_base + i.x_size);
  }

  void load(const Instruction& i) {
    require(i.buffer == Buffer::Inp || i.buffer == Buffer::Wgt || i.buffer == Buffer::Acc,
            "loads a buffer that is not portable");
    require(i.y_size > 0, "loads no rows");
    const bool pads = i.y_pad_0 + i.y_pad_1 + i.x_pad_0 + i.x_pad_1 > 0;
    require(i.buffer != Buffer::Wgt || !pads, "pads weights");
    std::vector<Cell>& cells = i.buffer == Buffer::Inp ? inp_ : i.buffer == Buffer::Wgt ? wgt_ : acc_;
    const std::int64_t size = (i.y_pad_0 + i.y_size + i.y_pad_1) * (i.x_pad_0 + i.x_size + i.x_pad_1);
    require(i.sram_base + size <= static_cast<std::int64_t>(cells.size()), "loads beyond the buffer");
    if (!rule_.empty()) return;
    for (std::int64_t k = 0; k < size; ++k) {
      Cell& cell = cells[static_cast<std::size_t>(i.sram_base + k)];
      if (i.buffer == Buffer::Acc) {
        touch(cell);
      } else {
        require(cell.compute <= now_[0][1], "overwrites what a multiplication may still read");
        cell.load = here_;
      }
      cell.writer = Writer::Load;
    }
  }

  void touch(Cell& cell) {
    require(cell.store <= now_[1][2], "overwrites what a store may still read");
    cell.compute = here_;
  }

  void read(std::vector<Cell>& cells, std::int64_t index) {
    require(index < static_cast<std::int64_t>(cells.size()), "reads beyond the buffer");
    if (!rule_.empty()) return;
    Cell& cell = cells[static_cast<std::size_t>(index)];
    require(cell.writer != Writer::Nobody, "reads what was never loaded");
    require(cell.load <= now_[1][0], "reads what may not be loaded yet");
    cell.compute = here_;
  }

  void steps(const Instruction& i) {
    require(i.iter_out > 0 && i.iter_in > 0 && i.uop_begin < i.uop_end, "an empty loop");
    require(i.iter_out < 1 << 14 && i.iter_in < 1 << 14, "a loop count of more than 14 bits");
    require(i.uop_end <= loaded_, "uses micro-ops that were never loaded");
    const bool alu = i.opcode == Opcode::Alu;
    if (alu) {
      require(i.alu_opcode != AluOpcode::Mul, "MUL is not portable");
      require(i.alu_opcode != AluOpcode::Shr || (i.use_imm && i.imm >= -16 && i.imm <= 15), "a shift that is not portable");
      if (i.use_imm) {
        require(i.src_factor_out == i.dst_factor_out && i.src_factor_in == i.dst_factor_in,
                "source differs from destination");
      }
    }
    std::array<std::int64_t, 2> recent = {-1, -1};  // destinations of the last two steps
    for (int o = 0; o < i.iter_out && rule_.empty(); ++o) {
      for (int n = 0; n < i.iter_in && rule_.empty(); ++n) {
        for (int u = i.uop_begin; u < i.uop_end && rule_.empty(); ++u) {
          const MicroOp& uop = uops_[static_cast<std::size_t>(u)];
          const std::int64_t dst = uop.dst + o * i.dst_factor_out + n * i.dst_factor_in;
          const std::int64_t src = uop.src + o * i.src_factor_out + n * i.src_factor_in;
          const std::int64_t wgt = uop.wgt + o * i.wgt_factor_out + n * i.wgt_factor_in;
          require(dst < static_cast<std::int64_t>(acc_.size()), "writes beyond the accumulators");
          require(dst != recent[0] && (alu || dst != recent[1]), "two steps on one accumulator are too near");
          recent = {dst, recent[0]};
          if (!rule_.empty()) return;
          Cell& cell = acc_[static_cast<std::size_t>(dst)];
          if (alu && i.use_imm) require(src == dst, "source differs from destination");
          if (alu && !i.use_imm) read(acc_, src);
          if (!alu && !i.reset) {
            read(inp_, src);
            read(wgt_, wgt);
          }
          require(i.reset || cell.writer != Writer::Nobody, "changes an accumulator that has no value");
          touch(cell);
          cell.writer = alu ? Writer::Alu : i.reset ? Writer::Reset : Writer::Gemm;
        }
      }
    }
  }

  void store(const Instruction& i) {
    require(i.buffer == Buffer::Out && i.y_size > 0, "stores something else than results");
    require(i.y_pad_0 + i.y_pad_1 + i.x_pad_0 + i.x_pad_1 == 0, "pads a store");
    require(i.sram_base + i.y_size * i.x_size <= static_cast<std::int64_t>(acc_.size()), "stores beyond the buffer");
    if (!rule_.empty()) return;
    for (int k = 0; k < i.y_size * i.x_size; ++k) {
      Cell& cell = acc_[static_cast<std::size_t>(i.sram_base + k)];
      require(cell.writer == Writer::Alu || cell.writer == Writer::Gemm, "stores what a load or a reset wrote last");
      require(cell.compute <= now_[2][1], "stores what may not be computed yet");
      cell.store = here_;
    }
  }

  const Code& code_;
  const Machine& machine_;
  std::int64_t uop_base_, loaded_ = 0, here_ = 0;
  std::vector<MicroOp> uops_;
  std::vector<Cell> inp_, wgt_, acc_;
  std::array<std::deque<Clock>, 4> tokens_;
  std::array<Clock, 3> now_{};
  Clock count_{};
  std::size_t index_ = 0;
  std::string rule_;
};

}  // namespace

std::string broken_rule(const Code& code, const Machine& machine, const Addresses& addresses) {
  return Judge(code, machine, addresses).run();
}

}  // namespace tilewright::vta
