#include "tilewright/particle/trajectory.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "tilewright/particle/trajectory_file.hpp"
#include "tilewright/particle/world.hpp"

namespace tilewright {
namespace {

// Counts what is compared and remembers the first difference.
class Comparison {
 public:
  void begin_moment(std::size_t step) { step_ = step; }

  // `name` makes the name of entry i of a list.
  template <typename Name>
  void compare(const std::vector<double>& recorded, const double* ours, const Name& name) {
    for (std::size_t i = 0; i < recorded.size(); ++i) {
      ++numbers_;
      if (is_same(ours[i], recorded[i]) || !first_.empty()) continue;
      first_ = fmt::format("step {}: {} is {:.17g}, recorded {:.17g}", step_, name(i), ours[i], recorded[i]);
    }
  }

  std::size_t numbers() const { return numbers_; }
  const std::string& first() const { return first_; }

 private:
  static bool is_same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

  std::size_t step_ = 0, numbers_ = 0;
  std::string first_;
};

class Replayer {
 public:
  explicit Replayer(const Trajectory& trajectory)
      : trajectory_(trajectory),
        scenario_(*trajectory.scenario),
        shape_(scenario_.shape()),
        physics_(shape_, trajectory.dialect, Contacts::Exact),
        world_(shape_.size()),
        thrust_(2 * shape_.agents.size()) {}

  ReplayVerdict run() {
    begin();
    for (std::size_t step = 0; step < trajectory_.steps.size(); ++step) {
      advance(trajectory_.steps[step]);
      comparison_.begin_moment(step + 1);
      compare(trajectory_.steps[step].after);
    }
    return {.scenario = trajectory_.scenario_name,
            .dialect = trajectory_.dialect == Dialect::OpenAi ? "openai" : "pettingzoo",
            .steps = trajectory_.steps.size(),
            .numbers = comparison_.numbers(),
            .first_difference = comparison_.first()};
  }

 private:
  // Goals are not in the file: the one that shows agents what they were shown is it.
  void begin() {
    const RecordedMoment& start = trajectory_.start;
    std::ranges::copy(start.velocities, world_.begin());
    std::ranges::copy(start.positions, position());
    std::ranges::copy(start.landmarks, world_.begin() + static_cast<std::ptrdiff_t>(shape_.landmark(0)));
    for (std::size_t i = 0; i < shape_.agents.size(); ++i) {
      if (!shape_.agents[i].talks || start.words.empty()) continue;
      std::copy_n(start.words.data() + i * shape_.word_size, shape_.word_size, world_.data() + shape_.word(i));
    }
    for (std::size_t goal = 0; goal < scenario_.goal_count(); ++goal) {
      scenario_.set_goal(goal, world_.data());
      scenario_.derive(world_.data());
      comparison_ = {};
      compare_observations(start.observations);
      if (comparison_.first().empty()) return;
    }
  }

  void advance(const RecordedStep& step) {
    for (std::size_t i = 0; i < shape_.agents.size(); ++i) {
      const std::vector<double>& action = step.actions[i];
      double *thrust = thrust_.data() + 2 * i, *word = world_.data() + shape_.word(i);
      const std::vector<float> narrow(action.begin(), action.end());
      const bool single = std::ranges::equal(action, narrow);  // recorded from single-precision actions
      if (single) {
        apply_action(narrow.data(), shape_.agents[i], trajectory_.dialect, shape_.word_size, thrust, word);
      } else {
        apply_action(action.data(), shape_.agents[i], trajectory_.dialect, shape_.word_size, thrust, word);
      }
    }
    physics_.step(world_.data(), thrust_.data());
    scenario_.derive(world_.data());
  }

  void compare(const RecordedMoment& recorded) {
    const auto pair_of = [](const char* who, const char* what) {
      return [=](std::size_t i) { return fmt::format("{} {} {}[{}]", who, i / 2, what, i % 2); };
    };
    comparison_.compare(recorded.positions, &*position(), pair_of("agent", "pos"));
    comparison_.compare(recorded.velocities, world_.data(), pair_of("agent", "vel"));
    comparison_.compare(recorded.landmarks, world_.data() + shape_.landmark(0), pair_of("landmark", "pos"));
    std::vector<double> words(recorded.words.size());
    for (std::size_t i = 0; !words.empty() && i < shape_.agents.size(); ++i) {
      if (!shape_.agents[i].talks) continue;
      std::copy_n(world_.data() + shape_.word(i), shape_.word_size, words.data() + i * shape_.word_size);
    }
    comparison_.compare(recorded.words, words.data(), [&](std::size_t i) {
      return fmt::format("agent {} c[{}]", i / shape_.word_size, i % shape_.word_size);
    });
    std::vector<double> rewards(shape_.agents.size());
    scenario_.rewards(world_.data(), rewards);
    comparison_.compare(recorded.rewards, rewards.data(), [](std::size_t i) { return fmt::format("agent {} reward", i); });
    compare_observations(recorded.observations);
  }

  void compare_observations(const std::vector<std::vector<double>>& recorded) {
    for (std::size_t agent = 0; agent < recorded.size(); ++agent) {
      std::vector<double> ours(recorded[agent].size());
      observe(scenario_.view(agent), world_.data(), ours.data());
      if (trajectory_.dialect == Dialect::PettingZoo) {  // it hands observations out in single precision
        std::ranges::transform(ours, ours.begin(), [](double x) { return static_cast<double>(static_cast<float>(x)); });
      }
      comparison_.compare(recorded[agent], ours.data(),
                          [&](std::size_t i) { return fmt::format("agent {} obs[{}]", agent, i); });
    }
  }

  std::vector<double>::iterator position() { return world_.begin() + static_cast<std::ptrdiff_t>(shape_.position(0)); }

  const Trajectory& trajectory_;
  const Scenario& scenario_;
  const WorldShape& shape_;
  Physics physics_;
  std::vector<double> world_, thrust_;
  Comparison comparison_;
};

}  // namespace

Result<ReplayVerdict> replay_trajectory(const std::filesystem::path& path) {
  TW_TRY(const Trajectory trajectory, read_trajectory(path));
  return replay(trajectory);
}

ReplayVerdict replay(const Trajectory& trajectory) { return Replayer(trajectory).run(); }

}  // namespace tilewright
