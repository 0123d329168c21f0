#include "tilewright/space/choices.hpp"

#include <gtest/gtest.h>

#include "tilewright/base/rng.hpp"

namespace tilewright {
namespace {

Choices list_of(std::initializer_list<std::int32_t> indices) {
  Choices choices;
  choices.set_list();
  for (const std::int32_t index : indices) choices.add(index);
  return choices;
}

TEST(Choices, BelowABoundAreAllOfThem) {
  Choices choices;
  choices.set_below(4);
  EXPECT_EQ(choices.count(), 4);
  EXPECT_EQ(choices.back(), 3);
  for (std::int32_t n = 0; n < 4; ++n) {
    EXPECT_EQ(choices[n], n);
    EXPECT_TRUE(choices.contains(n));
  }
  EXPECT_FALSE(choices.contains(-1));
  EXPECT_FALSE(choices.contains(4));
  EXPECT_EQ(choices.nearest(-7), 0);
  EXPECT_EQ(choices.nearest(2), 2);
  EXPECT_EQ(choices.nearest(99), 3);
}

TEST(Choices, OfAListAreItsEntries) {
  const Choices choices = list_of({1, 4, 6, 12});
  EXPECT_EQ(choices.count(), 4);
  EXPECT_EQ(choices.back(), 12);
  EXPECT_EQ(choices[2], 6);
  EXPECT_TRUE(choices.contains(4));
  EXPECT_FALSE(choices.contains(5));
  EXPECT_FALSE(choices.contains(0));
  EXPECT_FALSE(choices.contains(13));
}

TEST(Choices, TheNearestIsTheSmallerOfTwo) {
  const Choices choices = list_of({1, 4, 6, 12});
  EXPECT_EQ(choices.nearest(-3), 1);
  EXPECT_EQ(choices.nearest(2), 1);
  EXPECT_EQ(choices.nearest(3), 4);
  EXPECT_EQ(choices.nearest(5), 4);  // as near to 6
  EXPECT_EQ(choices.nearest(9), 6);  // as near to 12
  EXPECT_EQ(choices.nearest(10), 12);
  EXPECT_EQ(choices.nearest(100), 12);
}

TEST(Choices, TheNearestAgreesWithTryingAll) {
  Rng rng(1, "choices");
  for (int n = 0; n < 200; ++n) {
    Choices choices;
    choices.set_list();
    std::vector<std::int32_t> entries;
    for (std::int32_t index = 0; index < 30; ++index) {
      if (rng.below(4) != 0 && !(index == 29 && entries.empty())) continue;
      choices.add(index);
      entries.push_back(index);
    }
    for (std::int32_t index = -3; index < 35; ++index) {
      std::int32_t best = entries[0];
      for (const std::int32_t entry : entries) {
        if (std::abs(entry - index) < std::abs(best - index)) best = entry;
      }
      EXPECT_EQ(choices.nearest(index), best);
    }
  }
}

TEST(Choices, CanBeUsedAgain) {
  Choices choices = list_of({3, 5});
  choices.set_below(2);
  EXPECT_EQ(choices.count(), 2);
  EXPECT_TRUE(choices.contains(0));
  choices.set_list();
  choices.add(7);
  EXPECT_EQ(choices.count(), 1);
  EXPECT_EQ(choices[0], 7);
}

}  // namespace
}  // namespace tilewright
