#include "tilewright/agents/team_memory.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../scratch.hpp"
#include "tilewright/base/file.hpp"

namespace tilewright {
namespace {

using testing::HasSubstr;

SavedTeam example() {
  SavedTeam team;
  team.parameters = {{"parallel@0", ParameterKind::Categorical, Role::Parallelism, 4},
                     {"order.K@0", ParameterKind::Ordinal, Role::Order, 6},
                     {"tile.K@0", ParameterKind::Ordinal, Role::Tile, 64}};
  team.assignment = {{{"parallel@0", "tile.K@0"}, {"order.K@0"}}, "clusters (pearson)"};
  team.memory.problems = {{"net/conv \"1\"", {0.25F, 0.1F}, {{{1, 2, 3}, {0, 0, 32}}, {{0, -1, 5}, {0, 0, 7}}}},
                          {"net/fc", {1, 0}, {{{3, -1, 0}, {0, 0, 1}}}}};
  team.policies.metadata["update"] = "7";
  team.learner = Algorithm::Masac;
  team.critic = Critic::Central;
  team.hidden = 48;
  return team;
}

class TeamMemoryTest : public testing::Test {
 protected:
  void write(const char* name, const std::string& text) const { ASSERT_TRUE(write_file(folder_ / name, text)); }

  const Scratch scratch_;
  const std::filesystem::path folder_ = scratch_.path();
};

TEST_F(TeamMemoryTest, ReadsBackWhatWasWritten) {
  const SavedTeam team = example();
  ASSERT_TRUE(write_team(team, folder_ / "team"));
  for (const auto& place : {folder_ / "team", folder_}) {  // the team, or the run it belongs to
    const auto read = read_team(place);
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read->parameters.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(read->parameters[i].name, team.parameters[i].name);
      EXPECT_EQ(read->parameters[i].kind, team.parameters[i].kind);
      EXPECT_EQ(read->parameters[i].role, team.parameters[i].role);
      EXPECT_EQ(read->parameters[i].value_count, team.parameters[i].value_count);
    }
    EXPECT_EQ(read->assignment, team.assignment);
    ASSERT_EQ(read->memory.problems.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(read->memory.problems[i].name, team.memory.problems[i].name);
      EXPECT_EQ(read->memory.problems[i].features, team.memory.problems[i].features);
      EXPECT_EQ(read->memory.problems[i].points, team.memory.problems[i].points);
    }
    EXPECT_EQ(read->policies.metadata, team.policies.metadata);
    EXPECT_EQ(read->learner, Algorithm::Masac);
    EXPECT_EQ(read->critic, Critic::Central);
    EXPECT_EQ(read->hidden, 48);
  }
}

TEST_F(TeamMemoryTest, AMissingTeamNamesItsFile) {
  const auto read = read_team(folder_);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("team.json"));
}

TEST_F(TeamMemoryTest, AllFilesAreNeeded) {
  for (const char* name : {"assignment.yaml", "policies.safetensors", "team.json"}) {
    ASSERT_TRUE(write_team(example(), folder_));
    std::filesystem::remove(folder_ / name);
    const auto read = read_team(folder_);
    ASSERT_FALSE(read) << name;
    EXPECT_THAT(read.error().message, HasSubstr(name));
  }
}

TEST_F(TeamMemoryTest, DamageIsASentence) {
  ASSERT_TRUE(write_team(example(), folder_));
  const std::string good = *read_file(folder_ / "team.json");
  std::string newer = good;
  newer.replace(newer.find("tilewright-team-2"), 17, "tilewright-team-9");
  write("team.json", newer);
  EXPECT_THAT(read_team(folder_).error().message,
              HasSubstr("team.json: format is 'tilewright-team-9', expected 'tilewright-team-2'"));
  for (const auto& [damaged, sentence] : {std::pair(good.substr(0, good.size() / 2), "is not JSON"),
                                          {std::string(), "is not JSON"},
                                          {std::string("[]"), "is an array of 0, expected an object"},
                                          {std::string("{}"), "has no 'format', expected one"},
                                          {std::string("{\"hidden\": 1e999}"), "1e999 is too large a number"}}) {
    write("team.json", damaged);
    const auto read = read_team(folder_);
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().message, HasSubstr(sentence));
    EXPECT_THAT(read.error().message, HasSubstr("team.json:"));
  }
  for (const auto& [from, to, sentence] :
       {std::tuple("\"masac\"", "\"massac\"", "team.json: learner: algorithm 'massac' is not known (did you mean 'masac'?)"),
        {"\"central\"", "\"centre\"", "team.json: critic: critic 'centre' is not known (did you mean 'central'?)"},
        {"\"hidden\": 48", "\"hidden\": 1e9", "hidden is 1000000000.0, expected a whole number from 1 to 4096"},
        {"\"values\": 6", "\"values\": -6", "parameters[1].values is -6, expected a whole number from 1"},
        {"\"values\": 6", "\"values\": \"6\"", "parameters[1].values is '6', expected a whole number from 1"},
        {"0.25", "1e39", "problems[0].features[0] is 1e+39, expected a number below 3.4e38"}}) {
    std::string damaged = good;
    damaged.replace(damaged.find(from), std::strlen(from), to);
    write("team.json", damaged);
    EXPECT_THAT(read_team(folder_).error().message, HasSubstr(sentence));
  }
}

// A choice beyond what a head has would be looked up past its end, and one of no points cannot be drawn.
TEST_F(TeamMemoryTest, ChoicesAreThoseOfHeads) {
  SavedTeam team = example();
  team.memory.problems[0].points[0].choices[2] = 24;
  ASSERT_TRUE(write_team(team, folder_));
  EXPECT_THAT(read_team(folder_).error().message,
              HasSubstr("problems[0].points[0].choices[2] is 24, expected a whole number from -1 to 23"));
  team = example();
  team.memory.problems[1].points.clear();
  ASSERT_TRUE(write_team(team, folder_));
  EXPECT_THAT(read_team(folder_).error().message, HasSubstr("problems[1].points is an array of 0, expected at least one"));
}

// A point is a choice and a size for every head; fewer would be read past their end.
TEST_F(TeamMemoryTest, PointsHaveAChoiceAndASizeForEveryParameter) {
  for (const bool choice : {true, false}) {
    SavedTeam team = example();
    RememberedPoint& point = team.memory.problems[1].points[0];
    if (choice) {
      point.choices.pop_back();
    } else {
      point.sizes.pop_back();
    }
    ASSERT_TRUE(write_team(team, folder_));
    const auto read = read_team(folder_);
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().message, HasSubstr("problems[1].points[0]"));
    EXPECT_THAT(read.error().message, HasSubstr("is an array of 2, expected an array of 3"));
  }
}

TEST(TeamMemory, SimilarProblemsAreDrawnMoreOften) {
  const std::vector<std::vector<float>> all = {{0, 0}, {1, 0}, {3, 4}, {0, 0.5F}};
  EXPECT_EQ(distance(all[0], all[2]), 5);
  Rng rng(1, "similar");
  std::vector<int> drawn(4, 0);
  for (int n = 0; n < 20'000; ++n) ++drawn[draw_similar(all, {0, 1, 2}, {0, 0}, 0.5, rng)];
  EXPECT_EQ(drawn[3], 0);  // no candidate
  EXPECT_NEAR(static_cast<double>(drawn[1]) / drawn[0], std::exp(-1 / 0.5), 0.02);
  EXPECT_LT(drawn[2], 10);
  // Far from all of them, it is the difference that counts.
  int nearer = 0;
  for (int n = 0; n < 1000; ++n) nearer += draw_similar(all, {0, 1}, {1000, 0}, 0.1, rng) == 1 ? 1 : 0;
  EXPECT_EQ(nearer, 1000);
}

}  // namespace
}  // namespace tilewright
