#include "tilewright/study/train_world.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/text.hpp"
#include "tilewright/base/tokens.hpp"
#include "tilewright/marl/toy_games.hpp"
#include "tilewright/particle/animation.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

std::vector<TrainChoice> worlds() {
  std::vector<TrainChoice> choices;
  for (const ScenarioSummary& scenario : particle_scenarios()) choices.push_back({scenario.name, scenario.summary});
  for (const ToyGame& game : toy_games()) choices.push_back({game.name, game.summary});
  return choices;
}

std::vector<TrainChoice> algorithm_choices() {
  std::vector<TrainChoice> choices;
  for (const auto& [algorithm, word] : Names<Algorithm>::kTable) choices.push_back({word, summary_of(algorithm)});
  return choices;
}

constexpr TrainChoice kSamplers[] = {
    {"uniform", "independent draws"},
    {"neighbor:N", "up to N transitions before and after each reference, itself left out (arXiv 2305.13411)"},
    {"run:N", "runs of N transitions that follow each other"},
    {"prioritized", "by squared error, with importance weights"},
    {"reuse:N", "prioritized draws whose most important part serves N updates (after arXiv 2306.00187)"},
};

constexpr TrainChoice kLayouts[] = {
    {"state", "one row per transition with the world state, from which observations are rebuilt; the default where it can"},
    {"joint", "one row per transition with the observations of all agents"},
    {"per-agent", "one buffer per agent, as the published implementations have"},
};

}  // namespace

Result<World> make_world(const TrainSettings& settings) {
  std::vector<std::string> names;
  for (const TrainChoice& choice : worlds()) names.emplace_back(choice.name);
  if (std::ranges::find(names, *settings.world) == names.end()) {
    return invalid(fmt::format("world {} is not known{}, expected one of {}", in_quotes(*settings.world),
                               did_you_mean(*settings.world, names), join(names, ", ")));
  }
  World world;
  if (is_toy(settings)) {
    TW_TRY(world.environment,
           make_toy_game(*settings.world, static_cast<std::size_t>(settings.agents.value_or(0)),
                         static_cast<std::size_t>(*settings.worlds), static_cast<std::uint64_t>(*settings.seed)));
    return world;
  }
  TW_TRY(std::unique_ptr<ParticleEnvironment> particle, make_particle_environment(particle_options(settings)));
  world.particle = particle.get();
  world.environment = std::move(particle);
  return world;
}

std::vector<TrainChoices> train_choices() {
  return {{"worlds", worlds()},
          {"algorithms", algorithm_choices()},
          {"samplers", {std::begin(kSamplers), std::end(kSamplers)}},
          {"layouts", {std::begin(kLayouts), std::end(kLayouts)}}};
}

std::string to_json(const std::vector<TrainChoices>& choices) {
  Json json = Json::object();
  for (const TrainChoices& part : choices) {
    json[part.title] = Json::array();
    for (const TrainChoice& choice : part.choices) {
      json[part.title].push_back({{"name", choice.name}, {"summary", choice.summary}});
    }
  }
  return json.dump(2) + "\n";
}

Json to_json(const EnvironmentSpec& spec) {
  Json agents = Json::array();
  for (const AgentSpec& agent : spec.agents) {
    agents.push_back({{"name", agent.name},
                      {"team", agent.team},
                      {"observation_size", agent.observation_size},
                      {"choices", agent.actions.categorical},
                      {"continuous", agent.actions.continuous}});
  }
  return {{"name", spec.name},
          {"episode_length", spec.episode_length},
          {"state_size", spec.state_size()},
          {"terminates", spec.terminates},
          {"masks", spec.masks},
          {"agents", agents}};
}

std::vector<std::string> team_names(const EnvironmentSpec& spec) {
  std::vector<std::string> names;
  for (const AgentSpec& agent : spec.agents) {
    if (std::ranges::find(names, agent.team) == names.end()) names.push_back(agent.team);
  }
  return names;
}

std::vector<double> team_returns(const EnvironmentSpec& spec, const std::vector<double>& agent_returns) {
  const std::vector<std::string> names = team_names(spec);
  std::vector<double> returns(names.size());
  for (std::size_t agent = 0; agent < spec.agent_count(); ++agent) {
    const auto team = std::ranges::find(names, spec.agents[agent].team) - names.begin();
    returns[static_cast<std::size_t>(team)] += agent_returns[agent];
  }
  return returns;
}

std::string render_episode(ParticleEnvironment& environment, Learner& learner, const std::string& title) {
  constexpr std::uint64_t kEpisode = std::uint64_t{1} << 41;  // far from those of training and evaluation
  const EnvironmentSpec& spec = environment.spec();
  std::vector<float> actions(environment.world_count() * spec.action_size());
  environment.reset(kEpisode);
  std::vector<std::vector<Body>> frames = {environment.bodies(0)};
  do {
    const WorldArrays& arrays = environment.arrays();
    learner.act(arrays.observations, arrays.masks, environment.world_count(), Acting::Greedy, actions);
    environment.step(actions);
    frames.push_back(environment.bodies(0));
  } while (!has_ended(environment.arrays(), 0, spec.agent_count()));
  return animated_svg(frames, title);
}

}  // namespace tilewright
