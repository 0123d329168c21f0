#include "tilewright/agents/clustering.hpp"

#include <algorithm>
#include <cmath>

#include "tilewright/base/rng.hpp"

namespace tilewright {
namespace {

using ::testing::ElementsAre;

// From distances (1 - correlation) below the diagonal, line by line.
CorrelationMatrix from_distances(std::size_t n, const std::vector<double>& below) {
  CorrelationMatrix matrix;
  matrix.values.assign(n * n, 1.0);
  for (std::size_t i = 0, k = 0; i < n; ++i) {
    matrix.names.push_back(std::string("p") + std::to_string(i));
    for (std::size_t j = 0; j < i; ++j, ++k) matrix.values[i * n + j] = matrix.values[j * n + i] = 1 - below[k];
  }
  return matrix;
}

CorrelationMatrix random_matrix(std::size_t n, Rng& rng) {
  std::vector<double> below(n * (n - 1) / 2);
  for (double& d : below) d = rng.uniform();
  return from_distances(n, below);
}

// The definitions, from the members themselves: mean, largest, or Ward's distance between centres, where the squared
// distance of two centres is the mean over pairs across less half the means within either side.
double distance_by_definition(const CorrelationMatrix& matrix, const std::vector<std::size_t>& a,
                              const std::vector<std::size_t>& b, Linkage linkage) {
  const auto mean_square = [&](const std::vector<std::size_t>& x, const std::vector<std::size_t>& y) {
    double sum = 0;
    for (const auto i : x) {
      for (const auto j : y) sum += (1 - matrix(i, j)) * (1 - matrix(i, j));
    }
    return sum / static_cast<double>(x.size() * y.size());
  };
  double sum = 0, largest = 0;
  for (const auto i : a) {
    for (const auto j : b) {
      sum += 1 - matrix(i, j);
      largest = std::max(largest, 1 - matrix(i, j));
    }
  }
  if (linkage == Linkage::Average) return sum / static_cast<double>(a.size() * b.size());
  if (linkage == Linkage::Complete) return largest;
  const double centres = mean_square(a, b) - mean_square(a, a) / 2 - mean_square(b, b) / 2;
  return std::sqrt(2.0 * static_cast<double>(a.size() * b.size()) / static_cast<double>(a.size() + b.size()) * centres);
}

struct Step {
  std::vector<std::size_t> members;
  double height;
};

std::vector<Step> cluster_by_definition(const CorrelationMatrix& matrix, Linkage linkage) {
  std::vector<std::vector<std::size_t>> clusters;
  for (std::size_t i = 0; i < matrix.names.size(); ++i) clusters.push_back({i});
  std::vector<Step> steps;
  while (clusters.size() > 1) {
    std::size_t a = 0, b = 1;
    double nearest = 1e300;
    for (std::size_t i = 0; i < clusters.size(); ++i) {
      for (std::size_t j = i + 1; j < clusters.size(); ++j) {
        const double d = distance_by_definition(matrix, clusters[i], clusters[j], linkage);
        if (d < nearest) nearest = d, a = i, b = j;
      }
    }
    clusters[a].insert(clusters[a].end(), clusters[b].begin(), clusters[b].end());
    std::ranges::sort(clusters[a]);
    steps.push_back({clusters[a], nearest});
    clusters.erase(clusters.begin() + static_cast<std::ptrdiff_t>(b));
  }
  return steps;
}

class EveryLinkage : public ::testing::TestWithParam<Linkage> {};

TEST_P(EveryLinkage, AgreesWithItsDefinition) {
  Rng rng(7, "clustering");
  for (std::size_t n = 1; n <= 16; ++n) {
    const CorrelationMatrix matrix = random_matrix(n, rng);
    const Dendrogram dendrogram = cluster(matrix, GetParam());
    const std::vector<Step> expected = cluster_by_definition(matrix, GetParam());
    ASSERT_EQ(dendrogram.merges.size(), expected.size());
    std::vector<std::vector<std::size_t>> members;
    for (std::size_t i = 0; i < n; ++i) members.push_back({i});
    for (std::size_t step = 0; step < expected.size(); ++step) {
      const Merge& merge = dendrogram.merges[step];
      std::vector<std::size_t> joined = members[merge.a];
      joined.insert(joined.end(), members[merge.b].begin(), members[merge.b].end());
      std::ranges::sort(joined);
      EXPECT_EQ(joined, expected[step].members);
      EXPECT_EQ(merge.size, joined.size());
      EXPECT_NEAR(merge.height, expected[step].height, 1e-12);
      members.push_back(joined);
    }
  }
}

TEST_P(EveryLinkage, HeightsRiseAndEveryCutHasTheClustersAsked) {
  Rng rng(8, "clustering");
  const CorrelationMatrix matrix = random_matrix(20, rng);
  const Dendrogram dendrogram = cluster(matrix, GetParam());
  for (std::size_t i = 1; i < dendrogram.merges.size(); ++i) {
    EXPECT_LE(dendrogram.merges[i - 1].height, dendrogram.merges[i].height);
  }
  for (std::size_t k = 1; k <= 20; ++k) {
    const auto clusters = cut_into(dendrogram, k);
    EXPECT_EQ(*std::ranges::max_element(clusters) + 1, k);
    EXPECT_EQ(clusters[0], 0u);
    if (k < 20) {
      EXPECT_EQ(cut_at(dendrogram, dendrogram.merges[19 - k].height), clusters);
    }
  }
}

TEST_P(EveryLinkage, LeavesOfAClusterStandTogetherWhenDrawn) {
  Rng rng(9, "clustering");
  const Dendrogram dendrogram = cluster(random_matrix(15, rng), GetParam());
  auto sorted = dendrogram.order;
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < 15; ++i) EXPECT_EQ(sorted[i], i);
  for (std::size_t k = 1; k <= 15; ++k) {
    const auto clusters = cut_into(dendrogram, k);
    std::size_t changes = 0;
    for (std::size_t i = 1; i < 15; ++i) changes += clusters[dendrogram.order[i]] != clusters[dendrogram.order[i - 1]];
    EXPECT_EQ(changes, k - 1);
  }
}

TEST_P(EveryLinkage, DoesNotDependOnTheOrderOfTheParameters) {
  Rng rng(10, "clustering");
  const std::size_t n = 12;
  const CorrelationMatrix matrix = random_matrix(n, rng);
  CorrelationMatrix reversed = matrix;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) reversed.values[i * n + j] = matrix(n - 1 - i, n - 1 - j);
  }
  for (std::size_t k = 1; k <= n; ++k) {
    auto clusters = cut_into(cluster(reversed, GetParam()), k);
    std::ranges::reverse(clusters);
    EXPECT_EQ(adjusted_rand_index(clusters, cut_into(cluster(matrix, GetParam()), k)), 1.0);
  }
}

INSTANTIATE_TEST_SUITE_P(Linkages, EveryLinkage, ::testing::ValuesIn(all_linkages()),
                         [](const auto& named) { return std::string(name_of(named.param)); });

// Points on a line at 0, 0.1, 0.4, 0.9. By hand: {0,1} at 0.1; then 2 joins at its mean (0.4+0.3)/2 = 0.35, or at its
// largest, 0.4; then 3 at (0.9+0.8+0.5)/3, or 0.9.
CorrelationMatrix line() { return from_distances(4, {0.1, 0.4, 0.3, 0.9, 0.8, 0.5}); }

std::vector<double> heights(Linkage linkage) {
  std::vector<double> result;
  for (const Merge& merge : cluster(line(), linkage).merges) result.push_back(merge.height);
  return result;
}

TEST(Dendrogram, OfALineIsAsComputedByHand) {
  using ::testing::DoubleNear;
  EXPECT_THAT(heights(Linkage::Average),
              ElementsAre(DoubleNear(0.1, 1e-12), DoubleNear(0.35, 1e-12), DoubleNear(2.2 / 3, 1e-12)));
  EXPECT_THAT(heights(Linkage::Complete),
              ElementsAre(DoubleNear(0.1, 1e-12), DoubleNear(0.4, 1e-12), DoubleNear(0.9, 1e-12)));
  // Ward: centre of {0, 0.1} is 0.05: sqrt(2·2·1/3)·0.35; centre of three is 1/6: sqrt(2·3·1/4)·(0.9 - 1/6).
  EXPECT_THAT(heights(Linkage::Ward), ElementsAre(DoubleNear(0.1, 1e-12), DoubleNear(std::sqrt(4.0 / 3) * 0.35, 1e-12),
                                                  DoubleNear(std::sqrt(1.5) * (0.9 - 1.0 / 6), 1e-12)));
}

TEST(Dendrogram, TiesJoinTheLowestFirst) {
  const Dendrogram dendrogram = cluster(from_distances(4, {0.5, 0.5, 0.5, 0.5, 0.5, 0.5}), Linkage::Average);
  ASSERT_EQ(dendrogram.merges.size(), 3u);
  EXPECT_EQ(dendrogram.merges[0].a, 0u);
  EXPECT_EQ(dendrogram.merges[0].b, 1u);
  EXPECT_EQ(dendrogram.merges[1].a, 2u);
  EXPECT_EQ(dendrogram.merges[1].b, 4u);
  EXPECT_THAT(dendrogram.order, ElementsAre(0, 1, 2, 3));
}

TEST(Cut, AtAHeightAppliesTheMergesUpToIt) {
  const Dendrogram dendrogram = cluster(line(), Linkage::Complete);
  EXPECT_THAT(cut_at(dendrogram, 0.05), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(cut_at(dendrogram, 0.2), ElementsAre(0, 0, 1, 2));
  EXPECT_THAT(cut_at(dendrogram, 0.5), ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(cut_at(dendrogram, 1), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(cut_into(dendrogram, 0), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(cut_into(dendrogram, 9), ElementsAre(0, 1, 2, 3));
}

TEST(Silhouette, IsAsComputedByHand) {
  // Clusters {0, 0.1} and {0.4, 0.9}: a = 0.1, 0.1, 0.5, 0.5; b = 0.65, 0.55, 0.35, 0.85.
  const double expected = (0.55 / 0.65 + 0.45 / 0.55 - 0.15 / 0.5 + 0.35 / 0.85) / 4;
  EXPECT_NEAR(silhouette(line(), {0, 0, 1, 1}), expected, 1e-12);
  // A parameter alone counts as 0.
  EXPECT_NEAR(silhouette(line(), {0, 0, 0, 1}), ((0.9 - 0.25) / 0.9 + (0.8 - 0.2) / 0.8 + (0.5 - 0.35) / 0.5) / 4, 1e-12);
  EXPECT_EQ(silhouette(line(), {0, 0, 0, 0}), 0.0);
  EXPECT_EQ(silhouette(line(), {0, 1, 2, 3}), 0.0);
}

TEST(ChooseClusters, FindsThePlantedNumber) {
  // Three groups, 0.9 within and 0.1 across.
  CorrelationMatrix matrix;
  const std::vector<std::size_t> planted = {0, 1, 2, 0, 1, 2, 0, 1, 2, 2};
  for (std::size_t i = 0; i < 10; ++i) matrix.names.push_back(std::to_string(i));
  for (std::size_t i = 0; i < 10; ++i) {
    for (std::size_t j = 0; j < 10; ++j) matrix.values.push_back(i == j ? 1 : planted[i] == planted[j] ? 0.9 : 0.1);
  }
  for (const Linkage linkage : all_linkages()) {
    const Dendrogram dendrogram = cluster(matrix, linkage);
    EXPECT_EQ(choose_clusters(matrix, dendrogram, {.linkage = linkage, .threshold = {}, .agents = {}}), planted);
    EXPECT_EQ(choose_clusters(matrix, dendrogram, {.linkage = linkage, .threshold = 0.5, .agents = {}}), planted);
    const auto two = choose_clusters(matrix, dendrogram, {.linkage = linkage, .threshold = {}, .agents = 2});
    EXPECT_EQ(*std::ranges::max_element(two), 1u);
  }
  const AgentAssignment assignment = to_assignment(matrix, planted, "planted");
  EXPECT_THAT(assignment.agents,
              ElementsAre(ElementsAre("0", "3", "6"), ElementsAre("1", "4", "7"), ElementsAre("2", "5", "8", "9")));
}

TEST(ChooseClusters, OfOneOrTwoParameters) {
  const ClusteringOptions automatic;
  EXPECT_THAT(choose_clusters(from_distances(1, {}), cluster(from_distances(1, {}), Linkage::Average), automatic),
              ElementsAre(0));
  const CorrelationMatrix two = from_distances(2, {0.3});
  EXPECT_THAT(choose_clusters(two, cluster(two, Linkage::Average), automatic), ElementsAre(0, 1));
}

TEST(Linkages, HaveNames) {
  for (const Linkage linkage : all_linkages()) EXPECT_EQ(*named<Linkage>(name_of(linkage)), linkage);
  const auto wrong = named<Linkage>("averge");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message,
            "linkage 'averge' is not known (did you mean 'average'?), expected one of average, complete, ward");
}

TEST(AdjustedRandIndex, OfEqualPartitionsIsOneWhateverTheyAreCalled) {
  EXPECT_EQ(adjusted_rand_index({0, 0, 1, 2, 2}, {7, 7, 3, 1, 1}), 1.0);
  EXPECT_EQ(adjusted_rand_index({0, 0, 0}, {1, 1, 1}), 1.0);
  EXPECT_EQ(adjusted_rand_index({0, 1, 2}, {2, 0, 1}), 1.0);
  EXPECT_EQ(adjusted_rand_index({0}, {0}), 1.0);
}

TEST(AdjustedRandIndex, IsAsComputedByHand) {
  // Contingency {2, 1; 0, 3}: pairs together 1 + 3 = 4; rows 3 + 3 = 6; columns 1 + 6 = 7; expected 42/15; most 6.5.
  EXPECT_NEAR(adjusted_rand_index({0, 0, 0, 1, 1, 1}, {0, 0, 1, 1, 1, 1}), (4 - 2.8) / (6.5 - 2.8), 1e-12);
  EXPECT_NEAR(adjusted_rand_index({0, 0, 1, 1, 1, 1}, {0, 0, 0, 1, 1, 1}), (4 - 2.8) / (6.5 - 2.8), 1e-12);
  EXPECT_NEAR(adjusted_rand_index({0, 0, 1, 1}, {0, 1, 0, 1}), -0.5, 1e-12);
}

TEST(AdjustedRandIndex, OfIndependentPartitionsIsZeroOnAverage) {
  Rng rng(11, "rand-index");
  double sum = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::size_t> a(20), b(20);
    for (std::size_t i = 0; i < 20; ++i) {
      a[i] = static_cast<std::size_t>(rng.below(4));
      b[i] = static_cast<std::size_t>(rng.below(3));
    }
    sum += adjusted_rand_index(a, b);
  }
  EXPECT_NEAR(sum / 2000, 0, 0.01);
}

}  // namespace
}  // namespace tilewright
