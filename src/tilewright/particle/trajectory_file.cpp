#include "tilewright/particle/trajectory_file.hpp"

#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/particle/gunzip.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostBodies = 1024;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;

// A value in the file, and how to find it.
struct Place {
  const Json* json;
  std::string path;  // "traj.json: steps[3].action"; "traj.json: " is the whole of it
};

std::string described(const Json& json) {
  if (json.is_array()) return fmt::format("an array of {}", json.size());
  if (json.is_string()) return "'" + printable(json.get_ref<const std::string&>().substr(0, 40)) + "'";
  if (json.is_number() || json.is_boolean() || json.is_null()) return json.dump();
  return json.is_object() ? "an object" : "nothing";
}

Error wrong(const Place& place, std::string_view expected) {
  return invalid(fmt::format("{} is {}, expected {}", place.path, described(*place.json), expected));
}

bool is_root(const Place& place) { return place.path.ends_with(' '); }

std::optional<Place> find(const Place& place, const std::string& key) {
  if (!place.json->is_object()) return std::nullopt;
  const auto found = place.json->find(key);
  if (found == place.json->end()) return std::nullopt;
  return Place{&*found, place.path + (is_root(place) ? "" : ".") + key};
}

Result<Place> member(const Place& place, const std::string& key) {
  if (!place.json->is_object()) return wrong(place, "an object");
  if (const std::optional<Place> found = find(place, key)) return *found;
  return invalid(fmt::format("{}{}has no '{}', expected one", place.path, is_root(place) ? "" : " ", key));
}

// The elements of an array of `count`, or of any size when there is none given.
Result<std::vector<Place>> elements(const Place& place, std::optional<std::size_t> count = {}) {
  if (!place.json->is_array() || (count && place.json->size() != *count)) {
    return wrong(place, count ? fmt::format("an array of {}", *count) : "an array");
  }
  std::vector<Place> result;
  for (std::size_t i = 0; i < place.json->size(); ++i)
    result.push_back({&(*place.json)[i], fmt::format("{}[{}]", place.path, i)});
  return result;
}

Result<Done> append_numbers(const Place& place, std::size_t count, std::vector<double>& numbers) {
  TW_TRY(const std::vector<Place> values, elements(place, count));
  for (const Place& value : values) {
    if (!value.json->is_number()) return wrong(value, "a number");
    numbers.push_back(value.json->get<double>());
  }
  return Done{};
}

// `count` arrays of two, one after another.
Result<std::vector<double>> pairs(const Place& place, std::size_t count) {
  TW_TRY(const std::vector<Place> list, elements(place, count));
  std::vector<double> numbers;
  for (const Place& pair : list) {
    TW_TRY(const Done done, append_numbers(pair, 2, numbers));
  }
  return numbers;
}

Result<std::string> text(const Place& place) {
  if (!place.json->is_string()) return wrong(place, "a text");
  return place.json->get<std::string>();
}

// A whole number 0 … most.
Result<std::size_t> count(const Place& place, std::size_t most) {
  const double number = place.json->is_number() ? place.json->get<double>() : -1;
  if (number >= 0 && number <= static_cast<double>(most) && number == std::floor(number)) {
    return static_cast<std::size_t>(number);
  }
  return wrong(place, fmt::format("a whole number from 0 to {}", most));
}

Result<Dialect> dialect_of(const Place& place) {
  TW_TRY(const std::string name, text(place));
  return name == "mpe2" ? Dialect::PettingZoo : parse_dialect(name);
}

Result<std::size_t> array_size(const Place& place) {
  TW_TRY(const std::vector<Place> list, elements(place));
  if (list.size() <= kMostBodies) return list.size();
  return wrong(place, fmt::format("at most {} bodies", kMostBodies));
}

// How many prey a simple_tag of `agents` agents has: said by M, or by how much the first predator sees.
Result<std::size_t> prey_count(const Place& root, std::size_t agents, std::size_t landmarks) {
  if (const auto prey = find(root, "M")) return count(*prey, agents);
  const std::optional<Place> seen = find(root, "obs0");
  if (!seen) return member(root, "M").error();
  TW_TRY(const std::vector<Place> views, elements(*seen, agents));
  TW_TRY(const std::size_t size, array_size(views[0]));
  const std::size_t without = 4 + 2 * landmarks + 2 * (agents - 1);
  if (size <= without || (size - without) % 2 != 0 || (size - without) / 2 >= agents) {
    return wrong(views[0], "what a predator sees");
  }
  return (size - without) / 2;
}

// Builds the scenario that has as many bodies as the file.
Result<std::unique_ptr<Scenario>> scenario_of(const Place& root, const ScenarioEntry& entry, Dialect dialect) {
  TW_TRY(const Place init, member(root, "init"));
  TW_TRY(const Place bodies, member(init, find(init, "pos") ? "pos" : "agents"));
  TW_TRY(const Place landmarks, member(init, "landmarks"));
  TW_TRY(const std::size_t agent_count, array_size(bodies));
  TW_TRY(const std::size_t landmark_count, array_size(landmarks));
  if (agent_count == 0) return wrong(bodies, "at least one agent");

  ScenarioSize size = entry.size;
  if (entry.name == "simple_tag") {
    TW_TRY(size.prey, prey_count(root, agent_count, landmark_count));
    size.obstacles = landmark_count;
    if (size.prey < 1 || size.prey >= agent_count) return wrong(bodies, "predators and prey");
  }
  const std::size_t others = entry.name == "simple_adversary" ? 1 : size.prey;  // agents that `size.agents` leaves out
  if (entry.scales) size.agents = std::max<std::size_t>(1, agent_count - std::min(agent_count, others));
  std::unique_ptr<Scenario> scenario = entry.make(size, dialect);
  const WorldShape& shape = scenario->shape();
  if (shape.agents.size() != agent_count) return wrong(bodies, fmt::format("{} agents", shape.agents.size()));
  if (shape.landmarks.size() != landmark_count) return wrong(landmarks, fmt::format("{} landmarks", shape.landmarks.size()));
  for (const auto& [key, is] : {std::pair{"N", size.agents}, {"M", size.prey}, {"L", landmark_count}}) {
    const std::optional<Place> said = find(root, key);
    if (!said) continue;
    TW_TRY(const std::size_t value, count(*said, kMostBodies));
    if (value != is) return wrong(*said, fmt::format("{}, as the positions say", is));
  }
  return scenario;
}

Result<std::vector<std::vector<double>>> observations_of(const Place& place, const Scenario& scenario) {
  const std::size_t agents = scenario.shape().agents.size();
  TW_TRY(const std::vector<Place> list, elements(place, agents));
  std::vector<std::vector<double>> observations(agents);
  for (std::size_t i = 0; i < agents; ++i) {
    TW_TRY(const Done done, append_numbers(list[i], view_size(scenario.view(i)), observations[i]));
  }
  return observations;
}

// From {agents: [{pos, vel, c}], landmarks}, or from {pos, vel, landmarks} with or without the last two.
Result<Done> read_bodies(const Place& place, const WorldShape& shape, RecordedMoment& moment) {
  const std::size_t agents = shape.agents.size();
  if (const auto landmarks = find(place, "landmarks")) {
    TW_TRY(moment.landmarks, pairs(*landmarks, shape.landmarks.size()));
  }
  if (const auto positions = find(place, "pos")) {
    TW_TRY(moment.positions, pairs(*positions, agents));
    const auto velocities = find(place, "vel");
    if (!velocities) return Done{};
    TW_TRY(moment.velocities, pairs(*velocities, agents));
    return Done{};
  }
  TW_TRY(const Place list, member(place, "agents"));
  TW_TRY(const std::vector<Place> each, elements(list, agents));
  for (const Place& agent : each) {
    TW_TRY(const Place position, member(agent, "pos"));
    TW_TRY(const Place velocity, member(agent, "vel"));
    TW_TRY(const Place word, member(agent, "c"));
    TW_TRY(const Done p, append_numbers(position, 2, moment.positions));
    TW_TRY(const Done v, append_numbers(velocity, 2, moment.velocities));
    TW_TRY(const Done c, append_numbers(word, shape.word_size, moment.words));
  }
  return Done{};
}

Result<std::vector<double>> action_of(const Place& place, const WorldShape& shape, std::size_t agent, Dialect dialect) {
  const AgentTraits& traits = shape.agents[agent];
  std::vector<double> action;
  if (place.json->is_array()) {
    TW_TRY(const Done done, append_numbers(place, shape.action_size(agent), action));
    return action;
  }
  const std::size_t moves = traits.moves ? 5 : 1, words = traits.talks ? shape.word_size : 1;
  if (dialect == Dialect::OpenAi && traits.moves && traits.talks) {
    return wrong(place, fmt::format("an array of {}", shape.action_size(agent)));
  }
  TW_TRY(const std::size_t choice, count(place, moves * words - 1));
  action.resize(shape.action_size(agent));
  if (traits.moves) action[choice % 5] = 1;
  if (traits.talks) action[(traits.moves ? 5 : 0) + choice / moves] = 1;
  return action;
}

Result<RecordedStep> step_of(const Place& place, const Scenario& scenario, Dialect dialect) {
  const WorldShape& shape = scenario.shape();
  RecordedStep step;
  TW_TRY(const Place action, member(place, "action"));
  TW_TRY(const std::vector<Place> actions, elements(action, shape.agents.size()));
  for (std::size_t i = 0; i < actions.size(); ++i) {
    TW_TRY(std::vector<double> numbers, action_of(actions[i], shape, i, dialect));
    step.actions.push_back(std::move(numbers));
  }
  TW_TRY(const Place reward, member(place, "reward"));
  TW_TRY(const Done rewards, append_numbers(reward, shape.agents.size(), step.after.rewards));
  if (const auto seen = find(place, "obs")) {
    TW_TRY(step.after.observations, observations_of(*seen, scenario));
  }
  const std::optional<Place> state = find(place, "state");
  if (!state && !find(place, "pos")) return member(place, "pos").error();
  TW_TRY(const Done bodies, read_bodies(state ? *state : place, shape, step.after));
  return step;
}

// Files nest five deep; deeper ones are refused before they fill the memory.
Result<Json> parse(const std::string& content, const std::string& where) {
  constexpr int kMostDepth = 16;
  bool deep = false;
  const auto limit = [&deep](int depth, Json::parse_event_t, const Json&) {
    deep = deep || depth > kMostDepth;
    return !deep;
  };
  Json json = Json::parse(content, limit, false);
  if (deep) return invalid(fmt::format("{}: is nested deeper than {} levels, expected a trajectory", where, kMostDepth));
  if (json.is_discarded()) return invalid(where + ": is not JSON, expected a trajectory");
  if (!json.is_object()) return invalid(fmt::format("{}: is {}, expected an object", where, described(json)));
  return json;
}

}  // namespace

Result<Trajectory> read_trajectory(const std::filesystem::path& path) {
  const std::string where = path.string();
  TW_TRY(std::string content, read_file(path, kMostBytes));
  if (path.extension() == ".gz") {
    TW_TRY(content, gunzip(content, where, kMostBytes));
  }
  return trajectory_from_json(content, where);
}

Result<Trajectory> trajectory_from_json(const std::string& content, const std::string& where) {
  TW_TRY(const Json json, parse(content, where));
  const Place root{&json, where + ": "};
  const auto in_file = [&](const Error& error) { return invalid(root.path + error.message); };

  Trajectory trajectory;
  TW_TRY(const Place name, member(root, "scenario"));
  TW_TRY(trajectory.scenario_name, text(name));
  const Result<const ScenarioEntry*> entry = find_scenario(trajectory.scenario_name);
  if (!entry) return in_file(entry.error());
  TW_TRY(const Place variant, member(root, "variant"));
  const Result<Dialect> dialect = dialect_of(variant);
  if (!dialect) return variant.json->is_string() ? in_file(dialect.error()) : dialect.error();
  trajectory.dialect = *dialect;
  TW_TRY(trajectory.scenario, scenario_of(root, **entry, trajectory.dialect));

  TW_TRY(const Place init, member(root, "init"));
  TW_TRY(const Done start, read_bodies(init, trajectory.scenario->shape(), trajectory.start));
  if (const auto seen = find(root, "obs0")) {
    TW_TRY(trajectory.start.observations, observations_of(*seen, *trajectory.scenario));
  } else if (trajectory.scenario->goal_count() > 1) {
    return member(root, "obs0").error();
  }
  TW_TRY(const Place list, member(root, "steps"));
  TW_TRY(const std::vector<Place> steps, elements(list));
  if (steps.empty()) return wrong(list, "at least one step");
  for (const Place& place : steps) {
    TW_TRY(RecordedStep step, step_of(place, *trajectory.scenario, trajectory.dialect));
    trajectory.steps.push_back(std::move(step));
  }
  return trajectory;
}

}  // namespace tilewright
