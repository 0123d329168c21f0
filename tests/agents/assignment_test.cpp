#include "tilewright/agents/assignment.hpp"

#include <algorithm>
#include <set>

#include "knob_space.hpp"
#include "tilewright/base/rng.hpp"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Parameter parameter(const std::string& name, Role role, std::int32_t values = 4) {
  return {name, ParameterKind::Ordinal, role, values};
}

std::vector<Parameter> six() {
  return {parameter("parallel@0", Role::Parallelism), parameter("order.K@0", Role::Order),
          parameter("tile.K@0", Role::Tile),          parameter("order.C@0", Role::Order),
          parameter("tile.C@0", Role::Tile),          parameter("tile.Y@0", Role::Tile)};
}

// Every parameter exactly once, no agent without any.
void expect_partition(const AgentAssignment& assignment, const std::vector<Parameter>& parameters) {
  std::multiset<std::string> assigned, expected;
  for (const auto& agent : assignment.agents) {
    EXPECT_FALSE(agent.empty());
    assigned.insert(agent.begin(), agent.end());
  }
  for (const Parameter& p : parameters) expected.insert(p.name);
  EXPECT_EQ(assigned, expected);
}

TEST(AllParameters, AreInOrderOfFirstAppearanceWithTheMostValues) {
  const KnobSpace first("first", {parameter("a", Role::Tile, 3), parameter("b", Role::Tile, 9)});
  const KnobSpace second("second",
                         {parameter("b", Role::Tile, 2), parameter("c", Role::Order, 5), parameter("a", Role::Tile, 7)});
  const std::vector<Parameter> all = all_parameters({&first, &second});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].name, "a");
  EXPECT_EQ(all[0].value_count, 7);
  EXPECT_EQ(all[1].name, "b");
  EXPECT_EQ(all[1].value_count, 9);
  EXPECT_EQ(all[2].name, "c");
}

TEST(Assign, SinglePerParameterAndByRole) {
  const auto parameters = six();
  EXPECT_EQ(assign_single(parameters).agents.size(), 1u);
  EXPECT_EQ(assign_per_parameter(parameters).agents.size(), 6u);
  EXPECT_THAT(assign_by_role(parameters).agents,
              ElementsAre(ElementsAre("tile.K@0", "tile.C@0", "tile.Y@0"), ElementsAre("order.K@0", "order.C@0"),
                          ElementsAre("parallel@0")));
  for (const auto& assignment : {assign_single(parameters), assign_per_parameter(parameters), assign_by_role(parameters)}) {
    expect_partition(assignment, parameters);
  }
}

TEST(Assign, RandomlyGivesAsManyAgentsAsAskedAndAllPairsAChance) {
  const auto parameters = six();
  std::set<std::pair<std::string, std::string>> together;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const AgentAssignment assignment = assign_randomly(parameters, 3, seed);
    EXPECT_EQ(assignment.agents.size(), 3u);
    expect_partition(assignment, parameters);
    for (const auto& agent : assignment.agents) {
      for (const auto& a : agent) {
        for (const auto& b : agent) together.emplace(a, b);
      }
    }
  }
  EXPECT_EQ(together.size(), 36u);
  EXPECT_EQ(assign_randomly(parameters, 3, 5), assign_randomly(parameters, 3, 5));
  EXPECT_NE(assign_randomly(parameters, 3, 5).agents, assign_randomly(parameters, 3, 6).agents);
  EXPECT_EQ(assign_randomly(parameters, 99, 1).agents.size(), 6u);
  EXPECT_EQ(assign_randomly(parameters, 0, 1).agents.size(), 1u);
}

TEST(Fitted, DropsUnknownNamesAndGivesNewOnesToTheirRole) {
  const AgentAssignment assignment{{{"tile.K@0", "order.C@0", "tile.Q@7"}, {"order.K@0"}, {"gone"}, {"parallel@0"}}, "x"};
  // Tiles: agent 0 has one, so C and Y join it; orders are all taken.
  const AgentAssignment result = fitted(assignment, six());
  EXPECT_THAT(result.agents, ElementsAre(ElementsAre("tile.K@0", "order.C@0", "tile.C@0", "tile.Y@0"),
                                         ElementsAre("order.K@0"), ElementsAre("parallel@0")));
  EXPECT_EQ(result.origin, "x");
  expect_partition(result, six());
  EXPECT_EQ(fitted(result, six()), result);
}

TEST(Fitted, OfNothingKnownIsASingleAgent) {
  const AgentAssignment result = fitted({{{"gone"}, {"lost"}}, "file"}, six());
  EXPECT_EQ(result.agents, assign_single(six()).agents);
  EXPECT_EQ(result.origin, "file");
}

TEST(Fitted, IsAPartitionForAnySubset) {
  Rng rng(3, "fitted");
  for (int round = 0; round < 100; ++round) {
    auto some = six();
    std::erase_if(some, [&](const Parameter&) { return rng.below(3) == 0; });
    if (some.empty()) continue;
    expect_partition(fitted(assign_randomly(six(), 4, rng.bits()), some), some);
    expect_partition(fitted(assign_randomly(some, 4, rng.bits()), six()), six());
  }
}

TEST(AssignmentYaml, ReadsBackWhatWasWritten) {
  AgentAssignment assignment = assign_randomly(six(), 3, 1);
  assignment.origin = "clusters (pearson, \"average\" linkage: 1, 2)";
  assignment.agents.push_back({"true", "a, b", "[odd]", "7"});
  const auto read = assignment_from_yaml(to_yaml(assignment), "a.yaml");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, assignment);
}

std::string error_of(const std::string& text) {
  const auto read = assignment_from_yaml(text, "a.yaml");
  return read ? "" : read.error().message;
}

TEST(AssignmentYaml, WrongOnesAreOneSentenceWithTheLine) {
  const std::string head = "format: tilewright-assignment-1\n";
  EXPECT_THAT(error_of(head + "agents: [[a], [b, a]]\n"), StartsWith("a.yaml:2: 'a' belongs to agent 1 already"));
  EXPECT_THAT(error_of(head + "agents:\n  - [a]\n  - []\n"), StartsWith("a.yaml:4: agent 2 has no parameters"));
  EXPECT_THAT(error_of(head + "origin: x\n"), HasSubstr("there are no agents"));
  EXPECT_THAT(error_of(head + "agent: [[a]]\n"), HasSubstr("'agents'"));
  EXPECT_THAT(error_of(head + "agents: [[a, [b]]]\n"), HasSubstr("a parameter name is a list"));
  EXPECT_THAT(error_of("format: tilewright-network-1\nagents: [[a]]\n"), HasSubstr("tilewright-assignment-1"));
}

TEST(CheckNames, NamesTheNearestParameterWhenNoneIsKnown) {
  EXPECT_TRUE(check_names({{{"gone", "tile.K@0"}}, ""}, six(), "a.yaml"));
  const auto checked = check_names({{{"tile.K@1"}}, ""}, six(), "a.yaml");
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, StartsWith("a.yaml: no name, 'tile.K@1' the first"));
  EXPECT_THAT(checked.error().message, HasSubstr("did you mean 'tile.K@0'?"));
}

}  // namespace
}  // namespace tilewright
