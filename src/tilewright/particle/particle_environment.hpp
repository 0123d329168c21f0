// The particle worlds as an Environment: nine standard scenarios in two dialects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/names.hpp"
#include "tilewright/base/result.hpp"
#include "tilewright/marl/environment.hpp"

namespace tilewright {

enum class Dialect {
  OpenAi,      // openai/multiagent-particle-envs
  PettingZoo,  // PettingZoo >= 1.23, Farama's MPE2
};
template <>
struct Names<Dialect> {
  static constexpr std::string_view kWhat = "dialect";
  static constexpr NameTable<Dialect, 2> kTable = {{{Dialect::OpenAi, "openai"}, {Dialect::PettingZoo, "pettingzoo"}}};
};

enum class Contacts {
  Exact,  // every pair of colliding bodies, to the last bit as the original packages
  Fast,   // leaves out pairs whose force is below 5e-19
};
template <>
struct Names<Contacts> {
  static constexpr std::string_view kWhat = "contacts";
  static constexpr NameTable<Contacts, 2> kTable = {{{Contacts::Exact, "exact"}, {Contacts::Fast, "fast"}}};
};

// Who moves the prey of simple_tag.
enum class PreyController {
  Learning,   // they are agents like the others
  Random,     // uniform thrust along both axes
  Frozen,     // no thrust
  Heuristic,  // the best of 100 random displacements, away from the predators (as in FACMAC's predator-prey)
  Network,    // a policy saved in a safetensors file
};
template <>
struct Names<PreyController> {  // but for Network, which is called by its file
  static constexpr std::string_view kWhat = "prey";
  static constexpr NameTable<PreyController, 4> kTable = {{{PreyController::Learning, "learning"},
                                                           {PreyController::Random, "random"},
                                                           {PreyController::Frozen, "frozen"},
                                                           {PreyController::Heuristic, "heuristic"}}};
};
Result<PreyController> parse_prey(std::string_view text);  // "learning", "random", "frozen", "heuristic", or a file's path

struct ParticleOptions {
  std::string scenario = "simple_spread";
  Dialect dialect = Dialect::OpenAi;
  Contacts contacts = Contacts::Fast;
  // Predators in simple_tag, good agents in simple_adversary; 0 = as published.
  std::size_t agents = 0;
  std::size_t prey = 0;       // simple_tag; 0 = by the number of predators
  std::size_t obstacles = 0;  // simple_tag; 0 = by the number of predators
  PreyController prey_controller = PreyController::Random;
  std::string prey_network = {};  // a file, with PreyController::Network
  std::size_t episode_length = 25;
  std::size_t worlds = 1;
  std::uint64_t seed = 1;
};

struct ScenarioSummary {
  std::string_view name;
  std::string_view summary;
};
const std::vector<ScenarioSummary>& particle_scenarios();

// Agents and bodies of one moment, for drawing.
struct Body {
  double x = 0, y = 0, radius = 0;
  enum class Kind { Agent, Adversary, Prey, Landmark, Obstacle } kind = Kind::Agent;
};

// What a start is drawn from: a goal below `goal_count`, and for every body, agents first, a place in [-spawn, spawn]².
struct ParticleStarts {
  std::size_t goal_count = 1;
  std::vector<double> spawns;
};

class ParticleEnvironment : public Environment {
 public:
  virtual std::vector<Body> bodies(std::size_t world) const = 0;

  // From the next reset on, episodes are those of an environment that was made with this seed.
  virtual void reseed(std::uint64_t seed) = 0;

  // Begins an episode in every world at starts that the caller has drawn: two numbers for each body, world after world, and
  // a goal each. Prey that move by chance do so by the environment's seed.
  virtual const ParticleStarts& starts() const = 0;
  virtual void begin(std::span<const double> places, std::span<const std::size_t> goals) = 0;

  // arrays().rewards before they were rounded, as the original packages pay them.
  virtual std::span<const double> exact_rewards() const = 0;
};

// Unknown names and impossible numbers are Errors.
Result<std::unique_ptr<ParticleEnvironment>> make_particle_environment(const ParticleOptions& options);

}  // namespace tilewright
