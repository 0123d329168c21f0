#include "tilewright/store/outcome_table.hpp"

#include <array>

namespace tilewright {
namespace {

TEST(OutcomeTable, KeepsDesignsThatShareASlot) {
  OutcomeTable table;
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    const std::array<double, 3> numbers{static_cast<double>(i), 1, 2};
    // All of one low half: they differ in the high half only, so every one after the first has to step aside.
    ASSERT_TRUE(table.add({42, i}, i % 2 == 0 ? StoredOutcome{true, 0, numbers} : StoredOutcome{false, 5, {}}));
    ASSERT_FALSE(table.add({42, i}, {false, 1, {}}));
  }
  EXPECT_EQ(table.size(), 1'000u);
  EXPECT_EQ(table.width(), 3u);
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    const auto found = table.find({42, i});
    ASSERT_TRUE(found);
    ASSERT_EQ(found->feasible, i % 2 == 0);
    if (i % 2 == 0) {
      ASSERT_EQ(found->numbers[0], static_cast<double>(i));
    }
  }
  EXPECT_FALSE(table.find({42, 1'000}));
  EXPECT_FALSE(table.find({41, 0}));
}

TEST(OutcomeTable, IsEmptyAtFirst) {
  const OutcomeTable table;
  EXPECT_EQ(table.size(), 0u);
  EXPECT_FALSE(table.find(hash_of_design("x")));
  EXPECT_FALSE(table.width());
}

TEST(DesignHash, TellsDesignsApart) {
  EXPECT_EQ(hash_of_design("ab"), hash_of_design("ab"));
  EXPECT_NE(hash_of_design("ab"), hash_of_design("ba"));
  EXPECT_NE(hash_of_design(std::string_view("a\0", 2)), hash_of_design("a"));
}

}  // namespace
}  // namespace tilewright
