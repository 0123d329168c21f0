#include "tilewright/agents/elites.hpp"

#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "knob_space.hpp"

namespace tilewright {
namespace {

// One category and one number.
const KnobSpace& space() {
  static const KnobSpace knobs("knobs", {{"parallel@0", ParameterKind::Categorical, Role::Parallelism, 5},
                                         {"tile.A@0", ParameterKind::Ordinal, Role::Tile, 100}});
  return knobs;
}

std::vector<Point> points(const Elites& elites) {
  std::vector<Point> all;
  for (const Elite& elite : elites.all()) all.push_back(elite.point);
  return all;
}

TEST(Elites, AreBestFirstAndTheFirstOfEquals) {
  Elites elites(space(), 10, 10);
  EXPECT_TRUE(elites.empty());
  elites.add({0, 1}, 3);
  elites.add({0, 2}, 1);
  elites.add({0, 3}, 2);
  elites.add({0, 4}, 1);
  EXPECT_THAT(points(elites), testing::ElementsAre(Point{0, 2}, Point{0, 4}, Point{0, 3}, Point{0, 1}));
}

TEST(Elites, TheWorstGivesWay) {
  Elites elites(space(), 3, 10);
  for (const std::int32_t score : {5, 4, 3}) elites.add({0, score}, score);
  elites.add({0, 9}, 9);
  elites.add({0, 50}, 5);  // as good as the last, but later
  EXPECT_THAT(points(elites), testing::ElementsAre(Point{0, 3}, Point{0, 4}, Point{0, 5}));
  elites.add({0, 1}, 1);
  EXPECT_THAT(points(elites), testing::ElementsAre(Point{0, 1}, Point{0, 3}, Point{0, 4}));
}

TEST(Elites, OneKindDoesNotPushOutTheOthers) {
  Elites elites(space(), 6, 2);
  elites.add({1, 0}, 100);
  for (std::int32_t i = 0; i < 20; ++i) elites.add({0, i}, 50 - i);
  EXPECT_THAT(points(elites), testing::ElementsAre(Point{0, 19}, Point{0, 18}, Point{1, 0}));
  elites.add({0, 30}, 60);  // worse than both of its kind
  EXPECT_EQ(elites.all().size(), 3U);
}

// Against keeping everything and choosing anew after each addition.
TEST(Elites, AgreeWithAPlainRule) {
  Rng rng(1, "elites");
  Elites elites(space(), 7, 3);
  std::vector<Elite> kept;
  for (int n = 0; n < 2000; ++n) {
    const Point point = random_point(space(), rng);
    const auto score = static_cast<double>(rng.below(1000) - n / 4);
    elites.add(point, score);
    kept.push_back({point, score, 0});
    std::ranges::stable_sort(kept, {}, &Elite::score);
    std::map<std::int32_t, int> of_kind;
    std::erase_if(kept, [&](const Elite& elite) { return ++of_kind[elite.point[0]] > 3; });
    if (kept.size() > 7) kept.resize(7);
    ASSERT_EQ(elites.all().size(), kept.size());
    for (std::size_t i = 0; i < kept.size(); ++i) {
      ASSERT_EQ(elites.all()[i].score, kept[i].score) << n;
      ASSERT_EQ(elites.all()[i].point, kept[i].point) << n;
    }
  }
}

TEST(Elites, WithoutRoomThereAreNone) {
  Elites elites(space(), 0, 4);
  elites.add({0, 0}, 1);
  EXPECT_TRUE(elites.empty());
}

TEST(Elites, ADrawGoesDownWithTheGivenChance) {
  Elites elites(space(), 10, 10);
  for (std::int32_t i = 0; i < 4; ++i) elites.add({0, i}, i);
  Rng rng(2, "draws");
  std::map<std::int32_t, int> drawn;
  for (int n = 0; n < 20'000; ++n) ++drawn[elites.draw(0.5, rng).point[1]];
  EXPECT_NEAR(drawn[0] / 20'000.0, 0.5, 0.02);
  EXPECT_NEAR(drawn[1] / 20'000.0, 0.25, 0.02);
  EXPECT_NEAR(drawn[2] / 20'000.0, 0.125, 0.02);
  EXPECT_NEAR(drawn[3] / 20'000.0, 0.125, 0.02);  // the last takes what is left
  for (int n = 0; n < 10; ++n) {
    EXPECT_EQ(elites.draw(0, rng).point[1], 0);
    EXPECT_EQ(elites.draw(1, rng).point[1], 3);
  }
}

}  // namespace
}  // namespace tilewright
