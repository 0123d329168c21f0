#include "tilewright/marl/environment.hpp"

namespace tilewright {
namespace {

template <typename Size>
std::size_t sum_before(const std::vector<AgentSpec>& agents, std::size_t end, Size size) {
  std::size_t total = 0;
  for (std::size_t agent = 0; agent < end; ++agent) total += size(agents[agent]);
  return total;
}

std::size_t observation_entries(const AgentSpec& agent) { return agent.observation_size; }
std::size_t action_entries(const AgentSpec& agent) { return agent.actions.action_size(); }

}  // namespace

std::size_t EnvironmentSpec::observation_size() const { return sum_before(agents, agents.size(), observation_entries); }
std::size_t EnvironmentSpec::action_size() const { return sum_before(agents, agents.size(), action_entries); }
std::size_t EnvironmentSpec::observation_offset(std::size_t agent) const {
  return sum_before(agents, agent, observation_entries);
}
std::size_t EnvironmentSpec::action_offset(std::size_t agent) const { return sum_before(agents, agent, action_entries); }

bool has_ended(const WorldArrays& arrays, std::size_t world, std::size_t agent_count) {
  for (std::size_t entry = world * agent_count; entry < (world + 1) * agent_count; ++entry) {
    if (arrays.terminated[entry] == 0 && arrays.truncated[entry] == 0) return false;
  }
  return true;
}

}  // namespace tilewright
