#include "tilewright/particle/trajectory_file.hpp"

#include <optional>

#include <fmt/format.h>

#include "tilewright/base/file.hpp"
#include "tilewright/base/json_place.hpp"
#include "tilewright/particle/gunzip.hpp"

namespace tilewright {
namespace {

constexpr std::size_t kMostBodies = 1024;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;

Result<Done> append_numbers(const JsonPlace& place, std::size_t count, std::vector<double>& numbers) {
  TW_TRY(const std::vector<JsonPlace> values, place.elements(count));
  for (const JsonPlace& value : values) {
    TW_TRY(const double number, value.number());
    numbers.push_back(number);
  }
  return Done{};
}

// `count` arrays of two, one after another.
Result<std::vector<double>> pairs(const JsonPlace& place, std::size_t count) {
  TW_TRY(const std::vector<JsonPlace> list, place.elements(count));
  std::vector<double> numbers;
  for (const JsonPlace& pair : list) {
    TW_TRY(const Done done, append_numbers(pair, 2, numbers));
  }
  return numbers;
}

Result<std::size_t> count(const JsonPlace& place, std::size_t most) {
  TW_TRY(const std::int64_t number, place.integer(0, static_cast<std::int64_t>(most)));
  return static_cast<std::size_t>(number);
}

Result<Dialect> dialect_of(const JsonPlace& place) {
  TW_TRY(const std::string name, place.text());
  return name == "mpe2" ? Dialect::PettingZoo : named<Dialect>(name);
}

Result<std::size_t> array_size(const JsonPlace& place) {
  if (!place.json->is_array()) return place.wrong("an array");
  if (place.json->size() <= kMostBodies) return place.json->size();
  return place.wrong(fmt::format("at most {} bodies", kMostBodies));
}

// How many prey a simple_tag of `agents` agents has: said by M, or by how much the first predator sees.
Result<std::size_t> prey_count(const JsonPlace& root, std::size_t agents, std::size_t landmarks) {
  if (const auto prey = root.find("M")) return count(*prey, agents);
  const std::optional<JsonPlace> seen = root.find("obs0");
  if (!seen) return root.member("M").error();
  TW_TRY(const std::vector<JsonPlace> views, seen->elements(agents));
  TW_TRY(const std::size_t size, array_size(views[0]));
  const std::size_t without = 4 + 2 * landmarks + 2 * (agents - 1);
  if (size <= without || (size - without) % 2 != 0 || (size - without) / 2 >= agents) {
    return views[0].wrong("what a predator sees");
  }
  return (size - without) / 2;
}

// Builds the scenario that has as many bodies as the file.
Result<std::unique_ptr<Scenario>> scenario_of(const JsonPlace& root, const ScenarioEntry& entry, Dialect dialect) {
  TW_TRY(const JsonPlace init, root.member("init"));
  TW_TRY(const JsonPlace bodies, init.member(init.find("pos") ? "pos" : "agents"));
  TW_TRY(const JsonPlace landmarks, init.member("landmarks"));
  TW_TRY(const std::size_t agent_count, array_size(bodies));
  TW_TRY(const std::size_t landmark_count, array_size(landmarks));
  if (agent_count == 0) return bodies.wrong("at least one agent");

  ScenarioSize size = entry.size;
  if (entry.name == "simple_tag") {
    TW_TRY(size.prey, prey_count(root, agent_count, landmark_count));
    size.obstacles = landmark_count;
    if (size.prey < 1 || size.prey >= agent_count) return bodies.wrong("predators and prey");
  }
  const std::size_t others = entry.name == "simple_adversary" ? 1 : size.prey;  // agents that `size.agents` leaves out
  if (entry.scales) size.agents = std::max<std::size_t>(1, agent_count - std::min(agent_count, others));
  std::unique_ptr<Scenario> scenario = entry.make(size, dialect);
  const WorldShape& shape = scenario->shape();
  if (shape.agents.size() != agent_count) return bodies.wrong(fmt::format("{} agents", shape.agents.size()));
  if (shape.landmarks.size() != landmark_count) return landmarks.wrong(fmt::format("{} landmarks", shape.landmarks.size()));
  for (const auto& [key, is] : {std::pair{"N", size.agents}, {"M", size.prey}, {"L", landmark_count}}) {
    const std::optional<JsonPlace> said = root.find(key);
    if (!said) continue;
    TW_TRY(const std::size_t value, count(*said, kMostBodies));
    if (value != is) return said->wrong(fmt::format("{}, as the positions say", is));
  }
  return scenario;
}

Result<std::vector<std::vector<double>>> observations_of(const JsonPlace& place, const Scenario& scenario) {
  const std::size_t agents = scenario.shape().agents.size();
  TW_TRY(const std::vector<JsonPlace> list, place.elements(agents));
  std::vector<std::vector<double>> observations(agents);
  for (std::size_t i = 0; i < agents; ++i) {
    TW_TRY(const Done done, append_numbers(list[i], view_size(scenario.view(i)), observations[i]));
  }
  return observations;
}

// From {agents: [{pos, vel, c}], landmarks}, or from {pos, vel, landmarks} with or without the last two.
Result<Done> read_bodies(const JsonPlace& place, const WorldShape& shape, RecordedMoment& moment) {
  const std::size_t agents = shape.agents.size();
  if (const auto landmarks = place.find("landmarks")) {
    TW_TRY(moment.landmarks, pairs(*landmarks, shape.landmarks.size()));
  }
  if (const auto positions = place.find("pos")) {
    TW_TRY(moment.positions, pairs(*positions, agents));
    const auto velocities = place.find("vel");
    if (!velocities) return Done{};
    TW_TRY(moment.velocities, pairs(*velocities, agents));
    return Done{};
  }
  TW_TRY(const JsonPlace list, place.member("agents"));
  TW_TRY(const std::vector<JsonPlace> each, list.elements(agents));
  for (const JsonPlace& agent : each) {
    TW_TRY(const JsonPlace position, agent.member("pos"));
    TW_TRY(const JsonPlace velocity, agent.member("vel"));
    TW_TRY(const JsonPlace word, agent.member("c"));
    TW_TRY(const Done p, append_numbers(position, 2, moment.positions));
    TW_TRY(const Done v, append_numbers(velocity, 2, moment.velocities));
    TW_TRY(const Done c, append_numbers(word, shape.word_size, moment.words));
  }
  return Done{};
}

Result<std::vector<double>> action_of(const JsonPlace& place, const WorldShape& shape, std::size_t agent, Dialect dialect) {
  const AgentTraits& traits = shape.agents[agent];
  std::vector<double> action;
  if (place.json->is_array()) {
    TW_TRY(const Done done, append_numbers(place, shape.action_size(agent), action));
    return action;
  }
  const std::size_t moves = traits.moves ? 5 : 1, words = traits.talks ? shape.word_size : 1;
  if (dialect == Dialect::OpenAi && traits.moves && traits.talks) {
    return place.wrong(fmt::format("an array of {}", shape.action_size(agent)));
  }
  TW_TRY(const std::size_t choice, count(place, moves * words - 1));
  action.resize(shape.action_size(agent));
  if (traits.moves) action[choice % 5] = 1;
  if (traits.talks) action[(traits.moves ? 5 : 0) + choice / moves] = 1;
  return action;
}

Result<RecordedStep> step_of(const JsonPlace& place, const Scenario& scenario, Dialect dialect) {
  const WorldShape& shape = scenario.shape();
  RecordedStep step;
  TW_TRY(const JsonPlace action, place.member("action"));
  TW_TRY(const std::vector<JsonPlace> actions, action.elements(shape.agents.size()));
  for (std::size_t i = 0; i < actions.size(); ++i) {
    TW_TRY(std::vector<double> numbers, action_of(actions[i], shape, i, dialect));
    step.actions.push_back(std::move(numbers));
  }
  TW_TRY(const JsonPlace reward, place.member("reward"));
  TW_TRY(const Done rewards, append_numbers(reward, shape.agents.size(), step.after.rewards));
  if (const auto seen = place.find("obs")) {
    TW_TRY(step.after.observations, observations_of(*seen, scenario));
  }
  const std::optional<JsonPlace> state = place.find("state");
  if (!state && !place.find("pos")) return place.member("pos").error();
  TW_TRY(const Done bodies, read_bodies(state ? *state : place, shape, step.after));
  return step;
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
  TW_TRY(const nlohmann::json json, parse_json(content, where));
  const JsonPlace root = JsonPlace::root(json, where);
  const auto in_file = [&](const Error& error) { return invalid(root.path + error.message); };

  Trajectory trajectory;
  TW_TRY(const JsonPlace name, root.member("scenario"));
  TW_TRY(trajectory.scenario_name, name.text());
  const Result<const ScenarioEntry*> entry = find_scenario(trajectory.scenario_name);
  if (!entry) return in_file(entry.error());
  TW_TRY(const JsonPlace variant, root.member("variant"));
  const Result<Dialect> dialect = dialect_of(variant);
  if (!dialect) return variant.json->is_string() ? in_file(dialect.error()) : dialect.error();
  trajectory.dialect = *dialect;
  TW_TRY(trajectory.scenario, scenario_of(root, **entry, trajectory.dialect));

  TW_TRY(const JsonPlace init, root.member("init"));
  TW_TRY(const Done start, read_bodies(init, trajectory.scenario->shape(), trajectory.start));
  if (const auto seen = root.find("obs0")) {
    TW_TRY(trajectory.start.observations, observations_of(*seen, *trajectory.scenario));
  } else if (trajectory.scenario->goal_count() > 1) {
    return root.member("obs0").error();
  }
  TW_TRY(const JsonPlace list, root.member("steps"));
  TW_TRY(const std::vector<JsonPlace> steps, list.elements());
  if (steps.empty()) return list.wrong("at least one step");
  for (const JsonPlace& place : steps) {
    TW_TRY(RecordedStep step, step_of(place, *trajectory.scenario, trajectory.dialect));
    trajectory.steps.push_back(std::move(step));
  }
  return trajectory;
}

}  // namespace tilewright
