// A scenario: which bodies there are, what each agent sees, what it is paid for. All of it is a function of a world's
// numbers (see world.hpp); physics, actions and episodes are the same for all scenarios and live elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/particle/world.hpp"

namespace tilewright {

// A run of observation entries: world[plus + k] - world[minus + k % 2], k = 0 … count-1. kNone leaves that side out.
struct ViewBlock {
  static constexpr std::int32_t kNone = ObservationEntry::kNone;
  std::int32_t plus = kNone;
  std::int32_t minus = kNone;
  std::int32_t count = 0;
};
using AgentView = std::vector<ViewBlock>;

// Puts the view of one agent together, in the order of the calls.
class ViewOf {
 public:
  ViewOf(const WorldShape& shape, std::size_t agent) : shape_(shape), agent_(agent) {}
  ViewOf& velocity() { return numbers(shape_.velocity(agent_), 2); }
  ViewOf& position() { return numbers(shape_.position(agent_), 2); }
  ViewOf& landmarks() { return relative(shape_.landmark(0), 2 * shape_.landmarks.size()); }  // as seen from the agent
  ViewOf& others();                                                                          // other agents, likewise
  ViewOf& relative(std::size_t first, std::size_t count);  // positions as seen from the agent
  ViewOf& numbers(std::size_t first, std::size_t count);   // as they are
  ViewOf& zeros(std::size_t count);
  const AgentView& blocks() const { return blocks_; }

 private:
  const WorldShape& shape_;
  std::size_t agent_;
  AgentView blocks_;
};

std::size_t view_size(const AgentView& view);

template <typename Number>
void observe(const AgentView& view, const double* world, Number* out) {
  for (const ViewBlock& block : view) {
    const auto count = static_cast<std::size_t>(block.count);
    if (block.minus != ViewBlock::kNone) {
      const double x = world[block.minus], y = world[block.minus + 1];
      for (std::size_t k = 0; k < count; k += 2) {
        out[k] = static_cast<Number>(world[static_cast<std::size_t>(block.plus) + k] - x);
        out[k + 1] = static_cast<Number>(world[static_cast<std::size_t>(block.plus) + k + 1] - y);
      }
    } else if (block.plus != ViewBlock::kNone) {
      for (std::size_t k = 0; k < count; ++k) out[k] = static_cast<Number>(world[static_cast<std::size_t>(block.plus) + k]);
    } else {
      for (std::size_t k = 0; k < count; ++k) out[k] = 0;
    }
    out += count;
  }
}

class Scenario {
 public:
  virtual ~Scenario() = default;
  const WorldShape& shape() const { return shape_; }
  const AgentView& view(std::size_t agent) const { return views_[agent]; }

  // Goals are numbered; set_goal writes the goal's numbers once the landmarks are in place.
  virtual std::size_t goal_count() const { return 1; }
  virtual void set_goal(std::size_t, double*) const {}

  // Brings the derived numbers up to date.
  virtual void derive(double*) const {}

  virtual void rewards(const double* world, std::span<double> rewards) const = 0;  // of every agent

 protected:
  const double* body(const double* world, std::size_t index) const { return world + shape_.position(index); }
  const double* landmark(const double* world, std::size_t index) const { return world + shape_.landmark(index); }

  WorldShape shape_;
  std::vector<AgentView> views_;
};

// How many of each kind. Scenarios of fixed size take the numbers of their ScenarioEntry only.
struct ScenarioSize {
  std::size_t agents = 0;  // predators in simple_tag, good agents in simple_adversary
  std::size_t prey = 0;
  std::size_t obstacles = 0;
};

struct ScenarioEntry {
  std::string_view name;
  std::string_view summary;
  ScenarioSize size;    // as published
  bool scales = false;  // whether other numbers of agents are possible
  std::unique_ptr<Scenario> (*make)(const ScenarioSize& size, Dialect dialect);
};
// In the order of the list of scenarios; an unknown name is an Error with the nearest one.
std::span<const ScenarioEntry> scenario_entries();
Result<const ScenarioEntry*> find_scenario(std::string_view name);

std::unique_ptr<Scenario> make_simple(const ScenarioSize&, Dialect);
std::unique_ptr<Scenario> make_spread(const ScenarioSize&, Dialect);
std::unique_ptr<Scenario> make_tag(const ScenarioSize&, Dialect);
std::unique_ptr<Scenario> make_world_comm(const ScenarioSize&, Dialect);
std::unique_ptr<Scenario> make_adversary(const ScenarioSize&, Dialect);
std::unique_ptr<Scenario> make_push(const ScenarioSize&, Dialect);
std::unique_ptr<Scenario> make_speaker_listener(const ScenarioSize&, Dialect);
std::unique_ptr<Scenario> make_reference(const ScenarioSize&, Dialect);
std::unique_ptr<Scenario> make_crypto(const ScenarioSize&, Dialect);

// The observations of the first `agents` agents as functions of the state; for scenarios without derived numbers.
ObservationTable table_of(const Scenario& scenario, std::size_t agents);

// Σ values, with the roundings of NumPy's pairwise summation.
double numpy_sum(std::span<const double> values);
// Gives every agent the sum of all rewards.
void share_rewards(std::span<double> rewards);

}  // namespace tilewright
