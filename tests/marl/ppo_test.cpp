#include "tilewright/marl/ppo.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "../twins.hpp"
#include "tilewright/marl/toy_games.hpp"
#include "tilewright/marl/trainer.hpp"

namespace tilewright {
namespace {

std::unique_ptr<Environment> ppo_game(std::string_view name, std::size_t worlds, std::size_t agents = 0) {
  auto result = make_toy_game(name, agents, worlds, 7);
  EXPECT_TRUE(result) << result.error().message;
  return std::move(result).value();
}

// A game, a learner and all they need.
struct PpoTraining {
  std::unique_ptr<Environment> environment;
  ThreadPool threads;
  Profile profile;
  std::unique_ptr<Learner> learner;
  Trainer trainer;

  PpoTraining(std::unique_ptr<Environment> toy, const PpoOptions& options, std::int64_t episodes, std::uint64_t seed = 1,
              std::size_t thread_count = 1)
      : environment(std::move(toy)),
        threads(thread_count),
        profile(thread_count),
        learner(make_ppo(environment->spec(), options, seed, threads, profile).value().release()),
        trainer(*environment, *learner, profile, {.episodes = episodes, .curve_every = 128, .checkpoint_dir = {}}) {}

  void train() {
    EXPECT_TRUE(trainer.run([](const TrainState&) { return true; }));
  }
  // Of the last episodes of training, mean over them.
  double explored_return() const { return trainer.state().curve.back().mean_return; }
  double greedy_return(std::int64_t episodes = 256) {
    const std::vector<double> means = evaluate_greedily(*environment, *learner, episodes, 1'000'000);
    return std::accumulate(means.begin(), means.end(), 0.0);
  }
  std::string bytes() const {
    TensorFile file;
    learner->save(file);
    return to_safetensors(file);
  }
};

double best_return_of(std::string_view name) {
  for (const ToyGame& toy : toy_games()) {
    if (toy.name == name) return toy.best_return;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

constexpr std::int64_t kStillEpisodes = 256;  // enough of a policy that stays as it is

class PpoLearns : public ::testing::TestWithParam<Critic> {
 protected:
  PpoOptions options(std::size_t rollout) const {
    return {.critic = GetParam(), .rollout = rollout, .activation = Activation::Tanh, .learning_rate = 1e-3};
  }

  // Three seeds, each beside a twin that does not learn. Those that do end at `enough` or more when they play greedily.
  // While exploring they earn `margin` more than their twins, whose greedy play may be the best by chance.
  static void expect_learning(std::string_view game, const PpoOptions& options, std::int64_t episodes, double enough,
                              double margin) {
    const Twins runs = twins(std::string(game), 3, [&](std::uint64_t seed, bool learns) {
      PpoOptions chosen = options;
      if (!learns) chosen.learning_rate = 0;
      PpoTraining run(ppo_game(game, 32), chosen, learns ? episodes : kStillEpisodes, seed);
      run.train();
      EXPECT_TRUE(!learns || run.greedy_return() >= enough) << "seed " << seed;
      return run.explored_return();
    });
    expect_ahead(runs, margin);
  }
};
INSTANTIATE_TEST_SUITE_P(Critics, PpoLearns, ::testing::Values(Critic::Own, Critic::Central),
                         [](const auto& param) { return param.param == Critic::Own ? "own" : "central"; });

TEST_P(PpoLearns, TheMatrixGame) { expect_learning("toy:matrix", options(256), 4096, best_return_of("toy:matrix"), 4); }

TEST_P(PpoLearns, TwoHeads) { expect_learning("toy:heads", options(256), 6000, best_return_of("toy:heads"), 1); }

TEST_P(PpoLearns, ToDoWithoutTheForbiddenChoice) {
  const auto masked = ppo_game("toy:masked", 256);
  masked->reset(1'000'000);
  double best = 0;
  for (std::size_t world = 0; world < 256; ++world) best += masked->arrays().masks[6 * world + 2] == 1.0F ? 20 : 12;
  expect_learning("toy:masked", options(256), 8192, best / 256, 4);
}

TEST_P(PpoLearns, TheLineWhichTerminates) {
  expect_learning("toy:line", options(1000), 4000, best_return_of("toy:line") - 0.5, 30);
}

TEST_P(PpoLearns, ToReachWithContinuousSpeed) {
  expect_learning("toy:reach", options(1000), 4000, best_return_of("toy:reach") - 1, 30);
}

// From (c, c) to (b, c) to (b, b): each step helps the one who makes it, and from 14 no single agent gets any higher.
TEST_P(PpoLearns, TheSafeEquilibriumOfTheClimbingGame) {
  PpoOptions steady = options(32);
  steady.entropy_bonus = 0.1;
  expect_learning("toy:climbing", steady, 12'000, 14, 10);
}

// Large steps on few samples stumble upon the summit in about a quarter of the runs, and stay there: they earn nearly all of
// it while they explore. One in nine teams that learned nothing has the summit as its greedy choice, but none earns it.
TEST_P(PpoLearns, TheClimbingGameWithLuck) {
  PpoOptions hasty = options(4);
  hasty.minibatches = 1;
  const auto at_the_summit = [&](double learning_rate) {
    hasty.learning_rate = learning_rate;
    int count = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      PpoTraining run(ppo_game("toy:climbing", 4), hasty, learning_rate > 0 ? 1024 : kStillEpisodes, seed);
      run.train();
      count += run.explored_return() > 0.9 * best_return_of("toy:climbing") ? 1 : 0;
    }
    return count;
  };
  const int learning = at_the_summit(0.03), still = at_the_summit(0);
  RecordProperty("learning", learning);
  RecordProperty("still", still);
  EXPECT_GE(learning, 3);
  EXPECT_EQ(still, 0);
}

TEST(Ppo, ForbiddenChoicesAreNeverTaken) {
  PpoTraining run(ppo_game("toy:masked", 32), {.rollout = 256}, 4096);
  run.train();  // now the first agent's last choice is by far the best
  std::vector<float> observations(2 * 512, 0.0F), masks(6 * 512, 1.0F), actions(6 * 512);
  const auto last_choices = [&](Acting acting) {
    run.learner->act(observations, masks, 512, acting, actions);
    float sum = 0;
    for (std::size_t world = 0; world < 512; ++world) {
      const float* action = actions.data() + 6 * world;
      EXPECT_EQ(action[0] + action[1] + action[2], 1.0F);
      EXPECT_EQ(action[3] + action[4] + action[5], 1.0F);
      sum += action[2];
    }
    return sum;
  };
  EXPECT_EQ(last_choices(Acting::Greedy), 512);
  EXPECT_GT(last_choices(Acting::Explore), 400);
  for (std::size_t world = 0; world < 512; ++world) masks[6 * world + 2] = 0;
  EXPECT_EQ(last_choices(Acting::Greedy), 0);
  EXPECT_EQ(last_choices(Acting::Explore), 0);
}

TEST(Ppo, FirstPassKnowsNoClipping) {
  // On the first mini-batch all ratios are exactly 1, so that even the narrowest bounds change nothing.
  for (const std::size_t epochs : {1u, 2u}) {
    std::vector<std::string> results;
    for (const double clip : {1e-6, 0.2}) {
      PpoTraining run(ppo_game("toy:line", 16), {.rollout = 100, .epochs = epochs, .minibatches = 1, .clip = clip}, 16);
      run.train();
      EXPECT_GE(run.learner->update_count(), 1);
      if (epochs == 1) {
        EXPECT_NEAR(run.learner->losses().actor[0], 0, 1e-6);  // the mean of normalised advantages
      }
      results.push_back(run.bytes());
    }
    EXPECT_EQ(results[0] == results[1], epochs == 1);
  }
}

TEST(Ppo, AnyNumberOfThreadsGivesTheSameBits) {
  std::vector<std::string> results;
  for (const std::size_t threads : {1u, 2u, 4u}) {
    PpoTraining run(ppo_game("toy:line", 256, 3), {.critic = Critic::Central, .rollout = 1500}, 512, 3, threads);
    run.train();
    EXPECT_GE(run.learner->update_count(), 2);
    results.push_back(run.bytes());
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(Ppo, ActingInManyWorldsIsActingInEach) {
  for (const char* name : {"toy:line", "toy:reach"}) {
    PpoTraining run(ppo_game(name, 300), {}, 0);
    run.environment->reset(0);
    const EnvironmentSpec& spec = run.environment->spec();
    const std::vector<float>& observations = run.environment->arrays().observations;
    std::vector<float> all(300 * spec.action_size()), one(spec.action_size());
    run.learner->act(observations, {}, 300, Acting::Greedy, all);
    for (std::size_t world = 0; world < 300; ++world) {
      const auto seen = std::span(observations).subspan(world * spec.observation_size(), spec.observation_size());
      run.learner->act(seen, {}, 1, Acting::Greedy, one);
      EXPECT_TRUE(std::ranges::equal(one, std::span(all).subspan(world * one.size(), one.size())));
    }
  }
}

TEST(Ppo, ExplorationIsChanceAndGreedIsNot) {
  PpoTraining run(ppo_game("toy:matrix", 1), {}, 0), other(ppo_game("toy:matrix", 1), {}, 0);
  const std::vector<float> observations(2 * 3000, 1.0F);
  std::vector<float> first(6 * 3000), second(6 * 3000), greedy(6 * 3000);
  run.learner->act(observations, {}, 3000, Acting::Explore, first);
  run.learner->act(observations, {}, 3000, Acting::Explore, second);
  EXPECT_NE(first, second);
  for (std::size_t choice = 0; choice < 6; ++choice) {
    float count = 0;
    for (std::size_t world = 0; world < 3000; ++world) count += first[6 * world + choice];
    EXPECT_NEAR(count, 1000, 150);  // nothing learned: six standard deviations
  }
  // Greedy acting uses up no noise.
  other.learner->act(observations, {}, 3000, Acting::Explore, greedy);
  EXPECT_EQ(greedy, first);
  other.learner->act(observations, {}, 3000, Acting::Greedy, greedy);
  for (std::size_t world = 1; world < 3000; ++world)
    EXPECT_TRUE(std::equal(&greedy[6 * world], &greedy[6 * world] + 6, &greedy[0]));
  other.learner->act(observations, {}, 3000, Acting::Explore, greedy);
  EXPECT_EQ(greedy, second);
}

// Steps the environment by hand, so that saving can happen in the middle of an episode.
void step_on(PpoTraining& run, int steps, int& step) {
  Environment& environment = *run.environment;
  const std::size_t worlds = environment.world_count(), agents = environment.spec().agent_count();
  for (const int end = step + steps; step < end; ++step) {
    if (step % 10 == 0) environment.reset(static_cast<std::uint64_t>(step));
    std::vector<std::uint8_t> live(worlds);
    for (std::size_t world = 0; world < worlds; ++world) live[world] = !has_ended(environment.arrays(), world, agents);
    const WorldArrays before = environment.arrays();
    std::vector<float> actions(worlds * environment.spec().action_size());
    run.learner->act(before.observations, before.masks, worlds, Acting::Explore, actions);
    environment.step(actions);
    const WorldArrays& after = environment.arrays();
    run.learner->learn({worlds, before.observations, before.states, before.masks, actions, after.rewards, after.observations,
                        after.states, after.terminated, after.truncated, live});
  }
}

TEST(Ppo, GoesOnBitByBitAfterLoading) {
  const PpoOptions options{.critic = Critic::Central, .rollout = 61};
  PpoTraining straight(ppo_game("toy:line", 4), options, 0),
      resumed(ppo_game("toy:line", 4), options, 0, 99);  // another seed's weights
  int step = 0;
  step_on(straight, 34, step);  // in the middle of a rollout and of an episode
  ASSERT_GT(straight.learner->update_count(), 0);

  const auto file = from_safetensors(straight.bytes(), "memory");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_NE(resumed.bytes(), straight.bytes());
  const auto loaded = resumed.learner->load(*file);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(resumed.bytes(), straight.bytes());
  EXPECT_EQ(resumed.learner->losses().critic, straight.learner->losses().critic);
}

TEST(Ppo, LoadedLearnersLearnTheSame) {
  const PpoOptions options{.rollout = 61};
  PpoTraining straight(ppo_game("toy:line", 4), options, 0), resumed(ppo_game("toy:line", 4), options, 0);
  int step = 0, copy_step = 0;
  step_on(straight, 34, step);  // in the middle of a rollout and of an episode
  step_on(resumed, 34, copy_step);
  TensorFile file;
  straight.learner->save(file);
  auto fresh = make_ppo(resumed.environment->spec(), options, 1, resumed.threads, resumed.profile);
  ASSERT_TRUE(fresh);
  resumed.learner = std::move(fresh).value();
  ASSERT_TRUE(resumed.learner->load(file));
  step_on(straight, 45, step);
  step_on(resumed, 45, copy_step);
  EXPECT_GT(straight.learner->update_count(), 3);
  EXPECT_EQ(resumed.bytes(), straight.bytes());
}

TEST(Ppo, FilesOfOtherLearnersAreErrors) {
  PpoTraining line(ppo_game("toy:line", 1), {}, 0), more(ppo_game("toy:line", 1, 3), {}, 0),
      wide(ppo_game("toy:line", 1), {.hidden = {32}}, 0);
  TensorFile file;
  line.learner->save(file);
  EXPECT_FALSE(more.learner->load(file));
  EXPECT_FALSE(wide.learner->load(file));
  file.tensors.erase("updates");
  EXPECT_FALSE(line.learner->load(file));
}

TEST(Ppo, OptionsOutOfRangeAreErrors) {
  const auto message = [](const PpoOptions& options) {
    ThreadPool threads(1);
    Profile profile(1);
    const auto made = make_ppo(ppo_game("toy:heads", 1)->spec(), options, 1, threads, profile);
    return made ? std::string() : made.error().message;
  };
  EXPECT_EQ(message({}), "");
  EXPECT_EQ(message({.rollout = 0}), "rollout is 0, expected at least 1");
  EXPECT_EQ(message({.epochs = 0}), "epochs is 0, expected at least 1");
  EXPECT_EQ(message({.minibatches = 0}), "minibatches is 0, expected at least 1");
  EXPECT_EQ(message({.hidden = {64, 0}}), "a hidden layer's width is 0, expected at least 1");
  EXPECT_EQ(message({.learning_rate = 0}), "");  // nothing is learned
  EXPECT_EQ(message({.learning_rate = -1}), "learning_rate is -1, expected at least 0");
  EXPECT_EQ(message({.gamma = 1.5}), "gamma is 1.5, expected 0 to 1");
  EXPECT_EQ(message({.gae_lambda = std::nan("")}), "gae_lambda is nan, expected 0 to 1");
  EXPECT_EQ(message({.clip = 0}), "clip is 0, expected more than 0");
  EXPECT_EQ(message({.entropy_bonus = -1}), "entropy_bonus is -1, expected at least 0");
  EXPECT_EQ(message({.max_gradient_norm = -1}), "max_gradient_norm is -1, expected at least 0");
}

}  // namespace
}  // namespace tilewright
