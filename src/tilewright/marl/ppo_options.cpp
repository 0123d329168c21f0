#include <string_view>

#include <fmt/format.h>

#include "tilewright/marl/ppo.hpp"

namespace tilewright {

Result<Done> check(const PpoOptions& options) {
  const auto wrong = [](std::string_view name, auto is, std::string_view expected) {
    return invalid(fmt::format("{} is {}, expected {}", name, is, expected));
  };
  if (options.rollout == 0) return wrong("rollout", options.rollout, "at least 1");
  if (options.epochs == 0) return wrong("epochs", options.epochs, "at least 1");
  if (options.minibatches == 0) return wrong("minibatches", options.minibatches, "at least 1");
  for (const std::size_t width : options.hidden) {
    if (width == 0) return wrong("a hidden layer's width", width, "at least 1");
  }
  // Negated comparisons, so that NaN is wrong too.
  if (!(options.learning_rate >= 0)) return wrong("learning_rate", options.learning_rate, "at least 0");
  if (!(options.gamma >= 0 && options.gamma <= 1)) return wrong("gamma", options.gamma, "0 to 1");
  if (!(options.gae_lambda >= 0 && options.gae_lambda <= 1)) return wrong("gae_lambda", options.gae_lambda, "0 to 1");
  if (!(options.clip > 0)) return wrong("clip", options.clip, "more than 0");
  if (!(options.entropy_bonus >= 0)) return wrong("entropy_bonus", options.entropy_bonus, "at least 0");
  if (!(options.max_gradient_norm >= 0)) return wrong("max_gradient_norm", options.max_gradient_norm, "at least 0");
  return Done{};
}

}  // namespace tilewright
