#include "tilewright/search/seen_points.hpp"

#include <unordered_set>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(SeenPoints, KnowsWhatASetKnows) {
  Rng rng(1, "seen");
  SeenPoints seen;
  std::unordered_set<std::uint64_t> set;
  EXPECT_FALSE(seen.contains(Point{0, 0}));
  for (int n = 0; n < 20'000; ++n) {
    const Point point = {static_cast<std::int32_t>(rng.below(100)), static_cast<std::int32_t>(rng.below(100))};
    ASSERT_EQ(seen.contains(point), set.contains(hash_of(point)));
    ASSERT_EQ(seen.add(point), set.insert(hash_of(point)).second);
  }
  EXPECT_GT(set.size(), 5'000);
}

// Many that begin at one place of the table, round its end, and the hash that looks like a free place.
TEST(SeenPoints, HashesThatCollideStayApart) {
  SeenPoints seen;
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t high = 1; high <= 1'000; ++high) ASSERT_EQ(seen.add_hash(high << 32 | 0xffff'ffff), round == 0);
  }
  EXPECT_TRUE(seen.add_hash(0));
  EXPECT_FALSE(seen.add_hash(0));
}

}  // namespace
}  // namespace tilewright
