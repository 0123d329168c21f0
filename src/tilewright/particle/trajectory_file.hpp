// A recorded trajectory as data.
//
// The file is a JSON object with `scenario`, `variant` ("openai"; "mpe2" or "pettingzoo"), and one of two forms:
//   init: {pos, landmarks}, N, M, L    steps: [{action, pos, vel, reward}]
//   init: {agents: [{pos, vel, c}], landmarks}, obs0    steps: [{action, obs, reward, state: {agents, landmarks}}]
// N are agents or predators, M prey, L landmarks. An action is a vector, or an integer: the place of the one in a one-hot
// vector (openai), or movement + 5 · word (mpe2).
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/particle/scenario.hpp"

namespace tilewright {

// What was recorded of one moment; what was not is empty.
struct RecordedMoment {
  std::vector<double> positions;   // two per agent
  std::vector<double> velocities;  // two per agent
  std::vector<double> landmarks;   // two per landmark
  std::vector<double> words;       // word_size per agent, silent ones too
  std::vector<double> rewards;
  std::vector<std::vector<double>> observations;
};

struct RecordedStep {
  std::vector<std::vector<double>> actions;  // of each agent, as a vector
  RecordedMoment after;
};

struct Trajectory {
  std::string scenario_name;
  Dialect dialect = Dialect::OpenAi;
  std::unique_ptr<Scenario> scenario;
  RecordedMoment start;
  std::vector<RecordedStep> steps;
};

Result<Trajectory> read_trajectory(const std::filesystem::path& path);  // .json or .json.gz
Result<Trajectory> trajectory_from_json(const std::string& content, const std::string& where);

}  // namespace tilewright
