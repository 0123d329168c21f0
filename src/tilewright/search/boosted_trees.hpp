// A surrogate: gradient-boosted trees (XGBoost) that predict how good a point is before it is measured.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tilewright/base/names.hpp"
#include "tilewright/base/result.hpp"
#include "tilewright/space/design_space.hpp"

namespace tilewright {

// What the trees are fitted for: the squared error, or the rank of every pair.
enum class TreeLoss : std::uint8_t { SquaredError, PairwiseRank };
template <>
struct Names<TreeLoss> {
  static constexpr std::string_view kWhat = "loss";
  static constexpr NameTable<TreeLoss, 2> kTable = {{{TreeLoss::SquaredError, "reg"}, {TreeLoss::PairwiseRank, "rank"}}};
};

struct BoostedTreesOptions {
  std::int64_t depth = 3;
  double learning_rate = 0.3;
  double gamma = 1e-4;
  double min_child_weight = 1;
  double lambda = 1;
  std::int64_t most_rounds = 8000;
  std::int64_t patience = 20;     // ends when the average recall of the rows has not improved for so many rounds
  std::int64_t recall_size = 64;  // the average recall is that of the best 1, 2, … so many
  TreeLoss loss = TreeLoss::SquaredError;
};

// Rows of equal width, one after the other.
struct FeatureRows {
  std::size_t width = 0;
  std::vector<float> values;
  std::size_t size() const { return width == 0 ? 0 : values.size() / width; }
};

class BoostedTrees {
 public:
  explicit BoostedTrees(const BoostedTreesOptions& options);
  ~BoostedTrees();
  BoostedTrees(BoostedTrees&&) noexcept;
  BoostedTrees& operator=(BoostedTrees&&) noexcept;

  // Replaces what was learned before. Larger targets are better; one thread, so that the same rows give the same trees.
  void fit(const FeatureRows& rows, std::span<const float> targets);
  bool is_fitted() const;
  std::size_t tree_count() const;
  void predict(const FeatureRows& rows, std::vector<float>& predictions) const;
  // The same numbers by XGBoost itself, which takes far longer for a few rows.
  void predict_by_library(const FeatureRows& rows, std::vector<float>& predictions) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The share of the n best that are among the n predicted best, mean over n = 1 … `size`. Ties go to the earlier row.
double average_recall(std::span<const float> predicted, std::span<const float> measured, std::size_t size);

// How well predictions order what was measured.
struct Calibration {
  double rank_correlation = 0;  // Spearman
  double top_recall = 0;        // share of the best tenth (at least one) that is in the predicted best tenth
};
Calibration calibration(std::span<const float> predicted, std::span<const float> measured);

// A point as a row of raw numbers for the trees: the value of each parameter (AutoTVM's "knob" features). Their logarithms
// would add nothing: trees only compare.
void append_features(const DesignSpace& space, PointView point, FeatureRows& rows);

}  // namespace tilewright
