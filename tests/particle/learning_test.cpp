// Learning in the particle worlds, as far as a few seconds go. script/bench learning has the long runs.
#include <cmath>
#include <memory>
#include <string>

#include "../sanitized.hpp"
#include "../twins.hpp"
#include "tilewright/marl/algorithms.hpp"
#include "tilewright/marl/trainer.hpp"
#include "tilewright/particle/particle_environment.hpp"

namespace tilewright {
namespace {

// The mean return, summed over agents, of the last 500 of that many episodes.
double return_after(std::int64_t episodes, const ParticleOptions& world, const OffPolicyOptions& options) {
  const auto environment = make_particle_environment(world);
  ThreadPool threads;
  Profile profile(threads.thread_count());
  const auto learner = make_learner(Algorithm::Maddpg, environment.value()->spec(), {.off_policy = options, .ppo = {}},
                                    world.seed, threads, profile);
  Trainer trainer(*environment.value(), *learner.value(), profile,
                  {.episodes = episodes, .curve_every = kSanitized ? 60 : 500, .checkpoint_every = 0, .checkpoint_dir = {}});
  EXPECT_TRUE(trainer.run([](const TrainState&) { return true; }));
  return trainer.state().curve.back().mean_return;
}

// Of runs that learn for that many episodes and of their twins, which play as at first for 500. Under sanitizers both have
// 60, and the first updates among them.
Twins play(const std::string& what, std::uint64_t seeds, std::int64_t episodes, const ParticleOptions& world,
           const OffPolicyOptions& options) {
  return twins(what, seeds, [&](std::uint64_t seed, bool learns) {
    ParticleOptions seeded = world;
    seeded.seed = seed;
    OffPolicyOptions chosen = options;
    if (!learns) chosen.learning_rate = 0;
    if (kSanitized) chosen.warm_up = chosen.batch;
    return return_after(kSanitized ? 60 : learns ? episodes : 500, seeded, chosen);
  });
}

// Random play has -698, standing still -655; a PyTorch version of the same algorithm had -567 after 4,000 episodes.
TEST(ParticleLearning, TeamsLearnToSpread) {
  const ParticleOptions world{.scenario = "simple_spread", .agents = 3};
  for (const auto& [semantics, layout] :
       {std::pair(Semantics::OpenAi, ReplayLayout::PerAgent), {Semantics::Shared, ReplayLayout::State}}) {
    const OffPolicyOptions options{.semantics = semantics, .layout = layout, .sampler = {}};
    const Twins runs = play(semantics == Semantics::OpenAi ? "openai" : "shared", 2, 3'000, world, options);
    if (kSanitized) continue;
    expect_ahead(runs, 50);
    for (const double learned : runs.learning) EXPECT_GT(learned, -600);
  }
}

// Random predators have 3.2 each.
TEST(ParticleLearning, PredatorsLearnToHunt) {
  const ParticleOptions world{.scenario = "simple_tag", .agents = 3, .prey_controller = PreyController::Random};
  const Twins runs = play("tag", 3, 6'000, world, {.layout = ReplayLayout::State, .sampler = {}});
  if (!kSanitized) expect_ahead(runs, 10);
}

// Ten episodes with updates in each: different observations, actions, teams and words, in both dialects.
TEST(ParticleLearning, EveryLearnerRunsInEveryWorld) {
  AlgorithmOptions options;
  options.off_policy.warm_up = options.off_policy.batch = 64;
  options.off_policy.capacity = 200;
  options.ppo.rollout = 100;
  ThreadPool threads(1);
  for (const ScenarioSummary& scenario : particle_scenarios()) {
    for (const Dialect dialect : {Dialect::OpenAi, Dialect::PettingZoo}) {
      for (const auto& [algorithm, word] : Names<Algorithm>::kTable) {
        const auto environment = make_particle_environment({.scenario = std::string(scenario.name), .dialect = dialect});
        Profile profile;
        options.off_policy.layout = environment.value()->spec().table ? ReplayLayout::State : ReplayLayout::Joint;
        const auto learner = make_learner(algorithm, environment.value()->spec(), options, 1, threads, profile);
        ASSERT_TRUE(learner) << learner.error().message;
        Trainer trainer(*environment.value(), *learner.value(), profile,
                        {.episodes = 10, .curve_every = 10, .checkpoint_every = 0, .checkpoint_dir = {}});
        ASSERT_TRUE(trainer.run([](const TrainState&) { return true; }));
        EXPECT_GE(learner.value()->update_count(), 2) << scenario.name << ' ' << word;
        EXPECT_TRUE(std::isfinite(trainer.state().curve.back().mean_return)) << scenario.name << ' ' << word;
      }
    }
  }
}

}  // namespace
}  // namespace tilewright
