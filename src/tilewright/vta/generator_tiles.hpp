// The streams themselves: any ElementLoops on the GEMM core, and max pooling on the ALU.
#pragma once

#include "tilewright/vta/emitter.hpp"
#include "tilewright/vta/generator_loops.hpp"

namespace tilewright::vta {

void generate_tiles(const ElementLoops& loops, const Machine& machine, const Schedule& schedule, const Finishing& finishing,
                    const Addresses& addresses, Code& code);

// The slots of an on-chip buffer: who is there, and which instruction read it last.
class Slots {
 public:
  explicit Slots(int count) : count_(count) {}

  struct Slot {
    std::int64_t key = -1;
    std::int64_t used = -1;  // step
    std::size_t reader = 0;  // instruction
  };
  // The slot that has `key`, or the least recently used one, which then is `key`'s; `hit` tells which.
  int find(std::int64_t key, bool& hit) {
    int oldest = 0;
    for (int i = 0; i < count_; ++i) {
      if (slots_[static_cast<std::size_t>(i)].key == key) {
        hit = true;
        return i;
      }
      if (slots_[static_cast<std::size_t>(i)].used < slots_[static_cast<std::size_t>(oldest)].used) oldest = i;
    }
    hit = false;
    slots_[static_cast<std::size_t>(oldest)].key = key;
    return oldest;
  }
  Slot& operator[](int index) { return slots_[static_cast<std::size_t>(index)]; }

 private:
  int count_;
  std::array<Slot, 4> slots_{};
};

// Rows (or columns) of the input behind a tile, cut into zeros before, data, and zeros after.
struct InputCut {
  std::int64_t before = 0, first = 0, data = 0, after = 0;
};
InputCut cut_input(std::int64_t begin, std::int64_t count, std::int64_t step, std::int64_t size);

}  // namespace tilewright::vta
