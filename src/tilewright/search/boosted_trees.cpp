#include "tilewright/search/boosted_trees.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include <fmt/format.h>
#include <xgboost/c_api.h>
#include <nlohmann/json.hpp>

namespace tilewright {
namespace {

// What is asked of XGBoost is always well formed, so a refusal is a broken promise.
void require([[maybe_unused]] int status) { TW_ASSERT(status == 0); }

class Matrix {
 public:
  explicit Matrix(const FeatureRows& rows) {
    require(XGDMatrixCreateFromMat(rows.values.data(), rows.size(), rows.width, std::numeric_limits<float>::quiet_NaN(),
                                   &handle_));
  }
  ~Matrix() { XGDMatrixFree(handle_); }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  DMatrixHandle handle() const { return handle_; }

 private:
  DMatrixHandle handle_ = nullptr;
};

// All trees as complete binary trees of one depth: node n has the children 2n + 1 and 2n + 2. A leaf further up is followed
// by splits that always go left.
struct Forest {
  struct Split {
    float below = std::numeric_limits<float>::infinity();  // goes left
    std::uint32_t feature = 0;
  };
  std::size_t depth = 0;
  std::size_t trees = 0;
  float base = 0;
  std::vector<Split> splits;  // 2^depth - 1 per tree
  std::vector<float> leaves;  // 2^depth per tree

  std::size_t splits_per_tree() const { return (std::size_t{1} << depth) - 1; }
};

void plant(const nlohmann::json& tree, std::size_t from, Forest& forest, std::size_t number, std::size_t node) {
  const std::size_t splits = forest.splits_per_tree();
  const std::int64_t left = tree["left_children"][from].get<std::int64_t>();
  const auto value = tree["split_conditions"][from].get<float>();
  if (node >= splits) {
    forest.leaves[number * (splits + 1) + node - splits] = value;
  } else if (left < 0) {
    plant(tree, from, forest, number, 2 * node + 1);
  } else {
    forest.splits[number * splits + node] = {value, tree["split_indices"][from].get<std::uint32_t>()};
    plant(tree, static_cast<std::size_t>(left), forest, number, 2 * node + 1);
    plant(tree, tree["right_children"][from].get<std::size_t>(), forest, number, 2 * node + 2);
  }
}

Forest forest_of(BoosterHandle booster, std::size_t depth) {
  bst_ulong size = 0;
  const char* bytes = nullptr;
  require(XGBoosterSaveModelToBuffer(booster, R"({"format": "json"})", &size, &bytes));
  const auto json = nlohmann::json::parse(bytes, bytes + size);
  const auto& learner = json["learner"];
  const auto& trees = learner["gradient_booster"]["model"]["trees"];
  Forest forest;
  forest.depth = depth;
  forest.trees = trees.size();
  forest.base = std::stof(learner["learner_model_param"]["base_score"].get<std::string>());
  forest.splits.resize(forest.trees * forest.splits_per_tree());
  forest.leaves.resize(forest.trees * (forest.splits_per_tree() + 1));
  for (std::size_t number = 0; number < forest.trees; ++number) plant(trees[number], 0, forest, number, 0);
  return forest;
}

// Leaves are added in the order of the trees, as XGBoost does, so that the sums are the same bits. Rows go side by side
// because each waits for its own loads.
template <std::size_t Rows>
void walk(const Forest& forest, const float* rows, std::size_t width, float* sums) {
  const std::size_t splits = forest.splits_per_tree();
  std::array<float, Rows> sum;
  sum.fill(forest.base);
  for (std::size_t tree = 0; tree < forest.trees; ++tree) {
    const Forest::Split* split = forest.splits.data() + tree * splits;
    std::array<std::size_t, Rows> node{};
    for (std::size_t level = 0; level < forest.depth; ++level) {
      for (std::size_t row = 0; row < Rows; ++row) {
        const Forest::Split& at = split[node[row]];
        node[row] = 2 * node[row] + (rows[row * width + at.feature] < at.below ? 1 : 2);
      }
    }
    const float* leaves = forest.leaves.data() + tree * (splits + 1);
    for (std::size_t row = 0; row < Rows; ++row) sum[row] += leaves[node[row] - splits];
  }
  std::ranges::copy(sum, sums);
}

// Indices from the largest value to the smallest.
std::vector<std::size_t> descending(std::span<const float> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return values[i]; });
  return order;
}

// 0 for the smallest; equal values share the mean of their ranks.
std::vector<double> shared_ranks(std::span<const float> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = 0.5 * static_cast<double>(begin + end - 1);
    begin = end;
  }
  return ranks;
}

}  // namespace

struct BoostedTrees::State {
  BoostedTreesOptions options;
  BoosterHandle booster = nullptr;
  Forest forest;

  ~State() {
    if (booster != nullptr) XGBoosterFree(booster);
  }
};

BoostedTrees::BoostedTrees(const BoostedTreesOptions& options) : state_(std::make_unique<State>()) {
  state_->options = options;
}
BoostedTrees::~BoostedTrees() = default;
BoostedTrees::BoostedTrees(BoostedTrees&&) noexcept = default;
BoostedTrees& BoostedTrees::operator=(BoostedTrees&&) noexcept = default;

bool BoostedTrees::is_fitted() const { return state_->booster != nullptr; }
std::size_t BoostedTrees::tree_count() const { return state_->forest.trees; }

void BoostedTrees::fit(const FeatureRows& rows, std::span<const float> targets) {
  TW_ASSERT(rows.size() == targets.size() && !targets.empty());
  const BoostedTreesOptions& options = state_->options;
  const Matrix matrix(rows);
  require(XGDMatrixSetFloatInfo(matrix.handle(), "label", targets.data(), targets.size()));
  if (state_->booster != nullptr) XGBoosterFree(state_->booster);
  const DMatrixHandle handles[] = {matrix.handle()};
  require(XGBoosterCreate(handles, 1, &state_->booster));
  const std::pair<const char*, std::string> parameters[] = {
      {"verbosity", "0"},
      {"nthread", "1"},
      {"seed", "0"},
      {"tree_method", "exact"},
      {"objective", options.loss == TreeLoss::PairwiseRank ? "rank:pairwise" : "reg:squarederror"},
      {"max_depth", fmt::format("{}", options.depth)},
      {"eta", fmt::format("{}", options.learning_rate)},
      {"gamma", fmt::format("{}", options.gamma)},
      {"min_child_weight", fmt::format("{}", options.min_child_weight)},
      {"lambda", fmt::format("{}", options.lambda)},
  };
  for (const auto& [name, value] : parameters) require(XGBoosterSetParam(state_->booster, name, value.c_str()));

  const auto size = static_cast<std::size_t>(options.recall_size);
  double best = -1;
  std::int64_t best_round = 0;
  for (std::int64_t round = 0; round < options.most_rounds && round - best_round <= options.patience; ++round) {
    require(XGBoosterUpdateOneIter(state_->booster, static_cast<int>(round), matrix.handle()));
    bst_ulong count = 0;
    const float* predicted = nullptr;
    require(XGBoosterPredict(state_->booster, matrix.handle(), 0, 0, 0, &count, &predicted));
    const double recall = average_recall({predicted, count}, targets, size);
    if (recall <= best) continue;
    best = recall;
    best_round = round;
  }
  state_->forest = forest_of(state_->booster, static_cast<std::size_t>(options.depth));
}

void BoostedTrees::predict(const FeatureRows& rows, std::vector<float>& predictions) const {
  TW_ASSERT(is_fitted());
  constexpr std::size_t kSideBySide = 8;
  predictions.resize(rows.size());
  std::size_t row = 0;
  const auto at = [&] { return rows.values.data() + row * rows.width; };
  for (; row + kSideBySide <= rows.size(); row += kSideBySide) {
    walk<kSideBySide>(state_->forest, at(), rows.width, predictions.data() + row);
  }
  for (; row < rows.size(); ++row) walk<1>(state_->forest, at(), rows.width, predictions.data() + row);
}

void BoostedTrees::predict_by_library(const FeatureRows& rows, std::vector<float>& predictions) const {
  TW_ASSERT(is_fitted());
  const Matrix matrix(rows);
  bst_ulong count = 0;
  const float* predicted = nullptr;
  require(XGBoosterPredict(state_->booster, matrix.handle(), 0, 0, 0, &count, &predicted));
  predictions.assign(predicted, predicted + count);
}

double average_recall(std::span<const float> predicted, std::span<const float> measured, std::size_t size) {
  const std::size_t count = std::min(size, measured.size());
  if (count == 0) return 0;
  const std::vector<std::size_t> guess = descending(predicted), truth = descending(measured);
  std::vector<char> seen(measured.size(), 0);
  std::size_t common = 0;
  double sum = 0;
  for (std::size_t n = 0; n < count; ++n) {
    for (const std::size_t one : {guess[n], truth[n]}) {
      common += seen[one] != 0 ? 1 : 0;  // it is in the other list too
      seen[one] = 1;
    }
    sum += static_cast<double>(common) / static_cast<double>(n + 1);
  }
  return sum / static_cast<double>(count);
}

Calibration calibration(std::span<const float> predicted, std::span<const float> measured) {
  const std::size_t count = measured.size();
  if (count == 0) return {};
  const std::vector<double> a = shared_ranks(predicted), b = shared_ranks(measured);
  const double middle = 0.5 * static_cast<double>(count - 1);
  double both = 0, of_a = 0, of_b = 0;
  for (std::size_t i = 0; i < count; ++i) {
    both += (a[i] - middle) * (b[i] - middle);
    of_a += (a[i] - middle) * (a[i] - middle);
    of_b += (b[i] - middle) * (b[i] - middle);
  }
  Calibration result;
  if (of_a > 0 && of_b > 0) result.rank_correlation = both / std::sqrt(of_a * of_b);
  const std::size_t tenth = std::max<std::size_t>(1, count / 10);
  const std::vector<std::size_t> guess = descending(predicted), truth = descending(measured);
  const std::span best(truth.data(), tenth);
  const auto hits = std::count_if(guess.begin(), guess.begin() + static_cast<std::ptrdiff_t>(tenth),
                                  [&](std::size_t one) { return std::ranges::find(best, one) != best.end(); });
  result.top_recall = static_cast<double>(hits) / static_cast<double>(tenth);
  return result;
}

void append_features(const DesignSpace& space, PointView point, FeatureRows& rows) {
  rows.width = point.size();
  for (std::size_t parameter = 0; parameter < point.size(); ++parameter) {
    rows.values.push_back(static_cast<float>(space.value(parameter, point[parameter])));
  }
}

}  // namespace tilewright
