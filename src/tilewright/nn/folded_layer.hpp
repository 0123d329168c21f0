// A first layer whose inputs are differences of fewer numbers.
//
// When input r of a layer is s[plus(r)] - s[minus(r)], then W·x = W̃·s with W̃[plus(r)] += W[r] and W̃[minus(r)] -= W[r] for
// every row r. All products run on the small W̃ ("folded"); Adam, which looks at every weight by itself, keeps running on W.
// The gradient of row r is G[plus(r)] - G[minus(r)], where G is that of W̃, so it is made on the way and never stored.
//
// Inputs that are the same difference, or its negative (what I see of you and what you see of me), have the same gradient up
// to the sign, hence for ever the same moments up to the sign, and take the same steps: they form a group, which Adam visits
// once. Inputs that are always zero are never visited.
//
// W and its moments can be far larger than the caches (at 48 predators 2.4 MB for the W of each), so a step streams each of
// them through the processor once, in the order in which they lie in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tilewright/nn/matrix.hpp"
#include "tilewright/nn/optimiser.hpp"

namespace tilewright {

// Input = s[plus] - s[minus]; kNone leaves a side out.
struct FoldedInput {
  static constexpr std::int32_t kNone = -1;
  std::int32_t plus = kNone;
  std::int32_t minus = kNone;
};

// Which inputs belong together; layers of one form share it.
class FoldedForm {
 public:
  explicit FoldedForm(std::span<const FoldedInput> inputs);

  struct Group {
    FoldedInput input;    // plus is always there
    std::size_t end = 0;  // its rows begin at the end of the group before
  };
  std::vector<Group> groups;
  std::vector<float> signs;           // of a row against its group: 1 or -1
  std::vector<std::size_t> input_of;  // row -> input; those that are always zero come last
};

struct FoldedLayer {
  std::shared_ptr<const FoldedForm> form;
  Matrix weight;         // inputs × columns, rows in the order of the form
  Matrix first, second;  // Adam's moments, groups × columns

  FoldedLayer() = default;
  FoldedLayer(std::shared_ptr<const FoldedForm> form_of_rows, std::size_t columns);
};

// W from and to its natural order.
void set_weight(FoldedLayer& layer, ConstView weight);
void get_weight(const FoldedLayer& layer, View weight);

// folded <- W̃. `folded` has the layer's columns and stride.
void fold(const FoldedLayer& layer, View folded);

// Σ over all rows of |G[plus] - G[minus]|².
double unfolded_squared_norm(const FoldedLayer& layer, ConstView folded_gradient);

// One Adam step of W (see adam_update), and folded <- the new W̃, to the bit as fold would make it.
void step_and_fold(FoldedLayer& layer, ConstView folded_gradient, float scale, float rate, const AdamOptions& options,
                   View folded);

}  // namespace tilewright
