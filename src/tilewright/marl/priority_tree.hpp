// Weights of numbered slots, kept so that a slot is drawn in proportion to its weight, and the least weight is known,
// without looking at all of them: a tree in which sixteen neighbours have one parent.
//
// Sums are always taken from the first child to the last, so the tree is a function of its weights alone: saving them saves
// it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tilewright {

class PriorityTree {
 public:
  explicit PriorityTree(std::size_t slots);  // all weights zero: nothing there

  void set(std::size_t slot, float weight);  // >= 0
  // Several at once; of equal slots the last one counts.
  void set(std::span<const std::size_t> slots, std::span<const float> weights);
  float weight(std::size_t slot) const { return weights_[slot]; }
  double sum() const { return levels_.back().sums[0]; }
  float least() const { return levels_.back().least[0]; }  // of the weights above zero; infinite without any

  // The slot at `mass` when all weights lie side by side from 0 to sum(). Never one without weight; needs sum() > 0.
  std::size_t find(double mass) const;

 private:
  // What is known of each node of a level; filled up with nodes that have nothing, to whole families of sixteen.
  struct Level {
    std::vector<double> sums;
    std::vector<double> running;  // sums within the family, up to this node
    std::vector<float> least;
  };
  void update_node(std::size_t level, std::size_t index);

  std::vector<float> weights_;        // filled up with zeros
  std::vector<Level> levels_;         // parents of weights first; the last one is the root alone
  std::vector<std::size_t> touched_;  // nodes of a level, while weights are set
};

}  // namespace tilewright
