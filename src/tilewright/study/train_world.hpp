// The worlds one can train in: particle scenarios and toy games.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tilewright/marl/environment.hpp"
#include "tilewright/marl/learner.hpp"
#include "tilewright/particle/particle_environment.hpp"
#include "tilewright/study/training.hpp"

namespace tilewright {

struct World {
  std::unique_ptr<Environment> environment;
  ParticleEnvironment* particle = nullptr;  // the same, when it can be drawn
};

// Of resolved settings. An unknown name is an Error with the nearest one.
Result<World> make_world(const TrainSettings& settings);

// Worlds, algorithms, samplers and layouts to choose from.
struct TrainChoice {
  std::string_view name, summary;
};
struct TrainChoices {
  std::string title;  // "worlds"
  std::vector<TrainChoice> choices;
};
std::vector<TrainChoices> train_choices();
std::string to_json(const std::vector<TrainChoices>& choices);

nlohmann::ordered_json to_json(const EnvironmentSpec& spec);
ParticleOptions particle_options(const TrainSettings& settings);  // of resolved ones

// Names of the teams in the order of their first agents, and what each team's agents have together.
std::vector<std::string> team_names(const EnvironmentSpec& spec);
std::vector<double> team_returns(const EnvironmentSpec& spec, const std::vector<double>& agent_returns);

// One greedy episode, drawn.
std::string render_episode(ParticleEnvironment& environment, Learner& learner, const std::string& title);

}  // namespace tilewright
