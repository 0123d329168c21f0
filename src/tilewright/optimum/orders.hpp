// The order oracle: the best orders of the two outermost blocks of loops for given factors.
//
// The loops of a block are put on top of each other one by one. What the next one adds depends on the set of those below it
// (flow.hpp), so the least that is still to come is a shortest path over subsets, 64 for six loops; energy and every port
// have a path of their own. A search over orders, the innermost loop first, then goes down only where the bound allows.
#pragma once

#include <functional>
#include <vector>

#include "tilewright/optimum/goal.hpp"
#include "tilewright/optimum/inside.hpp"

namespace tilewright::optimum {

// The loops of one block in time.
struct BlockLoops {
  InlineVector<hierarchy::Loop, hierarchy::kMostDims> loops;
  double outside = 1;  // trips of all blocks further out
  const hierarchy::BlockRestriction* rule = nullptr;
};

// What is known of a stream where a block begins.
struct StreamState {
  const Stream* stream = nullptr;
  hierarchy::Extents inside{};
  bool empty = true, moved = false;
  bool first_known = false;
  hierarchy::Shift first{};
  std::uint32_t candidates = 0;  // loops of the block below that may be the first to move it: bits of its loops
};

class Orders {
 public:
  Orders(const Model& model, Goal goal, const Limits& limits);

  // Costs of everything but the loops of the blocks come with `base`.
  struct Task {
    const Costs* base = nullptr;
    double compute_cycles = 1, leakage = 0;
    BlockLoops buffer, outermost;
    std::vector<const Stream*> both;  // streams that see both blocks
    std::vector<const Stream*> last;  // that see the outermost one only
  };
  void set(const Task& task);
  // Of the outermost block alone, for streams that see only that.
  void set_outermost(const Task& task);

  Costs least() const;  // no order costs less, entry by entry
  double bound(const Costs& costs) const;

  // Calls leaf(buffer order, outermost order) for every pair of orders whose bound is below `*incumbent`, which leaf lowers.
  using Leaf = std::function<void(const std::vector<std::uint8_t>&, const std::vector<std::uint8_t>&)>;
  // False when `stop` ended it.
  bool search(const double& incumbent, std::int64_t& nodes, const Leaf& leaf);

  std::function<bool()> stop;  // asked at every step; may be empty

  bool order_bounds = true;  // a test hook: without them every order is looked at

 private:
  struct Node {
    std::uint32_t set = 0;
    Costs costs{};
    std::vector<StreamState> states;
  };
  bool may_follow(const BlockLoops& block, std::uint32_t set, std::size_t next) const;
  void set_togo(const BlockLoops& block, const std::vector<StreamState>& states, std::vector<Costs>& togo);
  bool descend(std::size_t block, const Node& node, const double& incumbent, std::int64_t& nodes, const Leaf& leaf);
  std::vector<StreamState> after_buffer() const;

  const Model& model_;
  Goal goal_;
  Limits limits_;
  std::size_t count_;
  Task task_;
  std::vector<StreamState> begin_;  // of the buffer's block
  std::array<std::vector<Costs>, 2> togo_;
  std::array<std::vector<std::uint8_t>, 2> order_;
  std::vector<hierarchy::Loop> below_;  // loops of the buffer's block, for candidates
};

}  // namespace tilewright::optimum
