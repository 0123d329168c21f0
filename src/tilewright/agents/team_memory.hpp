// What a team takes along to other problems besides its policies: good points of the problems it has worked on, as choices
// of its heads, with the features of those problems, so that similar problems can begin from them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/agents/assignment.hpp"
#include "tilewright/base/result.hpp"
#include "tilewright/base/rng.hpp"
#include "tilewright/marl/algorithms.hpp"
#include "tilewright/nn/safetensors.hpp"

namespace tilewright {

// Of every head its choice, which is a place between the least and the largest value, and the value itself: a tile of half
// the channels, and a tile of 32 channels. Which of the two is good elsewhere too depends on what limits the mapping.
struct RememberedPoint {
  std::vector<std::int32_t> choices;  // -1 where the problem has no such parameter
  std::vector<double> sizes;          // 0 where the parameter is no size

  bool operator==(const RememberedPoint&) const = default;
};

struct RememberedProblem {
  std::string name;
  std::vector<float> features;
  std::vector<RememberedPoint> points;  // best first
};

struct TeamMemory {
  std::vector<RememberedProblem> problems;
};

double distance(const std::vector<float>& a, const std::vector<float>& b);

// One of `candidates` (indices; there must be one), each e times less likely per `scale` of distance to `features`.
std::size_t draw_similar(const std::vector<std::vector<float>>& all, const std::vector<std::size_t>& candidates,
                         const std::vector<float>& features, double scale, Rng& rng);

// A trained team as it is kept: what it decides, who decides what, its policies and its memory.
struct SavedTeam {
  std::vector<Parameter> parameters;
  AgentAssignment assignment;
  TeamMemory memory;
  TensorFile policies;
  Algorithm learner = Algorithm::Ippo;
  Critic critic = Critic::Own;
  std::int64_t hidden = 64;
};

// Files assignment.yaml, policies.safetensors and team.json in a folder; all or nothing is read.
Result<Done> write_team(const SavedTeam& team, const std::filesystem::path& folder);
// team.json alone: without policies and assignment.
Result<SavedTeam> team_from_json(const std::string& text, const std::string& where);
Result<SavedTeam> read_team(const std::filesystem::path& folder);

}  // namespace tilewright
