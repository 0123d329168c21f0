// The particle worlds: many copies stepped in one call, and one copy with dictionaries as PettingZoo has them.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nanobind/ndarray.h>

#include "bind.hpp"
#include "interpreter_lock.hpp"
#include "one_thread.hpp"
#include "train_settings.hpp"

#include "tilewright/particle/particle_environment.hpp"
#include "tilewright/study/train_world.hpp"

namespace tilewright::python {
namespace {

using FloatRows = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using DoubleRows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// A new array that nothing else refers to.
template <typename Number>
nb::object copied(std::span<const Number> values, std::initializer_list<std::size_t> shape) {
  auto copy = std::make_unique<Number[]>(std::max<std::size_t>(1, values.size()));
  std::ranges::copy(values, copy.get());
  Number* data = copy.release();
  const nb::capsule owner(data, [](void* memory) noexcept { delete[] static_cast<Number*>(memory); });
  return nb::cast(nb::ndarray<nb::numpy, Number>(data, shape, owner));
}

class ParticleWorlds {
 public:
  ParticleWorlds(const std::string& scenario, const std::string& options, bool continuous)
      : scenario_(scenario), continuous_(continuous) {
    TrainSettings settings;
    read_settings(settings, options, "particle");
    settings.world = scenario;
    settings.algorithm = Algorithm::Maddpg;
    settings = resolve(std::move(settings), 1);
    if (!is_toy(settings)) take(check(settings));
    environment_ = take(make_particle_environment(particle_options(settings)));
    actions_.resize(environment_->world_count() * spec().action_size());
    for (std::size_t i = 0; i < spec().agent_count(); ++i) {
      const nb::int_ first(spec().observation_offset(i)), end(spec().observation_offset(i + 1));
      names_.push_back(nb::steal(PyUnicode_InternFromString(spec().agents[i].name.c_str())));
      parts_.push_back(nb::steal(PySlice_New(first.ptr(), end.ptr(), nullptr)));
    }
  }

  const EnvironmentSpec& spec() const { return environment_->spec(); }
  std::size_t world_count() const { return environment_->world_count(); }
  const ParticleStarts& starts() const { return environment_->starts(); }

  void reseed(std::uint64_t seed) {
    const OneThread::Use use(threads_, scenario_);
    environment_->reseed(seed);
  }

  void reset(std::uint64_t first_episode) {
    const OneThread::Use use(threads_, scenario_);
    const Released released;
    environment_->reset(first_episode);
  }

  void begin(const DoubleRows& places, const std::vector<std::size_t>& goals) {
    const OneThread::Use use(threads_, scenario_);
    const std::size_t size = 2 * starts().spawns.size();
    if (places.shape(0) != world_count() || places.shape(1) != size || goals.size() != world_count()) {
      raise(fmt::format("{}: starts have the shape ({}, {}) and {} goals, expected ({}, {}) and {}", scenario_,
                        places.shape(0), places.shape(1), goals.size(), world_count(), size, world_count()));
    }
    const std::span<const double> numbers(places.data(), world_count() * size);
    if (!std::ranges::all_of(numbers, [](double number) { return std::isfinite(number); })) {
      raise(scenario_ + ": starts hold a number that is not finite, expected places");
    }
    for (const std::size_t goal : goals) {
      if (goal >= starts().goal_count) {
        raise(fmt::format("{}: goal {} of a start, expected 0 to {}", scenario_, goal, starts().goal_count - 1));
      }
    }
    environment_->begin(numbers, goals);
  }

  // Of all worlds, from arrays of choices or of continuous actions by agent.
  void step(const nb::dict& actions) {
    const OneThread::Use use(threads_, scenario_);
    std::ranges::fill(actions_, 0.0F);
    for (std::size_t i = 0; i < spec().agent_count(); ++i) put_all(i, action_of(i, actions));
    expect_no_others(actions);
    const Released released;
    environment_->step(actions_);
  }

  // Of the only world: what PettingZoo's step gives.
  nb::object step_one(const nb::dict& actions) {
    const OneThread::Use use(threads_, scenario_);
    std::ranges::fill(actions_, 0.0F);
    float* place = actions_.data();
    for (std::size_t i = 0; i < spec().agent_count(); ++i) {
      put_one(i, action_of(i, actions), place);
      place += spec().agents[i].actions.action_size();
    }
    expect_no_others(actions);
    environment_->step(actions_);
    nb::dict rewards, terminated, truncated;
    for (std::size_t i = 0; i < spec().agent_count(); ++i) {
      rewards[names_[i]] = nb::float_(environment_->exact_rewards()[i]);
      terminated[names_[i]] = nb::bool_(false);
      truncated[names_[i]] = nb::bool_(environment_->arrays().truncated[i] != 0);
    }
    return nb::make_tuple(seen(), rewards, terminated, truncated, infos());
  }

  // What each agent of the only world sees: parts of one new array.
  nb::dict seen() const {
    const nb::object row = copied<float>(environment_->arrays().observations, {spec().observation_size()});
    nb::dict all;
    for (std::size_t i = 0; i < spec().agent_count(); ++i) {
      all[names_[i]] = nb::steal(PyObject_GetItem(row.ptr(), parts_[i].ptr()));
    }
    return all;
  }

  nb::dict infos() const {
    nb::dict all;
    for (const nb::object& name : names_) all[name] = nb::dict();
    return all;
  }

  nb::object observations() const {
    return copied<float>(environment_->arrays().observations, {world_count(), spec().observation_size()});
  }
  nb::object rewards() const { return copied<double>(environment_->exact_rewards(), {world_count(), spec().agent_count()}); }
  const float* observation_data() const { return environment_->arrays().observations.data(); }

  bool has_ended() const { return environment_->arrays().truncated.front() != 0; }  // all worlds end together

  nb::list bodies(std::size_t world) const {
    if (world >= world_count())
      raise(fmt::format("{}: there is no world {}, expected 0 to {}", scenario_, world, world_count() - 1));
    constexpr const char* kKinds[] = {"agent", "adversary", "prey", "landmark", "obstacle"};
    nb::list all;
    for (const Body& body : environment_->bodies(world)) {
      all.append(nb::make_tuple(body.x, body.y, body.radius, kKinds[static_cast<std::size_t>(body.kind)]));
    }
    return all;
  }

 private:
  std::string place(std::size_t agent) const {
    return fmt::format("{}: the action of {}", scenario_, spec().agents[agent].name);
  }

  nb::handle action_of(std::size_t agent, const nb::dict& actions) const {
    PyObject* value = PyDict_GetItemWithError(actions.ptr(), names_[agent].ptr());
    if (value == nullptr) raise(place(agent) + " is missing, expected one of every agent");
    return value;
  }

  void expect_no_others(const nb::dict& actions) const {
    if (actions.size() == names_.size()) return;
    for (auto [key, value] : actions) {
      const bool known = std::ranges::any_of(names_, [&key = key](const nb::object& name) { return name.equal(key); });
      if (!known) raise(fmt::format("{}: there is no agent {}", scenario_, nb::cast<std::string>(nb::repr(key))));
    }
  }

  std::int64_t choices(std::size_t agent) const {  // of one number that stands for all heads
    std::int64_t count = 1;
    for (const std::size_t head : spec().agents[agent].actions.categorical) count *= static_cast<std::int64_t>(head);
    return count;
  }

  // Movement + 5 · word, as one-hot parts.
  void put_choice(std::size_t agent, std::int64_t choice, float* to) const {
    if (choice < 0 || choice >= choices(agent))
      raise(fmt::format("{} is {}, expected 0 to {}", place(agent), choice, choices(agent) - 1));
    for (const std::size_t head : spec().agents[agent].actions.categorical) {
      to[choice % static_cast<std::int64_t>(head)] = 1;
      choice /= static_cast<std::int64_t>(head);
      to += head;
    }
  }

  void put_one(std::size_t agent, nb::handle value, float* to) const {
    if (continuous_) return put_numbers(agent, value, 1, to, 0);
    if (nb::isinstance<nb::bool_>(value) || PyIndex_Check(value.ptr()) == 0)
      raise_type(place(agent), value, "a whole number");
    const Py_ssize_t choice = PyNumber_AsSsize_t(value.ptr(), nullptr);
    if (choice == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    put_choice(agent, choice, to);
  }

  void put_all(std::size_t agent, nb::handle value) {
    float* to = actions_.data() + spec().action_offset(agent);
    if (continuous_) return put_numbers(agent, value, world_count(), to, spec().action_size());
    nb::ndarray<const std::int64_t, nb::ndim<1>, nb::device::cpu> rows;
    nb::object whole = nb::borrow(value);
    if (nb::hasattr(value, "dtype") && nb::cast<std::string>(value.attr("dtype").attr("kind")) != "f")
      whole = value.attr("astype")("int64");
    if (!nb::try_cast(whole, rows, false)) raise_type(place(agent), value, "an array of a whole number for each world");
    if (rows.shape(0) != world_count())
      raise(fmt::format("{} has {} rows, expected {} worlds", place(agent), rows.shape(0), world_count()));
    for (std::size_t w = 0; w < world_count(); ++w) put_choice(agent, rows(w), to + w * spec().action_size());
  }

  void put_numbers(std::size_t agent, nb::handle value, std::size_t rows, float* to, std::size_t stride) const {
    const std::size_t size = spec().agents[agent].actions.action_size();
    nb::object array = nb::module_::import_("numpy").attr("ascontiguousarray")(value, "float32");
    nb::ndarray<const float, nb::c_contig, nb::device::cpu> numbers;
    if (!nb::try_cast(array, numbers, false) || numbers.size() != rows * size || numbers.shape(numbers.ndim() - 1) != size) {
      const nb::object shape = array.attr("shape");
      raise(fmt::format("{} has the shape {}, expected {} numbers{}", place(agent), nb::cast<std::string>(nb::repr(shape)),
                        size, stride == 0 ? "" : " for each world"));
    }
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t k = 0; k < size; ++k) {
        const float number = numbers.data()[row * size + k];
        if (!std::isfinite(number)) raise(fmt::format("{} holds {}, expected finite numbers", place(agent), number));
        to[row * stride + k] = number;
      }
    }
  }

  std::string scenario_;
  bool continuous_;
  std::unique_ptr<ParticleEnvironment> environment_;
  std::vector<float> actions_;
  std::vector<nb::object> names_, parts_;
  mutable OneThread threads_;
};

nb::list agents_of(const EnvironmentSpec& spec) {
  nb::list all;
  for (const AgentSpec& agent : spec.agents) {
    all.append(nb::make_tuple(agent.name, agent.team, agent.observation_size, agent.actions.categorical));
  }
  return all;
}

}  // namespace

void bind_particle(nb::module_& module) {
  nb::class_<ParticleWorlds> cls(module, "ParticleWorlds",
                                 "Copies of a particle world side by side: what tilewright.pettingzoo is made of.\n\n"
                                 "One thread at a time may use it; a second one gets an InvalidInput.");
  cls.def(nb::init<const std::string&, const std::string&, bool>(), "scenario"_a, "options"_a, "continuous"_a,
          "options: those of `tilewright train` for worlds, as JSON");
  cls.def_prop_ro(
      "agents", [](const ParticleWorlds& self) { return agents_of(self.spec()); },
      nb::sig("def agents(self) -> list[tuple[str, str, int, list[int]]]"),
      "Name, team, numbers observed and choices of each head, of every agent.");
  cls.def_prop_ro("world_count", &ParticleWorlds::world_count, "Copies side by side.");
  cls.def_prop_ro(
      "goal_count", [](const ParticleWorlds& self) { return self.starts().goal_count; }, "Goals an episode may have.");
  cls.def_prop_ro(
      "spawns", [](const ParticleWorlds& self) { return self.starts().spawns; },
      "Half the side of the square in which each body is placed: agents first, then landmarks.");
  cls.def_prop_ro("ended", &ParticleWorlds::has_ended, "Whether the episode is over; it is in all worlds at once.");
  cls.def("reseed", &ParticleWorlds::reseed, "seed"_a, "Makes them the worlds of that seed, from the next reset on.");
  cls.def("reset", &ParticleWorlds::reset, "first_episode"_a, "World w begins episode first_episode + w of the seed.");
  cls.def(
      "begin", &ParticleWorlds::begin, "places"_a, "goals"_a,
      nb::sig("def begin(self, places: numpy.typing.NDArray[numpy.float64], goals: collections.abc.Sequence[int]) -> None"),
      "Begins at these places: two numbers for each body in a row for each world, and a goal each.");
  cls.def("step", &ParticleWorlds::step, "actions"_a, nb::sig("def step(self, actions: dict[str, typing.Any]) -> None"),
          "One step of all worlds, without the interpreter's lock; actions are arrays with a row for each world.");
  cls.def("step_one", &ParticleWorlds::step_one, "actions"_a,
          nb::sig("def step_one(self, actions: dict[str, typing.Any]) -> tuple[dict[str, "
                  "numpy.typing.NDArray[numpy.float32]], dict[str, float], "
                  "dict[str, bool], dict[str, bool], dict[str, dict[str, typing.Any]]]"),
          "One step of the only world: observations, rewards, terminations, truncations and infos by agent.");
  cls.def("seen", &ParticleWorlds::seen, nb::sig("def seen(self) -> dict[str, numpy.typing.NDArray[numpy.float32]]"),
          "What each agent of the only world sees: parts of one new array.");
  cls.def("observations", &ParticleWorlds::observations,
          nb::sig("def observations(self) -> numpy.typing.NDArray[numpy.float32]"),
          "A new array: a row for each world, what all agents see one after another.");
  cls.def(
      "observation_view",
      [](const nb::object& self) {
        const auto& worlds = nb::cast<const ParticleWorlds&>(self);
        return nb::cast(nb::ndarray<nb::numpy, const float, nb::ndim<2>>(
            worlds.observation_data(), {worlds.world_count(), worlds.spec().observation_size()}, self));
      },
      nb::sig("def observation_view(self) -> numpy.typing.NDArray[numpy.float32]"),
      "The same numbers without a copy: read-only, overwritten by the next step or reset; it keeps the worlds alive.");
  cls.def("rewards", &ParticleWorlds::rewards, nb::sig("def rewards(self) -> numpy.typing.NDArray[numpy.float64]"),
          "A new array: a row for each world, a number for each agent.");
  cls.def("bodies", &ParticleWorlds::bodies, "world"_a = 0,
          nb::sig("def bodies(self, world: int = 0) -> list[tuple[float, float, float, str]]"),
          "Place, radius and kind of every body of a world.");
}

}  // namespace tilewright::python
