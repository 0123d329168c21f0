// Prey that the environment moves.
#include "tilewright/particle/prey.hpp"

#include <cmath>
#include <filesystem>

#include "../scratch.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/nn/safetensors.hpp"

namespace tilewright {
namespace {

using testing::HasSubstr;

// One world of simple_tag with everybody far apart, and its driver.
struct Hunt {
  std::unique_ptr<Scenario> scenario;
  std::unique_ptr<PreyDriver> driver;
  std::vector<double> world;

  explicit Hunt(PreyController controller, std::size_t prey = 1) {
    scenario = make_tag({.agents = 3, .prey = prey, .obstacles = 2}, Dialect::OpenAi);
    auto made = make_prey_driver(*scenario, {.controller = controller, .first = 3});
    EXPECT_TRUE(made);
    driver = std::move(made).value();
    driver->begin_episode(0, Rng(1, "test"));
    world.resize(scenario->shape().size());
    for (std::size_t i = 0; i < 3; ++i) put(i, 50 + static_cast<double>(i), 50);
  }
  void put(std::size_t body, double x, double y) {
    world[scenario->shape().position(body)] = x;
    world[scenario->shape().position(body) + 1] = y;
  }
  std::vector<double> drive() {
    std::vector<double> thrust(2 * (scenario->shape().agents.size() - 3), 77);
    driver->drive(0, world.data(), thrust.data());
    return thrust;
  }
};

TEST(Prey, FrozenOnesDoNothing) { EXPECT_THAT(Hunt(PreyController::Frozen, 3).drive(), testing::Each(0.0)); }

TEST(Prey, RandomOnesThrustEvenlyUpToTheirStrength) {
  Hunt hunt(PreyController::Random, 2);
  double most = 0, sum = 0;
  for (int i = 0; i < 500; ++i) {
    for (const double thrust : hunt.drive()) {
      most = std::max(most, std::abs(thrust));
      sum += thrust;
    }
  }
  EXPECT_LE(most, 4);
  EXPECT_GT(most, 3.9);
  EXPECT_NEAR(sum / 2000, 0, 0.2);
}

TEST(Prey, HeuristicOnesRunFromTheNearestPredator) {
  Hunt hunt(PreyController::Heuristic);
  hunt.put(1, 0.5, 0);  // to the right of the prey
  for (int i = 0; i < 20; ++i) {
    const std::vector<double> thrust = hunt.drive();
    EXPECT_LT(thrust[0], -0.75);
    EXPECT_LE(std::hypot(thrust[0], thrust[1]), 1);
  }
  hunt.put(2, 0, 0.3);  // another comes nearer from above
  for (int i = 0; i < 20; ++i) EXPECT_LT(hunt.drive()[1], -0.75);
}

TEST(Prey, HeuristicOnesDoNotRunIntoPredators) {
  Hunt hunt(PreyController::Heuristic);
  hunt.put(0, 0.3, 0);
  hunt.put(1, -0.95, 0);
  const WorldShape& shape = hunt.scenario->shape();
  for (int i = 0; i < 100; ++i) {
    const std::vector<double> end = hunt.drive();  // from the origin
    EXPECT_GE(distance(end.data(), hunt.world.data() + shape.position(1)), 0.125);
  }
}

// A network that says `choice`, whatever it sees.
Mlp stubborn(std::size_t inputs, std::size_t choice, std::vector<std::size_t> hidden = {8}) {
  Mlp mlp({.inputs = inputs, .hidden = std::move(hidden), .outputs = 5});
  mlp.bias(mlp.layer_count() - 1)[choice] = 1;
  return mlp;
}

class NetworkPrey : public testing::Test {
 protected:
  std::string write(const TensorFile& file) const {
    const std::string path = (directory_ / "prey.safetensors").string();
    EXPECT_TRUE(write_safetensors(path, file));
    return path;
  }
  static Result<std::unique_ptr<ParticleEnvironment>> environment(const std::string& path,
                                                                  Dialect dialect = Dialect::OpenAi) {
    return make_particle_environment({.scenario = "simple_tag",
                                      .dialect = dialect,
                                      .agents = 6,
                                      .prey_controller = PreyController::Network,
                                      .prey_network = path});
  }
  // How the two prey of six predators move in the first step.
  static std::vector<Body> moves(ParticleEnvironment& environment) {
    std::vector<Body> before = environment.bodies(0);
    for (int t = 0; t < 2; ++t) environment.step(std::vector<float>(environment.spec().action_size()));
    std::vector<Body> after = environment.bodies(0), moved;
    for (std::size_t i = 6; i < 8; ++i) moved.push_back({.x = after[i].x - before[i].x, .y = after[i].y - before[i].y});
    return moved;
  }
  static constexpr std::size_t kSeen = 4 + 2 * 3 + 2 * 7 + 2 * 1;

  const Scratch directory_;
};

TEST_F(NetworkPrey, OneNetworkMovesAllPreyInTheDialectsDirections) {
  TensorFile file;
  file.put("policy", stubborn(kSeen, 1));
  file.put("unrelated", stubborn(9, 2));
  const std::string path = write(file);
  for (const Dialect dialect : {Dialect::OpenAi, Dialect::PettingZoo}) {
    auto made = environment(path, dialect);
    ASSERT_TRUE(made) << made.error().message;
    (*made)->reset(11);  // in which no prey begins near a body
    for (const Body& move : moves(**made)) {
      EXPECT_GT(dialect == Dialect::OpenAi ? move.x : -move.x, 0.03);
      EXPECT_NEAR(move.y, 0, 1e-6);
    }
  }
}

TEST_F(NetworkPrey, PreyTakeTheNetworksNamedAfterThem) {
  TensorFile file;
  file.put("agent_0.actor", stubborn(kSeen, 1));
  file.put("agent_0.target_actor", stubborn(kSeen, 2));
  file.put("agent_1.actor", stubborn(kSeen, 4, {8, 8}));
  auto made = environment(write(file));
  ASSERT_TRUE(made) << made.error().message;
  (*made)->reset(11);
  const std::vector<Body> moved = moves(**made);
  EXPECT_GT(moved[0].x, 0.03);
  EXPECT_LT(moved[1].y, -0.03);
}

TEST_F(NetworkPrey, UnsuitableFilesAreErrors) {
  EXPECT_FALSE(environment("/nowhere/prey.safetensors"));
  TensorFile file;
  file.put("policy", stubborn(kSeen + 1, 1));
  std::string path = write(file);
  EXPECT_EQ(
      environment(path).error().message,
      path +
          ": 0 networks turn the 26 numbers a prey sees into 5 choices, expected one, or one named 'agent_0.actor' for "
          "each prey");
  file.put("one", stubborn(kSeen, 1));
  file.put("two", stubborn(kSeen, 1));
  path = write(file);
  EXPECT_THAT(environment(path).error().message, HasSubstr(": 2 networks turn"));
  file = {};
  file.put("policy", stubborn(kSeen, 1));
  file.tensors.erase("policy.bias1");
  path = write(file);
  EXPECT_THAT(environment(path).error().message, HasSubstr("policy.bias1"));
  file = {};
  file.put("policy", stubborn(kSeen, 1));
  file.metadata["activation"] = "sine";
  path = write(file);
  EXPECT_EQ(environment(path).error().message, path + ": activation is 'sine', expected 'relu' or 'tanh'");
  ASSERT_TRUE(write_file(path, "not a safetensors file"));
  EXPECT_FALSE(environment(path));
}

}  // namespace
}  // namespace tilewright
