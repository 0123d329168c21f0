// Design spaces: what is legal, what points mean, and what they are worth, one or millions at a time.
#include "bind.hpp"
#include "mapping.hpp"
#include "options.hpp"
#include "space.hpp"

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/study/common_options.hpp"

namespace tilewright::python {
namespace {

constexpr std::size_t kPointsAtATime = 64;

OptionTable space_table(MappingInputs& inputs, MappingOptions& options) {
  OptionTable table =
      without(options_of(inputs, options, NetworkIs::Place), {"network", "hardware", "batch", "dims", "layer", "energies"});
  table.push_back({"no_classics", &options.no_classics, "known points are left out"});
  return table;
}

Network network_of(nb::handle layers) {
  if (nb::isinstance<Network>(layers)) return nb::cast<const Network&>(layers);
  if (!nb::isinstance<Layer>(layers)) raise_type("space: layer", layers, "a Layer or a Network");
  const auto& layer = nb::cast<const Layer&>(layers);
  Network network{.name = layer.name, .source = {}, .stated = {}, .layers = {}, .others = {}};
  network.layers.emplace_back().layer = layer;
  return network;
}

std::shared_ptr<const AnyDesign> design_of(nb::handle layers, nb::handle machine, const nb::dict& given) {
  MappingInputs inputs;
  MappingOptions options;
  apply(space_table(inputs, options), given, "space");
  Network network = network_of(layers);
  ThreadPool threads(1);
  const auto made = [](auto job) { return std::make_shared<const AnyDesign>(AnyJob(take(std::move(job)))); };
  if (nb::isinstance<Accelerator>(machine)) {
    return made(mapping_job(std::move(network), nb::cast<const Accelerator&>(machine), options, threads));
  }
  if (!nb::isinstance<hierarchy::Machine>(machine))
    raise_type("space: machine", machine, "an Accelerator or a LeveledMachine");
  return made(hierarchy_job(network, nb::cast<const hierarchy::Machine&>(machine), options, threads));
}

std::vector<std::shared_ptr<Space>> all_of(std::shared_ptr<const AnyDesign> design) {
  const auto* job = std::get_if<AnyJob>(design.get());
  const std::size_t count =
      job != nullptr ? common(*job).design_problems().size() : std::get<CodesignJob>(*design).layers.size();
  std::vector<std::shared_ptr<Space>> spaces;
  for (std::size_t i = 0; i < count; ++i) spaces.push_back(std::make_shared<Space>(design, i));
  return spaces;
}

Point legal_point(const Space& self, nb::handle value, const char* place) {
  const PointRows rows(value, self.space->parameters().size(), place);
  if (rows.size() != 1) raise(fmt::format("{} has {} rows, expected one point", place, rows.size()));
  Point point = rows[0];
  if (const auto fault = illegality(*self.space, point)) raise(fmt::format("{}: {}", place, *fault));
  return point;
}

// The legal values of a parameter after the entries before it, which must be legal themselves.
nb::object choices_of(const Space& self, nb::handle value, std::size_t parameter) {
  const std::size_t count = self.space->parameters().size();
  if (parameter >= count)
    raise_builtin(PyExc_IndexError, fmt::format("parameter {}, expected 0 to {}", parameter, count - 1));
  const PointRows rows(value, count, "choices: point");
  if (rows.size() != 1) raise(fmt::format("choices: point has {} rows, expected one", rows.size()));
  const Point point = rows[0];
  Choices choices;
  for (std::size_t i = 0; i <= parameter; ++i) {
    self.space->choices(point, i, choices);
    if (i < parameter && !choices.contains(point[i]))
      raise(fmt::format("choices: {} is {}, which is not legal", self.space->parameters()[i].name, point[i]));
  }
  std::vector<Point> legal(static_cast<std::size_t>(choices.count()));
  for (std::int32_t i = 0; i < choices.count(); ++i) legal[static_cast<std::size_t>(i)] = {choices[i]};
  return points_array(legal, 1).attr("ravel")();
}

// What each row of points gives, on all threads and without the interpreter's lock.
nb::object evaluate_batch(const Space& self, nb::handle value, int threads) {
  if (threads < 0 || threads > kMostThreads)
    raise(fmt::format("evaluate_batch: threads is {}, expected 0 to {}", threads, kMostThreads));
  const DesignSpace& space = *self.space;
  const PointRows rows(value, space.parameters().size(), "evaluate_batch: points");
  auto [array, out] = outcome_array(rows.size());
  const std::size_t pieces = (rows.size() + kPointsAtATime - 1) / kPointsAtATime;
  std::atomic<std::size_t> illegal = rows.size();  // the lowest row that is
  {
    const nb::gil_scoped_release released;
    ThreadPool pool(pieces <= 1 ? 1 : static_cast<std::size_t>(threads));
    std::vector<std::unique_ptr<PointEvaluator>> evaluators(pool.thread_count());
    pool.for_each(pieces, [&, rows_out = out](std::size_t piece, std::size_t thread) {
      if (!evaluators[thread]) evaluators[thread] = self.borrow();
      Point point(space.parameters().size());
      const std::size_t end = std::min(rows.size(), (piece + 1) * kPointsAtATime);
      for (std::size_t row = piece * kPointsAtATime; row < end; ++row) {
        rows.copy(row, point);
        if (!is_legal(space, point)) {
          std::size_t lowest = illegal;
          while (row < lowest && !illegal.compare_exchange_weak(lowest, row)) continue;
          return;
        }
        rows_out[row] = row_of(evaluators[thread]->evaluate(point), self.objective);
      }
    });
    for (auto& evaluator : evaluators) {
      if (evaluator) self.give_back(std::move(evaluator));
    }
  }
  if (illegal < rows.size()) {
    raise(fmt::format("evaluate_batch: points: row {}: {}", illegal.load(),
                      illegality(space, rows[illegal]).value_or("is not legal")));
  }
  return array;
}

nb::object random_points(const Space& self, std::int64_t count, std::uint64_t seed) {
  if (count < 0) raise(fmt::format("random: count is {}, expected at least 0", count));
  std::vector<Point> points;
  {
    const nb::gil_scoped_release released;
    Rng rng(seed, "python/random");
    for (std::int64_t i = 0; i < count; ++i) points.push_back(random_point(*self.space, rng));
  }
  return points_array(points, self.space->parameters().size());
}

nb::object repaired(const Space& self, nb::handle value) {
  const PointRows rows(value, self.space->parameters().size(), "repair: points");
  std::vector<Point> points;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    points.push_back(rows[row]);
    repair(*self.space, points.back());
  }
  const nb::object array = points_array(points, self.space->parameters().size());
  return rows.is_single() ? array.attr("ravel")() : array;
}

nb::object legality(const Space& self, nb::handle value) {
  const PointRows rows(value, self.space->parameters().size(), "is_legal: points");
  nb::list all;
  for (std::size_t row = 0; row < rows.size(); ++row) all.append(is_legal(*self.space, rows[row]));
  if (rows.is_single()) return all[0];
  return nb::module_::import_("numpy").attr("array")(all, "dtype"_a = "bool");
}

nb::object mapping_at(const Space& self, nb::handle value) {
  const Point point = legal_point(self, value, "mapping: point");
  if (const auto* any = std::get_if<AnyJob>(self.design.get())) {
    if (const auto* job = std::get_if<MappingJob>(any)) return nb::cast(job->problems[self.problem].mapping(point));
    const auto& leveled = std::get<HierarchyJob>(*any).problems[self.problem].mappings();
    return nb::cast(LeveledMapping{leveled.mapping(point), leveled.problem(), leveled.machine()});
  }
  raise("mapping: points of a co-design space stand for a machine and a schedule, expected describe()");
}

nb::object machine_at(const Space& self, nb::handle value) {
  const Point point = legal_point(self, value, "machine: point");
  if (const auto* any = std::get_if<AnyJob>(self.design.get())) {
    if (const auto* job = std::get_if<MappingJob>(any)) return nb::cast(job->problems[self.problem].machine(point));
    return nb::cast(std::get<HierarchyJob>(*any).machine);
  }
  return nb::cast(std::get<CodesignJob>(*self.design).layers[self.problem].space->machine(point));
}

nb::object point_of(const Space& self, nb::handle mapping) {
  std::optional<Point> point;
  if (const auto* leveled = dynamic_cast<const HierarchySpace*>(self.space)) {
    if (!nb::isinstance<LeveledMapping>(mapping)) raise_type("point_of: mapping", mapping, "a LeveledMapping");
    const auto& given = nb::cast<const LeveledMapping&>(mapping);
    check_same(given, leveled->problem(), leveled->machine(), "point_of");
    point = leveled->point_of(given.mapping);
  } else if (const auto* flat = dynamic_cast<const MappingSpace*>(self.space)) {
    if (!nb::isinstance<Mapping>(mapping)) raise_type("point_of: mapping", mapping, "a Mapping");
    point = flat->point_of(nb::cast<const Mapping&>(mapping));
  } else {
    raise("point_of: the space has no way back from mappings");
  }
  return point ? points_array({*point}, point->size()).attr("ravel")() : nb::none();
}

void bind_parameter(nb::module_& module) {
  nb::class_<Parameter> cls(module, "Parameter", "One of the parameters of a space. A value that never changes.");
  cls.def_ro("name", &Parameter::name,
             "What it decides: 'tile.K@0'; the same name means the same in all spaces of a family.");
  cls.def_prop_ro(
      "kind", [](const Parameter& self) { return self.kind == ParameterKind::Ordinal ? "ordinal" : "categorical"; },
      "ordinal: neighbouring indices mean similar things; or categorical.");
  cls.def_prop_ro(
      "role", [](const Parameter& self) { return std::string(name_of(self.role)); },
      "parallelism, order, tile, hardware or scheduling.");
  cls.def_ro("value_count", &Parameter::value_count, "How many values there are, legal together with others or not.");
  cls.def("__repr__", [](const Parameter& self) {
    return fmt::format("<Parameter {}: {} of {} values>", self.name,
                       self.kind == ParameterKind::Ordinal ? "ordinal" : "categorical", self.value_count);
  });
}

void bind_points(nb::class_<Space>& cls) {
  cls.def("random", &random_points, "count"_a, "seed"_a = 1,
          nb::sig("def random(self, count: int, seed: int = 1) -> numpy.typing.NDArray[numpy.int32]"),
          "Random legal points, one row each: every parameter in order, uniformly among its legal values.");
  cls.def("choices", &choices_of, "point"_a, "parameter"_a,
          nb::sig("def choices(self, point: numpy.typing.NDArray[numpy.signedinteger[typing.Any]], parameter: int) -> "
                  "numpy.typing.NDArray[numpy.int32]"),
          "The legal indices of a parameter, ascending, given the entries of the point before it; there is always one.");
  cls.def("is_legal", &legality, "points"_a,
          nb::sig("def is_legal(self, points: numpy.typing.NDArray[numpy.signedinteger[typing.Any]]) -> typing.Any"),
          "Whether a point is legal; of several rows an array.");
  cls.def("repair", &repaired, "points"_a,
          nb::sig("def repair(self, points: numpy.typing.NDArray[numpy.signedinteger[typing.Any]]) -> "
                  "numpy.typing.NDArray[numpy.int32]"),
          "Each illegal entry, in order, replaced by the legal one nearest to it, and the point in its canonical spelling.");
  cls.def(
      "describe",
      [](const Space& self, const nb::object& value) {
        const Point point = legal_point(self, value, "describe: point");
        nb::dict all;
        for (std::size_t i = 0; i < point.size(); ++i)
          all[self.space->parameters()[i].name.c_str()] = self.space->value_name(i, point[i]);
        return all;
      },
      "point"_a,
      nb::sig("def describe(self, point: numpy.typing.NDArray[numpy.signedinteger[typing.Any]]) -> dict[str, str]"),
      "What each entry of a point stands for, by the name of its parameter.");
  cls.def(
      "values",
      [](const Space& self, std::size_t parameter) {
        if (parameter >= self.space->parameters().size())
          raise_builtin(PyExc_IndexError,
                        fmt::format("parameter {}, expected 0 to {}", parameter, self.space->parameters().size() - 1));
        std::vector<double> all;
        for (std::int32_t i = 0; i < self.space->parameters()[parameter].value_count; ++i)
          all.push_back(self.space->value(parameter, i));
        return all;
      },
      "parameter"_a, "What the indices of a parameter stand for: sizes; of categories small whole numbers.");
  cls.def(
      "mapping", &mapping_at, "point"_a,
      nb::sig("def mapping(self, point: numpy.typing.NDArray[numpy.signedinteger[typing.Any]]) -> Mapping | LeveledMapping"),
      "The mapping that a point stands for.");
  cls.def("machine", &machine_at, "point"_a,
          nb::sig("def machine(self, point: numpy.typing.NDArray[numpy.signedinteger[typing.Any]]) -> Accelerator | "
                  "LeveledMachine | VtaMachine"),
          "The machine that a point runs on.");
  cls.def("point_of", &point_of, "mapping"_a,
          nb::sig("def point_of(self, mapping: Mapping | LeveledMapping) -> numpy.typing.NDArray[numpy.int32] | None"),
          "The point that means the mapping; None if the space has none.");
  cls.def("evaluate_batch", &evaluate_batch, "points"_a, "threads"_a = 0,
          nb::sig("def evaluate_batch(self, points: numpy.typing.NDArray[numpy.signedinteger[typing.Any]], threads: int = "
                  "0) -> numpy.typing.NDArray[numpy.void]"),
          "What each row of points is worth, as rows of tilewright.OUTCOME.\n\n"
          "Runs on `threads` threads (0 = all) without the interpreter's lock; a row that is not legal is InvalidInput.");
}

void bind_space_class(nb::module_& module) {
  nb::class_<Space> cls(
      module, "Space",
      "A design space: named, finite parameters, decided in their order.\n\n"
      "A point is a row of int32: the index of one value per parameter. Which values are legal depends on the "
      "entries before. Made by space(), spaces() and codesign_spaces(). Any number of threads may use one.");
  cls.def_prop_ro(
      "name", [](const Space& self) { return self.space->name(); }, "Of the problem: 'resnet18/conv2_1'.");
  cls.def_prop_ro(
      "parameters", [](const Space& self) { return self.space->parameters(); }, "In the order in which they are decided.");
  cls.def_prop_ro(
      "log10_size", [](const Space& self) { return self.space->log10_size(); },
      "Decimal logarithm of the number of points.");
  cls.def_prop_ro(
      "objective", [](const Space& self) { return name_of(self.objective); }, "What the column `objective` of outcomes is.");
  cls.def_prop_ro(
      "known", [](const Space& self) { return points_array(self.known, self.space->parameters().size()); },
      nb::sig("def known(self) -> numpy.typing.NDArray[numpy.int32]"),
      "Points worth knowing before a search: the classic dataflows at their best tiles.");
  cls.def_prop_ro(
      "features", [](const Space& self) { return self.space->features(); },
      "Numbers of about unit size that describe the problem to a policy.");
  cls.def(
      "reason_name",
      [](const Space& self, std::uint8_t reason) {
        return reason == kOverLimit ? std::string("over-limit") : self.space->reason_name(reason);
      },
      "reason"_a, "What a reason of an outcome is called: 'l1-overflow'.");
  cls.def(
      "__len__", [](const Space& self) { return self.space->parameters().size(); }, "How many parameters there are.");
  cls.def("__repr__", [](const Space& self) {
    return fmt::format("<Space {}: {} parameters, 10^{:.1f} points, {} minimised>", self.space->name(),
                       self.space->parameters().size(), self.space->log10_size(), name_of(self.objective));
  });
  cls.def(
      "_repr_html_",
      [](const Space& self) {
        std::vector<std::pair<std::string, nb::object>> rows;
        for (const Parameter& parameter : self.space->parameters())
          rows.emplace_back(parameter.name,
                            nb::cast(fmt::format("{} values, {}", parameter.value_count, name_of(parameter.role))));
        return html_table(self.space->name(), rows);
      },
      "A table for notebooks.");
  bind_points(cls);
}

}  // namespace

nb::list space_options() {
  MappingInputs inputs;
  MappingOptions options;
  return described(space_table(inputs, options));
}

void bind_space(nb::module_& module) {
  bind_parameter(module);
  bind_space_class(module);
  module.def(
      "space",
      [](const nb::object& layer, const nb::object& machine, const nb::kwargs& options) {
        if (!nb::isinstance<Layer>(layer)) raise_type("space: layer", layer, "a Layer");
        return all_of(design_of(layer, machine, options)).front();
      },
      "layer"_a, "machine"_a, "options"_a,
      nb::sig("def space(layer: Layer, machine: Accelerator | LeveledMachine, **options: typing.Any) -> Space"),
      "See tilewright.space.");
  module.def(
      "spaces",
      [](const nb::object& network, const nb::object& machine, const nb::kwargs& options) {
        return all_of(design_of(network, machine, options));
      },
      "network"_a, "machine"_a, "options"_a,
      nb::sig("def spaces(network: Network, machine: Accelerator | LeveledMachine, **options: typing.Any) -> list[Space]"),
      "See tilewright.spaces.");
  module.def(
      "codesign_spaces",
      [](const nb::object& network, std::optional<vta::Machine> machine, double area_budget) {
        CodesignSpaceOptions options;
        options.search_buffers = !machine;
        options.fixed_machine = machine.has_value();
        options.area_budget = area_budget;
        if (machine) options.base = *machine;
        return all_of(std::make_shared<const AnyDesign>(take(codesign_job(network_of(network), options))));
      },
      "network"_a, nb::kw_only(), "machine"_a = nb::none(), "area_budget"_a = 1.0,
      nb::sig("def codesign_spaces(network: Network | Layer, *, machine: VtaMachine | None = None, area_budget: float = "
              "1.0) -> list[Space]"),
      "The spaces of machine and schedule of every distinct layer that a VTA-class machine runs.\n\n"
      "    machine: the machine, where only schedules are searched\n"
      "    area_budget: of the default machine's area; numbers of area are in this unit, too");
}

}  // namespace tilewright::python
