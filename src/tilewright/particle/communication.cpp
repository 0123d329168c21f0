// Scenarios in which words matter: simple_speaker_listener, simple_reference, simple_crypto.
#include <algorithm>
#include <array>
#include <cmath>

#include "tilewright/particle/scenario.hpp"

namespace tilewright {
namespace {

constexpr std::size_t kColour = 3;

// A landmark's position and the colour by which it is named: `strong` on its own channel, `weak` on the others.
void name_landmark(const double* position, std::size_t channel, double weak, double strong, double* out) {
  std::copy_n(position, 2, out);
  std::fill_n(out + 2, kColour, weak);
  out[2 + channel] = strong;
}

// Agent 0 sees the goal and speaks, agent 1 hears and drives. The goal's numbers: position, colour.
class SpeakerListener : public Scenario {
 public:
  explicit SpeakerListener(Dialect dialect) : dialect_(dialect) {
    shape_.agents = {{.name = "speaker_0", .team = "agent", .radius = 0.075, .moves = false, .talks = true},
                     {.name = "listener_0", .team = "agent", .radius = 0.075}};
    shape_.landmarks.assign(3, {.radius = 0.04});
    shape_.word_size = 3;
    shape_.goal_size = 2 + kColour;
    views_ = {ViewOf(shape_, 0).numbers(shape_.goal() + 2, kColour).blocks(),
              ViewOf(shape_, 1).velocity().landmarks().numbers(shape_.word(0), shape_.word_size).blocks()};
  }

  std::size_t goal_count() const override { return shape_.landmarks.size(); }
  void set_goal(std::size_t goal, double* world) const override {
    name_landmark(landmark(world, goal), goal, 0.15, 0.65, world + shape_.goal());
  }

  void rewards(const double* world, std::span<double> rewards) const override {
    std::fill(rewards.begin(), rewards.end(), -squared_distance(body(world, 1), world + shape_.goal()));
    if (dialect_ == Dialect::OpenAi) share_rewards(rewards);
  }

 private:
  Dialect dialect_;
};

// Each of two agents knows where the other should go. The goal's numbers, for both: position, colour.
class Reference : public Scenario {
 public:
  explicit Reference(Dialect dialect) : dialect_(dialect) {
    for (std::size_t i = 0; i < 2; ++i) {
      shape_.agents.push_back({.name = "agent_" + std::to_string(i), .team = "agent", .talks = true});
    }
    shape_.landmarks.resize(3);
    shape_.word_size = 10;
    shape_.goal_size = 2 * (2 + kColour);
    for (std::size_t i = 0; i < 2; ++i) {
      views_.push_back(ViewOf(shape_, i)
                           .velocity()
                           .landmarks()
                           .numbers(goal_of(i) + 2, kColour)
                           .numbers(shape_.word(1 - i), shape_.word_size)
                           .blocks());
    }
  }

  std::size_t goal_count() const override { return shape_.landmarks.size() * shape_.landmarks.size(); }
  void set_goal(std::size_t goal, double* world) const override {
    const std::size_t goals[] = {goal % shape_.landmarks.size(), goal / shape_.landmarks.size()};
    for (std::size_t i = 0; i < 2; ++i) name_landmark(landmark(world, goals[i]), goals[i], 0.25, 0.75, world + goal_of(i));
  }

  void rewards(const double* world, std::span<double> rewards) const override {
    const bool openai = dialect_ == Dialect::OpenAi;
    for (std::size_t i = 0; i < 2; ++i) {
      const double squared = squared_distance(body(world, 1 - i), world + goal_of(i));
      rewards[i] = -(openai ? squared : std::sqrt(squared));
    }
    if (openai) return share_rewards(rewards);
    const double mean = (rewards[0] + rewards[1]) / 2;
    for (double& reward : rewards) reward = mean * 0.5 + reward * 0.5;
  }

 private:
  std::size_t goal_of(std::size_t agent) const { return shape_.goal() + agent * (2 + kColour); }

  Dialect dialect_;
};

// Nobody moves. The goal's numbers: the message as a one-hot word, then the key.
class Crypto : public Scenario {
 public:
  Crypto() {
    shape_.agents = {{.name = "eve_0", .team = "adversary", .kind = Body::Kind::Adversary, .moves = false, .talks = true},
                     {.name = "bob_0", .team = "good", .moves = false, .talks = true},
                     {.name = "alice_0", .team = "good", .moves = false, .talks = true}};
    shape_.landmarks.resize(2);
    shape_.word_size = kWord;
    shape_.goal_size = 2 * kWord;
    const std::size_t alices_word = shape_.word(kAlice), key = shape_.goal() + kWord;
    views_ = {ViewOf(shape_, kEve).numbers(alices_word, kWord).blocks(),
              ViewOf(shape_, kBob).numbers(key, kWord).numbers(alices_word, kWord).blocks(),
              ViewOf(shape_, kAlice).numbers(shape_.goal(), 2 * kWord).blocks()};
  }

  std::size_t goal_count() const override { return shape_.landmarks.size() * shape_.landmarks.size(); }
  void set_goal(std::size_t goal, double* world) const override {
    double* numbers = world + shape_.goal();
    std::fill_n(numbers, 2 * kWord, 0.0);
    numbers[goal % shape_.landmarks.size()] = 1;
    numbers[kWord + goal / shape_.landmarks.size()] = 1;
  }

  void rewards(const double* world, std::span<double> rewards) const override {
    const double eve = error(world, kEve), bob = error(world, kBob);
    rewards[kEve] = 0 - eve;
    rewards[kBob] = rewards[kAlice] = eve + (0 - bob);
  }

 private:
  static constexpr std::size_t kEve = 0, kBob = 1, kAlice = 2, kWord = 4;

  // Squared distance between an agent's word and the message; silence is not an error.
  double error(const double* world, std::size_t agent) const {
    const double *word = world + shape_.word(agent), *message = world + shape_.goal();
    if (std::all_of(word, word + kWord, [](double number) { return number == 0; })) return 0;
    double sum = 0;
    for (std::size_t k = 0; k < kWord; ++k) sum += (word[k] - message[k]) * (word[k] - message[k]);
    return sum;
  }
};

}  // namespace

std::unique_ptr<Scenario> make_speaker_listener(const ScenarioSize&, Dialect dialect) {
  return std::make_unique<SpeakerListener>(dialect);
}

std::unique_ptr<Scenario> make_reference(const ScenarioSize&, Dialect dialect) {
  return std::make_unique<Reference>(dialect);
}

std::unique_ptr<Scenario> make_crypto(const ScenarioSize&, Dialect) { return std::make_unique<Crypto>(); }

}  // namespace tilewright
