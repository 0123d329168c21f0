// The settings of a training: the one list of them, what they may be, and how they are written down.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/text.hpp"
#include "tilewright/base/tokens.hpp"
#include "tilewright/study/training_parts.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

enum class For { Any, Particle, Tag, OffPolicy, Maddpg, Masac, OnPolicy, MasacOrOnPolicy };

struct TrainField {
  For whom;
  OptionField field;
};

// A setting that has a text; nothing is written as nothing.
template <typename Value, typename Text, typename Read>
Worded worded(std::optional<Value>& value, const Text& text, const Read& read) {
  return {[&value, text] { return value ? std::string(text(*value)) : std::string(); },
          [&value, read](const std::string& word) -> Result<Done> {
            TW_TRY(value, read(word));
            return Done{};
          },
          {}};
}

template <Named Enum>
Worded worded(std::optional<Enum>& value) {
  Worded both = worded(
      value, [](Enum one) { return name(one); }, [](const std::string& word) { return named<Enum>(word); });
  both.choices = names<Enum>();
  return both;
}

std::string hidden_text(const std::vector<std::size_t>& hidden) { return fmt::format("{}", fmt::join(hidden, ",")); }

Result<std::vector<std::size_t>> hidden_from(const std::string& text) {
  std::vector<std::size_t> sizes;
  for (const std::string_view part : split(text, ',')) {
    const auto size = parse_integer(trim(part));
    if (!size || *size < 1 || *size > 65'536) {
      return invalid(fmt::format("--hidden is {}, expected layer sizes like 64,64", in_quotes(text)));
    }
    sizes.push_back(static_cast<std::size_t>(*size));
  }
  return sizes;
}

std::string prey_text(const Prey& prey) {
  return prey.controller == PreyController::Network ? prey.file : std::string(name(prey.controller));
}

Result<Prey> prey_from(const std::string& text) {
  TW_TRY(const PreyController controller, parse_prey(text));
  return Prey{controller, controller == PreyController::Network ? text : ""};
}

constexpr std::string_view kWorld = "World", kLearning = "Learning", kOffPolicy = "maddpg, masac", kOnPolicy = "ippo, mappo",
                           kRun = "Run and results";

OptionTraits within(std::string_view group, double least, double most) {
  return {.group = group, .least = least, .most = most, .default_is_said = true};
}
OptionTraits word(std::string_view group) { return {.group = group, .default_is_said = true}; }

std::vector<TrainField> world_fields(TrainSettings& s) {
  return {
      {For::Any, {"world", &s.world, "simple_spread, simple_tag, … or toy:NAME (see --list)", {.positional = true}}},
      {For::Any, {"algorithm", worded(s.algorithm), "maddpg (default), masac, ippo, mappo"}},
      {For::Any, {"agents", &s.agents, "agents that learn; default: the world's own number", within("", 1, 1024)}},
      {For::Any, {"worlds", &s.worlds, "copies side by side; default 1", within(kWorld, 1, 65536)}},
      {For::Any,
       {"seed", &s.seed, "default 1; the same seed gives the same bits for any number of threads", within("", 0, 0x1p63)}},
      {For::Particle, {"dialect", worded(s.dialect), "openai (default) or pettingzoo", word(kWorld)}},
      {For::Particle,
       {"contacts", worded(s.contacts), "fast (default) leaves out forces below 5e-19; exact has all", word(kWorld)}},
      {For::Particle, {"episode-length", &s.episode_length, "steps; default 25", within(kWorld, 1, 1e6)}},
      {For::Tag,
       {"prey", worded(s.prey, prey_text, prey_from),
        "simple_tag: random (default), frozen, heuristic, learning, or a policy file", word(kWorld)}},
      {For::Tag, {"prey-count", &s.prey_count, "simple_tag; default: by the number of predators", within(kWorld, 1, 1024)}},
      {For::Tag, {"obstacles", &s.obstacles, "simple_tag; default: by the number of predators", within(kWorld, 1, 1024)}},
  };
}

std::vector<TrainField> learning_fields(TrainSettings& s) {
  const OffPolicyOptions off;
  const PpoOptions ppo;
  return {
      {For::Any,
       {"hidden", worded(s.hidden, hidden_text, hidden_from), "sizes of the hidden layers; default 64,64", word(kLearning)}},
      {For::Any,
       {"learning-rate", &s.learning_rate, fmt::format("default {}; ippo, mappo {}", off.learning_rate, ppo.learning_rate),
        within(kLearning, 0, 1e6)}},
      {For::Any, {"gamma", &s.gamma, fmt::format("discount; default {}", off.gamma), within(kLearning, 0, 1)}},
      {For::Any,
       {"clip-norm", &s.clip_norm, fmt::format("most norm of a gradient; 0 = no limit; default {}", off.clip),
        within(kLearning, 0, 1e12)}},
  };
}

std::vector<TrainField> off_policy_fields(TrainSettings& s) {
  const OffPolicyOptions off;
  const PpoOptions ppo;
  return {
      {For::OffPolicy,
       {"sampler",
        worded(
            s.sampler, [](const SamplerSpec& spec) { return to_string(spec); }, parse_sampler),
        "uniform (default), neighbor:N, run:N, prioritized, reuse:N", word(kOffPolicy)}},
      {For::OffPolicy,
       {"layout",
        worded(
            s.layout, [](ReplayLayout layout) { return to_string(layout); }, parse_layout),
        "of the replay memory: state (default where it can), joint, per-agent", word(kOffPolicy)}},
      {For::OffPolicy,
       {"semantics",
        worded(
            s.semantics, [](Semantics semantics) { return to_string(semantics); }, parse_semantics),
        "shared (default): one mini-batch for all agents; openai: one each, in turn", word(kOffPolicy)}},
      {For::OffPolicy,
       {"capacity", &s.capacity, fmt::format("transitions of the replay memory; default {}", off.capacity),
        within(kOffPolicy, 1, 4e9)}},
      {For::OffPolicy,
       {"batch", &s.batch, fmt::format("transitions of a mini-batch; default {}", off.batch), within(kOffPolicy, 1, 1e7)}},
      {For::OffPolicy,
       {"warm-up", &s.warm_up, fmt::format("transitions before the first update; default {}", off.warm_up),
        within(kOffPolicy, 1, 1e12)}},
      {For::OffPolicy,
       {"update-every", &s.update_every, fmt::format("steps between updates; default {}", off.update_every),
        within(kOffPolicy, 1, 1e12)}},
      {For::OffPolicy, {"tau", &s.tau, fmt::format("how far targets move; default {}", off.tau), within(kOffPolicy, 0, 1)}},
      {For::Maddpg,
       {"logit-penalty", &s.logit_penalty, fmt::format("maddpg; default {}", off.logit_penalty),
        within(kOffPolicy, 0, 1e6)}},
      {For::MasacOrOnPolicy,
       {"entropy", &s.entropy, fmt::format("its weight: masac {}, ippo, mappo {}", off.entropy, ppo.entropy_bonus),
        within(kLearning, 0, 1e6)}},
      {For::Masac, {"entropy-form", worded(s.entropy_form), "masac: per-sample (default), batch-mean", word(kOffPolicy)}},
  };
}

std::vector<TrainField> on_policy_fields(TrainSettings& s) {
  const PpoOptions ppo;
  return {
      {For::OnPolicy,
       {"activation", worded(s.activation), fmt::format("relu or tanh; default {}", name(ppo.activation)), word(kOnPolicy)}},
      {For::OnPolicy,
       {"rollout", &s.rollout, fmt::format("steps between updates; default {}", ppo.rollout), within(kOnPolicy, 1, 1e8)}},
      {For::OnPolicy,
       {"epochs", &s.epochs, fmt::format("passes over a rollout; default {}", ppo.epochs), within(kOnPolicy, 1, 1e6)}},
      {For::OnPolicy,
       {"minibatches", &s.minibatches, fmt::format("per pass; default {}", ppo.minibatches), within(kOnPolicy, 1, 1e6)}},
      {For::OnPolicy,
       {"gae-lambda", &s.gae_lambda, fmt::format("1 = Monte Carlo, 0 = one step; default {}", ppo.gae_lambda),
        within(kOnPolicy, 0, 1)}},
      {For::OnPolicy, {"clip-ratio", &s.clip_ratio, fmt::format("default {}", ppo.clip), within(kOnPolicy, 0, 1e6)}},
      {For::Any,
       {"curve-every", &s.curve_every, "episodes per point of the curve; default 1000, less in short runs",
        within(kRun, 1, 1e12)}},
  };
}

std::vector<TrainField> fields_of(TrainSettings& settings) {
  std::vector<TrainField> fields;
  for (const auto& part : {world_fields, learning_fields, off_policy_fields, on_policy_fields}) {
    for (TrainField& field : part(settings)) fields.push_back(std::move(field));
  }
  return fields;
}

// Empty when the setting fits the world and the algorithm; otherwise whom it is for.
std::string misplaced(For whom, const TrainSettings& settings) {
  const std::string& world = *settings.world;
  const std::string_view algorithm = name(*settings.algorithm);
  const bool on_policy = is_on_policy(*settings.algorithm);
  const auto belongs = [](bool fits, std::string_view owner, std::string_view what, std::string_view is) {
    return fits ? "" : fmt::format("belongs to {}, but the {} is {}", owner, what, is);
  };
  switch (whom) {
    case For::Any:
      break;
    case For::Particle:
      return belongs(!is_toy(settings), "particle worlds", "world", world);
    case For::Tag:
      return belongs(world == "simple_tag", "simple_tag", "world", world);
    case For::OffPolicy:
      return belongs(!on_policy, "maddpg and masac", "algorithm", algorithm);
    case For::Maddpg:
      return belongs(settings.algorithm == Algorithm::Maddpg, "maddpg", "algorithm", algorithm);
    case For::Masac:
      return belongs(settings.algorithm == Algorithm::Masac, "masac", "algorithm", algorithm);
    case For::OnPolicy:
      return belongs(on_policy, "ippo and mappo", "algorithm", algorithm);
    case For::MasacOrOnPolicy:
      return belongs(settings.algorithm != Algorithm::Maddpg, "masac, ippo and mappo", "algorithm", algorithm);
  }
  return "";
}

}  // namespace

bool is_toy(const TrainSettings& settings) { return settings.world && settings.world->starts_with("toy:"); }

OptionTable options_of(TrainSettings& settings) {
  OptionTable table;
  for (TrainField& field : fields_of(settings)) table.push_back(std::move(field.field));
  return table;
}

OptionTable options_of(TrainOptions& options) {
  OptionTable table = options_of(options.settings);
  const auto most = static_cast<double>(kMostEpisodes);
  table.push_back(
      {"episodes", &options.episodes, "default 25000; more than a directory holds continues it", within("", 1, most)});
  table.push_back({"resume", &options.resume, "take the settings from the run in -o DIR", word(kRun)});
  table.push_back({"checkpoint-every", &options.checkpoint_every,
                   fmt::format("episodes; 0 = only at the end; default {}", kDefaultCheckpointEvery),
                   within(kRun, 0, most)});
  table.push_back({"eval", &options.eval, "greedy episodes at the end", within(kRun, 0, most)});
  table.push_back(
      {"counters", &options.counters, "count cache and TLB misses per phase, where the system allows it", word(kRun)});
  return table;
}

Result<Done> check(const TrainSettings& settings) {
  TrainSettings copy = settings;
  for (const TrainField& field : fields_of(copy)) {
    if (!value_text(field.field)) continue;
    const std::string why = misplaced(field.whom, settings);
    if (!why.empty()) return invalid(fmt::format("{} {}", flag_of(field.field), why));
  }
  return check_ranges(options_of(copy));
}

Json to_json(const TrainSettings& settings) {
  TrainSettings copy = settings;
  return to_json(options_of(copy));
}

Result<TrainSettings> settings_from_json(const Json& json, const std::string& where) {
  TrainSettings settings;
  TW_TRY([[maybe_unused]] const Done read, read_options(options_of(settings), json, where));
  if (!settings.world) return invalid(fmt::format("{}: world is missing", where));
  return settings;
}

std::optional<Error> first_difference(const TrainSettings& given, const TrainSettings& recorded, const std::string& where) {
  const Json ours = to_json(given), theirs = to_json(recorded);
  for (const auto& [field, value] : ours.items()) {
    const bool has = theirs.contains(field);
    if (has && theirs.at(field) == value) continue;
    const std::string was = has ? "says " + theirs.at(field).dump() : "leaves it out";
    const std::string is = value.is_string()         ? in_quotes(value.get<std::string>())
                           : value.is_number_float() ? fmt::format("{}", value.get<double>())
                                                     : value.dump();
    return invalid(
        fmt::format("--{} is {}, but {} {}: expected the same settings, or another directory", field, is, where, was));
  }
  return std::nullopt;
}

}  // namespace tilewright
