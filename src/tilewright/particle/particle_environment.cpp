#include "tilewright/particle/particle_environment.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "tilewright/base/rng.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/particle/prey.hpp"
#include "tilewright/particle/scenario.hpp"
#include "tilewright/particle/world.hpp"

namespace tilewright {
namespace {

constexpr std::string_view kStream = "particle";
constexpr double kAgentSpawn = 1;
constexpr std::size_t kMostAgents = 128;
constexpr std::size_t kMostObserved = std::size_t{1} << 30;  // numbers in the observations of all worlds

class ParticleWorlds : public ParticleEnvironment {
 public:
  ParticleWorlds(const ParticleOptions& options, std::unique_ptr<Scenario> scenario, std::size_t learning,
                 std::unique_ptr<PreyDriver> prey)
      : scenario_(std::move(scenario)),
        prey_(std::move(prey)),
        physics_(scenario_->shape(), options.dialect, options.contacts),
        dialect_(options.dialect),
        seed_(options.seed, kStream),
        world_size_(scenario_->shape().size()),
        worlds_(options.worlds * world_size_),
        steps_(options.worlds),
        thrust_(2 * scenario_->shape().agents.size()),
        rewards_(scenario_->shape().agents.size()),
        exact_rewards_(options.worlds * learning) {
    const WorldShape& shape = scenario_->shape();
    starts_.goal_count = scenario_->goal_count();
    starts_.spawns.assign(shape.agents.size(), kAgentSpawn);
    for (const LandmarkTraits& landmark : shape.landmarks) starts_.spawns.push_back(landmark.spawn);
    spec_.name = options.scenario;
    spec_.episode_length = options.episode_length;
    for (std::size_t i = 0; i < learning; ++i) {
      ActionSpace actions;
      if (shape.agents[i].moves) actions.categorical.push_back(5);
      if (shape.agents[i].talks) actions.categorical.push_back(shape.word_size);
      spec_.agents.push_back({shape.agents[i].name, shape.agents[i].team, view_size(scenario_->view(i)), actions});
    }
    if (shape.derived_size == 0) spec_.table = table_of(*scenario_, learning);
    observation_size_ = spec_.observation_size();
    action_size_ = spec_.action_size();
    arrays_.observations.resize(options.worlds * observation_size_);
    arrays_.states.resize(options.worlds * spec_.state_size());
    arrays_.rewards.resize(options.worlds * learning);
    arrays_.terminated.resize(options.worlds * learning);
    arrays_.truncated.resize(options.worlds * learning);
    reset(0);
  }

  const EnvironmentSpec& spec() const override { return spec_; }
  std::size_t world_count() const override { return steps_.size(); }
  const WorldArrays& arrays() const override { return arrays_; }

  void reset(std::uint64_t first_episode) override {
    for (std::size_t w = 0; w < world_count(); ++w) {
      const Rng episode = seed_.fork("episode", first_episode + w);
      place(episode, world(w));
      if (prey_) prey_->begin_episode(w, episode.fork("prey"));
      show(w);
    }
    begin_counting();
  }

  void reseed(std::uint64_t seed) override {
    seed_ = Rng(seed, kStream);
    given_starts_ = 0;
  }

  const ParticleStarts& starts() const override { return starts_; }
  std::span<const double> exact_rewards() const override { return exact_rewards_; }

  void begin(std::span<const double> places, std::span<const std::size_t> goals) override {
    const std::size_t size = 2 * starts_.spawns.size();
    TW_ASSERT(places.size() == world_count() * size && goals.size() == world_count());
    for (std::size_t w = 0; w < world_count(); ++w) {
      TW_ASSERT(goals[w] < starts_.goal_count);
      std::fill_n(world(w), world_size_, 0.0);
      std::ranges::copy(places.subspan(w * size, size), world(w) + scenario_->shape().position(0));
      scenario_->set_goal(goals[w], world(w));
      if (prey_) prey_->begin_episode(w, seed_.fork("given", given_starts_++).fork("prey"));
      show(w);
    }
    begin_counting();
  }

  void step(std::span<const float> actions) override {
    TW_ASSERT(actions.size() == world_count() * action_size_);
    for (std::size_t w = 0; w < world_count(); ++w) {
      float* rewards = arrays_.rewards.data() + w * spec_.agent_count();
      double* exact = exact_rewards_.data() + w * spec_.agent_count();
      if (steps_[w] == spec_.episode_length) {
        std::fill_n(rewards, spec_.agent_count(), 0.0F);
        std::fill_n(exact, spec_.agent_count(), 0.0);
        continue;
      }
      advance(w, actions.data() + w * action_size_);
      scenario_->rewards(world(w), rewards_);
      std::copy_n(rewards_.data(), spec_.agent_count(), exact);
      for (std::size_t i = 0; i < spec_.agent_count(); ++i) rewards[i] = static_cast<float>(rewards_[i]);
      if (++steps_[w] == spec_.episode_length) {
        std::fill_n(arrays_.truncated.begin() + static_cast<std::ptrdiff_t>(w * spec_.agent_count()), spec_.agent_count(),
                    std::uint8_t{1});
      }
      show(w);
    }
  }

  std::vector<Body> bodies(std::size_t index) const override {
    const WorldShape& shape = scenario_->shape();
    const double* position = worlds_.data() + index * world_size_ + shape.position(0);
    std::vector<Body> bodies;
    const auto add = [&](double radius, Body::Kind kind) {
      bodies.push_back({position[0], position[1], radius, kind});
      position += 2;
    };
    for (const AgentTraits& agent : shape.agents) add(agent.radius, agent.kind);
    for (const LandmarkTraits& landmark : shape.landmarks) add(landmark.radius, landmark.kind);
    return bodies;
  }

 private:
  double* world(std::size_t index) { return worlds_.data() + index * world_size_; }

  // The goal, then all positions.
  void place(Rng rng, double* numbers) const {
    std::fill_n(numbers, world_size_, 0.0);
    const auto goals = static_cast<std::int64_t>(starts_.goal_count);
    const std::int64_t goal = goals > 1 ? rng.below(goals) : 0;
    double* position = numbers + scenario_->shape().position(0);
    for (const double spawn : starts_.spawns) {
      for (int axis = 0; axis < 2; ++axis) *position++ = spawn * (2 * rng.uniform() - 1);
    }
    scenario_->set_goal(static_cast<std::size_t>(goal), numbers);
  }

  void begin_counting() {
    std::ranges::fill(steps_, 0);
    std::ranges::fill(arrays_.rewards, 0.0F);
    std::ranges::fill(exact_rewards_, 0.0);
    std::ranges::fill(arrays_.terminated, 0);
    std::ranges::fill(arrays_.truncated, 0);
  }

  void advance(std::size_t w, const float* action) {
    const WorldShape& shape = scenario_->shape();
    double* numbers = world(w);
    double* word = numbers + shape.word(0);
    for (std::size_t i = 0; i < spec_.agent_count(); ++i) {
      const AgentTraits& agent = shape.agents[i];
      action = apply_action(action, agent, dialect_, shape.word_size, thrust_.data() + 2 * i, word);
      if (agent.talks) word += shape.word_size;
    }
    if (prey_) prey_->drive(w, numbers, thrust_.data() + 2 * spec_.agent_count());
    physics_.step(numbers, thrust_.data());
  }

  // Writes what agents and learners see of a world.
  void show(std::size_t w) {
    double* numbers = world(w);
    scenario_->derive(numbers);
    float* out = arrays_.observations.data() + w * observation_size_;
    for (std::size_t i = 0; i < spec_.agent_count(); ++i) {
      observe(scenario_->view(i), numbers, out);
      out += spec_.agents[i].observation_size;
    }
    float* state = arrays_.states.data() + w * spec_.state_size();
    for (std::size_t k = 0; k < spec_.state_size(); ++k) state[k] = static_cast<float>(numbers[k]);
  }

  std::unique_ptr<Scenario> scenario_;
  std::unique_ptr<PreyDriver> prey_;  // null when all agents learn
  Physics physics_;
  Dialect dialect_;
  Rng seed_;
  EnvironmentSpec spec_;
  WorldArrays arrays_;
  std::size_t world_size_;
  std::vector<double> worlds_;            // the numbers of world after world
  std::vector<std::size_t> steps_;        // since the reset
  std::vector<double> thrust_, rewards_;  // of one world's agents
  std::vector<double> exact_rewards_;     // of every world's learning agents
  ParticleStarts starts_;
  std::uint64_t given_starts_ = 0;  // since the seed
  std::size_t observation_size_ = 0, action_size_ = 0;
};

Result<Done> check(std::string_view what, std::size_t value, std::size_t most) {
  if (value >= 1 && value <= most) return Done{};
  return invalid(fmt::format("{} is {}, expected 1 to {}", what, value, most));
}

// The scenario's own numbers where the options have none. Predator-prey keeps the published games' proportions: a prey for
// every three predators, and as many obstacles as prey, one more while there are fewer than four.
Result<ScenarioSize> size_of(const ScenarioEntry& entry, const ParticleOptions& options) {
  ScenarioSize size = entry.size;
  if (options.agents != 0 && options.agents != size.agents && !entry.scales) {
    return invalid(fmt::format("{} has {} agents, expected no other number than that, but {} are asked for", entry.name,
                               size.agents, options.agents));
  }
  if (options.agents != 0) size.agents = options.agents;
  TW_TRY(const Done agents, check("the number of agents", size.agents, kMostAgents));
  if (size.prey == 0) {
    if (options.prey == 0 && options.obstacles == 0) return size;
    return invalid(fmt::format("{} has no {} to choose a number of, expected that in simple_tag only", entry.name,
                               options.prey != 0 ? "prey" : "obstacles"));
  }
  size.prey = options.prey != 0 ? options.prey : std::max<std::size_t>(1, size.agents / 3);
  size.obstacles = options.obstacles != 0 ? options.obstacles : std::max(size.prey, std::min<std::size_t>(size.prey + 1, 4));
  TW_TRY(const Done prey, check("the number of prey", size.prey, kMostAgents));
  TW_TRY(const Done obstacles, check("the number of obstacles", size.obstacles, kMostAgents));
  return size;
}

}  // namespace

Result<PreyController> parse_prey(std::string_view text) {
  if (text.find_first_of("./") != std::string_view::npos) return PreyController::Network;
  const Result<PreyController> choice = named<PreyController>(text);
  if (choice) return choice;
  return invalid(choice.error().message + "; a network's file is recognised by a '.' or '/' in its name");
}

const std::vector<ScenarioSummary>& particle_scenarios() {
  static const std::vector<ScenarioSummary> summaries = [] {
    std::vector<ScenarioSummary> list;
    for (const ScenarioEntry& entry : scenario_entries()) list.push_back({entry.name, entry.summary});
    return list;
  }();
  return summaries;
}

Result<std::unique_ptr<ParticleEnvironment>> make_particle_environment(const ParticleOptions& options) {
  TW_TRY(const ScenarioEntry* entry, find_scenario(options.scenario));
  TW_TRY(const ScenarioSize size, size_of(*entry, options));
  std::unique_ptr<Scenario> scenario = entry->make(size, options.dialect);
  const bool drives_prey = size.prey > 0 && options.prey_controller != PreyController::Learning;
  const std::size_t learning = drives_prey ? size.agents : scenario->shape().agents.size();
  std::size_t observed = 0;
  for (std::size_t i = 0; i < learning; ++i) observed += view_size(scenario->view(i));
  TW_TRY(const Done worlds, check("the number of worlds", options.worlds, kMostObserved / observed));
  TW_TRY(const Done length, check("the episode's length", options.episode_length, std::size_t{1} << 30));
  std::unique_ptr<PreyDriver> prey;
  if (drives_prey) {
    TW_TRY(prey, make_prey_driver(*scenario, {.controller = options.prey_controller,
                                              .network = options.prey_network,
                                              .dialect = options.dialect,
                                              .first = learning,
                                              .worlds = options.worlds}));
  }
  return std::unique_ptr<ParticleEnvironment>(
      std::make_unique<ParticleWorlds>(options, std::move(scenario), learning, std::move(prey)));
}

}  // namespace tilewright
