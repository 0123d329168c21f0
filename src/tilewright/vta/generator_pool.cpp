#include "tilewright/vta/generator_pool.hpp"

#include <algorithm>

#include "tilewright/vta/generator_tiles.hpp"

namespace tilewright::vta {
namespace {

// Accumulators of one slot: the copy of the input, then the result.
std::int64_t copy_elements(const ElementLoops& loops, const Schedule& s) {
  return s.tile_b * loops.out_blocks * loops.input_rows(s.tile_h) * loops.input_columns(s.tile_w);
}

// Results [first, end) of a tile whose window position `offset` is one of the loaded inputs [0, data).
struct Span1 {
  std::int64_t first = 0, end = 0;
};
Span1 inside(std::int64_t count, std::int64_t stride, std::int64_t offset, std::int64_t data) {
  const std::int64_t first = offset >= 0 ? 0 : ceil_div(-offset, stride);
  const std::int64_t end = data - 1 - offset < 0 ? 0 : (data - 1 - offset) / stride + 1;
  return {first, std::min(count, end)};
}

struct Written {
  KernelUse use = KernelUse::Pool;
  MicroOp first;
  StepLoop inner, outer;
  bool operator==(const Written&) const = default;
};

class MaxPoolStream {
 public:
  MaxPoolStream(const ElementLoops& loops, const Machine& machine, const Schedule& schedule, const Finishing& finishing,
                const Addresses& addresses, Code& code)
      : loops_(loops),
        schedule_(schedule),
        t_(tiling(loops, machine, schedule)),
        finishing_(finishing),
        copy_elements_(copy_elements(loops, schedule)),
        input_(static_cast<std::int64_t>(addresses.input) / element_bytes(machine, Buffer::Inp)),
        weight_(static_cast<std::int64_t>(addresses.weight) / element_bytes(machine, Buffer::Wgt)),
        output_(static_cast<std::int64_t>(addresses.output) / element_bytes(machine, Buffer::Out)),
        emit_(machine, addresses, code) {}

  void run() {
    for (std::int64_t b = 0; b < t_.batch_tiles; ++b) {
      for (std::int64_t row = 0; row < t_.row_tiles; ++row) {
        for (std::int64_t column = 0; column < t_.column_tiles; ++column) tile(b, row, column);
      }
    }
    emit_.finish(last_store_);
  }

 private:
  void tile(std::int64_t b, std::int64_t row, std::int64_t column) {
    if (emit_.is_full()) return;
    b_ = b * schedule_.tile_b;
    y_ = row * schedule_.tile_h;
    x_ = column * schedule_.tile_w;
    batches_ = std::min(schedule_.tile_b, loops_.batch - b_);
    height_ = std::min(schedule_.tile_h, loops_.out_height - y_);
    width_ = std::min(schedule_.tile_w, loops_.out_width - x_);
    rows_ = cut_input(y_ * loops_.stride_height - loops_.pad_top, loops_.input_rows(height_), 1, loops_.in_height);
    columns_ = cut_input(x_ * loops_.stride_width - loops_.pad_left, loops_.input_columns(width_), 1, loops_.in_width);
    slot_ = static_cast<std::size_t>(count_ % t_.acc_slots);
    copy_ = static_cast<std::int64_t>(slot_) * (copy_elements_ + t_.acc_elements);
    result_ = copy_ + copy_elements_;
    const std::int64_t blocks = batches_ * loops_.out_blocks;
    const std::int64_t plane = rows_.data * columns_.data;

    if (plane > 0) load();
    const std::size_t first = emit_.size();
    emit_.reset(result_, blocks * height_ * width_);
    if (count_ >= t_.acc_slots) {
      emit_.at(first).pop_next = true;
      emit_.at(stores_[slot_]).push_prev = true;
    }
    emit_.immediate(AluOpcode::Min, -128, result_, blocks * height_ * width_);
    if (plane > 0) {
      copy();
      for (std::int64_t ky = 0; ky < loops_.kernel_height; ++ky) {
        for (std::int64_t kx = 0; kx < loops_.kernel_width; ++kx) maximum(ky, kx);
      }
    }
    if (finishing_.low > -128) emit_.immediate(AluOpcode::Max, finishing_.low, result_, blocks * height_ * width_);
    if (finishing_.high < 127) emit_.immediate(AluOpcode::Min, finishing_.high, result_, blocks * height_ * width_);
    emit_.last().push_next = true;
    store();
    ++count_;
  }

  void load() {
    const std::int64_t plane = loops_.in_height * loops_.in_width;
    Rectangle r;
    r.axes = {{{batches_, loops_.in_blocks * plane},
               {loops_.in_blocks, plane},
               {rows_.data, loops_.in_width},
               {columns_.data, 1}}};
    const std::size_t first = emit_.size();
    if (load_count_ == 0) {
      Rectangle identity;
      identity.axes[3] = {loops_.in_blocks * loops_.out_blocks, 1};
      emit_.transfer(Opcode::Load, Buffer::Wgt, 0, weight_, fold(identity));
    }
    const auto slot = static_cast<std::size_t>(load_count_ % t_.inp_slots);
    emit_.transfer(Opcode::Load, Buffer::Inp, static_cast<std::int64_t>(slot) * t_.inp_elements,
                   input_ + b_ * loops_.in_blocks * plane + rows_.first * loops_.in_width + columns_.first, fold(r));
    emit_.last().push_next = true;
    if (load_count_ < t_.inp_slots) return;
    emit_.at(first).pop_next = true;
    emit_.at(copies_[slot]).push_prev = true;
  }

  void copy() {
    const std::int64_t plane = rows_.data * columns_.data;
    emit_.reset(copy_, batches_ * loops_.out_blocks * plane);
    const auto slot = static_cast<std::size_t>(load_count_ % t_.inp_slots);
    const std::array<StepLoop, 4> all = {{{batches_, loops_.out_blocks * plane, loops_.in_blocks * plane, 0},
                                          {loops_.out_blocks, plane, 0, loops_.in_blocks},
                                          {plane, 1, 1, 0},
                                          {loops_.in_blocks, 0, plane, 1}}};
    const StepNest nest = nest_steps(all);
    const MicroOp begin{static_cast<std::uint16_t>(copy_),
                        static_cast<std::uint16_t>(static_cast<std::int64_t>(slot) * t_.inp_elements), 0};
    const std::size_t first = emit_.size();
    emit_.steps(Opcode::Gemm, AluOpcode::Min, key(KernelUse::Gemm, begin, nest), nest, begin);
    std::size_t taker = first;
    while (emit_.at(taker).opcode != Opcode::Gemm) ++taker;
    emit_.at(taker).pop_prev = true;
    copies_[slot] = emit_.size() - 1;
    ++load_count_;
  }

  // Micro-ops differ by where they begin and by the loops that are written out.
  std::uint64_t key(KernelUse use, MicroOp first, const StepNest& nest) {
    const Written written{use, first, nest.written_count > 0 ? nest.written[0] : StepLoop{},
                          nest.written_count > 1 ? nest.written[1] : StepLoop{}};
    std::size_t index = 0;
    while (index < written_.size() && !(written_[index] == written)) ++index;
    if (index == written_.size()) written_.push_back(written);
    return kernel_key(use, index);
  }

  void maximum(std::int64_t ky, std::int64_t kx) {
    const std::int64_t offset_y = ky - rows_.before, offset_x = kx - columns_.before;
    const Span1 y = inside(height_, loops_.stride_height, offset_y, rows_.data);
    const Span1 x = inside(width_, loops_.stride_width, offset_x, columns_.data);
    if (y.first >= y.end || x.first >= x.end) return;
    const std::int64_t plane = rows_.data * columns_.data;
    const std::array<StepLoop, 3> all = {{{batches_ * loops_.out_blocks, height_ * width_, plane, 0},
                                          {y.end - y.first, width_, loops_.stride_height * columns_.data, 0},
                                          {x.end - x.first, 1, loops_.stride_width, 0}}};
    const std::int64_t dst = result_ + y.first * width_ + x.first;
    const std::int64_t src =
        copy_ + (y.first * loops_.stride_height + offset_y) * columns_.data + x.first * loops_.stride_width + offset_x;
    const StepNest nest = nest_steps(all);
    const MicroOp begin{static_cast<std::uint16_t>(dst), static_cast<std::uint16_t>(src), 0};
    emit_.steps(Opcode::Alu, AluOpcode::Max, key(KernelUse::Pool, begin, nest), nest, begin);
  }

  void store() {
    const std::int64_t plane = loops_.out_height * loops_.out_width;
    Rectangle r;
    r.axes = {{{batches_, loops_.out_blocks * plane}, {loops_.out_blocks, plane}, {height_, loops_.out_width}, {width_, 1}}};
    const std::size_t first = emit_.size();
    emit_.transfer(Opcode::Store, Buffer::Out, result_,
                   output_ + b_ * loops_.out_blocks * plane + y_ * loops_.out_width + x_, fold(r));
    emit_.at(first).pop_prev = true;
    stores_[slot_] = last_store_ = emit_.size() - 1;
  }

  const ElementLoops& loops_;
  const Schedule& schedule_;
  const Tiling t_;
  const Finishing& finishing_;
  std::int64_t copy_elements_, input_, weight_, output_;
  Emitter emit_;
  std::int64_t b_ = 0, y_ = 0, x_ = 0, batches_ = 1, height_ = 1, width_ = 1;
  InputCut rows_, columns_;
  std::int64_t copy_ = 0, result_ = 0;
  std::int64_t count_ = 0, load_count_ = 0;
  std::size_t slot_ = 0, last_store_ = 0;
  std::array<std::size_t, 4> stores_{}, copies_{};
  std::vector<Written> written_;
};

}  // namespace

std::optional<Misfit> max_pool_misfit(const ElementLoops& loops, const Machine& machine, const Schedule& schedule) {
  if (const auto tiles = misfit(loops, machine, schedule)) return tiles;
  const Tiling t = tiling(loops, machine, schedule);
  const std::int64_t need = t.acc_slots * (copy_elements(loops, schedule) + t.acc_elements);
  if (need > depth(machine, Buffer::Acc)) return Misfit{MisfitKind::AccOverflow, need, depth(machine, Buffer::Acc)};
  const std::int64_t weights = loops.in_blocks * loops.out_blocks;
  if (weights > depth(machine, Buffer::Wgt)) return Misfit{MisfitKind::WgtOverflow, weights, depth(machine, Buffer::Wgt)};
  return std::nullopt;
}

void generate_max_pool(const ElementLoops& loops, const Machine& machine, const Schedule& schedule,
                       const Finishing& finishing, const Addresses& addresses, Code& code) {
  MaxPoolStream(loops, machine, schedule, finishing, addresses, code).run();
}

}  // namespace tilewright::vta
