#include "tilewright/vta/generator_tiles.hpp"

#include <algorithm>

namespace tilewright::vta {
namespace {

constexpr std::int64_t kMostBiasKernels = 64;

struct Extent {
  std::int64_t begin = 0, count = 1;
};
Extent extent(std::int64_t index, std::int64_t tile, std::int64_t size) {
  return {index * tile, std::min(tile, size - index * tile)};
}

struct TileIndex {
  std::int64_t group = 0, batch = 0, row = 0, co = 0, column = 0;
};

class TileStream {
 public:
  TileStream(const ElementLoops& loops, const Machine& machine, const Schedule& schedule, const Finishing& finishing,
             const Addresses& addresses, Code& code)
      : loops_(loops),
        t_(tiling(loops, machine, schedule)),
        finishing_(finishing),
        acc_depth_(depth(machine, Buffer::Acc)),
        emit_(machine, addresses, code),
        inp_(t_.inp_slots),
        wgt_(t_.wgt_slots) {
    const auto element = [&](std::uint64_t address, Buffer buffer) {
      TW_ASSERT(address % static_cast<std::uint64_t>(element_bytes(machine, buffer)) == 0);
      return static_cast<std::int64_t>(address) / element_bytes(machine, buffer);
    };
    input_ = element(addresses.input, Buffer::Inp);
    second_input_ = element(addresses.second_input, Buffer::Inp);
    weight_ = element(addresses.weight, Buffer::Wgt);
    bias_base_ = element(addresses.bias, Buffer::Acc);
    residual_ = element(addresses.residual, Buffer::Acc);
    output_ = element(addresses.output, Buffer::Out);
  }

  void run() {
    for (TileIndex i; i.group < loops_.groups; ++i.group) {
      t_.channels_outer ? channels_then_rows(i) : rows_then_channels(i);
    }
    emit_.finish(last_store_);
  }

 private:
  // Threads split the tiles along rows and channels into equal runs, and take turns.
  void rows_then_channels(TileIndex i) {
    for (i.batch = 0; i.batch < t_.batch_tiles; ++i.batch) {
      for (std::int64_t row = 0; row < t_.rows_per_thread; ++row) {
        for (std::int64_t co = 0; co < t_.co_per_thread; ++co) {
          for (i.column = 0; i.column < t_.column_tiles; ++i.column) {
            for (i.row = row; i.row < t_.row_tiles; i.row += t_.rows_per_thread) {
              for (i.co = co; i.co < t_.co_tiles; i.co += t_.co_per_thread) tile(i);
            }
          }
        }
      }
    }
  }

  void channels_then_rows(TileIndex i) {
    for (std::int64_t co = 0; co < t_.co_per_thread; ++co) {
      for (i.batch = 0; i.batch < t_.batch_tiles; ++i.batch) {
        for (std::int64_t row = 0; row < t_.rows_per_thread; ++row) {
          for (i.column = 0; i.column < t_.column_tiles; ++i.column) {
            for (i.co = co; i.co < t_.co_tiles; i.co += t_.co_per_thread) {
              for (i.row = row; i.row < t_.row_tiles; i.row += t_.rows_per_thread) tile(i);
            }
          }
        }
      }
    }
  }

  void tile(const TileIndex& i) {
    if (emit_.is_full()) return;
    index_ = i;
    b_ = extent(i.batch, t_.tile.tile_b, loops_.batch);
    y_ = extent(i.row, t_.tile.tile_h, loops_.out_height);
    x_ = extent(i.column, t_.tile.tile_w, loops_.out_width);
    co_ = extent(i.co, t_.tile.tile_co, loops_.out_blocks);
    shape_ = (b_.count < t_.tile.tile_b ? 1u : 0u) | (y_.count < t_.tile.tile_h ? 2u : 0u) |
             (x_.count < t_.tile.tile_w ? 4u : 0u) | (co_.count < t_.tile.tile_co ? 8u : 0u);
    in_rows_ = loops_.input_rows(y_.count);
    in_columns_ = loops_.input_columns(x_.count);
    rows_ = cut_input(y_.begin * loops_.stride_height - loops_.pad_top, in_rows_, loops_.row_step, loops_.in_height);
    columns_ = cut_input(x_.begin * loops_.stride_width - loops_.pad_left, in_columns_, 1, loops_.in_width);
    pixels_ = y_.count * x_.count;
    elements_ = b_.count * co_.count * pixels_;

    slot_ = static_cast<int>(tile_count_ % t_.acc_slots);
    acc_ = slot_ * t_.acc_elements;
    started_ = false;
    input_count_ = 0;
    // A tile that sees nothing but padding has sums of zero.
    if (rows_.data > 0 && columns_.data > 0) {
      for (std::int64_t ci = 0; ci < t_.ci_steps; ++ci) {
        for (std::int64_t ky = 0; ky < t_.kernel_steps && !emit_.is_full(); ++ky) multiply(ci, ky);
      }
    }
    start();
    finishing();
    store();
    ++tile_count_;
  }

  // First touch of the accumulators, behind the first loads so that these are fetched earlier. The first reset is that of
  // all slots: it is over before the first loads are.
  void start() {
    if (started_) return;
    started_ = true;
    if (!finishing_.residual && tile_count_ == 0) emit_.reset(0, t_.acc_slots * t_.acc_elements);
    if (!finishing_.residual && tile_count_ < t_.acc_slots) return;
    const std::size_t first = emit_.size();
    if (finishing_.residual) {
      emit_.transfer(Opcode::Load, Buffer::Acc, acc_, residual_ + result_offset(), fold(result()));
    } else {
      emit_.reset(acc_, elements_);
    }
    if (tile_count_ < t_.acc_slots) return;
    emit_.at(first).pop_next = true;
    emit_.at(stores_[static_cast<std::size_t>(slot_)]).push_prev = true;
  }

  void multiply(std::int64_t ci, std::int64_t ky) {
    ci_ = extent(ci, t_.tile.tile_ci, loops_.in_blocks);
    ky_ = extent(ky, t_.kernel_rows, loops_.kernel_height);
    const std::int64_t spatial = (index_.batch * t_.row_tiles + index_.row) * t_.column_tiles + index_.column;
    const std::int64_t all_spatial = t_.batch_tiles * t_.row_tiles * t_.column_tiles;
    bool inp_hit = false, wgt_hit = false;
    const int inp = inp_.find((index_.group * all_spatial + spatial) * t_.ci_steps + ci, inp_hit);
    const int wgt = wgt_.find(((index_.group * t_.co_tiles + index_.co) * t_.ci_steps + ci) * t_.kernel_steps + ky, wgt_hit);
    const bool loading = !inp_hit || !wgt_hit;
    if (loading) load(inp, wgt, !inp_hit, !wgt_hit);
    start();

    const std::size_t first = emit_.size();
    const unsigned shape = shape_ | (ci_.count < t_.tile.tile_ci ? 16u : 0u) | (ky_.count < t_.kernel_rows ? 32u : 0u);
    const std::uint64_t key = shape | static_cast<unsigned>(slot_) << 8 | static_cast<unsigned>(inp) << 10 |
                              static_cast<unsigned>(wgt) << 12 | static_cast<std::uint64_t>(ky) << 14;
    const std::int64_t first_row = ky_.begin * loops_.dilation_height * in_columns_;
    emit_.steps(Opcode::Gemm, AluOpcode::Min, kernel_key(KernelUse::Gemm, key), nest(shape),
                {static_cast<std::uint16_t>(acc_), static_cast<std::uint16_t>(inp * t_.inp_elements + first_row),
                 static_cast<std::uint16_t>(wgt * t_.wgt_elements)});
    const std::size_t last = emit_.size() - 1;
    // Loads of micro-ops may stand between; the token is taken by the first multiplication.
    if (loading) {
      std::size_t taker = first;
      while (emit_.at(taker).opcode != Opcode::Gemm) ++taker;
      emit_.at(taker).pop_prev = true;
    }
    inp_[inp].used = wgt_[wgt].used = step_count_;
    inp_[inp].reader = wgt_[wgt].reader = last;
    ++step_count_;
  }

  void load(int inp, int wgt, bool load_input, bool load_weight) {
    const std::size_t first = emit_.size();
    if (load_input) load_inputs(inp);
    if (load_weight) {
      const std::int64_t kernel = loops_.kernel_weights();
      const std::int64_t block = (index_.group * loops_.out_blocks + co_.begin) * loops_.in_blocks + ci_.begin;
      emit_.transfer(Opcode::Load, Buffer::Wgt, wgt * t_.wgt_elements,
                     weight_ + block * kernel + ky_.begin * loops_.kernel_width, weight_rectangle());
    }
    emit_.last().push_next = true;

    // The multiplication that read these slots last; loads are in order, so waiting for it once is enough.
    Slots::Slot free;
    if (load_input) free = inp_[inp];
    if (load_weight && wgt_[wgt].used > free.used) free = wgt_[wgt];
    if (free.used <= freed_) return;
    freed_ = free.used;
    emit_.at(first).pop_next = true;
    emit_.at(free.reader).push_prev = true;
  }

  // Weights of one pair of channel blocks in this step.
  std::int64_t step_weights() const { return loops_.uniform_kernel ? 1 : ky_.count * loops_.kernel_width; }

  // Few are different, and folding takes longer than writing the instruction.
  const FoldedRectangle& weight_rectangle() {
    const std::size_t which = (co_.count < t_.tile.tile_co ? 1u : 0u) | (ci_.count < t_.tile.tile_ci ? 2u : 0u) |
                              (ky_.count < t_.kernel_rows ? 4u : 0u);
    if ((weights_known_ >> which & 1) == 0) {
      weights_known_ |= 1u << which;
      const std::int64_t kernel = loops_.kernel_weights();
      Rectangle r;
      r.axes = {{{1, 0}, {co_.count, loops_.in_blocks * kernel}, {ci_.count, kernel}, {step_weights(), 1}}};
      weights_[which] = fold(r);
    }
    return weights_[which];
  }

  void load_inputs(int slot) {
    const std::int64_t plane = loops_.in_height * loops_.in_width;
    const std::int64_t blocks = loops_.two_inputs ? loops_.in_blocks / 2 : loops_.in_blocks;
    const std::int64_t count = loops_.two_inputs ? blocks : ci_.count;
    if (input_count_ != count) {
      input_count_ = count;
      Rectangle r;
      r.axes = {{{b_.count, loops_.groups * blocks * plane},
                 {count, plane},
                 {rows_.data, loops_.in_width * loops_.row_step},
                 {columns_.data, 1}}};
      r.pad_top = rows_.before;
      r.pad_bottom = rows_.after;
      r.pad_left = columns_.before;
      r.pad_right = columns_.after;
      input_rectangle_ = fold(r);
    }
    const std::int64_t block = (b_.begin * loops_.groups + index_.group) * blocks + (loops_.two_inputs ? 0 : ci_.begin);
    const std::int64_t offset = block * plane + rows_.first * loops_.in_width + columns_.first;
    const std::int64_t sram = slot * t_.inp_elements;
    emit_.transfer(Opcode::Load, Buffer::Inp, sram, input_ + offset, input_rectangle_);
    if (!loops_.two_inputs) return;
    emit_.transfer(Opcode::Load, Buffer::Inp, sram + b_.count * blocks * in_rows_ * in_columns_, second_input_ + offset,
                   input_rectangle_);
  }

  const StepNest& nest(unsigned shape) {
    if ((nests_known_ >> shape & 1) != 0) return nests_[shape];
    nests_known_ |= std::uint64_t{1} << shape;
    const std::int64_t kernel = step_weights(), tile_plane = in_rows_ * in_columns_;
    const std::int64_t wgt_y = loops_.uniform_kernel ? 0 : loops_.kernel_width, wgt_x = loops_.uniform_kernel ? 0 : 1;
    std::array<StepLoop, 7> all = {{
        {b_.count, co_.count * pixels_, ci_.count * tile_plane, 0},
        {co_.count, pixels_, 0, ci_.count * kernel},
        {y_.count, x_.count, loops_.tile_row_step() * in_columns_, 0},
        {x_.count, 1, loops_.stride_width, 0},
        {ci_.count, 0, tile_plane, kernel},
        {ky_.count, 0, loops_.dilation_height * in_columns_, wgt_y},
        {loops_.kernel_width, 0, loops_.dilation_width, wgt_x},
    }};
    if (loops_.two_inputs) {  // on chip all of the second tensor lies behind all of the first
      const std::int64_t blocks = loops_.in_blocks / 2;
      all[0].src = blocks * tile_plane;
      all[4].count = blocks;
      all[5] = {2, 0, b_.count * blocks * tile_plane, blocks};
    }
    nests_[shape] = nest_steps(all);
    return nests_[shape];
  }

  // All of it stays on chip where there is room and few micro-ops tell its parts; else every slot has that of its tile.
  void add_bias() {
    const std::int64_t all = loops_.groups * loops_.out_blocks, behind = t_.acc_slots * t_.acc_elements;
    const bool resident = behind + all <= acc_depth_ && loops_.groups * t_.co_tiles * t_.acc_slots <= kMostBiasKernels;
    const std::int64_t block = index_.group * loops_.out_blocks + co_.begin;
    const std::int64_t wanted = resident ? 0 : block, place = behind + (resident ? 0 : slot_ * t_.tile.tile_co);
    std::int64_t& present = bias_[resident ? 0 : static_cast<std::size_t>(slot_)];
    if (present != wanted) {
      present = wanted;
      Rectangle r;
      r.axes[3] = {resident ? all : co_.count, 1};
      emit_.transfer(Opcode::Load, Buffer::Acc, place, bias_base_ + wanted, fold(r));
    }
    const std::array<StepLoop, 3> loops = {
        {{b_.count, co_.count * pixels_, 0, 0}, {co_.count, pixels_, 1, 0}, {pixels_, 1, 0, 0}}};
    const std::int64_t source = resident ? place + block : place;
    const std::uint64_t key = shape_ | static_cast<unsigned>(slot_) << 8 | static_cast<std::uint64_t>(source) << 16;
    emit_.steps(Opcode::Alu, AluOpcode::Add, kernel_key(KernelUse::Bias, key), nest_steps(loops),
                {static_cast<std::uint16_t>(acc_), static_cast<std::uint16_t>(source), 0});
  }

  void finishing() {
    if (finishing_.bias) add_bias();
    emit_.shift(finishing_.shift, acc_, elements_);
    emit_.immediate(AluOpcode::Max, finishing_.low, acc_, elements_);
    emit_.immediate(AluOpcode::Min, finishing_.high, acc_, elements_);
    emit_.last().push_next = true;
  }

  std::int64_t result_offset() const {
    const std::int64_t block = (b_.begin * loops_.groups + index_.group) * loops_.out_blocks + co_.begin;
    return (block * loops_.out_height + y_.begin) * loops_.out_width + x_.begin;
  }
  Rectangle result() const {
    const std::int64_t plane = loops_.out_height * loops_.out_width;
    Rectangle r;
    r.axes = {{{b_.count, loops_.groups * loops_.out_blocks * plane},
               {co_.count, plane},
               {y_.count, loops_.out_width},
               {x_.count, 1}}};
    return r;
  }

  void store() {
    const std::size_t first = emit_.size();
    emit_.transfer(Opcode::Store, Buffer::Out, acc_, output_ + result_offset(), fold(result()));
    emit_.at(first).pop_prev = true;
    last_store_ = emit_.size() - 1;
    stores_[static_cast<std::size_t>(slot_)] = last_store_;
  }

  const ElementLoops& loops_;
  const Tiling t_;
  const Finishing& finishing_;
  const std::int64_t acc_depth_;
  Emitter emit_;
  Slots inp_, wgt_;
  std::int64_t input_ = 0, second_input_ = 0, weight_ = 0, bias_base_ = 0, residual_ = 0, output_ = 0;  // in elements

  TileIndex index_;
  Extent b_, y_, x_, co_, ci_, ky_;
  unsigned shape_ = 0;  // which extents are remainders
  std::int64_t in_rows_ = 1, in_columns_ = 1, pixels_ = 1, elements_ = 1;
  InputCut rows_, columns_;
  int slot_ = 0;  // of the accumulators
  std::int64_t acc_ = 0;
  bool started_ = false;

  std::int64_t tile_count_ = 0, step_count_ = 0;
  std::int64_t freed_ = -1;  // the last step a load waited for
  std::array<std::size_t, 4> stores_{};
  std::array<std::int64_t, 4> bias_{-1, -1, -1, -1};  // which is on chip, by slot
  std::size_t last_store_ = 0;
  std::int64_t input_count_ = 0;  // channel blocks of input_rectangle_, which is this tile's
  FoldedRectangle input_rectangle_;
  unsigned weights_known_ = 0;
  std::array<FoldedRectangle, 8> weights_;
  std::uint64_t nests_known_ = 0;
  std::array<StepNest, 64> nests_;
};

}  // namespace

InputCut cut_input(std::int64_t begin, std::int64_t count, std::int64_t step, std::int64_t size) {
  // Only dense windows reach outside, so `step` matters to none of the pads.
  if (step > 1) return {0, begin, count, 0};
  const std::int64_t before = std::clamp<std::int64_t>(-begin, 0, count);
  const std::int64_t after = std::clamp<std::int64_t>(begin + count - size, 0, count - before);
  return {before, begin + before, count - before - after, after};
}

void generate_tiles(const ElementLoops& loops, const Machine& machine, const Schedule& schedule, const Finishing& finishing,
                    const Addresses& addresses, Code& code) {
  TileStream(loops, machine, schedule, finishing, addresses, code).run();
}

}  // namespace tilewright::vta
