#include "tilewright/study/train_settings.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/text.hpp"
#include "tilewright/base/tokens.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

enum class For { Any, Particle, Tag, OffPolicy, Maddpg, Masac, OnPolicy, MasacOrOnPolicy };

struct Bounds {
  double least = 0;
  double most = 1e18;
};

// Calls visit(name, who it is for, allowed range, the field) for every setting; the one list of them.
template <typename Settings, typename Visit>
void for_each_setting(Settings& s, const Visit& visit) {
  constexpr Bounds kText{}, kCount{1, 1e12}, kShare{0, 1};
  visit("world", For::Any, kText, s.world);
  visit("algorithm", For::Any, kText, s.algorithm);
  visit("agents", For::Any, Bounds{1, 1024}, s.agents);
  visit("worlds", For::Any, Bounds{1, 65536}, s.worlds);
  visit("seed", For::Any, Bounds{0, 0x1p63}, s.seed);
  visit("dialect", For::Particle, kText, s.dialect);
  visit("contacts", For::Particle, kText, s.contacts);
  visit("episode-length", For::Particle, Bounds{1, 1e6}, s.episode_length);
  visit("prey", For::Tag, kText, s.prey);
  visit("prey-count", For::Tag, Bounds{1, 1024}, s.prey_count);
  visit("obstacles", For::Tag, Bounds{1, 1024}, s.obstacles);
  visit("hidden", For::Any, kText, s.hidden);
  visit("learning-rate", For::Any, Bounds{0, 1e6}, s.learning_rate);
  visit("gamma", For::Any, kShare, s.gamma);
  visit("clip-norm", For::Any, Bounds{0, 1e12}, s.clip_norm);
  visit("sampler", For::OffPolicy, kText, s.sampler);
  visit("layout", For::OffPolicy, kText, s.layout);
  visit("semantics", For::OffPolicy, kText, s.semantics);
  visit("capacity", For::OffPolicy, Bounds{1, 4e9}, s.capacity);
  visit("batch", For::OffPolicy, Bounds{1, 1e7}, s.batch);
  visit("warm-up", For::OffPolicy, kCount, s.warm_up);
  visit("update-every", For::OffPolicy, kCount, s.update_every);
  visit("tau", For::OffPolicy, kShare, s.tau);
  visit("logit-penalty", For::Maddpg, Bounds{0, 1e6}, s.logit_penalty);
  visit("entropy", For::MasacOrOnPolicy, Bounds{0, 1e6}, s.entropy);
  visit("entropy-form", For::Masac, kText, s.entropy_form);
  visit("activation", For::OnPolicy, kText, s.activation);
  visit("rollout", For::OnPolicy, Bounds{1, 1e8}, s.rollout);
  visit("epochs", For::OnPolicy, Bounds{1, 1e6}, s.epochs);
  visit("minibatches", For::OnPolicy, Bounds{1, 1e6}, s.minibatches);
  visit("gae-lambda", For::OnPolicy, kShare, s.gae_lambda);
  visit("clip-ratio", For::OnPolicy, Bounds{0, 1e6}, s.clip_ratio);
  visit("curve-every", For::Any, kCount, s.curve_every);
}

// Empty when the setting fits the world and the algorithm; otherwise whom it is for.
std::string misplaced(For whom, const TrainSettings& settings) {
  const std::string& world = *settings.world;
  const std::string& algorithm = *settings.algorithm;
  const bool on_policy = algorithm == "ippo" || algorithm == "mappo";
  const auto belongs = [](bool fits, std::string_view owner, std::string_view what, const std::string& is) {
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
      return belongs(algorithm == "maddpg", "maddpg", "algorithm", algorithm);
    case For::Masac:
      return belongs(algorithm == "masac", "masac", "algorithm", algorithm);
    case For::OnPolicy:
      return belongs(on_policy, "ippo and mappo", "algorithm", algorithm);
    case For::MasacOrOnPolicy:
      return belongs(algorithm != "maddpg", "masac, ippo and mappo", "algorithm", algorithm);
  }
  return "";
}

template <typename T>
std::string shown(const T& value) {
  return fmt::format("{}", value);
}

// Numbers as options take them: no long tails of zeros, and text in quotes.
std::string shown(const std::string& value) { return in_quotes(value); }

}  // namespace

bool is_toy(const TrainSettings& settings) { return settings.world && settings.world->starts_with("toy:"); }

Result<Done> check(const TrainSettings& settings) {
  const auto& names = algorithm_names();
  if (std::ranges::find(names, *settings.algorithm) == names.end()) return unknown_algorithm(*settings.algorithm);
  std::optional<Error> error;
  for_each_setting(settings, [&](std::string_view name, For whom, Bounds range, const auto& field) {
    if (error || !field) return;
    if (const std::string why = misplaced(whom, settings); !why.empty()) error = invalid(fmt::format("--{} {}", name, why));
    if constexpr (!std::is_same_v<std::decay_t<decltype(*field)>, std::string>) {
      const double value = static_cast<double>(*field);
      if (value >= range.least && value <= range.most) return;
      const std::string expected = value < range.least ? "at least" : "at most";
      error = invalid(
          fmt::format("--{} is {}, expected {} {}", name, *field, expected, value < range.least ? range.least : range.most));
      if (value != value) error = invalid(fmt::format("--{} is not a number", name));
    }
  });
  if (error) return *error;
  return Done{};
}

Json to_json(const TrainSettings& settings) {
  Json json = Json::object();
  for_each_setting(settings, [&](const char* name, For, Bounds, const auto& field) {
    if (field) json[name] = *field;
  });
  return json;
}

Result<TrainSettings> settings_from_json(const Json& json, const std::string& where) {
  TrainSettings settings;
  std::vector<std::string> known;
  std::optional<Error> error;
  for_each_setting(settings, [&](const char* name, For, Bounds, auto& field) {
    known.emplace_back(name);
    if (!json.contains(name)) return;
    using Value = std::decay_t<decltype(*field)>;
    const Json& value = json.at(name);
    const bool fits = std::is_same_v<Value, std::string>    ? value.is_string()
                      : std::is_same_v<Value, std::int64_t> ? value.is_number_integer()
                                                            : value.is_number();
    if (fits) field = value.get<Value>();
    if (!fits) error = invalid(fmt::format("{}: {} is {}, expected another type", where, name, value.dump()));
  });
  for (const auto& [name, value] : json.items()) {
    if (std::ranges::find(known, name) != known.end()) continue;
    return invalid(
        fmt::format("{}: {} is not a setting of this version{}", where, in_quotes(name), did_you_mean(name, known)));
  }
  if (error) return *error;
  if (!settings.world) return invalid(fmt::format("{}: world is missing", where));
  return settings;
}

std::optional<Error> first_difference(const TrainSettings& given, const TrainSettings& recorded, const std::string& where) {
  const Json theirs = to_json(recorded);
  std::optional<Error> error;
  for_each_setting(given, [&](const char* name, For, Bounds, const auto& field) {
    if (error || !field) return;
    const bool has = theirs.contains(name);
    if (has && theirs.at(name) == Json(*field)) return;
    const std::string was = has ? "says " + theirs.at(name).dump() : "leaves it out";
    error = invalid(fmt::format("--{} is {}, but {} {}: expected the same settings, or another directory", name,
                                shown(*field), where, was));
  });
  return error;
}

}  // namespace tilewright
