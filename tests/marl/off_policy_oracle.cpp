#include "off_policy_oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

namespace tilewright::oracle {
namespace {

std::vector<Row> activations(const Net& net, const Row& x) {
  std::vector<Row> values = {x};
  const std::size_t layers = net.sizes.size() - 1;
  for (std::size_t l = 0; l < layers; ++l) {
    Row y = net.tensors[2 * l + 1];
    for (std::size_t o = 0; o < y.size(); ++o) {
      for (std::size_t i = 0; i < net.sizes[l]; ++i) y[o] += values[l][i] * net.tensors[2 * l][i * y.size() + o];
      if (l + 1 < layers) y[o] = std::max(y[o], 0.0);
    }
    values.push_back(y);
  }
  return values;
}

template <typename Work>
void for_each_head(const ActionSpace& space, const Work& work) {
  std::size_t first = 0;
  for (const std::size_t count : space.categorical) {
    work(first, first + count);
    first += count;
  }
}

Row softmax(const ActionSpace& space, const Row& scores) {
  Row p(space.choice_count());
  for_each_head(space, [&](std::size_t first, std::size_t last) {
    double sum = 0;
    for (std::size_t c = first; c < last; ++c) sum += std::exp(scores[c]);
    for (std::size_t c = first; c < last; ++c) p[c] = std::exp(scores[c]) / sum;
  });
  return p;
}

Row soft_action_back(const ActionSpace& space, const Row& outputs, const Row& noise, const Row& action, const Row& daction) {
  Row doutputs(space.output_size());
  for_each_head(space, [&](std::size_t first, std::size_t last) {
    for (std::size_t c = first; c < last; ++c)
      for (std::size_t k = first; k < last; ++k) doutputs[c] += daction[k] * action[k] * ((c == k ? 1 : 0) - action[c]);
  });
  for (std::size_t c = space.choice_count(); c < space.action_size(); ++c) {
    doutputs[c] = daction[c] * (1 - action[c] * action[c]);
    doutputs[c + space.continuous] = doutputs[c] * std::exp(outputs[c + space.continuous]) * noise[c];
  }
  return doutputs;
}

void add_entropy_back(const ActionSpace& space, const Row& outputs, const Row& noise, double weight, Row& doutputs) {
  const Row p = softmax(space, outputs);
  for_each_head(space, [&](std::size_t first, std::size_t last) {
    for (std::size_t c = first; c < last; ++c)
      for (std::size_t k = first; k < last; ++k) {
        const double slope = -std::log(p[k] + 1e-6) - p[k] / (p[k] + 1e-6);
        doutputs[c] += weight * slope * p[k] * ((c == k ? 1 : 0) - p[c]);
      }
  });
  for (std::size_t c = space.choice_count(); c < space.action_size(); ++c) {
    const double deviation = std::exp(outputs[c + space.continuous]);
    const double dz = -2 * std::tanh(outputs[c] + deviation * noise[c]);
    doutputs[c] += weight * dz;
    doutputs[c + space.continuous] += weight * (1 + dz * deviation * noise[c]);
  }
}

double mean(const Row& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

Row tensor(const TensorFile& file, const std::string& name) {
  const Tensor& found = file.tensors.at(name);
  std::vector<float> values(found.bytes.size() / sizeof(float));
  std::memcpy(values.data(), found.bytes.data(), found.bytes.size());
  return Row(values.begin(), values.end());
}

Net Net::zeros() const {
  Net zero = *this;
  for (Row& values : zero.tensors) std::ranges::fill(values, 0.0);
  return zero;
}

Net net(const TensorFile& file, const std::string& name) {
  Net result;
  for (std::size_t l = 0; file.tensors.contains(name + ".weight" + std::to_string(l)); ++l) {
    const std::string layer = std::to_string(l);
    const Tensor& weight = file.tensors.at(name + ".weight" + layer);
    if (l == 0) result.sizes.push_back(weight.shape.at(0));
    result.sizes.push_back(weight.shape.at(1));
    result.tensors.push_back(tensor(file, name + ".weight" + layer));
    result.tensors.push_back(tensor(file, name + ".bias" + layer));
  }
  return result;
}

Row run(const Net& net, const Row& x) { return activations(net, x).back(); }

Row back(const Net& net, const Row& x, const Row& dy, Net* gradient) {
  const std::vector<Row> values = activations(net, x);
  Row delta = dy;
  for (std::size_t l = net.sizes.size() - 1; l-- > 0;) {
    Row below(net.sizes[l]);
    for (std::size_t o = 0; o < delta.size(); ++o) {
      if (gradient != nullptr) gradient->tensors[2 * l + 1][o] += delta[o];
      for (std::size_t i = 0; i < below.size(); ++i) {
        if (gradient != nullptr) gradient->tensors[2 * l][i * delta.size() + o] += values[l][i] * delta[o];
        if (l == 0 || values[l][i] > 0) below[i] += net.tensors[2 * l][i * delta.size() + o] * delta[o];
      }
    }
    delta = below;
  }
  return delta;
}

Agent agent(const TensorFile& file, const std::string& name, std::size_t critics) {
  const auto trained = [&](const std::string& role) {
    Trained result{
        .online = net(file, name + "." + role), .target = net(file, name + ".target_" + role), .first = {}, .second = {}};
    result.first = result.second = result.online.zeros();
    return result;
  };
  Agent result{.actor = trained("actor"), .critics = {trained("critic")}};
  if (critics == 2) result.critics.push_back(trained("critic2"));
  return result;
}

Row soft_action(const ActionSpace& space, const Row& outputs, const Row& noise) {
  Row scores = outputs;
  for (std::size_t c = 0; c < space.choice_count(); ++c) scores[c] += noise[c];
  Row action = softmax(space, scores);
  for (std::size_t c = space.choice_count(); c < space.action_size(); ++c)
    action.push_back(std::tanh(outputs[c] + std::exp(outputs[c + space.continuous]) * noise[c]));
  return action;
}

double guarded_entropy(const ActionSpace& space, const Row& outputs, const Row& noise) {
  double entropy = 0;
  for (const double p : softmax(space, outputs)) entropy -= p * std::log(p + 1e-6);
  for (std::size_t c = space.choice_count(); c < space.action_size(); ++c) {
    // The density of N(mean, deviation) at z, over the slope of tanh there.
    const double deviation = std::exp(outputs[c + space.continuous]);
    const double z = outputs[c] + deviation * noise[c];
    const double density = std::exp(-0.5 * noise[c] * noise[c]) / (deviation * std::sqrt(2 * std::numbers::pi));
    entropy -= std::log(density / (1 - std::pow(std::tanh(z), 2)));
  }
  return entropy;
}

Row joint(const std::vector<Rows>& observations, const std::vector<Rows>& actions, std::size_t sample) {
  Row row;
  for (const Rows& own : observations) row.insert(row.end(), own[sample].begin(), own[sample].end());
  for (const Rows& own : actions) row.insert(row.end(), own[sample].begin(), own[sample].end());
  return row;
}

std::vector<Rows> target_actions(const EnvironmentSpec& spec, const std::vector<Agent>& agents, const Samples& samples) {
  std::vector<Rows> actions(agents.size());
  for (std::size_t j = 0; j < agents.size(); ++j)
    for (std::size_t b = 0; b < samples.rewards[j].size(); ++b)
      actions[j].push_back(soft_action(spec.agents[j].actions, run(agents[j].actor.target, samples.next_observations[j][b]),
                                       samples.target_noise[j][b]));
  return actions;
}

double critic_loss(const Net& critic, const Rows& inputs, const Row& y, const Row& weights, Net* gradient) {
  double loss = 0;
  const auto count = static_cast<double>(y.size());
  for (std::size_t b = 0; b < y.size(); ++b) {
    const double error = run(critic, inputs[b])[0] - y[b];
    loss += weights[b] * error * error / count;
    if (gradient != nullptr) back(critic, inputs[b], {2 * weights[b] * error / count}, gradient);
  }
  return loss;
}

double actor_loss(const EnvironmentSpec& spec, const Rules& rules, std::size_t self, const Net& actor, const Net& critic,
                  const Samples& samples, Net* gradient) {
  const ActionSpace& space = spec.agents[self].actions;
  const auto count = static_cast<double>(samples.policy_noise.size());
  const auto outputs_count = static_cast<double>(space.output_size());
  double loss = 0;
  std::vector<Rows> actions = samples.actions;
  for (std::size_t b = 0; b < samples.policy_noise.size(); ++b) {
    const Row outputs = run(actor, samples.observations[self][b]);
    actions[self][b] = soft_action(space, outputs, samples.policy_noise[b]);
    const Row x = joint(samples.observations, actions, b);
    loss -= run(critic, x)[0] / count;
    if (rules.soft_actor_critic) {
      loss -= rules.entropy * guarded_entropy(space, outputs, samples.policy_noise[b]) / count;
    } else {
      for (const double output : outputs) loss += rules.logit_penalty * output * output / (count * outputs_count);
    }
    if (gradient == nullptr) continue;
    const Row dx = back(critic, x, {-1 / count}, nullptr);
    const auto own = dx.begin() + static_cast<std::ptrdiff_t>(spec.observation_size() + spec.action_offset(self));
    Row doutputs = soft_action_back(space, outputs, samples.policy_noise[b], actions[self][b],
                                    Row(own, own + static_cast<std::ptrdiff_t>(space.action_size())));
    if (rules.soft_actor_critic) {
      add_entropy_back(space, outputs, samples.policy_noise[b], -rules.entropy / count, doutputs);
    } else {
      for (std::size_t c = 0; c < outputs.size(); ++c)
        doutputs[c] += 2 * rules.logit_penalty * outputs[c] / (count * outputs_count);
    }
    back(actor, samples.observations[self][b], doutputs, gradient);
  }
  return loss;
}

void step(Trained& trained, const Net& gradient, const Rules& rules) {
  const double t = ++trained.steps;
  const double rate = rules.learning_rate * std::sqrt(1 - std::pow(0.999, t)) / (1 - std::pow(0.9, t));
  for (std::size_t k = 0; k < gradient.tensors.size(); ++k) {
    double norm = 0;
    for (const double g : gradient.tensors[k]) norm += g * g;
    const double scale = std::min(1.0, rules.clip / std::sqrt(norm));
    for (std::size_t i = 0; i < gradient.tensors[k].size(); ++i) {
      const double g = norm > 0 ? scale * gradient.tensors[k][i] : 0;
      double& m = trained.first.tensors[k][i];
      double& v = trained.second.tensors[k][i];
      m = 0.9 * m + 0.1 * g;
      v = 0.999 * v + 0.001 * g * g;
      trained.online.tensors[k][i] -= rate * m / (std::sqrt(v) + rules.epsilon);
    }
  }
}

StepLosses update(const EnvironmentSpec& spec, const Rules& rules, std::size_t self, std::vector<Agent>& agents,
                  const Samples& samples, const std::vector<Rows>& next_actions) {
  Agent& own = agents[self];
  const std::size_t count = samples.weights.size();
  Rows inputs, next_inputs;
  Row entropies;
  for (std::size_t b = 0; b < count; ++b) {
    inputs.push_back(joint(samples.observations, samples.actions, b));
    next_inputs.push_back(joint(samples.next_observations, next_actions, b));
    entropies.push_back(guarded_entropy(spec.agents[self].actions, run(own.actor.online, samples.next_observations[self][b]),
                                        samples.next_noise[b]));
  }
  if (rules.entropy_batch_mean) std::ranges::fill(entropies, mean(entropies));
  Row y;
  for (std::size_t b = 0; b < count; ++b) {
    double value = run(own.critics[0].target, next_inputs[b])[0];
    if (rules.soft_actor_critic)
      value = std::min(value, run(own.critics[1].target, next_inputs[b])[0]) + rules.entropy * entropies[b];
    y.push_back(samples.rewards[self][b] + rules.gamma * (1 - samples.terminated[self][b]) * value);
  }

  StepLosses losses{.squared_errors = Row(count)};
  for (Trained& critic : own.critics) {
    for (std::size_t b = 0; b < count; ++b)
      losses.squared_errors[b] = std::max(losses.squared_errors[b], std::pow(run(critic.online, inputs[b])[0] - y[b], 2));
    Net gradient = critic.online.zeros();
    losses.critic +=
        critic_loss(critic.online, inputs, y, samples.weights, &gradient) / static_cast<double>(own.critics.size());
    step(critic, gradient, rules);
  }
  Net gradient = own.actor.online.zeros();
  losses.actor = actor_loss(spec, rules, self, own.actor.online, own.critics[0].online, samples, &gradient);
  step(own.actor, gradient, rules);

  const auto move = [&](Trained& trained) {
    for (std::size_t k = 0; k < trained.online.tensors.size(); ++k)
      for (std::size_t i = 0; i < trained.online.tensors[k].size(); ++i)
        trained.target.tensors[k][i] =
            (1 - rules.tau) * trained.target.tensors[k][i] + rules.tau * trained.online.tensors[k][i];
  };
  move(own.actor);
  for (Trained& critic : own.critics) move(critic);
  return losses;
}

}  // namespace tilewright::oracle
