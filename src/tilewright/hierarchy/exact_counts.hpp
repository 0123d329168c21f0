// What hardware moves (docs/hierarchy.md): every word that enters a tile, tile after tile, at the true sizes.
//
// A copy of a level holds the words of one tile. When a temporal loop above it advances, the loops inside that one fall from
// their last trip to their first, and the copy gets the words of the new tile that the old one did not have. Tiles are cut
// at the bounds of the problem. A rank of a tensor that depends on one dimension is counted by its steps, so a stride skips
// words; a window is the set of sums of its two dimensions. The sum over all advances is a product over ranks, because the
// loops of different dimensions turn independently:
//
//   words(j) = product over ranks of sum |new| - product over ranks of sum |new and old|
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tilewright/hierarchy/axis_loops.hpp"
#include "tilewright/hierarchy/loops.hpp"
#include "tilewright/hierarchy/windows.hpp"

namespace tilewright::hierarchy {

// Words per pass of all copies of a level together.
struct Entries {
  double all = 0;     // counted in every copy
  double groups = 0;  // once for copies under one copy of the parent that get the same words
};

class ExactCounter {
 public:
  // A sentence when a tensor is not counted like this: a rank of three dimensions, a dimension in two ranks, or an output
  // that slides.
  static std::optional<std::string> refusal(const Problem& problem);

  explicit ExactCounter(const Problem& problem);

  // Words that enter the tiles of `level` over the whole run; `parent` is the level that serves them.
  Entries entries(std::size_t tensor, const Loops& loops, std::size_t level, std::size_t parent);
  // Words that the MACs take from, or give to, `parent` over the whole run.
  double mac_words(std::size_t tensor, const Loops& loops, std::size_t parent);
  // Words of one whole tile that covers `extents`.
  std::int64_t tile(std::size_t tensor, const Extents& extents) const;
  // Steps of the nest in time, and copies of a level that ever have something to do.
  double steps(const Loops& loops);
  double copies(const Loops& loops, std::size_t level);
  // Copies of `parent` that hold the same words of the tensor.
  double sharers(std::size_t tensor, const Loops& loops, std::size_t parent);

 private:
  // Instead of the number of a loop that advances.
  static constexpr int kFirstPass = -1;
  static constexpr int kEveryStep = -2;

  struct Axis {                                       // one dimension above a boundary
    AxisLoops loops;                                  // in time
    InlineVector<std::uint8_t, kMostLevels> numbers;  // of them in the nest
    std::vector<std::int64_t> within, above;          // offsets of copies inside one copy of the parent, and of the parents
    std::vector<std::int64_t> offsets;                // of all copies
    std::int64_t within_count = 1, above_count = 1;   // that ever have something to do, when the factors are exact
    std::int64_t bound = 1, extent = 1;
    bool exact = true;
  };
  struct Context {  // moments that look alike
    double weight = 1;
    std::int64_t now = 0;   // position in time of the new tile
    std::int64_t then = 0;  // of the old one; -1 = there was none
  };
  struct Rank {
    InlineVector<std::uint8_t, 2> dims;
    std::array<std::int64_t, 2> coefficient{};  // reduced to lowest terms, positive
  };
  struct View {
    std::uint32_t relevant = 0;
    std::vector<Rank> ranks;
  };
  struct Sums {
    double fresh = 0, kept = 0;
  };

  // exact_counts_dividing.cpp: where every factor divides.
  bool is_exact(const Loops& loops) const;
  double exact_copies(const View& view, const Loops& loops, std::size_t first_level, std::size_t parent, bool share);
  double exact_passes(const View& view, const Loops& loops, std::size_t level) const;

  // exact_counts_axes.cpp.
  void set_axes(const Loops& loops, std::size_t first_level, std::size_t parent, const Extents& extents);
  void set_contexts(std::uint8_t dim, int advance, const Loops& loops, std::vector<Context>& into) const;
  double moments(std::uint8_t dim, int advance, const Loops& loops) const;
  // exact_counts_ranks.cpp.
  Sums rank_sums(const Rank& rank, int advance, const Loops& loops, bool share);
  Sums exact_window_sums(const Window& window, const Axis& p, const Axis& r, bool meets);
  Sums window_sums(const Rank& rank, int advance, const Loops& loops, bool share);

  double words(const View& view, int advance, const Loops& loops, bool share);

  std::vector<std::int64_t> bounds_;
  std::vector<View> views_;
  std::array<Axis, kMostDims> axes_;
  std::array<std::vector<Context>, 2> contexts_;
  struct Key {
    std::int64_t parent_p, parent_r, now, now_last, now_size, then, then_last, then_size;
    auto operator<=>(const Key&) const = default;
  };
  std::vector<Key> keys_;
  std::array<std::vector<std::int64_t>, 2> all_;
  mutable std::vector<std::int64_t> numbers_;
};

}  // namespace tilewright::hierarchy
