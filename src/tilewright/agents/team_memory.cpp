#include "tilewright/agents/team_memory.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

constexpr std::string_view kTeamFormat = "tilewright-team-2";

nlohmann::ordered_json to_json(const SavedTeam& team) {
  nlohmann::ordered_json json{{"format", kTeamFormat},
                              {"learner", team.learner},
                              {"critic", team.critic},
                              {"hidden", team.hidden},
                              {"parameters", nlohmann::ordered_json::array()},
                              {"problems", nlohmann::ordered_json::array()}};
  for (const Parameter& parameter : team.parameters) {
    json["parameters"].push_back({{"name", parameter.name},
                                  {"ordinal", parameter.kind == ParameterKind::Ordinal},
                                  {"role", name_of(parameter.role)},
                                  {"values", parameter.value_count}});
  }
  for (const RememberedProblem& problem : team.memory.problems) {
    nlohmann::ordered_json points = nlohmann::ordered_json::array();
    for (const RememberedPoint& point : problem.points) {
      points.push_back({{"choices", point.choices}, {"sizes", point.sizes}});
    }
    json["problems"].push_back({{"name", problem.name}, {"features", problem.features}, {"points", std::move(points)}});
  }
  return json;
}

Role role_named(const std::string& name) {
  for (const Role role : {Role::Parallelism, Role::Order, Role::Hardware, Role::Scheduling}) {
    if (name_of(role) == name) return role;
  }
  return Role::Tile;
}

// What the searcher relies on.
Result<Done> check(const SavedTeam& team, const std::string& where) {
  if (team.hidden < 1 || team.hidden > 4096) {
    return invalid(fmt::format("{}: hidden is {}, expected 1 to 4096", where, team.hidden));
  }
  for (const RememberedProblem& problem : team.memory.problems) {
    for (const RememberedPoint& point : problem.points) {
      for (const std::size_t count : {point.choices.size(), point.sizes.size()}) {
        if (count == team.parameters.size()) continue;
        return invalid(fmt::format("{}: a point of '{}' has {} choices or sizes, expected {}, one per parameter", where,
                                   printable(problem.name), count, team.parameters.size()));
      }
    }
  }
  return Done{};
}

Result<SavedTeam> from_json(const std::string& text, const std::string& where) {
  SavedTeam team;
  try {
    const auto json = nlohmann::json::parse(text);
    if (json.at("format") != kTeamFormat) {
      return invalid(fmt::format("{}: format is {}, expected \"{}\"", where, json.at("format").dump(), kTeamFormat));
    }
    team.learner = json.at("learner");
    team.critic = json.at("critic");
    team.hidden = json.at("hidden");
    for (const auto& entry : json.at("parameters")) {
      const bool ordinal = entry.at("ordinal");
      team.parameters.push_back({entry.at("name"), ordinal ? ParameterKind::Ordinal : ParameterKind::Categorical,
                                 role_named(entry.at("role")), entry.at("values")});
    }
    for (const auto& entry : json.at("problems")) {
      RememberedProblem& problem = team.memory.problems.emplace_back();
      problem.name = entry.at("name");
      problem.features = entry.at("features").get<std::vector<float>>();
      for (const auto& point : entry.at("points")) problem.points.push_back({point.at("choices"), point.at("sizes")});
    }
  } catch (const nlohmann::json::exception& failure) {
    return invalid(fmt::format("{}: is no description of a team ({})", where, failure.what()));
  }
  TW_TRY([[maybe_unused]] const Done checked, check(team, where));
  return team;
}

}  // namespace

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += difference * difference;
  }
  return std::sqrt(sum);
}

std::size_t draw_similar(const std::vector<std::vector<float>>& all, const std::vector<std::size_t>& candidates,
                         const std::vector<float>& features, double scale, Rng& rng) {
  std::vector<double> sums;
  double nearest = std::numeric_limits<double>::infinity();
  for (const std::size_t candidate : candidates) nearest = std::min(nearest, distance(all[candidate], features));
  double sum = 0;
  for (const std::size_t candidate : candidates) {
    sum += std::exp((nearest - distance(all[candidate], features)) / scale);
    sums.push_back(sum);
  }
  const double drawn = rng.uniform() * sum;
  const auto found = std::ranges::upper_bound(sums, drawn);
  return candidates[std::min(static_cast<std::size_t>(found - sums.begin()), candidates.size() - 1)];
}

Result<Done> write_team(const SavedTeam& team, const std::filesystem::path& folder) {
  std::error_code status;
  std::filesystem::create_directories(folder, status);
  if (status) return Error{ErrorCode::Io, fmt::format("{}: {}", folder.string(), status.message())};
  TW_TRY(const Done policies, write_safetensors(folder / "policies.safetensors", team.policies));
  TW_TRY(const Done assignment, write_file(folder / "assignment.yaml", to_yaml(team.assignment)));
  return write_file(folder / "team.json", to_json(team).dump(1) + "\n");
}

Result<SavedTeam> read_team(const std::filesystem::path& folder) {
  std::filesystem::path place = folder;
  std::error_code status;
  if (!std::filesystem::exists(place / "team.json", status)) place /= "team";  // the folder of a run
  TW_TRY(const std::string text, read_file(place / "team.json"));
  TW_TRY(SavedTeam team, from_json(text, (place / "team.json").string()));
  TW_TRY(const std::string assignment, read_file(place / "assignment.yaml"));
  TW_TRY(team.assignment, assignment_from_yaml(assignment, (place / "assignment.yaml").string()));
  TW_TRY(team.policies, read_safetensors(place / "policies.safetensors"));
  return team;
}

}  // namespace tilewright
