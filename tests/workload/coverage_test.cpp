// What an answer covers: the share by hand, and sentences that never round to the whole or to nothing.
#include "tilewright/workload/coverage.hpp"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

Network two_layers() {
  Network network;
  network.layers.push_back({fully_connected("a", 1, 10, 30), 2, {}});
  network.layers.push_back({fully_connected("b", 1, 20, 20), 1, {0}});
  return network;
}

TEST(Coverage, IsAllWhenOnlyOtherKindsAreLeftOut) {
  Network network = two_layers();
  network.others = {{"Relu", 3, 1000, true}, {"TopK", 1, 0, false}};
  const Coverage coverage = coverage_of(network, distinct_layers(network));
  EXPECT_EQ(coverage.macs.value, 1000);
  EXPECT_EQ(share_of(coverage), 1);
  EXPECT_TRUE(is_complete(coverage));
  EXPECT_EQ(to_text(coverage),
            "Covers all 1 k multiply-accumulates; not mapped, because they have none: 3 Relu, 1 TopK (at least 33.33 % of "
            "the operations).");
}

TEST(Coverage, CountsWhatIsLeftOut) {
  Network network = two_layers();
  network.others = {{"DeformConv", 2, 8000, true, 4000}};
  const Coverage coverage = coverage_of(network, distinct_layers(network));
  EXPECT_EQ(share_of(coverage), 0.2);
  EXPECT_EQ(to_text(coverage), "Covers 20.00 % of the multiply-accumulates (1 k of 5 k); left out: 2 DeformConv (4 k).");
}

TEST(Coverage, SaysWhatNobodyKnows) {
  Network network = two_layers();
  network.others = {{"LSTM (shape unknown)", 2, 0, false, std::nullopt}};
  const Coverage coverage = coverage_of(network, distinct_layers(network));
  EXPECT_FALSE(is_complete(coverage));
  EXPECT_EQ(to_text(coverage),
            "Covers all 1 k multiply-accumulates that can be counted; left out, and nobody knows how much work they are: 2 "
            "LSTM (shape unknown).");
}

TEST(Coverage, LayersNotAskedForAreLeftOut) {
  const Network network = two_layers();
  const Coverage coverage = coverage_of(network, {{1, 1, {1}}});
  EXPECT_EQ(coverage.macs.value, 400);
  ASSERT_EQ(coverage.left_out.size(), 1);
  EXPECT_EQ(coverage.left_out[0].count, 2);
  EXPECT_EQ(coverage.left_out[0].macs, 600);
  EXPECT_EQ(share_of(coverage), 0.4);
}

TEST(Coverage, NeverRoundsToTheWholeOrToNothing) {
  Coverage coverage{.macs = {1'000'000'000'000}, .left_out = {{"DeformConv", 1, 2, true, 1}}};
  EXPECT_THAT(to_text(coverage), HasSubstr("Covers 99.99 % "));
  coverage = {.macs = {1}, .left_out = {{"DeformConv", 1, 0, false, 1'000'000'000'000}}};
  EXPECT_THAT(to_text(coverage), HasSubstr("Covers 1e-10 % "));
}

}  // namespace
}  // namespace tilewright
