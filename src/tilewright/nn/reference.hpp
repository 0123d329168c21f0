// The arithmetic of nn once more, as plainly as it can be written: forward and backward of each piece side by side, one
// sample at a time, in float or double. Nothing here is fast; the fast code is tested against it, and it against finite
// differences.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

#include "tilewright/nn/heads.hpp"
#include "tilewright/nn/mlp.hpp"

namespace tilewright::reference {

template <typename T>
using Vector = std::vector<T>;

// w[i][o] multiplies input i in output o.
template <typename T>
struct Dense {
  Vector<Vector<T>> w;
  Vector<T> b;
};
template <typename T>
using Network = std::vector<Dense<T>>;

template <typename T>
Network<T> network_of(const Mlp& mlp) {
  Network<T> network;
  for (std::size_t l = 0; l < mlp.layer_count(); ++l) {
    Dense<T> layer;
    for (std::size_t i = 0; i < mlp.weight(l).rows; ++i)
      layer.w.emplace_back(mlp.weight(l).row(i), mlp.weight(l).row(i) + mlp.weight(l).columns);
    layer.b.assign(mlp.bias(l).begin(), mlp.bias(l).end());
    network.push_back(std::move(layer));
  }
  return network;
}

template <typename T>
Vector<T> dense_forward(const Dense<T>& layer, const Vector<T>& x) {
  Vector<T> y = layer.b;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t o = 0; o < y.size(); ++o) y[o] += x[i] * layer.w[i][o];
  return y;
}
// Adds to `gradient`; returns dx.
template <typename T>
Vector<T> dense_backward(const Dense<T>& layer, const Vector<T>& x, const Vector<T>& dy, Dense<T>& gradient) {
  Vector<T> dx(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t o = 0; o < dy.size(); ++o) {
      gradient.w[i][o] += x[i] * dy[o];
      dx[i] += layer.w[i][o] * dy[o];
    }
  }
  for (std::size_t o = 0; o < dy.size(); ++o) gradient.b[o] += dy[o];
  return dx;
}

template <typename T>
T activate(Activation f, T x) {
  return f == Activation::Relu ? std::max(x, T{0}) : std::tanh(x);
}
template <typename T>
T slope(Activation f, T y) {  // at y = f(x)
  return f == Activation::Relu ? (y > 0 ? T{1} : T{0}) : 1 - y * y;
}

// The inputs of every layer, and at last the outputs of the network.
template <typename T>
std::vector<Vector<T>> forward(const Network<T>& network, Activation f, const Vector<T>& x) {
  std::vector<Vector<T>> values = {x};
  for (std::size_t l = 0; l < network.size(); ++l) {
    Vector<T> y = dense_forward(network[l], values.back());
    if (l + 1 < network.size()) std::ranges::transform(y, y.begin(), [f](T v) { return activate(f, v); });
    values.push_back(std::move(y));
  }
  return values;
}
// Adds to `gradient`; returns dx.
template <typename T>
Vector<T> backward(const Network<T>& network, Activation f, const std::vector<Vector<T>>& values, Vector<T> dy,
                   Network<T>& gradient) {
  for (std::size_t l = network.size(); l-- > 0;) {
    dy = dense_backward(network[l], values[l], dy, gradient[l]);
    if (l == 0) break;
    for (std::size_t i = 0; i < dy.size(); ++i) dy[i] *= slope(f, values[l][i]);
  }
  return dy;
}

// One row of a policy's heads. `mask` is empty or has one number per choice.
struct Head {
  std::size_t first, count;
};
inline std::vector<Head> heads_of(const ActionSpace& space) {
  std::vector<Head> heads;
  std::size_t first = 0;
  for (const std::size_t count : space.categorical) {
    heads.push_back({first, count});
    first += count;
  }
  return heads;
}

template <typename T>
bool is_allowed(const Vector<T>& mask, std::size_t choice) {
  return mask.empty() || mask[choice] != 0;
}
template <typename T>
T log_std_of(const ActionSpace& space, const Vector<T>& outputs, std::size_t c) {
  return std::clamp<T>(outputs[space.action_size() + c], kLeastLogStd, kMostLogStd);
}
template <typename T>
bool is_limited(const ActionSpace& space, const Vector<T>& outputs, std::size_t c) {
  return log_std_of(space, outputs, c) != outputs[space.action_size() + c];
}

// Probabilities of all choices; 0 where not allowed.
template <typename T>
Vector<T> probabilities(const ActionSpace& space, const Vector<T>& scores, const Vector<T>& mask) {
  Vector<T> p(space.choice_count());
  for (const auto& [first, count] : heads_of(space)) {
    T most = -std::numeric_limits<T>::infinity(), sum = 0;
    for (std::size_t c = first; c < first + count; ++c)
      if (is_allowed(mask, c)) most = std::max(most, scores[c]);
    for (std::size_t c = first; c < first + count; ++c)
      if (is_allowed(mask, c)) sum += p[c] = std::exp(scores[c] - most);
    for (std::size_t c = first; c < first + count; ++c)
      if (sum > 0) p[c] /= sum;
  }
  return p;
}

template <typename T>
Vector<T> soft_actions(const ActionSpace& space, const Vector<T>& outputs, const Vector<T>& noise, const Vector<T>& mask) {
  Vector<T> scores(space.choice_count());
  for (std::size_t c = 0; c < scores.size(); ++c) scores[c] = outputs[c] + noise[c];
  Vector<T> actions = probabilities(space, scores, mask);
  for (std::size_t c = 0; c < space.continuous; ++c) {
    const std::size_t at = space.choice_count() + c;
    actions.push_back(std::tanh(outputs[at] + std::exp(log_std_of(space, outputs, c)) * noise[at]));
  }
  return actions;
}
template <typename T>
Vector<T> soft_actions_backward(const ActionSpace& space, const Vector<T>& outputs, const Vector<T>& noise,
                                const Vector<T>& actions, const Vector<T>& dactions) {
  Vector<T> d(space.output_size());
  for (const auto& [first, count] : heads_of(space)) {
    T mean = 0;
    for (std::size_t c = first; c < first + count; ++c) mean += actions[c] * dactions[c];
    for (std::size_t c = first; c < first + count; ++c) d[c] = actions[c] * (dactions[c] - mean);
  }
  for (std::size_t c = 0; c < space.continuous; ++c) {
    const std::size_t at = space.choice_count() + c;
    d[at] = dactions[at] * (1 - actions[at] * actions[at]);
    if (!is_limited(space, outputs, c))
      d[at + space.continuous] = d[at] * std::exp(log_std_of(space, outputs, c)) * noise[at];
  }
  return d;
}

template <typename T>
T unsquashed(T action) {
  const T most = T{1} - static_cast<T>(0x1p-20);
  return std::atanh(std::clamp(action, -most, most));
}
template <typename T>
T log_probability(const ActionSpace& space, const Vector<T>& outputs, const Vector<T>& actions, const Vector<T>& mask) {
  const Vector<T> p = probabilities(space, outputs, mask);
  T sum = 0;
  for (std::size_t c = 0; c < p.size(); ++c)
    if (actions[c] != 0) sum += actions[c] * std::log(p[c]);
  for (std::size_t c = 0; c < space.continuous; ++c) {
    const std::size_t at = space.choice_count() + c;
    const T z = unsquashed(actions[at]), log_std = log_std_of(space, outputs, c);
    const T distance = (z - outputs[at]) / std::exp(log_std), y = std::tanh(z);
    sum -= distance * distance / 2 + log_std + std::log(2 * std::numbers::pi_v<T>) / 2 + std::log(1 - y * y);
  }
  return sum;
}
template <typename T>
T entropy(const ActionSpace& space, const Vector<T>& outputs, const Vector<T>& mask) {
  T sum = 0;
  for (const T p : probabilities(space, outputs, mask))
    if (p > 0) sum -= p * std::log(p);
  for (std::size_t c = 0; c < space.continuous; ++c)
    sum += log_std_of(space, outputs, c) + (std::log(2 * std::numbers::pi_v<T>) + 1) / 2;
  return sum;
}
// The gradient of weight_log·log_probability + weight_entropy·entropy.
template <typename T>
Vector<T> policy_backward(const ActionSpace& space, const Vector<T>& outputs, const Vector<T>& actions,
                          const Vector<T>& mask, T weight_log, T weight_entropy) {
  const Vector<T> p = probabilities(space, outputs, mask);
  Vector<T> d(space.output_size());
  for (const auto& [first, count] : heads_of(space)) {
    T head_entropy = 0;
    for (std::size_t c = first; c < first + count; ++c)
      if (p[c] > 0) head_entropy -= p[c] * std::log(p[c]);
    for (std::size_t c = first; c < first + count; ++c) {
      if (p[c] == 0) continue;
      d[c] = weight_log * (actions[c] - p[c]) - weight_entropy * p[c] * (std::log(p[c]) + head_entropy);
    }
  }
  for (std::size_t c = 0; c < space.continuous; ++c) {
    const std::size_t at = space.choice_count() + c;
    const T deviation = std::exp(log_std_of(space, outputs, c));
    const T distance = (unsquashed(actions[at]) - outputs[at]) / deviation;
    d[at] = weight_log * distance / deviation;
    if (!is_limited(space, outputs, c)) d[at + space.continuous] = weight_log * (distance * distance - 1) + weight_entropy;
  }
  return d;
}

// Kingma and Ba's algorithm in the form with the corrections in the rate; `step` counts from 1.
template <typename T>
struct Adam {
  T learning_rate, beta1, beta2, epsilon;
  Vector<T> first, second;

  void step(std::span<T> values, std::span<const T> gradient, int step) {
    const T rate = learning_rate * std::sqrt(1 - std::pow(beta2, T(step))) / (1 - std::pow(beta1, T(step)));
    for (std::size_t i = 0; i < values.size(); ++i) {
      first[i] = beta1 * first[i] + (1 - beta1) * gradient[i];
      second[i] = beta2 * second[i] + (1 - beta2) * gradient[i] * gradient[i];
      values[i] -= rate * first[i] / (std::sqrt(second[i]) + epsilon);
    }
  }
};

}  // namespace tilewright::reference
