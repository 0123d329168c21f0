// A world of one's own: two agents see the same number and both have to name it.
#include <algorithm>
#include <cstdio>

#include "tilewright/base/rng.hpp"
#include "tilewright/marl/algorithms.hpp"
#include "tilewright/marl/environment.hpp"
#include "tilewright/marl/trainer.hpp"

using namespace tilewright;

class NamingGame final : public Environment {
 public:
  static constexpr std::size_t kNumbers = 4, kAgents = 2;

  NamingGame(std::size_t worlds, std::uint64_t seed) : worlds_(worlds), rng_(seed, "naming"), numbers_(worlds) {
    spec_.name = "naming";
    spec_.episode_length = 1;
    spec_.terminates = true;
    for (const char* name : {"agent_0", "agent_1"}) spec_.agents.push_back({name, "agent", kNumbers, {{kNumbers}, 0}});
    arrays_.observations.resize(worlds * kAgents * kNumbers);
    arrays_.rewards.resize(worlds * kAgents);
    arrays_.terminated.resize(worlds * kAgents, 1);
    arrays_.truncated.resize(worlds * kAgents);
  }

  const EnvironmentSpec& spec() const override { return spec_; }
  std::size_t world_count() const override { return worlds_; }
  const WorldArrays& arrays() const override { return arrays_; }

  // What an episode draws depends on the seed and its number only: so runs repeat and resume.
  void reset(std::uint64_t first_episode) override {
    std::ranges::fill(arrays_.observations, 0.0F);
    std::ranges::fill(arrays_.rewards, 0.0F);
    std::ranges::fill(arrays_.terminated, std::uint8_t{0});
    for (std::size_t world = 0; world < worlds_; ++world) {
      numbers_[world] = rng_.fork("episode", first_episode + world).below(kNumbers);
      for (std::size_t agent = 0; agent < kAgents; ++agent) {
        arrays_.observations[(world * kAgents + agent) * kNumbers + numbers_[world]] = 1;
      }
    }
  }

  // An action is one entry per choice, all of it on the one that was taken.
  void step(std::span<const float> actions) override {
    for (std::size_t world = 0; world < worlds_; ++world) {
      float both = 1;
      for (std::size_t agent = 0; agent < kAgents; ++agent) {
        both *= actions[(world * kAgents + agent) * kNumbers + numbers_[world]];
      }
      std::fill_n(arrays_.rewards.begin() + static_cast<std::ptrdiff_t>(world * kAgents), kAgents, both);
    }
    std::ranges::fill(arrays_.terminated, std::uint8_t{1});
  }

 private:
  EnvironmentSpec spec_;
  std::size_t worlds_;
  Rng rng_;
  std::vector<std::size_t> numbers_;
  WorldArrays arrays_;
};

int main() {
  NamingGame game(16, 1);
  ThreadPool threads(1);
  Profile profile;
  const Result<std::unique_ptr<Learner>> learner = make_learner(Algorithm::Mappo, game.spec(), {}, 1, threads, profile);
  if (!learner) return std::fprintf(stderr, "%s\n", learner.error().message.c_str()), 1;
  Trainer trainer(game, **learner, profile, {.episodes = 20'000, .checkpoint_dir = {}});
  if (!trainer.run([](const TrainState&) { return true; })) return 1;
  const double greedy = evaluate_greedily(game, **learner, 160, 1'000'000).front();
  std::printf("%.2f of the numbers named by both\n", greedy);
  return greedy > 0.9 ? 0 : 1;
}
