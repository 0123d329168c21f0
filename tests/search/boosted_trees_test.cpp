#include "tilewright/search/boosted_trees.hpp"

#include <array>

#include <gtest/gtest.h>

#include "synthetic_space.hpp"

namespace tilewright {
namespace {

struct Data {
  FeatureRows rows;
  std::vector<float> targets;
};

// A step, a product and a useless feature.
Data random_data(std::size_t count, std::uint64_t seed) {
  Rng rng(seed, "boosted-trees");
  Data data;
  data.rows.width = 4;
  for (std::size_t n = 0; n < count; ++n) {
    std::array<double, 4> x;
    for (double& one : x) one = static_cast<double>(rng.between(0, 15));
    for (const double one : x) data.rows.values.push_back(static_cast<float>(one));
    data.targets.push_back(static_cast<float>((x[0] > 7 ? 0.5 : 0) + x[1] * x[2] / 450));
  }
  return data;
}

TEST(BoostedTrees, LearnWhatPointsAreGood) {
  const Data known = random_data(400, 1), fresh = random_data(400, 2);
  for (const auto& [loss, word] : Names<TreeLoss>::kTable) {
    BoostedTreesOptions options;
    options.loss = loss;
    BoostedTrees trees(options);
    EXPECT_FALSE(trees.is_fitted());
    trees.fit(known.rows, known.targets);
    EXPECT_TRUE(trees.is_fitted());
    std::vector<float> predicted;
    trees.predict(fresh.rows, predicted);
    const Calibration found = calibration(predicted, fresh.targets);
    EXPECT_GT(found.rank_correlation, 0.95) << word;
    EXPECT_GT(found.top_recall, 0.6) << word;
  }
}

TEST(BoostedTrees, PredictWhatTheLibraryPredictsBitForBit) {
  for (const auto& [loss, word] : Names<TreeLoss>::kTable) {
    for (const std::int64_t depth : {1, 3, 6}) {
      const Data known = random_data(150, 3), fresh = random_data(203, 4);
      BoostedTreesOptions options;
      options.loss = loss;
      options.depth = depth;
      BoostedTrees trees(options);
      trees.fit(known.rows, known.targets);
      std::vector<float> ours, theirs;
      trees.predict(fresh.rows, ours);
      trees.predict_by_library(fresh.rows, theirs);
      EXPECT_EQ(ours, theirs) << word << " " << depth;
    }
  }
}

TEST(BoostedTrees, AreTheSameForTheSameRowsAndForgetEarlierOnes) {
  const Data first = random_data(100, 5), second = random_data(120, 6);
  BoostedTrees one({}), other({});
  one.fit(first.rows, first.targets);
  one.fit(second.rows, second.targets);
  other.fit(second.rows, second.targets);
  std::vector<float> a, b;
  one.predict(first.rows, a);
  other.predict(first.rows, b);
  EXPECT_EQ(a, b);
  EXPECT_EQ(one.tree_count(), other.tree_count());
}

TEST(BoostedTrees, StopWhenRecallNoLongerImproves) {
  const Data known = random_data(200, 7);
  BoostedTreesOptions options;
  options.patience = 5;
  BoostedTrees impatient(options);
  impatient.fit(known.rows, known.targets);
  options.patience = 100;
  BoostedTrees patient(options);
  patient.fit(known.rows, known.targets);
  EXPECT_LT(impatient.tree_count(), patient.tree_count());
  EXPECT_LT(patient.tree_count(), 8000U);
  options.most_rounds = 7;
  BoostedTrees limited(options);
  limited.fit(known.rows, known.targets);
  EXPECT_EQ(limited.tree_count(), 7U);
  // Nothing to order: the first tree is as good as any other.
  const std::vector<float> flat(known.targets.size(), 0.25F);
  options.most_rounds = 8000;
  options.patience = 20;
  BoostedTrees constant(options);
  constant.fit(known.rows, flat);
  std::vector<float> predicted;
  constant.predict(known.rows, predicted);
  EXPECT_NEAR(predicted[0], 0.25, 1e-3);
  EXPECT_EQ(constant.tree_count(), 21U);
}

TEST(AverageRecall, CountsWhatBothListsShare) {
  const std::vector<float> measured = {4, 3, 2, 1};
  EXPECT_EQ(average_recall(std::vector<float>{40, 30, 20, 10}, measured, 4), 1);
  // Predicted order 1 0 3 2: recall of the best 1, 2, 3, 4 is 0, 1, 2/3, 1.
  EXPECT_DOUBLE_EQ(average_recall(std::vector<float>{3, 4, 1, 2}, measured, 4), (0 + 1 + 2.0 / 3 + 1) / 4);
  EXPECT_DOUBLE_EQ(average_recall(std::vector<float>{3, 4, 1, 2}, measured, 2), 0.5);
  EXPECT_EQ(average_recall(std::vector<float>{1, 2, 3, 4}, measured, 2), 0);
  EXPECT_EQ(average_recall({}, {}, 2), 0);
}

TEST(Calibration, IsOfRanks) {
  const std::vector<float> measured = {1, 2, 3, 4, 5};
  EXPECT_DOUBLE_EQ(calibration(std::vector<float>{1, 4, 9, 16, 25}, measured).rank_correlation, 1);
  EXPECT_DOUBLE_EQ(calibration(std::vector<float>{5, 4, 3, 2, 1}, measured).rank_correlation, -1);
  // Differences of ranks 1, 1, 0, 0, 0: 1 - 6 * 2 / (5 * 24).
  const Calibration swapped = calibration(std::vector<float>{2, 1, 3, 4, 5}, measured);
  EXPECT_DOUBLE_EQ(swapped.rank_correlation, 0.9);
  EXPECT_EQ(swapped.top_recall, 1);
  EXPECT_EQ(calibration(std::vector<float>{1, 2, 3, 5, 4}, measured).top_recall, 0);
  EXPECT_EQ(calibration(std::vector<float>{1, 1, 1, 1, 1}, measured).rank_correlation, 0);
}

TEST(Features, AreTheValuesOfTheParameters) {
  const SyntheticSpace space;
  Rng rng(1, "features");
  const Point first = random_point(space, rng), second = random_point(space, rng);
  FeatureRows rows;
  append_features(space, first, rows);
  append_features(space, second, rows);
  ASSERT_EQ(rows.size(), 2U);
  ASSERT_EQ(rows.width, first.size());
  for (std::size_t p = 0; p < first.size(); ++p) {
    EXPECT_EQ(rows.values[p], static_cast<float>(space.value(p, first[p])));
    EXPECT_EQ(rows.values[rows.width + p], static_cast<float>(space.value(p, second[p])));
  }
}

}  // namespace
}  // namespace tilewright
