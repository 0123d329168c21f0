// The particle worlds as an Environment.
#include <cmath>

#include "../allocations.hpp"
#include "tilewright/base/rng.hpp"
#include "tilewright/particle/particle_environment.hpp"

namespace tilewright {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<ParticleEnvironment> make(const ParticleOptions& options) {
  auto environment = make_particle_environment(options);
  EXPECT_TRUE(environment) << environment.error().message;
  return std::move(environment).value();
}

std::string message_of(const ParticleOptions& options) {
  const auto environment = make_particle_environment(options);
  return environment ? "" : environment.error().message;
}

// One-hot choices for every head of every agent in every world; those of a world depend on its number of the episode only.
void draw_actions(const EnvironmentSpec& spec, std::uint64_t first_episode, std::uint64_t step,
                  std::vector<float>& actions) {
  std::fill(actions.begin(), actions.end(), 0.0F);
  std::size_t at = 0;
  for (std::uint64_t world = 0; at < actions.size(); ++world) {
    Rng rng = Rng(7, "actions").fork("world", first_episode + world).fork("step", step);
    for (const AgentSpec& agent : spec.agents) {
      for (const std::size_t choices : agent.actions.categorical) {
        actions[at + static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(choices)))] = 1;
        at += choices;
      }
    }
  }
}

// Mean over episodes of each agent's return, under uniform one-hot actions or none.
std::vector<double> mean_returns(ParticleEnvironment& environment, bool moves, std::uint64_t rounds) {
  const EnvironmentSpec& spec = environment.spec();
  std::vector<float> actions(environment.world_count() * spec.action_size());
  std::vector<double> returns(spec.agent_count());
  for (std::uint64_t round = 0; round < rounds; ++round) {
    environment.reset(round * environment.world_count());
    for (std::size_t t = 0; t < spec.episode_length; ++t) {
      if (moves) draw_actions(spec, round * environment.world_count(), t, actions);
      environment.step(actions);
      const std::vector<float>& rewards = environment.arrays().rewards;
      for (std::size_t i = 0; i < rewards.size(); ++i) returns[i % returns.size()] += static_cast<double>(rewards[i]);
    }
  }
  for (double& value : returns) value /= static_cast<double>(rounds * environment.world_count());
  return returns;
}

double sum(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

TEST(ParticleEnvironment, SizesOfPredatorPreyAreThePublishedOnes) {
  const std::size_t rows[][5] = {// agents, prey, obstacles, observation, state
                                 {3, 1, 2, 16, 20},
                                 {6, 2, 3, 28, 38},
                                 {12, 4, 4, 50, 72},
                                 {24, 8, 8, 98, 144},
                                 {48, 16, 16, 194, 288}};
  for (const auto& [agents, prey, obstacles, observed, state] : rows) {
    const auto environment = make({.scenario = "simple_tag", .agents = agents});
    const EnvironmentSpec& spec = environment->spec();
    EXPECT_EQ(spec.agent_count(), agents);
    EXPECT_EQ(spec.agents[0].observation_size, observed);
    EXPECT_EQ(spec.state_size(), state);
    EXPECT_EQ(environment->bodies(0).size(), agents + prey + obstacles);
  }
}

TEST(ParticleEnvironment, SizesOfNavigation) {
  for (const std::size_t agents : {1U, 3U, 6U, 24U, 128U}) {
    const auto environment = make({.scenario = "simple_spread", .agents = agents});
    EXPECT_EQ(environment->spec().agents[0].observation_size, 6 * agents);
    EXPECT_EQ(environment->spec().state_size(), 6 * agents);
  }
}

TEST(ParticleEnvironment, EveryScenarioSaysWhoPlays) {
  const auto described = [](const std::string& scenario) {
    std::string text;
    const auto environment = make({.scenario = scenario, .prey_controller = PreyController::Learning});
    for (const AgentSpec& agent : environment->spec().agents) {
      text += agent.name + "/" + agent.team + " " + std::to_string(agent.observation_size);
      for (const std::size_t choices : agent.actions.categorical) text += " " + std::to_string(choices);
      text += "; ";
    }
    return text;
  };
  EXPECT_EQ(described("simple"), "agent_0/agent 4 5; ");
  EXPECT_EQ(described("simple_tag"),
            "adversary_0/predator 16 5; adversary_1/predator 16 5; adversary_2/predator 16 5; agent_0/prey 14 5; ");
  EXPECT_EQ(described("simple_adversary"), "adversary_0/adversary 8 5; agent_0/good 10 5; agent_1/good 10 5; ");
  EXPECT_EQ(described("simple_speaker_listener"), "speaker_0/agent 3 3; listener_0/agent 11 5; ");
  EXPECT_EQ(described("simple_reference"), "agent_0/agent 21 5 10; agent_1/agent 21 5 10; ");
  EXPECT_EQ(described("simple_push"), "adversary_0/adversary 8 5; agent_0/good 19 5; ");
  EXPECT_EQ(described("simple_crypto"), "eve_0/adversary 4 4; bob_0/good 8 4; alice_0/good 8 4; ");
  EXPECT_EQ(described("simple_world_comm"),
            "leadadversary_0/predator 34 5 4; adversary_0/predator 34 5; adversary_1/predator 34 5; "
            "adversary_2/predator 34 5; agent_0/prey 28 5; agent_1/prey 28 5; ");
}

TEST(ParticleEnvironment, EpisodesAreTruncatedAndThenStandStill) {
  const auto environment = make({.scenario = "simple_spread", .episode_length = 4, .worlds = 2});
  const WorldArrays& arrays = environment->arrays();
  environment->reset(5);
  const std::vector<float> actions(2 * 15, 0.3F);
  for (int t = 0; t < 4; ++t) {
    EXPECT_THAT(arrays.truncated, Each(0));
    environment->step(actions);
    EXPECT_LT(arrays.rewards[0], 0);
  }
  EXPECT_THAT(arrays.truncated, Each(1));
  EXPECT_THAT(arrays.terminated, Each(0));
  EXPECT_TRUE(has_ended(arrays, 1, 3));
  const std::vector<float> last = arrays.observations;
  environment->step(actions);
  EXPECT_EQ(arrays.observations, last);
  EXPECT_THAT(arrays.rewards, Each(0));
  environment->reset(5);
  EXPECT_THAT(arrays.truncated, Each(0));
  EXPECT_NE(arrays.observations, last);
}

// Whole episodes in one row of numbers, for comparisons to the last bit.
std::vector<float> play(const ParticleOptions& options, std::uint64_t first_episode) {
  const auto environment = make(options);
  std::vector<float> record;
  std::vector<float> actions(options.worlds * environment->spec().action_size());
  environment->reset(first_episode);
  for (std::size_t t = 0; t < options.episode_length; ++t) {
    draw_actions(environment->spec(), first_episode, t, actions);
    environment->step(actions);
    const WorldArrays& arrays = environment->arrays();
    for (const auto* part : {&arrays.observations, &arrays.states, &arrays.rewards}) {
      record.insert(record.end(), part->begin(), part->end());
    }
  }
  return record;
}

TEST(ParticleEnvironment, AnEpisodeIsTheSameAmongAnyNumberOfWorlds) {
  for (const ScenarioSummary& scenario : particle_scenarios()) {
    ParticleOptions options{.scenario = std::string(scenario.name), .episode_length = 6, .seed = 3};
    std::vector<std::vector<float>> alone;
    for (std::uint64_t w = 0; w < 3; ++w) alone.push_back(play(options, 10 + w));
    EXPECT_NE(alone[0], alone[1]);
    options.worlds = 3;
    const std::vector<float> together = play(options, 10);
    const EnvironmentSpec spec = make(options)->spec();
    const std::size_t parts[] = {spec.observation_size(), spec.state_size(), spec.agent_count()};
    std::size_t at = 0, from = 0;
    for (std::size_t t = 0; t < options.episode_length; ++t) {
      for (const std::size_t size : parts) {
        for (std::size_t w = 0; w < 3; ++w) {
          for (std::size_t k = 0; k < size; ++k) ASSERT_EQ(together[at++], alone[w][from + k]) << scenario.name;
        }
        from += size;
      }
    }
    ParticleOptions other = options;
    other.seed = 4;
    EXPECT_NE(play(other, 10), together);
  }
}

// What a whole episode shows in an environment that is already there.
std::vector<float> play_on(ParticleEnvironment& environment, std::uint64_t first_episode) {
  std::vector<float> record, actions(environment.world_count() * environment.spec().action_size());
  environment.reset(first_episode);
  for (std::size_t t = 0; t < environment.spec().episode_length; ++t) {
    draw_actions(environment.spec(), first_episode, t, actions);
    environment.step(actions);
    const WorldArrays& arrays = environment.arrays();
    record.insert(record.end(), arrays.observations.begin(), arrays.observations.end());
    record.insert(record.end(), arrays.rewards.begin(), arrays.rewards.end());
  }
  return record;
}

TEST(ParticleEnvironment, ReseedingMakesItTheEnvironmentOfThatSeed) {
  for (const char* scenario : {"simple_tag", "simple_reference"}) {  // prey that move by chance; goals
    const ParticleOptions options{.scenario = scenario, .episode_length = 5, .worlds = 2, .seed = 3};
    ParticleOptions other = options;
    other.seed = 4;
    const auto reseeded = make(options), of_other = make(other);
    const std::vector<float> before = play_on(*reseeded, 7);
    reseeded->reseed(4);
    const std::vector<float> after = play_on(*reseeded, 7);
    EXPECT_EQ(after, play_on(*of_other, 7));
    EXPECT_NE(after, before);
    reseeded->reseed(3);
    EXPECT_EQ(play_on(*reseeded, 7), before);
  }
}

TEST(ParticleEnvironment, BeginsWhereItIsTold) {
  const auto environment =
      make({.scenario = "simple_adversary", .worlds = 2});  // 3 agents, 2 landmarks, of which 1 the goal
  EXPECT_EQ(environment->starts().goal_count, 2U);
  EXPECT_EQ(environment->starts().spawns.size(), 5U);
  std::vector<double> places(2 * 10);
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = 0.05 * static_cast<double>(i);
  const std::vector<float> still(2 * environment->spec().action_size());
  environment->step(still);
  environment->begin(places, std::vector<std::size_t>{0, 1});
  EXPECT_THAT(environment->exact_rewards(), Each(0));
  for (std::size_t world = 0; world < 2; ++world) {
    const std::vector<Body> bodies = environment->bodies(world);
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(bodies[i].x, places[10 * world + 2 * i]);
  }
  // A good agent first sees its way to the goal: in world 0 from (0.1, 0.15) to (0.3, 0.35), in world 1 to the second
  // landmark.
  const std::size_t good = environment->spec().observation_offset(1), row = environment->spec().observation_size();
  EXPECT_FLOAT_EQ(environment->arrays().observations[good], 0.2F);
  EXPECT_FLOAT_EQ(environment->arrays().observations[row + good], 0.3F);
}

TEST(ParticleEnvironment, GivenStartsMoveTheirPreyByTheSeed) {
  const auto row = [](std::uint64_t seed) {
    const auto environment = make({.scenario = "simple_tag"});
    environment->reseed(seed);
    std::vector<double> places(2 * environment->starts().spawns.size());
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = 0.1 * static_cast<double>(i);
    environment->begin(places, std::vector<std::size_t>{0});
    environment->step(std::vector<float>(environment->spec().action_size()));
    return environment->arrays().observations;
  };
  EXPECT_EQ(row(5), row(5));
  EXPECT_NE(row(5), row(6));
}

TEST(ParticleEnvironment, ExactRewardsAreThoseBeforeRounding) {
  const auto environment = make({.scenario = "simple_spread", .episode_length = 3, .worlds = 2});
  environment->reset(1);
  const std::vector<float> actions(2 * environment->spec().action_size(), 0.3F);
  bool any_rounded = false;
  for (int t = 0; t < 3; ++t) {
    environment->step(actions);
    const std::span<const double> exact = environment->exact_rewards();
    ASSERT_EQ(exact.size(), 6U);
    for (std::size_t i = 0; i < exact.size(); ++i) {
      EXPECT_EQ(static_cast<float>(exact[i]), environment->arrays().rewards[i]);
      any_rounded = any_rounded || static_cast<double>(environment->arrays().rewards[i]) != exact[i];
    }
  }
  EXPECT_TRUE(any_rounded);
  environment->step(actions);  // stands still
  EXPECT_THAT(environment->exact_rewards(), Each(0));
}

TEST(ParticleEnvironment, FastContactsAreNearlyExact) {
  for (const Dialect dialect : {Dialect::OpenAi, Dialect::PettingZoo}) {
    const ParticleOptions options{.scenario = "simple_tag", .dialect = dialect, .agents = 6, .worlds = 20};
    ParticleOptions exact_options = options;
    exact_options.contacts = Contacts::Exact;
    const auto fast = make(options), exact = make(exact_options);
    std::vector<float> actions(20 * fast->spec().action_size());
    fast->reset(0);
    exact->reset(0);
    double most = 0;
    for (std::size_t t = 0; t < 25; ++t) {
      draw_actions(fast->spec(), 0, t, actions);
      fast->step(actions);
      exact->step(actions);
    }
    for (std::size_t w = 0; w < 20; ++w) {
      const std::vector<Body> a = fast->bodies(w), b = exact->bodies(w);
      for (std::size_t i = 0; i < a.size(); ++i)
        most = std::max({most, std::abs(a[i].x - b[i].x), std::abs(a[i].y - b[i].y)});
    }
    EXPECT_LT(most, 1e-12);
  }
}

TEST(ParticleEnvironment, StatesRebuildObservations) {
  for (const ScenarioSummary& scenario : particle_scenarios()) {
    const auto environment = make({.scenario = std::string(scenario.name), .worlds = 2});
    const EnvironmentSpec& spec = environment->spec();
    EXPECT_EQ(spec.table.has_value(), scenario.name != "simple_world_comm");
    if (!spec.table) continue;
    std::vector<float> actions(2 * spec.action_size());
    environment->reset(1);
    for (std::size_t t = 0; t < 5; ++t) {
      draw_actions(spec, 1, t, actions);
      environment->step(actions);
    }
    const WorldArrays& arrays = environment->arrays();
    ASSERT_EQ(spec.table->entries.size(), spec.observation_size());
    for (std::size_t i = 0; i < arrays.observations.size(); ++i) {
      const float* state = arrays.states.data() + i / spec.observation_size() * spec.state_size();
      const ObservationEntry& entry = spec.table->entries[i % spec.observation_size()];
      const float rebuilt = (entry.plus < 0 ? 0 : state[entry.plus]) - (entry.minus < 0 ? 0 : state[entry.minus]);
      EXPECT_NEAR(rebuilt, arrays.observations[i], 1e-6) << scenario.name;
    }
  }
}

TEST(ParticleEnvironment, StepsAllocateNothing) {
  for (const ScenarioSummary& scenario : particle_scenarios()) {
    for (const PreyController prey : {PreyController::Random, PreyController::Heuristic}) {
      const auto environment = make({.scenario = std::string(scenario.name), .prey_controller = prey, .worlds = 3});
      const std::vector<float> actions(3 * environment->spec().action_size(), 0.2F);
      EXPECT_EQ(allocations_of([&] {
                  for (int t = 0; t < 25; ++t) environment->step(actions);
                }),
                0)
          << scenario.name;
    }
  }
  expect_allocations_are_counted();
}

// Returns of known policies in the original packages, over 1000 episodes.
TEST(ParticleEnvironment, KnownPoliciesEarnWhatTheyShould) {
  const auto openai = make({.scenario = "simple_spread", .worlds = 100});
  EXPECT_NEAR(sum(mean_returns(*openai, true, 15)), -697.6, 20);
  EXPECT_NEAR(sum(mean_returns(*openai, false, 15)), -655.4, 20);
  const auto pettingzoo = make({.scenario = "simple_spread", .dialect = Dialect::PettingZoo, .worlds = 100});
  EXPECT_NEAR(sum(mean_returns(*pettingzoo, true, 15)), -79.8, 4);
  EXPECT_NEAR(sum(mean_returns(*pettingzoo, false, 15)), -72.4, 4);
  const auto tag = make({.scenario = "simple_tag", .prey_controller = PreyController::Learning, .worlds = 100});
  const std::vector<double> random = mean_returns(*tag, true, 25), still = mean_returns(*tag, false, 25);
  EXPECT_NEAR(random[0], 3.2, 1.2);
  EXPECT_EQ(random[0], random[2]);
  EXPECT_NEAR(random[3], -15.3, 3);
  EXPECT_LT(still[0], 0.6);
}

TEST(ParticleEnvironment, BodiesHaveTheirKinds) {
  const auto environment = make({.scenario = "simple_tag"});
  std::vector<Body::Kind> kinds;
  for (const Body& body : environment->bodies(0)) {
    kinds.push_back(body.kind);
    EXPECT_LE(std::abs(body.x), 1);
  }
  using Kind = Body::Kind;
  EXPECT_THAT(kinds,
              ElementsAre(Kind::Adversary, Kind::Adversary, Kind::Adversary, Kind::Prey, Kind::Obstacle, Kind::Obstacle));
}

TEST(ParticleEnvironment, ImpossibleNumbersAreErrors) {
  EXPECT_THAT(message_of({.scenario = "simple_tagg"}), HasSubstr("did you mean 'simple_tag'?"));
  EXPECT_EQ(message_of({.scenario = "simple_push", .agents = 5}),
            "simple_push has 2 agents, expected no other number than that, but 5 are asked for");
  EXPECT_EQ(message_of({.scenario = "simple_spread", .agents = 129}), "the number of agents is 129, expected 1 to 128");
  EXPECT_EQ(message_of({.scenario = "simple_tag", .agents = 128, .prey = 200}),
            "the number of prey is 200, expected 1 to 128");
  EXPECT_EQ(message_of({.scenario = "simple_spread", .prey = 1}),
            "simple_spread has no prey to choose a number of, expected that in simple_tag only");
  EXPECT_EQ(message_of({.scenario = "simple_spread", .obstacles = 1}),
            "simple_spread has no obstacles to choose a number of, expected that in simple_tag only");
  EXPECT_EQ(message_of({.scenario = "simple", .worlds = 0}), "the number of worlds is 0, expected 1 to 268435456");
  EXPECT_EQ(message_of({.scenario = "simple_spread", .agents = 128, .worlds = std::size_t{1} << 60}),
            "the number of worlds is 1152921504606846976, expected 1 to 10922");
  EXPECT_EQ(message_of({.scenario = "simple", .episode_length = 0}), "the episode's length is 0, expected 1 to 1073741824");
  EXPECT_EQ(message_of({.scenario = "simple_tag", .agents = 128, .prey = 128, .obstacles = 128}), "");
}

TEST(Dialects, HaveNames) {
  EXPECT_EQ(*named<Dialect>("openai"), Dialect::OpenAi);
  EXPECT_EQ(*named<Dialect>("pettingzoo"), Dialect::PettingZoo);
  EXPECT_EQ(named<Dialect>("petingzoo").error().message,
            "dialect 'petingzoo' is not known (did you mean 'pettingzoo'?), expected one of openai, pettingzoo");
}

TEST(ParsePrey, AWordOrAFile) {
  EXPECT_EQ(*parse_prey("learning"), PreyController::Learning);
  EXPECT_EQ(*parse_prey("heuristic"), PreyController::Heuristic);
  EXPECT_EQ(*parse_prey("prey.safetensors"), PreyController::Network);
  EXPECT_EQ(*parse_prey("runs/prey"), PreyController::Network);
  EXPECT_THAT(parse_prey("randm").error().message, HasSubstr("did you mean 'random'?"));
}

}  // namespace
}  // namespace tilewright
