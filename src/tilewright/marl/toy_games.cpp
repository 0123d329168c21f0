#include "tilewright/marl/toy_games.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "tilewright/base/rng.hpp"
#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

// What all games share: the arrays, the end of episodes, and one named random stream per episode.
class ToyEnvironment : public Environment {
 public:
  ToyEnvironment(EnvironmentSpec spec, std::size_t worlds, std::uint64_t seed)
      : spec_(std::move(spec)),
        observation_size_(spec_.observation_size()),
        action_size_(spec_.action_size()),
        worlds_(worlds),
        rng_(seed, "toy"),
        steps_(worlds) {
    const std::size_t agents = worlds * spec_.agent_count();
    arrays_.observations.resize(worlds * observation_size_);
    arrays_.states.resize(worlds * spec_.state_size());
    arrays_.rewards.resize(agents);
    arrays_.masks.resize(spec_.masks ? worlds * action_size_ : 0, 1.0F);
    arrays_.terminated.resize(agents, 1);  // nothing runs before the first reset
    arrays_.truncated.resize(agents);
  }

  const EnvironmentSpec& spec() const override { return spec_; }
  std::size_t world_count() const override { return worlds_; }
  const WorldArrays& arrays() const override { return arrays_; }

  void reset(std::uint64_t first_episode) override {
    std::ranges::fill(arrays_.rewards, 0.0F);
    std::ranges::fill(arrays_.terminated, std::uint8_t{0});
    std::ranges::fill(arrays_.truncated, std::uint8_t{0});
    std::ranges::fill(steps_, std::size_t{0});
    for (std::size_t world = 0; world < worlds_; ++world) begin(world, rng_.fork("episode", first_episode + world));
  }

  void step(std::span<const float> actions) override {
    const std::size_t agents = spec_.agent_count();
    for (std::size_t world = 0; world < worlds_; ++world) {
      const auto at = static_cast<std::ptrdiff_t>(world * agents);
      if (has_ended(arrays_, world, agents)) {
        std::fill_n(arrays_.rewards.begin() + at, agents, 0.0F);
        continue;
      }
      const bool over = play(world, actions.data() + world * action_size_);
      const bool late = ++steps_[world] >= spec_.episode_length;
      std::fill_n(arrays_.terminated.begin() + at, agents, static_cast<std::uint8_t>(over));
      std::fill_n(arrays_.truncated.begin() + at, agents, static_cast<std::uint8_t>(late && !over));
    }
  }

 protected:
  float* observation(std::size_t world) { return arrays_.observations.data() + world * observation_size_; }
  float* state(std::size_t world) { return arrays_.states.data() + world * spec_.state_size(); }
  float* rewards(std::size_t world) { return arrays_.rewards.data() + world * spec_.agent_count(); }
  float* mask(std::size_t world) { return arrays_.masks.data() + world * action_size_; }

 private:
  virtual void begin(std::size_t world, Rng rng) = 0;
  virtual bool play(std::size_t world, const float* actions) = 0;  // true when the game is over

  EnvironmentSpec spec_;
  std::size_t observation_size_, action_size_, worlds_;
  WorldArrays arrays_;
  Rng rng_;
  std::vector<std::size_t> steps_;
};

AgentSpec toy_agent(std::size_t index, std::size_t observation_size, ActionSpace actions) {
  return {.name = fmt::format("agent_{}", index),
          .team = "agent",
          .observation_size = observation_size,
          .actions = std::move(actions)};
}

// Rows are choices of the first agent, columns of the second; both get the payoff.
using Payoffs = std::array<std::array<double, 3>, 3>;
constexpr Payoffs kMatrix = {{{0, 3, 1}, {2, 5, 3}, {4, 8, 6}}};
constexpr Payoffs kClimbing = {{{11, -30, 0}, {-30, 7, 6}, {0, 0, 5}}};
constexpr Payoffs kMasked = {{{1, 2, 6}, {2, 3, 4}, {4, 10, 7}}};

double expected_payoff(const Payoffs& payoffs, const float* row, const float* column) {
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) sum += payoffs[i][j] * double{row[i]} * double{column[j]};
  }
  return sum;
}

EnvironmentSpec matrix_spec(std::string_view name, bool masks) {
  return {.name = std::string(name),
          .agents = {toy_agent(0, 1, {.categorical = {3}}), toy_agent(1, 1, {.categorical = {3}})},
          .episode_length = 1,
          .terminates = true,
          .masks = masks,
          .table = std::nullopt};
}

class MatrixGame final : public ToyEnvironment {
 public:
  MatrixGame(std::string_view name, const Payoffs& payoffs, std::size_t worlds, std::uint64_t seed)
      : ToyEnvironment(matrix_spec(name, false), worlds, seed), payoffs_(payoffs) {}

 private:
  void begin(std::size_t world, Rng) override { std::fill_n(observation(world), 2, 1.0F); }
  bool play(std::size_t world, const float* actions) override {
    std::fill_n(rewards(world), 2, static_cast<float>(expected_payoff(payoffs_, actions, actions + 3)));
    return true;
  }

  Payoffs payoffs_;
};

// Both agents see whether the first one's last choice is forbidden (1) or not (0).
class MaskedGame final : public ToyEnvironment {
 public:
  MaskedGame(std::size_t worlds, std::uint64_t seed) : ToyEnvironment(matrix_spec("toy:masked", true), worlds, seed) {}

 private:
  void begin(std::size_t world, Rng rng) override {
    const bool forbidden = rng.below(2) == 1;
    std::fill_n(observation(world), 2, forbidden ? 1.0F : 0.0F);
    mask(world)[2] = forbidden ? 0.0F : 1.0F;
  }
  bool play(std::size_t world, const float* actions) override {
    // Who takes a forbidden choice all the same gets nothing for it, which is less than any payoff.
    std::array<float, 3> row;
    for (std::size_t i = 0; i < 3; ++i) row[i] = actions[i] * mask(world)[i];
    std::fill_n(rewards(world), 2, static_cast<float>(expected_payoff(kMasked, row.data(), actions + 3)));
    return true;
  }
};

// Sees two numbers as one-hot codes, and gets a point for each head that repeats its number.
class HeadsGame final : public ToyEnvironment {
 public:
  static constexpr std::size_t kFirst = 3, kSecond = 4;
  HeadsGame(std::size_t worlds, std::uint64_t seed)
      : ToyEnvironment({.name = "toy:heads",
                        .agents = {toy_agent(0, kFirst + kSecond, {.categorical = {kFirst, kSecond}})},
                        .episode_length = 1,
                        .terminates = true,
                        .masks = false,
                        .table = std::nullopt},
                       worlds, seed) {}

 private:
  void begin(std::size_t world, Rng rng) override {
    std::fill_n(observation(world), kFirst + kSecond, 0.0F);
    observation(world)[rng.below(kFirst)] = 1.0F;
    observation(world)[kFirst + static_cast<std::size_t>(rng.below(kSecond))] = 1.0F;
  }
  bool play(std::size_t world, const float* actions) override {
    double sum = 0;
    for (std::size_t i = 0; i < kFirst + kSecond; ++i) sum += double{actions[i]} * double{observation(world)[i]};
    rewards(world)[0] = static_cast<float>(sum);
    return true;
  }
};

// The world state is [positions of all | marks of all]. An agent sees its position, the way to its mark and the ways to the
// others, and pays its distance after every step. Agents with even numbers begin four steps from their mark, the others
// three, so that some have to wait.
enum class Moves { Choice, Speed };

EnvironmentSpec line_spec(Moves moves, std::size_t agents) {
  EnvironmentSpec spec{.name = moves == Moves::Choice ? "toy:line" : "toy:reach",
                       .agents = {},
                       .episode_length = 10,
                       .terminates = moves == Moves::Choice,
                       .masks = false,
                       .table = std::nullopt};
  ObservationTable table{.state_size = 2 * agents, .entries = {}};
  const auto entry = [&](std::size_t plus, std::int32_t minus) {
    table.entries.push_back({.plus = static_cast<std::int32_t>(plus), .minus = minus});
  };
  for (std::size_t agent = 0; agent < agents; ++agent) {
    ActionSpace actions;
    if (moves == Moves::Choice) actions.categorical = {3};
    if (moves == Moves::Speed) actions.continuous = 1;
    spec.agents.push_back(toy_agent(agent, agents + 1, std::move(actions)));
    const auto own = static_cast<std::int32_t>(agent);
    entry(agent, ObservationEntry::kNone);
    entry(agents + agent, own);
    for (std::size_t other = 0; other < agents; ++other) {
      if (other != agent) entry(other, own);
    }
  }
  if (moves == Moves::Choice) spec.table = std::move(table);
  return spec;
}

class LineWorld final : public ToyEnvironment {
 public:
  LineWorld(Moves moves, std::size_t agents, std::size_t worlds, std::uint64_t seed)
      : ToyEnvironment(line_spec(moves, agents), worlds, seed),
        moves_(moves),
        agents_(agents),
        places_(worlds * 2 * agents) {}

 private:
  void begin(std::size_t world, Rng rng) override {
    float* positions = places_.data() + world * 2 * agents_;
    float* marks = positions + agents_;
    for (std::size_t agent = 0; agent < agents_; ++agent) {
      positions[agent] =
          moves_ == Moves::Choice ? static_cast<float>(rng.between(-2, 2)) : static_cast<float>(4 * rng.uniform() - 2);
      const float way = agent % 2 == 0 ? 4.0F : 3.0F;
      marks[agent] = rng.below(2) == 0 ? positions[agent] - way : positions[agent] + way;
    }
    show(world);
  }

  bool play(std::size_t world, const float* actions) override {
    float* positions = places_.data() + world * 2 * agents_;
    const float* marks = positions + agents_;
    bool all_there = true;
    for (std::size_t agent = 0; agent < agents_; ++agent) {
      const float* action = actions + agent * (moves_ == Moves::Choice ? 3 : 1);
      positions[agent] += moves_ == Moves::Choice ? action[2] - action[0] : std::clamp(action[0], -1.0F, 1.0F);
      const float distance = std::fabs(marks[agent] - positions[agent]);
      rewards(world)[agent] = -distance;
      all_there &= distance < 0.5F;
    }
    show(world);
    return moves_ == Moves::Choice && all_there;
  }

  void show(std::size_t world) {
    const float* places = places_.data() + world * 2 * agents_;
    if (moves_ == Moves::Choice) std::copy_n(places, 2 * agents_, state(world));
    float* entry = observation(world);
    for (std::size_t agent = 0; agent < agents_; ++agent) {
      *entry++ = places[agent];
      *entry++ = places[agents_ + agent] - places[agent];
      for (std::size_t other = 0; other < agents_; ++other) {
        if (other != agent) *entry++ = places[other] - places[agent];
      }
    }
  }

  Moves moves_;
  std::size_t agents_;
  std::vector<float> places_;  // worlds × state
};

constexpr std::size_t kMostAgents = 64;

struct AgentRange {
  std::size_t least, most, usual;
};
AgentRange agent_range(std::string_view name) {
  if (name == "toy:line" || name == "toy:reach") return {1, kMostAgents, 2};
  if (name == "toy:heads") return {1, 1, 1};
  return {2, 2, 2};
}

}  // namespace

const std::vector<ToyGame>& toy_games() {
  static const std::vector<ToyGame> games = {
      {"toy:matrix", "two agents, common payoffs with one clear optimum", 2 * 8},
      {"toy:climbing", "two agents, the best joint choice lies beside heavy penalties", 2 * 11},
      {"toy:line", "each agent walks to its mark on a line", -(3 + 2 + 1) - (2 + 1)},
      {"toy:reach", "the same with continuous speed", -(3 + 2 + 1) - (2 + 1)},
      {"toy:masked", "the best choice is forbidden in half of the episodes", (2 * 10 + 2 * 6) / 2.0},
      {"toy:heads", "one agent repeats two shown numbers with two heads", 2},
  };
  return games;
}

Result<std::unique_ptr<Environment>> make_toy_game(std::string_view name, std::size_t agents, std::size_t worlds,
                                                   std::uint64_t seed) {
  std::vector<std::string> names;
  for (const ToyGame& game : toy_games()) names.emplace_back(game.name);
  if (std::ranges::find(names, name) == names.end())
    return invalid(fmt::format("toy game '{}' is unknown, expected one of {}{}", printable(name), join(names, ", "),
                               did_you_mean(name, names)));
  if (worlds == 0) return invalid(fmt::format("{}: 0 worlds, expected at least 1", name));
  const AgentRange range = agent_range(name);
  if (agents == 0) agents = range.usual;
  if (agents < range.least || agents > range.most) {
    const std::string expected =
        range.least == range.most ? std::to_string(range.least) : fmt::format("{} to {}", range.least, range.most);
    return invalid(fmt::format("{}: {} agents, expected {}", name, agents, expected));
  }

  std::unique_ptr<Environment> game;
  if (name == "toy:matrix") game = std::make_unique<MatrixGame>(name, kMatrix, worlds, seed);
  if (name == "toy:climbing") game = std::make_unique<MatrixGame>(name, kClimbing, worlds, seed);
  if (name == "toy:line") game = std::make_unique<LineWorld>(Moves::Choice, agents, worlds, seed);
  if (name == "toy:reach") game = std::make_unique<LineWorld>(Moves::Speed, agents, worlds, seed);
  if (name == "toy:masked") game = std::make_unique<MaskedGame>(worlds, seed);
  if (name == "toy:heads") game = std::make_unique<HeadsGame>(worlds, seed);
  return game;
}

}  // namespace tilewright
