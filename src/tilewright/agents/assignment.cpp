#include "tilewright/agents/assignment.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "tilewright/base/rng.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/base/yaml.hpp"

namespace tilewright {
namespace {

constexpr std::string_view kFormat = "tilewright-assignment-1";
constexpr std::array kRoles = {Role::Hardware, Role::Scheduling, Role::Tile, Role::Order, Role::Parallelism};

std::vector<std::string> names_of(const std::vector<Parameter>& parameters) {
  std::vector<std::string> names;
  names.reserve(parameters.size());
  for (const Parameter& parameter : parameters) names.push_back(parameter.name);
  return names;
}

}  // namespace

std::vector<Parameter> all_parameters(const std::vector<const DesignSpace*>& spaces) {
  std::vector<Parameter> parameters;
  std::map<std::string_view, std::size_t> places;
  for (const DesignSpace* space : spaces) {
    for (const Parameter& parameter : space->parameters()) {
      const auto [place, is_new] = places.emplace(parameter.name, parameters.size());
      if (is_new) {
        parameters.push_back(parameter);
      } else if (parameter.value_count > parameters[place->second].value_count) {
        parameters[place->second] = parameter;
      }
    }
  }
  return parameters;
}

AgentAssignment assign_single(const std::vector<Parameter>& parameters) {
  AgentAssignment assignment{{}, "single"};
  if (!parameters.empty()) assignment.agents.push_back(names_of(parameters));
  return assignment;
}

AgentAssignment assign_per_parameter(const std::vector<Parameter>& parameters) {
  AgentAssignment assignment{{}, "per-parameter"};
  for (const Parameter& parameter : parameters) assignment.agents.push_back({parameter.name});
  return assignment;
}

AgentAssignment assign_by_role(const std::vector<Parameter>& parameters) {
  AgentAssignment assignment{{}, "by-role"};
  for (const Role role : kRoles) {
    std::vector<std::string> names;
    for (const Parameter& parameter : parameters) {
      if (parameter.role == role) names.push_back(parameter.name);
    }
    if (!names.empty()) assignment.agents.push_back(std::move(names));
  }
  return assignment;
}

AgentAssignment assign_randomly(const std::vector<Parameter>& parameters, std::size_t agents, std::uint64_t seed) {
  const std::size_t count = std::clamp<std::size_t>(agents, 1, std::max<std::size_t>(parameters.size(), 1));
  AgentAssignment assignment{{}, fmt::format("random:{} (seed {})", count, seed)};
  if (parameters.empty()) return assignment;
  Rng rng(seed, "agents/random-assignment");
  std::vector<std::size_t> shuffled(parameters.size());
  for (std::size_t i = 0; i < shuffled.size(); ++i) {
    shuffled[i] = i;
    std::swap(shuffled[i], shuffled[static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(i) + 1))]);
  }
  std::vector<std::size_t> agent_of(parameters.size());
  for (std::size_t i = 0; i < shuffled.size(); ++i) {
    // The first few make sure that no agent is empty.
    agent_of[shuffled[i]] = i < count ? i : static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(count)));
  }
  constexpr std::size_t kNone = ~std::size_t{0};
  std::vector<std::size_t> places(count, kNone);  // agents in the order of their first parameters
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    std::size_t& place = places[agent_of[i]];
    if (place == kNone) {
      place = assignment.agents.size();
      assignment.agents.emplace_back();
    }
    assignment.agents[place].push_back(parameters[i].name);
  }
  return assignment;
}

AgentAssignment fitted(const AgentAssignment& assignment, const std::vector<Parameter>& parameters) {
  std::map<std::string_view, const Parameter*> known;
  for (const Parameter& parameter : parameters) known.emplace(parameter.name, &parameter);

  AgentAssignment result{{}, assignment.origin};
  std::vector<std::array<std::size_t, kRoles.size()>> role_counts;
  std::set<std::string_view> taken;
  for (const std::vector<std::string>& names : assignment.agents) {
    std::vector<std::string> kept;
    std::array<std::size_t, kRoles.size()> counts{};
    for (const std::string& name : names) {
      const auto parameter = known.find(name);
      if (parameter == known.end() || !taken.insert(parameter->first).second) continue;
      kept.push_back(name);
      ++counts[static_cast<std::size_t>(parameter->second->role)];
    }
    if (kept.empty()) continue;
    result.agents.push_back(std::move(kept));
    role_counts.push_back(counts);
  }
  if (result.agents.empty()) {
    AgentAssignment single = assign_single(parameters);
    single.origin = assignment.origin;
    return single;
  }
  for (const Parameter& parameter : parameters) {
    if (taken.contains(parameter.name)) continue;
    // Counted before any was added, so that the order of the parameters does not matter. Where no agent has the role, all
    // are equal and the first takes it.
    const auto role = static_cast<std::size_t>(parameter.role);
    const auto most = std::ranges::max_element(role_counts, {}, [&](const auto& counts) { return counts[role]; });
    result.agents[static_cast<std::size_t>(most - role_counts.begin())].push_back(parameter.name);
  }
  return result;
}

Result<Done> check_names(const AgentAssignment& assignment, const std::vector<Parameter>& parameters,
                         const std::string& where) {
  const std::vector<std::string> names = names_of(parameters);
  for (const std::vector<std::string>& agent : assignment.agents) {
    for (const std::string& name : agent) {
      if (std::ranges::find(names, name) != names.end()) return Done{};
    }
  }
  const std::string first =
      assignment.agents.empty() || assignment.agents[0].empty() ? "" : printable(assignment.agents[0][0]);
  return invalid(fmt::format("{}: no name, '{}' the first, is a parameter of the design space, expected names like '{}'{}",
                             where, first, names.empty() ? "" : names[0], did_you_mean(first, names)));
}

std::string to_yaml(const AgentAssignment& assignment) {
  std::string text = fmt::format("format: {}\norigin: {}\nagents:\n", kFormat, yaml_scalar(assignment.origin));
  for (const std::vector<std::string>& agent : assignment.agents) {
    std::vector<std::string> names;
    for (const std::string& name : agent) names.push_back(yaml_scalar(name));
    text += fmt::format("  - [{}]\n", join(names, ", "));
  }
  return text;
}

Result<AgentAssignment> assignment_from_yaml(const std::string& text, const std::string& where) {
  TW_TRY(const Yaml root, parse_yaml_document(text, where, kFormat));
  TW_TRY(const Done known, root.only_keys({"format", "origin", "agents"}));
  static_cast<void>(known);
  AgentAssignment assignment;
  TW_TRY(assignment.origin, root.text("origin", where));
  TW_TRY(const std::vector<Yaml> agents, root.list("agents"));
  if (agents.empty()) return root.error("there are no agents, expected at least one list of parameter names in 'agents'");
  std::map<std::string, std::size_t> owners;
  for (std::size_t i = 0; i < agents.size(); ++i) {
    const Yaml& agent = agents[i];
    if (agent.kind != Yaml::Kind::List || agent.items.empty()) {
      return agent.error(fmt::format("agent {} has no parameters, expected a list of at least one name", i + 1));
    }
    std::vector<std::string> names;
    for (const Yaml& item : agent.items) {
      TW_TRY(const std::string name, item.as_text("a parameter name"));
      if (name.empty()) return item.error("a parameter name is empty, expected one like 'tile.K@0'");
      const auto [owner, is_new] = owners.emplace(name, i);
      if (!is_new) {
        return item.error(fmt::format("'{}' belongs to agent {} already, expected every parameter once", printable(name),
                                      owner->second + 1));
      }
      names.push_back(name);
    }
    assignment.agents.push_back(std::move(names));
  }
  return assignment;
}

}  // namespace tilewright
