// One update of PPO against a second implementation: everything in double, straight from the definitions, with gradients by
// finite differences of the objective.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <ostream>
#include <vector>

#include "tilewright/base/rng.hpp"
#include "tilewright/marl/ppo.hpp"

namespace tilewright {
namespace {

using Numbers = std::vector<double>;

// The parameters of a network, layer after layer: weights (inputs × outputs), then biases.
Numbers parameters(const TensorFile& file, const std::string& name, const MlpShape& shape) {
  Mlp mlp(shape);
  EXPECT_TRUE(file.get(name, mlp));
  Numbers values;
  for (std::size_t layer = 0; layer < mlp.layer_count(); ++layer) {
    const View weight = mlp.weight(layer);
    for (std::size_t r = 0; r < weight.rows; ++r) values.insert(values.end(), weight.row(r), weight.row(r) + weight.columns);
    values.insert(values.end(), mlp.bias(layer).begin(), mlp.bias(layer).end());
  }
  return values;
}

Numbers network(const MlpShape& shape, const Numbers& theta, Numbers x) {
  std::vector<std::size_t> widths = shape.hidden;
  widths.push_back(shape.outputs);
  std::size_t at = 0;
  for (std::size_t layer = 0; layer < widths.size(); ++layer) {
    Numbers y(widths[layer]);
    for (std::size_t o = 0; o < y.size(); ++o) {
      y[o] = theta[at + x.size() * y.size() + o];
      for (std::size_t i = 0; i < x.size(); ++i) y[o] += x[i] * theta[at + i * y.size() + o];
      if (layer + 1 < widths.size()) y[o] = shape.activation == Activation::Tanh ? std::tanh(y[o]) : std::max(0.0, y[o]);
    }
    at += (x.size() + 1) * y.size();
    x = y;
  }
  return x;
}

struct Judgement {
  double log_probability = 0, entropy = 0;
};

Judgement judge(const ActionSpace& space, const Numbers& outputs, const Numbers& action, const Numbers& mask) {
  Judgement result;
  std::size_t first = 0;
  for (const std::size_t choices : space.categorical) {
    double sum = 0;
    for (std::size_t c = first; c < first + choices; ++c) sum += mask[c] * std::exp(outputs[c]);
    for (std::size_t c = first; c < first + choices; ++c) {
      if (mask[c] == 0) continue;
      const double log_p = outputs[c] - std::log(sum);
      result.log_probability += action[c] * log_p;
      result.entropy -= std::exp(log_p) * log_p;
    }
    first += choices;
  }
  for (std::size_t c = first; c < first + space.continuous; ++c) {
    const double log_std = outputs[c + space.continuous];
    const double distance = (std::atanh(action[c]) - outputs[c]) / std::exp(log_std);
    const double log_root = 0.5 * std::log(2 * std::numbers::pi);
    result.log_probability += -0.5 * distance * distance - log_std - log_root - std::log(1 - action[c] * action[c]);
    result.entropy += log_std + log_root + 0.5;
  }
  return result;
}

// Adam with the gradient clipped to `most`, on finite differences of `loss`.
class Descent {
 public:
  Descent(Numbers& theta, double rate, double most) : theta_(theta), rate_(rate), most_(most) {}

  void step(const std::function<double(const Numbers&)>& loss) {
    Numbers gradient(theta_.size());
    double squares = 0;
    for (std::size_t i = 0; i < theta_.size(); ++i) {
      Numbers moved = theta_;
      moved[i] = theta_[i] + 1e-6;
      gradient[i] = loss(moved);
      moved[i] = theta_[i] - 1e-6;
      gradient[i] = (gradient[i] - loss(moved)) / 2e-6;
      squares += gradient[i] * gradient[i];
    }
    ++steps_;
    first_.resize(theta_.size());
    second_.resize(theta_.size());
    const double scale = std::min(1.0, most_ / std::sqrt(squares));
    clipped += scale < 1 ? 1 : 0;
    const double rate = rate_ * std::sqrt(1 - std::pow(0.999, steps_)) / (1 - std::pow(0.9, steps_));
    for (std::size_t i = 0; i < theta_.size(); ++i) {
      const double g = scale * gradient[i];
      first_[i] = 0.9 * first_[i] + 0.1 * g;
      second_[i] = 0.999 * second_[i] + 0.001 * g * g;
      theta_[i] -= rate * first_[i] / (std::sqrt(second_[i]) + 1e-5);
    }
  }

  int clipped = 0;

 private:
  Numbers& theta_;
  double rate_, most_;
  int steps_ = 0;
  Numbers first_, second_;
};

// What one agent lived through, in the order of time; `next` counts within this list.
struct Sample {
  Numbers seen, critic_sees, critic_sees_after, action, mask;
  double reward = 0;
  bool terminated = false, ended = false;
  std::ptrdiff_t next = -1;
};

struct Verdict {
  Numbers actor, critic;
  double actor_loss = 0, critic_loss = 0;
  double clipped_ratios = 0;  // share of samples whose ratio was out of bounds
  int clipped_gradients = 0;
};

Verdict update(const std::vector<Sample>& samples, const ActionSpace& space, const MlpShape& actor_shape,
               const MlpShape& critic_shape, Numbers actor, Numbers critic, const PpoOptions& options) {
  Verdict verdict;
  const auto count = static_cast<double>(samples.size());
  const auto value = [&](const Numbers& seen) { return network(critic_shape, critic, seen)[0]; };
  Numbers advantages, targets, old_logs;
  for (const Sample& sample : samples) {
    double advantage = 0, weight = 1;
    for (const Sample* at = &sample;; at = &samples[static_cast<std::size_t>(at->next)]) {
      const double after = at->terminated ? 0 : options.gamma * value(at->critic_sees_after);
      advantage += weight * (at->reward + after - value(at->critic_sees));
      weight *= options.gamma * options.gae_lambda;
      if (at->ended || at->next < 0) break;
    }
    advantages.push_back(advantage);
    targets.push_back(advantage + value(sample.critic_sees));
    old_logs.push_back(judge(space, network(actor_shape, actor, sample.seen), sample.action, sample.mask).log_probability);
  }
  const auto moments = [&](const Numbers& numbers) {
    double sum = 0, squares = 0;
    for (const double number : numbers) sum += number;
    for (const double number : numbers) squares += (number - sum / count) * (number - sum / count);
    return std::pair(sum / count, std::sqrt(squares / count));
  };
  if (options.normalise_advantages) {
    const auto [mean, deviation] = moments(advantages);
    for (double& advantage : advantages) advantage = (advantage - mean) / deviation;
  }
  if (options.normalise_returns) {
    const auto [mean, deviation] = moments(targets);
    for (double& target : targets) target = (target - mean) / deviation;
    const std::size_t last = critic_shape.hidden.back() + 1;  // weights and bias of the last layer, moved the other way
    for (std::size_t i = critic.size() - last; i < critic.size(); ++i) critic[i] /= deviation;
    critic.back() -= mean / deviation;
  }

  Descent actor_descent(actor, options.learning_rate, options.max_gradient_norm);
  Descent critic_descent(critic, options.learning_rate, options.max_gradient_norm);
  for (std::size_t epoch = 0; epoch < options.epochs; ++epoch) {
    double surrogate = 0, entropy = 0;
    const auto actor_loss = [&](const Numbers& theta) {
      surrogate = entropy = 0;
      for (std::size_t i = 0; i < samples.size(); ++i) {
        const auto [log_probability, spread] =
            judge(space, network(actor_shape, theta, samples[i].seen), samples[i].action, samples[i].mask);
        const double ratio = std::exp(log_probability - old_logs[i]);
        const double bounded = std::clamp(ratio, 1 - options.clip, 1 + options.clip);
        surrogate -= std::min(ratio * advantages[i], bounded * advantages[i]) / count;
        entropy += spread / count;
      }
      return surrogate - options.entropy_bonus * entropy;
    };
    actor_loss(actor);
    verdict.actor_loss += surrogate / static_cast<double>(options.epochs);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const double log_now =
          judge(space, network(actor_shape, actor, samples[i].seen), samples[i].action, samples[i].mask).log_probability;
      verdict.clipped_ratios += std::abs(std::exp(log_now - old_logs[i]) - 1) > options.clip ? 1 / count : 0;
    }
    actor_descent.step(actor_loss);

    const auto critic_loss = [&](const Numbers& theta) {
      double loss = 0;
      for (std::size_t i = 0; i < samples.size(); ++i) {
        const double error = network(critic_shape, theta, samples[i].critic_sees)[0] - targets[i];
        loss += error * error / count;
      }
      return loss;
    };
    verdict.critic_loss += critic_loss(critic) / static_cast<double>(options.epochs);
    critic_descent.step(critic_loss);
  }
  verdict.actor = actor;
  verdict.critic = critic;
  verdict.clipped_gradients = actor_descent.clipped + critic_descent.clipped;
  return verdict;
}

constexpr std::size_t kWorlds = 2, kCalls = 20;

EnvironmentSpec mixed_spec() {
  return {.name = "mixed",
          .agents = {{.name = "a", .team = "", .observation_size = 3, .actions = {.categorical = {3, 2}, .continuous = 1}},
                     {.name = "b", .team = "", .observation_size = 2, .actions = {.categorical = {4}}}},
          .episode_length = 6,
          .terminates = true,
          .masks = true,
          .table = std::nullopt};
}

// Lets the learner act in two worlds of noise that end in all ways, until it has updated once; returns what each agent
// should have learned from.
std::vector<std::vector<Sample>> live_through(Learner& learner, const EnvironmentSpec& spec, const PpoOptions& options) {
  Rng rng(11, "noise");
  const auto numbers = [&](std::size_t size) {
    std::vector<float> values(size);
    for (float& value : values) value = static_cast<float>(2 * rng.uniform() - 1);
    return values;
  };
  const auto part = [](const std::vector<float>& values, std::size_t first, std::size_t size) {
    return Numbers(values.begin() + static_cast<std::ptrdiff_t>(first),
                   values.begin() + static_cast<std::ptrdiff_t>(first + size));
  };
  const std::size_t seen_size = spec.observation_size(), action_size = spec.action_size();
  std::vector<std::vector<Sample>> samples(2);
  std::vector<std::ptrdiff_t> latest(kWorlds * 2, -1);
  std::vector<std::uint8_t> gone(kWorlds * 2), live(kWorlds, 1);
  std::vector<float> observations = numbers(kWorlds * seen_size);
  for (std::size_t call = 0; call < kCalls; ++call) {
    std::vector<float> masks(kWorlds * action_size, 1), actions(kWorlds * action_size);
    for (std::size_t world = 0; world < kWorlds; ++world) {
      masks[world * action_size + static_cast<std::size_t>(rng.below(3))] = 0;      // one of the first head
      masks[world * action_size + 6 + static_cast<std::size_t>(rng.below(4))] = 0;  // one of agent b
    }
    learner.act(observations, masks, kWorlds, Acting::Explore, actions);
    const std::vector<float> next_observations = numbers(kWorlds * seen_size), rewards = numbers(kWorlds * 2);
    std::vector<std::uint8_t> terminated(kWorlds * 2), truncated(kWorlds * 2);
    for (std::size_t entry = 0; entry < kWorlds * 2; ++entry) {
      const std::int64_t fate = rng.below(6);
      terminated[entry] = gone[entry] != 0 || fate == 0;
      truncated[entry] = gone[entry] == 0 && fate == 1;
    }
    for (std::size_t world = 0; world < kWorlds; ++world) {
      for (std::size_t agent = 0; agent < 2; ++agent) {
        const std::size_t entry = world * 2 + agent;
        if (gone[entry] != 0) continue;
        const std::size_t seen = world * seen_size + spec.observation_offset(agent);
        const bool central = options.critic == Critic::Central;
        const std::size_t critic_seen = central ? world * seen_size : seen;
        const std::size_t critic_size = central ? seen_size : spec.agents[agent].observation_size;
        const std::size_t acted = world * action_size + spec.action_offset(agent);
        const std::size_t acts = spec.agents[agent].actions.action_size();
        auto& list = samples[agent];
        list.push_back({part(observations, seen, spec.agents[agent].observation_size),
                        part(observations, critic_seen, critic_size), part(next_observations, critic_seen, critic_size),
                        part(actions, acted, acts), part(masks, acted, acts), static_cast<double>(rewards[entry]),
                        terminated[entry] != 0, terminated[entry] != 0 || truncated[entry] != 0, -1});
        const auto place = static_cast<std::ptrdiff_t>(list.size()) - 1;
        if (latest[entry] >= 0) list[static_cast<std::size_t>(latest[entry])].next = place;
        latest[entry] = list.back().ended ? -1 : place;
      }
    }
    learner.learn({kWorlds, observations, {}, masks, actions, rewards, next_observations, {}, terminated, truncated, live});
    observations = next_observations;
    for (std::size_t world = 0; world < kWorlds; ++world) {
      bool all = true;
      for (std::size_t entry = world * 2; entry < world * 2 + 2; ++entry) {
        gone[entry] |= static_cast<std::uint8_t>(terminated[entry] | truncated[entry]);
        all &= gone[entry] != 0;
      }
      if (all) std::fill_n(gone.begin() + static_cast<std::ptrdiff_t>(world * 2), 2, std::uint8_t{0});
    }
  }
  return samples;
}

struct Setting {
  const char* name;
  PpoOptions options;
};

void PrintTo(const Setting& setting, std::ostream* out) { *out << setting.name; }

class PpoOracle : public ::testing::TestWithParam<Setting> {};

TEST_P(PpoOracle, AgreesOnLossesAndNewWeights) {
  const EnvironmentSpec spec = mixed_spec();
  PpoOptions options = GetParam().options;
  options.rollout = kWorlds * kCalls;
  options.minibatches = 1;   // the oracle knows no shuffling
  options.hidden = {16, 5};  // wide, or a sample that silences all of the first layer meets the kink of the second ReLU
  ThreadPool threads(1);
  Profile profile(1);
  auto made = make_ppo(spec, options, 5, threads, profile);
  ASSERT_TRUE(made);
  Learner& learner = *made.value();
  TensorFile before, after;
  learner.save(before);
  const std::vector<std::vector<Sample>> samples = live_through(learner, spec, options);
  ASSERT_EQ(learner.update_count(), 1);
  learner.save(after);
  for (std::size_t agent = 0; agent < 2; ++agent) {
    const ActionSpace& space = spec.agents[agent].actions;
    const std::size_t size = spec.agents[agent].observation_size;
    const MlpShape actor{size, options.hidden, space.output_size(), options.activation};
    const MlpShape critic{options.critic == Critic::Central ? spec.observation_size() : size, options.hidden, 1,
                          options.activation};
    const std::string name = spec.agents[agent].name;
    const Verdict verdict = update(samples[agent], space, actor, critic, parameters(before, name + ".actor", actor),
                                   parameters(before, name + ".critic", critic), options);
    EXPECT_NEAR(learner.losses().actor[agent], verdict.actor_loss, 1e-5);
    EXPECT_NEAR(learner.losses().critic[agent], verdict.critic_loss, 1e-5 * (1 + verdict.critic_loss));
    const Numbers actor_now = parameters(after, name + ".actor", actor),
                  critic_now = parameters(after, name + ".critic", critic);
    for (std::size_t i = 0; i < actor_now.size(); ++i) ASSERT_NEAR(actor_now[i], verdict.actor[i], 3e-5) << i;
    for (std::size_t i = 0; i < critic_now.size(); ++i) ASSERT_NEAR(critic_now[i], verdict.critic[i], 3e-5) << i;
    // The settings exercise what they are meant to.
    if (options.clip < 0.1) {
      EXPECT_GT(verdict.clipped_ratios, 0.1);
    }
    if (options.epochs == 1) {
      EXPECT_EQ(verdict.clipped_ratios, 0);
    }
    EXPECT_GT(verdict.clipped_gradients, 0);
    EXPECT_LT(samples[agent].size(), kWorlds * kCalls);  // some had to wait
  }
}

INSTANTIATE_TEST_SUITE_P(
    Settings, PpoOracle,
    ::testing::Values(
        Setting{"own",
                {.critic = Critic::Own, .activation = Activation::Tanh, .entropy_bonus = 0.1, .normalise_returns = false}},
        Setting{"central", {.critic = Critic::Central, .activation = Activation::Tanh, .learning_rate = 0.01}},
        Setting{"once", {.critic = Critic::Own, .epochs = 1, .learning_rate = 0.01}},
        Setting{"clipped",
                {.critic = Critic::Own, .epochs = 8, .activation = Activation::Tanh, .learning_rate = 0.02, .clip = 0.05}},
        Setting{"relu", {.critic = Critic::Central, .activation = Activation::Relu, .learning_rate = 0.01, .gamma = 0.9}},
        Setting{"plain", {.critic = Critic::Central, .normalise_advantages = false, .normalise_returns = false}}),
    [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace tilewright
