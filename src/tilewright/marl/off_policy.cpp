#include "tilewright/marl/off_policy.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/base/tokens.hpp"
#include "tilewright/marl/off_policy_learner.hpp"

namespace tilewright {
namespace {

// One sentence when the options cannot work; empty otherwise.
std::string complaint(const OffPolicyAlgorithm& algorithm, const EnvironmentSpec& spec, const OffPolicyOptions& options) {
  if (spec.agents.empty()) return fmt::format("environment '{}' has no agents, expected at least one", spec.name);
  if (spec.masks) {
    return fmt::format("environment '{}' forbids actions by masks, which {} cannot follow, expected ippo or mappo",
                       spec.name, algorithm.name);
  }
  if (options.layout == ReplayLayout::State && !spec.table) {
    return fmt::format(
        "environment '{}' does not say how observations follow from states, expected layout joint or per-agent", spec.name);
  }
  if (options.batch == 0) return "batch is 0, expected at least 1";
  if (options.update_every == 0) return "steps between updates are 0, expected at least 1";
  if (options.warm_up == 0) return "warm-up is 0 transitions, expected at least 1";
  if (options.capacity < options.warm_up) {
    return fmt::format("replay holds {} transitions, expected at least the {} of the warm-up", options.capacity,
                       options.warm_up);
  }
  if (std::ranges::find(options.hidden, 0u) != options.hidden.end())
    return "a hidden layer has 0 units, expected at least 1";
  return "";
}

}  // namespace

Result<Semantics> parse_semantics(std::string_view text) {
  static const std::vector<std::string> kNames = {"shared", "openai"};
  if (text == "shared") return Semantics::Shared;
  if (text == "openai") return Semantics::OpenAi;
  return invalid(fmt::format("semantics {} are not known{}, expected one of {}", in_quotes(text), did_you_mean(text, kNames),
                             join(kNames, ", ")));
}

std::string_view to_string(Semantics semantics) { return semantics == Semantics::Shared ? "shared" : "openai"; }

Result<std::unique_ptr<Learner>> make_off_policy(const OffPolicyAlgorithm& algorithm, const EnvironmentSpec& spec,
                                                 const OffPolicyOptions& options, std::uint64_t seed, ThreadPool& threads,
                                                 Profile& profile) {
  std::string why_not = complaint(algorithm, spec, options);
  if (!why_not.empty()) return invalid(std::move(why_not));
  return std::unique_ptr<Learner>(std::make_unique<OffPolicyLearner>(algorithm, spec, options, seed, threads, profile));
}

}  // namespace tilewright
