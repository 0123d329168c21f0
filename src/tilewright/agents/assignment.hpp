// Which agent decides which parameters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/space/design_space.hpp"

namespace tilewright {

// A partition of parameter names: one entry per agent, none empty, each name once.
struct AgentAssignment {
  std::vector<std::vector<std::string>> agents;
  std::string origin;  // how it came about: "clusters (pearson, average linkage, silhouette)", "by-role", …
  bool operator==(const AgentAssignment&) const = default;
};

// Every parameter name of the spaces, in order of first appearance; of equal names the one with most values.
std::vector<Parameter> all_parameters(const std::vector<const DesignSpace*>& spaces);

AgentAssignment assign_single(const std::vector<Parameter>& parameters);
AgentAssignment assign_per_parameter(const std::vector<Parameter>& parameters);
AgentAssignment assign_by_role(const std::vector<Parameter>& parameters);  // hardware, scheduling, tiles, order, parallelism
// At most as many agents as parameters, none empty.
AgentAssignment assign_randomly(const std::vector<Parameter>& parameters, std::size_t agents, std::uint64_t seed);

// Drops names that are not in `parameters` and gives those that no agent has to the agent that has most of their role
// (the first of equal ones). Agents that are left with nothing are dropped; when none is left, one decides everything.
AgentAssignment fitted(const AgentAssignment& assignment, const std::vector<Parameter>& parameters);

// An Error when none of the names is a parameter, with the nearest one that is: the assignment is of another kind of space.
Result<Done> check_names(const AgentAssignment& assignment, const std::vector<Parameter>& parameters,
                         const std::string& where);

// Text form (YAML) and back; reading what was written gives an equal assignment.
std::string to_yaml(const AgentAssignment& assignment);
Result<AgentAssignment> assignment_from_yaml(const std::string& text, const std::string& where);

}  // namespace tilewright
