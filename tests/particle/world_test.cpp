// The physics, on bodies whose motion can be worked out by hand.
#include "tilewright/particle/world.hpp"

#include <cmath>
#include <numbers>

namespace tilewright {
namespace {

// Numbers of a world: velocities, then positions.
struct Bodies {
  WorldShape shape;
  std::vector<double> numbers, thrust;

  explicit Bodies(std::vector<AgentTraits> agents, std::vector<LandmarkTraits> landmarks = {}, bool pushing = true) {
    shape.agents = std::move(agents);
    shape.landmarks = std::move(landmarks);
    shape.pushing = pushing ? shape.agents.size() + shape.landmarks.size() : 0;
    numbers.resize(shape.size());
    thrust.resize(2 * shape.agents.size());
  }
  double* velocity(std::size_t agent) { return numbers.data() + shape.velocity(agent); }
  double* position(std::size_t body) { return numbers.data() + shape.position(body); }
  void step(Dialect dialect, Contacts contacts = Contacts::Exact) {
    Physics(shape, dialect, contacts).step(numbers.data(), thrust.data());
  }
};

TEST(Physics, OpenAiMovesWithTheNewVelocity) {
  Bodies world({{.name = "a"}});
  world.thrust = {5, 0};
  world.velocity(0)[1] = 1;
  world.step(Dialect::OpenAi);
  EXPECT_EQ(world.velocity(0)[0], 0.5);  // 5 · 0.1
  EXPECT_EQ(world.velocity(0)[1], 0.75);
  EXPECT_EQ(world.position(0)[0], 0.05);
  EXPECT_EQ(world.position(0)[1], 0.75 * 0.1);
}

TEST(Physics, PettingZooMovesWithTheOldVelocity) {
  Bodies world({{.name = "a"}});
  world.thrust = {5, 0};
  world.velocity(0)[1] = 1;
  world.step(Dialect::PettingZoo);
  EXPECT_EQ(world.velocity(0)[0], 0.5);
  EXPECT_EQ(world.velocity(0)[1], 0.75);
  EXPECT_EQ(world.position(0)[0], 0);
  EXPECT_EQ(world.position(0)[1], 0.1);
}

TEST(Physics, SpeedIsCapped) {
  Bodies world({{.name = "a", .max_speed = 1.3}});
  world.thrust = {300, 400};
  world.step(Dialect::OpenAi);
  EXPECT_DOUBLE_EQ(world.velocity(0)[0], 1.3 * 0.6);
  EXPECT_DOUBLE_EQ(world.velocity(0)[1], 1.3 * 0.8);
}

TEST(Physics, WhoCannotMoveStays) {
  Bodies world({{.name = "a", .moves = false}}, {}, false);
  world.thrust = {5, 5};
  world.step(Dialect::OpenAi);
  EXPECT_EQ(world.position(0)[0], 0);
  EXPECT_EQ(world.velocity(0)[0], 0);
}

// At the distance where surfaces touch, penetration is 0.001 · ln 2 and the force 100 times that.
TEST(Physics, TouchingBodiesPushEachOtherWithTheSameForce) {
  Bodies world({{.name = "a", .radius = 0.25}, {.name = "b", .radius = 0.25}});
  world.position(1)[0] = 0.5;
  world.step(Dialect::PettingZoo);
  const double force = 100 * 0.001 * std::numbers::ln2;
  EXPECT_DOUBLE_EQ(world.velocity(0)[0], -force * 0.1);
  EXPECT_DOUBLE_EQ(world.velocity(1)[0], force * 0.1);
  EXPECT_EQ(world.velocity(0)[1], 0);
}

// Deep inside each other the penetration is the overlap itself.
TEST(Physics, ForceGrowsWithTheOverlap) {
  Bodies world({{.name = "a", .radius = 0.15}, {.name = "b", .radius = 0.15}});
  world.position(1)[1] = 0.1;
  world.step(Dialect::PettingZoo);
  EXPECT_NEAR(world.velocity(1)[1], 100 * 0.2 * 0.1, 1e-12);
}

TEST(Physics, LandmarksPushButStay) {
  Bodies world({{.name = "a"}}, {{.radius = 0.2}});
  world.position(1)[0] = 0.1;
  world.step(Dialect::OpenAi);
  EXPECT_LT(world.velocity(0)[0], -1);
  EXPECT_EQ(world.position(1)[0], 0.1);
}

TEST(Physics, OnlyExactContactsReachFar) {
  for (const Contacts contacts : {Contacts::Exact, Contacts::Fast}) {
    Bodies world({{.name = "a"}, {.name = "b"}});
    world.position(1)[0] = 0.6;  // surfaces 0.5 apart: e^-500
    world.step(Dialect::OpenAi, contacts);
    const double speed = world.velocity(1)[0];
    EXPECT_EQ(speed > 0, contacts == Contacts::Exact);
    EXPECT_LT(speed, 1e-200);
  }
}

// The shortcuts of ln(1 + e^z) must not change a bit of the force; z runs through both of their borders.
TEST(Physics, ForceIsThatOfThePlainFormula) {
  for (int i = 0; i <= 2000; ++i) {
    const double apart = 0.1 + (i - 1000) * 0.0000457;
    Bodies world({{.name = "a"}, {.name = "b"}});
    world.position(1)[0] = apart;
    world.step(Dialect::PettingZoo);
    const double z = -(apart - (0.05 + 0.05)) / 1e-3;
    const double softplus = z == 0 ? std::numbers::ln2 : z < 0 ? std::log1p(std::exp(z)) : z + std::log1p(std::exp(-z));
    EXPECT_EQ(world.velocity(1)[0], -(100.0 * -apart / apart * (softplus * 1e-3)) * 0.1) << apart;
  }
}

TEST(ApplyAction, DirectionsFollowTheDialect) {
  const AgentTraits agent{.name = "a", .acceleration = 4};
  double thrust[2];
  const float right_openai[] = {0, 1, 0, 0, 0}, down_openai[] = {0, 0, 0, 0, 1};
  apply_action(right_openai, agent, Dialect::OpenAi, 0, thrust, nullptr);
  EXPECT_EQ(thrust[0], 4);
  EXPECT_EQ(thrust[1], 0);
  apply_action(right_openai, agent, Dialect::PettingZoo, 0, thrust, nullptr);
  EXPECT_EQ(thrust[0], -4);
  apply_action(down_openai, agent, Dialect::OpenAi, 0, thrust, nullptr);
  EXPECT_EQ(thrust[1], -4);
  apply_action(down_openai, agent, Dialect::PettingZoo, 0, thrust, nullptr);
  EXPECT_EQ(thrust[1], 4);
}

TEST(ApplyAction, SoftActionsThrustByDifferencesAndWordsAreCopied) {
  const AgentTraits agent{.name = "a", .talks = true};
  const float action[] = {0.2F, 0.5F, 0.25F, 0.05F, 0, 0.75F, 0.25F};
  double thrust[2], word[2];
  const float* end = apply_action(action, agent, Dialect::OpenAi, 2, thrust, word);
  EXPECT_EQ(end, action + 7);
  EXPECT_EQ(thrust[0], 0.25 * 5);
  EXPECT_EQ(thrust[1], static_cast<double>(0.05F) * 5);
  EXPECT_EQ(word[0], 0.75);
  EXPECT_EQ(word[1], 0.25);
}

TEST(ApplyAction, OnlyPettingZooClips) {
  const AgentTraits agent{.name = "a", .acceleration = 1};
  const double action[] = {0, 0, 3, -2, 0};
  double thrust[2];
  apply_action(action, agent, Dialect::PettingZoo, 0, thrust, nullptr);
  EXPECT_EQ(thrust[0], 1);
  EXPECT_EQ(thrust[1], 0);
  apply_action(action, agent, Dialect::OpenAi, 0, thrust, nullptr);
  EXPECT_EQ(thrust[0], -3);
  EXPECT_EQ(thrust[1], -2);
}

}  // namespace
}  // namespace tilewright
