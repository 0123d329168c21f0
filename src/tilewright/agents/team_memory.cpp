#include "tilewright/agents/team_memory.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "tilewright/agents/team_heads.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/json_place.hpp"

namespace tilewright {
namespace {

constexpr std::string_view kTeamFormat = "tilewright-team-2";

template <Named Enum>
Result<Enum> word_from(const JsonPlace& root, const std::string& key) {
  TW_TRY(const JsonPlace place, root.member(key));
  TW_TRY(const std::string word, place.text());
  const Result<Enum> value = named<Enum>(word);
  return value ? value : Result<Enum>(invalid(fmt::format("{}: {}", place.path, value.error().message)));
}

nlohmann::ordered_json to_json(const SavedTeam& team) {
  nlohmann::ordered_json json{{"format", kTeamFormat},
                              {"learner", name(team.learner)},
                              {"critic", name(team.critic)},
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

Result<Parameter> parameter_from(const JsonPlace& place) {
  TW_TRY(const JsonPlace name, place.member("name"));
  TW_TRY(const JsonPlace ordinal, place.member("ordinal"));
  TW_TRY(const JsonPlace role, place.member("role"));
  TW_TRY(const JsonPlace values, place.member("values"));
  Parameter parameter;
  TW_TRY(parameter.name, name.text());
  TW_TRY(const bool is_ordinal, ordinal.truth());
  parameter.kind = is_ordinal ? ParameterKind::Ordinal : ParameterKind::Categorical;
  TW_TRY(const std::string role_name, role.text());
  parameter.role = role_named(role_name);
  TW_TRY(const std::int64_t count, values.integer(1, std::numeric_limits<std::int32_t>::max()));
  parameter.value_count = static_cast<std::int32_t>(count);
  return parameter;
}

// A choice and a size for every parameter: the searcher relies on that.
Result<RememberedPoint> point_from(const JsonPlace& place, std::size_t parameters) {
  TW_TRY(const JsonPlace choices, place.member("choices"));
  TW_TRY(const std::vector<JsonPlace> each_choice, choices.elements(parameters));
  TW_TRY(const JsonPlace sizes, place.member("sizes"));
  TW_TRY(const std::vector<JsonPlace> each_size, sizes.elements(parameters));
  RememberedPoint point;
  for (const JsonPlace& choice : each_choice) {
    TW_TRY(const std::int64_t number, choice.integer(-1, static_cast<std::int64_t>(kFineChoices) - 1));
    point.choices.push_back(static_cast<std::int32_t>(number));
  }
  for (const JsonPlace& size : each_size) {
    TW_TRY(const double number, size.number());
    point.sizes.push_back(number);
  }
  return point;
}

Result<RememberedProblem> problem_from(const JsonPlace& place, std::size_t parameters) {
  RememberedProblem problem;
  TW_TRY(const JsonPlace name, place.member("name"));
  TW_TRY(problem.name, name.text());
  TW_TRY(const JsonPlace features, place.member("features"));
  TW_TRY(const std::vector<JsonPlace> numbers, features.elements());
  for (const JsonPlace& feature : numbers) {
    TW_TRY(const double number, feature.number());
    if (std::abs(number) > std::numeric_limits<float>::max()) return feature.wrong("a number below 3.4e38");
    problem.features.push_back(static_cast<float>(number));
  }
  TW_TRY(const JsonPlace points, place.member("points"));
  TW_TRY(const std::vector<JsonPlace> each, points.elements());
  if (each.empty()) return points.wrong("at least one point");
  for (const JsonPlace& one : each) {
    TW_TRY(RememberedPoint point, point_from(one, parameters));
    problem.points.push_back(std::move(point));
  }
  return problem;
}

}  // namespace

Result<SavedTeam> team_from_json(const std::string& text, const std::string& where) {
  TW_TRY(const nlohmann::json json, parse_json(text, where));
  const JsonPlace root = JsonPlace::root(json, where);
  TW_TRY(const JsonPlace format, root.member("format"));
  if (*format.json != kTeamFormat) return format.wrong(fmt::format("'{}'", kTeamFormat));
  SavedTeam team;
  TW_TRY(team.learner, word_from<Algorithm>(root, "learner"));
  TW_TRY(team.critic, word_from<Critic>(root, "critic"));
  TW_TRY(const JsonPlace hidden, root.member("hidden"));
  TW_TRY(team.hidden, hidden.integer(1, 4096));
  TW_TRY(const JsonPlace parameters, root.member("parameters"));
  TW_TRY(const std::vector<JsonPlace> declared, parameters.elements());
  for (const JsonPlace& place : declared) {
    TW_TRY(Parameter parameter, parameter_from(place));
    team.parameters.push_back(std::move(parameter));
  }
  TW_TRY(const JsonPlace problems, root.member("problems"));
  TW_TRY(const std::vector<JsonPlace> remembered, problems.elements());
  for (const JsonPlace& place : remembered) {
    TW_TRY(RememberedProblem problem, problem_from(place, team.parameters.size()));
    team.memory.problems.push_back(std::move(problem));
  }
  return team;
}

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
  TW_TRY(SavedTeam team, team_from_json(text, (place / "team.json").string()));
  TW_TRY(const std::string assignment, read_file(place / "assignment.yaml"));
  TW_TRY(team.assignment, assignment_from_yaml(assignment, (place / "assignment.yaml").string()));
  TW_TRY(team.policies, read_safetensors(place / "policies.safetensors"));
  return team;
}

}  // namespace tilewright
