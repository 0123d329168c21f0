// Learners of multi-agent games, in worlds of a name and in worlds that are written in Python.
#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/unique_ptr.h>

#include "bind.hpp"
#include "interpreter_lock.hpp"
#include "python_worlds.hpp"
#include "team_learner.hpp"
#include "train_settings.hpp"

#include "tilewright/base/text.hpp"
#include "tilewright/nn/safetensors.hpp"
#include "tilewright/study/training_parts.hpp"

namespace tilewright::python {
namespace {

using FloatRows = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
constexpr const char* kInUse = "the learner";

TrainSettings settings_of(const std::string& algorithm, const std::string& options) {
  TrainSettings settings;
  read_settings(settings, options, algorithm);
  settings.algorithm = take(named<Algorithm>(algorithm));
  return settings;
}

std::unique_ptr<TeamLearner> in_named_world(const std::string& algorithm, const std::string& world,
                                            const std::string& options, std::size_t threads) {
  TrainSettings settings = settings_of(algorithm, options);
  settings.world = world;
  return TeamLearner::in_named_world(std::move(settings), threads);
}

std::unique_ptr<TeamLearner> in_python_worlds(const std::string& algorithm, const std::string& name, const nb::object& game,
                                              std::size_t worlds, const nb::object& agents, bool masks,
                                              const std::string& options, std::size_t threads) {
  return TeamLearner::in_worlds(settings_of(algorithm, options),
                                std::make_unique<PythonWorlds>(python_spec(name, agents, masks), worlds, game), threads);
}

template <typename Number>
nb::object array_of(const std::string& bytes, const std::vector<std::size_t>& shape) {
  const std::size_t count = bytes.size() / sizeof(Number);
  auto copy = std::make_unique<Number[]>(std::max<std::size_t>(1, count));
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  Number* data = copy.release();
  const nb::capsule owner(data, [](void* memory) noexcept { delete[] static_cast<Number*>(memory); });
  return nb::cast(nb::ndarray<nb::numpy, Number>(data, shape.size(), shape.data(), owner));
}

nb::object to_array(const Tensor& tensor) {
  switch (tensor.type) {
    case TensorType::F32:
      return array_of<float>(tensor.bytes, tensor.shape);
    case TensorType::F64:
      return array_of<double>(tensor.bytes, tensor.shape);
    case TensorType::I64:
      return array_of<std::int64_t>(tensor.bytes, tensor.shape);
    case TensorType::U8:
      break;
  }
  return array_of<std::uint8_t>(tensor.bytes, tensor.shape);
}

nb::dict tensors_of(TeamLearner& self) {
  const OneThread::Use use(self.users(), kInUse);
  nb::dict all;
  for (const auto& [name, tensor] : self.tensors().tensors) all[name.c_str()] = to_array(tensor);
  return all;
}

// Puts numbers of the same type and shape in the place of a tensor.
void replace(Tensor& tensor, const std::string& name, nb::handle value) {
  nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu> array;
  if (!nb::try_cast(value, array, false)) raise_type("tensor " + name, value, "a contiguous NumPy array");
  const nb::object mine = to_array(tensor);
  if (!mine.attr("shape").equal(value.attr("shape")) || !mine.attr("dtype").equal(value.attr("dtype"))) {
    const auto told = [](nb::handle of) {
      const nb::object dtype = of.attr("dtype"), shape = of.attr("shape");
      return nb::cast<std::string>(nb::str(dtype)) + " " + nb::cast<std::string>(nb::str(shape));
    };
    raise(fmt::format("tensor {} is {}, expected {}", name, told(value), told(mine)));
  }
  std::memcpy(tensor.bytes.data(), array.data(), tensor.bytes.size());
}

void set_tensors(TeamLearner& self, const nb::dict& given) {
  const OneThread::Use use(self.users(), kInUse);
  const TensorFile before = self.tensors();
  TensorFile after = before;
  for (auto [key, value] : given) {
    const std::string name = nb::cast<std::string>(key);
    const auto tensor = after.tensors.find(name);
    if (tensor == after.tensors.end()) {
      std::vector<std::string> names;
      for (const auto& [known, unused] : after.tensors) names.push_back(known);
      raise(fmt::format("there is no tensor '{}'{}", printable(name), did_you_mean(name, names)));
    }
    replace(tensor->second, name, value);
  }
  self.set_tensors(after);
}

bool train(TeamLearner& self, std::int64_t episodes, const nb::object& keep_going) {
  const OneThread::Use use(self.users(), kInUse);
  bool stopped = false;
  self.train(episodes, [&](const TrainState& state) {
    const Held held;
    const nb::object answer = until_the_end([&] { return keep_going(state.episodes, state.steps, self.update_count()); });
    stopped = !nb::cast<bool>(answer);
    return !stopped;
  });
  return !stopped;
}

nb::object act(TeamLearner& self, const FloatRows& seen, const std::optional<FloatRows>& masks, bool explore) {
  const OneThread::Use use(self.users(), kInUse);
  const EnvironmentSpec& spec = self.spec();
  const std::size_t rows = seen.shape(0), columns = spec.action_size();
  if (rows == 0 || seen.shape(1) != spec.observation_size()) {
    raise(fmt::format("act: observations have the shape ({}, {}), expected rows of {}", rows, seen.shape(1),
                      spec.observation_size()));
  }
  if (spec.masks != masks.has_value())
    raise(spec.masks ? "act: masks are missing, expected those of every agent" : "act: there are no masks in this game");
  if (masks && (masks->shape(0) != rows || masks->shape(1) != columns)) {
    raise(fmt::format("act: masks have the shape ({}, {}), expected ({}, {})", masks->shape(0), masks->shape(1), rows,
                      columns));
  }
  const std::span<const float> numbers(seen.data(), seen.size());
  if (!std::ranges::all_of(numbers, [](float number) { return std::isfinite(number); }))
    raise("act: observations hold a number that is not finite");
  auto actions = std::make_unique<float[]>(rows * columns);
  self.act(numbers, masks ? std::span<const float>(masks->data(), masks->size()) : std::span<const float>(), rows, explore,
           {actions.get(), rows * columns});
  float* data = actions.release();
  const nb::capsule owner(data, [](void* memory) noexcept { delete[] static_cast<float*>(memory); });
  return nb::cast(nb::ndarray<nb::numpy, float, nb::ndim<2>>(data, {rows, columns}, owner));
}

nb::list curve_of(TeamLearner& self) {
  const OneThread::Use use(self.users(), kInUse);
  nb::list all;
  for (const CurvePoint& point : curve_so_far(self.state(), self.update_count())) {
    all.append(nb::make_tuple(point.episodes, point.steps, point.updates, point.mean_return, point.agent_returns));
  }
  return all;
}

nb::list agents_of(const EnvironmentSpec& spec) {
  nb::list all;
  for (const AgentSpec& agent : spec.agents) {
    all.append(
        nb::make_tuple(agent.name, agent.team, agent.observation_size, agent.actions.categorical, agent.actions.continuous));
  }
  return all;
}

// Options by name, as JSON would have them.
nb::dict settings_dict(const TrainSettings& settings) {
  TrainSettings copy = settings;
  nb::dict all;
  for (const OptionField& field : options_of(copy)) {
    const std::optional<std::string> text = value_text(field);
    if (text && field.name != "world") all[std::string(field.name).c_str()] = *text;
  }
  return all;
}

// Of a learner in worlds of one's own: name, default and meaning.
nb::list option_rows(const std::string& algorithm) {
  TrainSettings settings;
  settings.world = "toy:own";
  settings.algorithm = take(named<Algorithm>(algorithm));
  settings = resolve(std::move(settings), kDefaultEpisodes);
  resolve_layout(settings, {});
  nb::list all;
  for (const OptionField& field : options_of(settings)) {
    const std::optional<std::string> value = value_text(field);
    if (!value || field.name == "world" || field.name == "algorithm") continue;
    all.append(nb::make_tuple(std::string(field.name), *value, field.meaning));
  }
  return all;
}

nb::object read_tensors(const nb::object& path) {
  const TensorFile file = take(read_safetensors(source_text(path, "path")));
  nb::dict tensors, metadata;
  for (const auto& [name, tensor] : file.tensors) tensors[name.c_str()] = to_array(tensor);
  for (const auto& [name, text] : file.metadata) metadata[name.c_str()] = text;
  return nb::make_tuple(tensors, metadata);
}

void bind_running(nb::class_<TeamLearner>& cls) {
  cls.def("train", &train, "episodes"_a, "keep_going"_a,
          nb::sig("def train(self, episodes: int, keep_going: collections.abc.Callable[[int, int, int], bool]) -> bool"),
          "Until that many more episodes are done, without the interpreter's lock; False when keep_going(episodes, steps, "
          "updates), asked after "
          "every round, said no.");
  cls.def(
      "evaluate",
      [](TeamLearner& self, std::int64_t episodes, std::uint64_t first_episode) {
        const OneThread::Use use(self.users(), kInUse);
        return self.evaluate(episodes, first_episode);
      },
      "episodes"_a, "first_episode"_a, "Mean return of each agent over greedy episodes, which nothing learns from.");
  cls.def("act", &act, "observations"_a, "masks"_a.none(), "explore"_a,
          nb::sig("def act(self, observations: numpy.typing.NDArray[numpy.float32], masks: "
                  "numpy.typing.NDArray[numpy.float32] | None, explore: bool) "
                  "-> numpy.typing.NDArray[numpy.float32]"),
          "Actions of all agents, one row for each row of what they see.");
  cls.def("tensors", &tensors_of, nb::sig("def tensors(self) -> dict[str, numpy.typing.NDArray[typing.Any]]"),
          "Everything that it has learned, by name: copies.");
  cls.def("set_tensors", &set_tensors, "tensors"_a,
          nb::sig("def set_tensors(self, tensors: dict[str, numpy.typing.NDArray[typing.Any]]) -> None"),
          "Puts arrays in the place of tensors of the same type and shape.");
  cls.def(
      "save_policy",
      [](TeamLearner& self, const nb::object& path) {
        const OneThread::Use use(self.users(), kInUse);
        take(write_safetensors(source_text(path, "save_policy: path"), self.policy()));
      },
      "path"_a, nb::sig("def save_policy(self, path: str | os.PathLike[str]) -> None"),
      "The actors as a safetensors file, as `tilewright train` writes them.");
  cls.def(
      "save",
      [](TeamLearner& self, const nb::object& directory) {
        const OneThread::Use use(self.users(), kInUse);
        self.save(source_text(directory, "save: directory"));
      },
      "directory"_a, nb::sig("def save(self, directory: str | os.PathLike[str]) -> None"),
      "Everything, replay memory included, into a directory: training goes on from there bit by bit.");
  cls.def(
      "load",
      [](TeamLearner& self, const nb::object& directory) {
        const OneThread::Use use(self.users(), kInUse);
        self.load(source_text(directory, "load: directory"));
      },
      "directory"_a, nb::sig("def load(self, directory: str | os.PathLike[str]) -> None"),
      "What save() wrote, of the same agents and options.");
}

}  // namespace

void bind_marl(nb::module_& module) {
  nb::class_<TeamLearner> cls(module, "TeamLearner",
                              "A learner with the worlds it learns in: what the classes of tilewright.marl are made of.\n\n"
                              "One thread at a time may use it; a second one, or a callback, gets an InvalidInput.");
  cls.def_prop_ro(
      "agents", [](const TeamLearner& self) { return agents_of(self.spec()); },
      nb::sig("def agents(self) -> list[tuple[str, str, int, list[int], int]]"),
      "Name, team, numbers observed, choices of each head and continuous components, of every agent.");
  cls.def_prop_ro(
      "name", [](const TeamLearner& self) { return self.spec().name; }, "Of the world.");
  cls.def_prop_ro(
      "masks", [](const TeamLearner& self) { return self.spec().masks; }, "Whether agents are told what is allowed.");
  cls.def_prop_ro("world_count", &TeamLearner::world_count, "Copies of the world side by side.");
  cls.def_prop_ro(
      "episodes", [](const TeamLearner& self) { return self.episodes(); }, "Done so far.");
  cls.def_prop_ro(
      "steps", [](const TeamLearner& self) { return self.steps(); }, "Of the worlds so far.");
  cls.def_prop_ro("updates", &TeamLearner::update_count, "Of all agents, so far.");
  cls.def_prop_ro(
      "settings", [](const TeamLearner& self) { return settings_dict(self.settings()); },
      nb::sig("def settings(self) -> dict[str, str]"), "Every option with its value, as the command line writes them.");
  cls.def_prop_ro(
      "losses",
      [](TeamLearner& self) {
        const OneThread::Use use(self.users(), kInUse);
        return std::pair(self.learner().losses().critic, self.learner().losses().actor);
      },
      nb::sig("def losses(self) -> tuple[list[float], list[float]]"), "Critics' and actors' losses of the latest update.");
  cls.def("curve", &curve_of, nb::sig("def curve(self) -> list[tuple[int, int, int, float, list[float]]]"),
          "Episodes, steps, updates, mean return and each agent's, of every interval.");
  bind_running(cls);
  module.def("named_world_learner", &in_named_world, "algorithm"_a, "world"_a, "options"_a, "threads"_a,
             "A learner in a world of a name.");
  module.def("python_world_learner", &in_python_worlds, "algorithm"_a, "name"_a, "game"_a, "worlds"_a, "agents"_a, "masks"_a,
             "options"_a, "threads"_a,
             nb::sig("def python_world_learner(algorithm: str, name: str, game: object, worlds: int, agents: object, masks: "
                     "bool, options: str, threads: int) -> TeamLearner"),
             "A learner in worlds that are written in Python.");
  module.def("train_options", &option_rows, "algorithm"_a,
             nb::sig("def train_options(algorithm: str) -> list[tuple[str, str, str]]"),
             "Name, default and meaning of every option of a learner in worlds of one's own.");
  module.def("read_safetensors", &read_tensors, "path"_a,
             nb::sig("def read_safetensors(path: str | os.PathLike[str]) -> tuple[dict[str, "
                     "numpy.typing.NDArray[typing.Any]], dict[str, str]]"),
             "Tensors and texts of a safetensors file.");
}

}  // namespace tilewright::python
