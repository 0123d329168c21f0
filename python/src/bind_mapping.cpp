// Mappings of both kinds, and what one of them costs.
#include "bind.hpp"
#include "convert.hpp"
#include "mapping.hpp"

#include <limits>

#include <fmt/format.h>

#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/hierarchy/mapping_text.hpp"
#include "tilewright/hierarchy/timeloop_yaml.hpp"
#include "tilewright/mapping/dataflows.hpp"
#include "tilewright/report/page.hpp"
#include "tilewright/space/classics.hpp"
#include "tilewright/space/hierarchy_classics.hpp"
#include "tilewright/study/evaluation.hpp"
#include "tilewright/study/hierarchy_evaluation.hpp"
#include "tilewright/study/hierarchy_json.hpp"
#include "tilewright/study/loop_network.hpp"

#include <nlohmann/json.hpp>

namespace tilewright::python {
namespace {

using hierarchy::Judge;

nb::object json_loads(const std::string& text) { return nb::module_::import_("json").attr("loads")(text); }

// Levels as a file has them, but as lists and dictionaries: JSON is YAML, and there is one reader.
std::string file_of(const char* format, const nb::object& levels) {
  nb::dict file;
  file["format"] = format;
  file["levels"] = nb::list(levels);
  try {
    return nb::cast<std::string>(nb::module_::import_("json").attr("dumps")(file));
  } catch (nb::python_error& failure) {
    raise(fmt::format("levels: {}", str_of(failure.value())));
  }
}

std::string preformatted(const std::string& title, const std::string& text) {
  return fmt::format("<p>{}</p><pre>{}</pre>", html_escaped(title), html_escaped(text));
}

nb::list levels_of(const Mapping& mapping) {
  nb::list levels;
  for (const MappingLevel& level : mapping.levels) {
    nb::dict one;
    if (level.cluster_size > 0) {
      one["cluster"] = level.cluster_size;
      if (level.cluster_kind == ClusterKind::Logical) one["cluster_kind"] = "logical";
    }
    nb::list loops;
    for (const Directive& directive : level.directives) {
      nb::dict loop;
      loop[directive.kind == Directive::Kind::Spatial ? "spatial" : "temporal"] = std::string(name_of(directive.dim));
      loop["size"] = directive.size;
      loop["offset"] = directive.offset;
      loops.append(loop);
    }
    one["loops"] = loops;
    levels.append(one);
  }
  return levels;
}

void bind_flat(nb::module_& module) {
  nb::class_<Mapping> cls(
      module, "Mapping",
      "How the loops of a layer are cut into tiles, ordered and spread over an Accelerator, in directives.\n\n"
      "`levels` are what the YAML form has, the outermost first: {'loops': [{'spatial': 'K', 'size': 1, 'offset': 1}, "
      "{'temporal': 'C', 'size': 4, 'offset': 4}]}, from the second one on with 'cluster': units of a cluster. "
      "A value that never changes: any number of threads may use it.");
  cls.def(
      "__init__",
      [](Mapping* self, const nb::object& levels) {
        new (self) Mapping(take(mapping_from_yaml(file_of("tilewright-mapping-1", levels), "levels")));
      },
      "levels"_a, nb::sig("def __init__(self, levels: collections.abc.Iterable[dict[str, typing.Any]]) -> None"),
      "Made of its levels, checked as a file would be.");
  cls.def_prop_ro("levels", &levels_of, nb::sig("def levels(self) -> list[dict[str, typing.Any]]"),
                  "As the constructor takes them, as a new list.");
  cls.def_static(
      "from_yaml", [](const std::string& text) { return take(mapping_from_yaml(text, "mapping")); }, "text"_a,
      "What to_yaml() has written.");
  cls.def(
      "to_yaml", [](const Mapping& self) { return to_yaml(self); }, "As a file of ours.");
  cls.def(
      "to_maestro", [](const Mapping& self) { return to_maestro(self); },
      "The directives of a MAESTRO file's Dataflow block.");
  cls.def(
      "loop_nest",
      [](const Mapping& self, const Layer& layer, std::int64_t pes) {
        return to_loop_nest(self, take(nest_of(layer)), pes);
      },
      "layer"_a, "pes"_a = 0,
      "As loops that a person can read, with the sizes of the layer; `pes` tells how many clusters there are.");
  cls.def(
      "save", [](const Mapping& self, const nb::object& path) { write_text(path, to_yaml(self)); }, "path"_a,
      nb::sig("def save(self, path: str | os.PathLike[str]) -> None"), "Writes to_yaml() to the file.");
  cls.def(
      "__eq__",
      [](const Mapping& a, const nb::object& b) { return nb::isinstance<Mapping>(b) && a == nb::cast<const Mapping&>(b); },
      nb::sig("def __eq__(self, other: object, /) -> bool"));
  cls.def("__hash__", [](const Mapping& self) { return nb::hash(nb::str(to_yaml(self).c_str())); });
  cls.def("__repr__",
          [](const Mapping& self) { return fmt::format("Mapping({})", nb::cast<std::string>(nb::repr(levels_of(self)))); });
  cls.def(
      "_repr_html_", [](const Mapping& self) { return preformatted("Mapping", to_maestro(self)); },
      "The directives, for notebooks.");
  cls.def("__getstate__", [](const Mapping& self) { return to_yaml(self); });
  cls.def("__setstate__",
          [](Mapping& self, const std::string& text) { new (&self) Mapping(take(mapping_from_yaml(text, "pickle"))); });
}

LeveledMapping leveled_from(const std::string& text, const std::string& where, const Layer& layer,
                            const hierarchy::Machine& machine) {
  LeveledMapping made{{}, take(hierarchy::problem_of(layer)), machine};
  made.mapping = take(hierarchy::mapping_from_yaml(text, where, made.problem, made.machine));
  return made;
}

bool are_equal(const LeveledMapping& a, const LeveledMapping& b) {
  return a.problem == b.problem && a.machine == b.machine &&
         hierarchy::canonical(a.mapping, a.problem) == hierarchy::canonical(b.mapping, b.problem);
}

std::string yaml_of(const LeveledMapping& self) { return hierarchy::to_yaml(self.mapping, self.problem, self.machine); }

nb::list levels_of(const LeveledMapping& self) {
  nb::list levels;
  const hierarchy::Mapping& mapping = self.mapping;
  const hierarchy::Problem& problem = self.problem;
  const hierarchy::Machine& machine = self.machine;
  for (std::size_t index = mapping.levels.size(); index-- > 0;) {
    const hierarchy::LevelMapping& level = mapping.levels[index];
    nb::dict one;
    one["level"] = machine.levels[index].name;
    nb::list keep;
    for (std::size_t tensor = 0; tensor < problem.tensors.size(); ++tensor) {
      if ((level.keeps >> tensor & 1) != 0) keep.append(problem.tensors[tensor].name);
    }
    one["keep"] = keep;
    const auto loops = [&](const hierarchy::Block& block, std::size_t begin, std::size_t end) {
      nb::list list;
      for (std::size_t at = end; at-- > begin;) {
        const std::uint8_t dim = block.order[at];
        if (block.factors[dim] > 1) list.append(fmt::format("{}{}", problem.dims[dim], block.factors[dim]));
      }
      return list;
    };
    const std::size_t dims = problem.dims.size(), split = std::min<std::size_t>(level.spatial.split, dims);
    one["time"] = loops(level.temporal, 0, dims);
    one["y"] = loops(level.spatial, split, dims);
    one["x"] = loops(level.spatial, 0, split);
    levels.append(one);
  }
  return levels;
}

void bind_leveled(nb::module_& module) {
  nb::class_<LeveledMapping> cls(
      module, "LeveledMapping",
      "How the loops of a layer are cut into factors on a LeveledMachine: at every level in time, and "
      "spread over the copies inside.\n\n"
      "`levels` are what the YAML form has, the outermost first: {'level': 'DRAM', 'keep': ['Weights'], "
      "'time': ['M4'], 'x': ['K8'], 'y': []}. It belongs to one layer and machine. A value that never "
      "changes: any number of threads may use it.");
  cls.def(
      "__init__",
      [](LeveledMapping* self, const nb::object& levels, const Layer& layer, const hierarchy::Machine& machine) {
        new (self) LeveledMapping(leveled_from(file_of("tilewright-mapping-2", levels), "levels", layer, machine));
      },
      "levels"_a, "layer"_a, "machine"_a,
      nb::sig("def __init__(self, levels: collections.abc.Iterable[dict[str, typing.Any]], layer: Layer, machine: "
              "LeveledMachine) -> None"),
      "Made of its levels, checked as a file would be.");
  cls.def_prop_ro(
      "levels", [](const LeveledMapping& self) { return levels_of(self); },
      nb::sig("def levels(self) -> list[dict[str, typing.Any]]"), "As the constructor takes them, as a new list.");
  cls.def_ro("machine", &LeveledMapping::machine, "The machine it is for.");
  cls.def_static(
      "from_yaml",
      [](const std::string& text, const Layer& layer, const hierarchy::Machine& machine) {
        return leveled_from(text, "mapping", layer, machine);
      },
      "text"_a, "layer"_a, "machine"_a, "What to_yaml() has written.");
  cls.def("to_yaml", &yaml_of, "As a file of ours.");
  cls.def(
      "to_timeloop",
      [](const LeveledMapping& self) { return hierarchy::to_timeloop_yaml(self.mapping, self.problem, self.machine); },
      "As a file of Timeloop's.");
  cls.def(
      "loop_nest", [](const LeveledMapping& self) { return hierarchy::to_text(self.mapping, self.problem, self.machine); },
      "As people read it, the outermost loop first.");
  cls.def(
      "save", [](const LeveledMapping& self, const nb::object& path) { write_text(path, yaml_of(self)); }, "path"_a,
      nb::sig("def save(self, path: str | os.PathLike[str]) -> None"), "Writes to_yaml() to the file.");
  cls.def(
      "__eq__",
      [](const LeveledMapping& a, const nb::object& b) {
        return nb::isinstance<LeveledMapping>(b) && are_equal(a, nb::cast<const LeveledMapping&>(b));
      },
      nb::sig("def __eq__(self, other: object, /) -> bool"));
  cls.def("__hash__", [](const LeveledMapping& self) {
    const LeveledMapping plain{hierarchy::canonical(self.mapping, self.problem), self.problem, self.machine};
    return nb::hash(nb::str(yaml_of(plain).c_str()));
  });
  cls.def("__repr__", [](const LeveledMapping& self) {
    return fmt::format("<LeveledMapping of {} on {}>", printable(self.problem.name), printable(self.machine.name));
  });
  cls.def(
      "_repr_html_",
      [](const LeveledMapping& self) {
        return preformatted(self.problem.name, hierarchy::to_text(self.mapping, self.problem, self.machine));
      },
      "The loops, for notebooks.");
}

// What the evaluation of a mapping on an array gives.
struct FlatCost {
  Cost cost;
  Nest nest;
  Accelerator machine;
  Model model = Model::Sound;
};

nb::object dict_of(const FlatCost& self) {
  EvaluationStudy study{"", self.machine, self.model, {}, {}};
  LayerJob layer{"", 1, std::nullopt, {}, self.nest, invalid("")};
  study.layers.push_back({std::move(layer), self.cost, "", std::nullopt});
  return json_loads(to_json(study))["layers"][0]["cost"];
}

struct LeveledCost {
  hierarchy::Analysis analysis;
  LeveledMapping mapping;
};

template <typename T>
void define_cost(nb::class_<T>& cls) {
  cls.def("__repr__", [](const T& self) {
    const nb::object object = nb::cast(self);
    return fmt::format("<{}: {} cycles, {:.6g} nJ, {:.6g} nJ*cycles>", nb::cast<std::string>(object.type().attr("__name__")),
                       with_thousands(nb::cast<std::int64_t>(object.attr("cycles"))),
                       nb::cast<double>(object.attr("energy_nj")), nb::cast<double>(object.attr("edp")));
  });
  cls.def(
      "_repr_html_",
      [](const T& self) {
        std::vector<std::pair<std::string, nb::object>> rows;
        for (auto [key, value] : nb::cast<nb::dict>(nb::cast(self).attr("to_dict")())) {
          if (!nb::isinstance<nb::dict>(value) && !nb::isinstance<nb::list>(value))
            rows.emplace_back(nb::cast<std::string>(key), nb::borrow(value));
        }
        return html_table("Cost", rows);
      },
      "A table for notebooks.");
}

void bind_costs(nb::module_& module) {
  nb::class_<FlatCost> flat(module, "Cost", "What a mapping costs on an Accelerator. A value that never changes.");
  flat.def_prop_ro(
      "cycles", [](const FlatCost& self) { return self.cost.runtime.value; }, "Cycles it takes.");
  flat.def_prop_ro(
      "energy_nj", [](const FlatCost& self) { return self.cost.energy.value; }, "Energy in nJ.");
  flat.def_prop_ro(
      "edp", [](const FlatCost& self) { return self.cost.energy_delay(); }, "Energy times time, in nJ*cycles.");
  flat.def_prop_ro(
      "macs", [](const FlatCost& self) { return self.cost.macs.value; }, "Multiply-accumulates, as counted.");
  flat.def_prop_ro(
      "area_um2", [](const FlatCost& self) { return self.cost.area ? std::optional(self.cost.area->value) : std::nullopt; },
      "um2 that the mapping needs; None where the machine gives no figures.");
  flat.def_prop_ro(
      "power_mw", [](const FlatCost& self) { return self.cost.power.value; }, "mW.");
  flat.def_prop_ro(
      "l1_bytes", [](const FlatCost& self) { return self.cost.l1.value; },
      "Bytes of L1 per processing element that it needs.");
  flat.def_prop_ro(
      "l2_bytes", [](const FlatCost& self) { return self.cost.l2.value; }, "Bytes of L2 that it needs.");
  flat.def_prop_ro(
      "utilisation", [](const FlatCost& self) { return utilisation(self.cost, self.machine); },
      "Share of the processing elements at work, 0 to 1.");
  flat.def("to_dict", &dict_of, nb::sig("def to_dict(self) -> dict[str, typing.Any]"),
           "Everything that `tilewright evaluate --json` says of it.");
  define_cost(flat);

  nb::class_<LeveledCost> leveled(module, "LeveledCost",
                                  "What a mapping costs on a LeveledMachine. A value that never changes.");
  leveled.def_prop_ro(
      "cycles", [](const LeveledCost& self) { return self.analysis.cost.cycles.value; }, "Cycles it takes.");
  leveled.def_prop_ro(
      "energy_nj", [](const LeveledCost& self) { return self.analysis.cost.energy.value / 1000; }, "Energy in nJ.");
  leveled.def_prop_ro(
      "edp",
      [](const LeveledCost& self) {
        return self.analysis.cost.energy.value / 1000 * static_cast<double>(self.analysis.cost.cycles.value);
      },
      "Energy times time, in nJ*cycles.");
  leveled.def_prop_ro(
      "utilisation", [](const LeveledCost& self) { return self.analysis.cost.utilization; },
      "Share of all MACs at work over all cycles, 0 to 1.");
  leveled.def_prop_ro(
      "bottleneck",
      [](const LeveledCost& self) { return hierarchy::level_name(self.mapping.machine, self.analysis.cost.bottleneck); },
      "The level that takes longest; the MACs when none is slower than they.");
  leveled.def(
      "to_dict",
      [](const LeveledCost& self) {
        return json_loads(cost_json(self.analysis, self.mapping.problem, self.mapping.machine).dump());
      },
      nb::sig("def to_dict(self) -> dict[str, typing.Any]"),
      "Everything that `tilewright evaluate --json` says of it, level by level.");
  define_cost(leveled);
}

nb::object evaluate_flat(const Mapping& mapping, const Layer& layer, const Accelerator& machine, Model model,
                         Constraints constraints) {
  const Nest nest = take(nest_of(layer));
  const Evaluation evaluation = evaluate(mapping, nest, machine, model, constraints);
  if (const auto* infeasible = std::get_if<Infeasible>(&evaluation)) {
    raise(InfeasibleFields{to_sentence(*infeasible), std::string(name_of(infeasible->reason)), infeasible->need,
                           infeasible->limit, ""});
  }
  return nb::cast(FlatCost{std::get<Cost>(evaluation), nest, machine, model});
}

nb::object evaluate_leveled(const LeveledMapping& given, const Layer& layer, const hierarchy::Machine& machine,
                            Judge judge) {
  check_same(given, take(hierarchy::problem_of(layer)), machine, "evaluate");
  if (const auto refused = hierarchy::refusal(judge, given.problem)) raise(*refused);
  if (judge == Judge::Timeloop) {  // ragged mappings are not counted
    take(hierarchy::check(given.mapping, given.problem, machine, hierarchy::Factors::Exact, "evaluate: mapping"));
  }
  hierarchy::Evaluator evaluator(given.problem, machine,
                                 {.judge = judge, .detail = hierarchy::EvaluateOptions::Detail::All});
  const hierarchy::Evaluation evaluation = evaluator.evaluate(given.mapping);
  if (const auto* infeasible = std::get_if<hierarchy::Infeasible>(&evaluation)) {
    raise(InfeasibleFields{to_sentence(*infeasible, machine), std::string(hierarchy::name_of(infeasible->reason)),
                           infeasible->need, infeasible->limit, hierarchy::level_name(machine, infeasible->level)});
  }
  hierarchy::Analysis analysis = evaluator.analysis();
  analysis.cost = std::get<hierarchy::Cost>(evaluation);
  return nb::cast(LeveledCost{std::move(analysis), given});
}

nb::object evaluate_any(const nb::object& mapping, const Layer& layer, const nb::object& machine, const nb::object& model,
                        const std::string& constraints) {
  if (nb::isinstance<LeveledMapping>(mapping)) {
    if (!nb::isinstance<hierarchy::Machine>(machine))
      raise_type("evaluate: machine", machine, "a LeveledMachine, as the mapping is of one");
    Judge judge = Judge::Hierarchy;
    if (!model.is_none()) from_python(model, "evaluate: model", judge);
    if (constraints != "hard")
      raise("evaluate: constraints do not go with machines of memory levels, expected them to be left out");
    return evaluate_leveled(nb::cast<const LeveledMapping&>(mapping), layer, nb::cast<const hierarchy::Machine&>(machine),
                            judge);
  }
  if (!nb::isinstance<Mapping>(mapping)) raise_type("evaluate: mapping", mapping, "a Mapping or a LeveledMapping");
  if (!nb::isinstance<Accelerator>(machine))
    raise_type("evaluate: machine", machine, "an Accelerator, as the mapping is of one");
  Model judge = Model::Sound;
  if (!model.is_none()) from_python(model, "evaluate: model", judge);
  return evaluate_flat(nb::cast<const Mapping&>(mapping), layer, nb::cast<const Accelerator&>(machine), judge,
                       take(named<Constraints>(constraints)));
}

nb::object dataflow_any(const std::string& name, const Layer& layer, const nb::object& machine,
                        const std::string& objective) {
  const Objective best = take(objective_named(objective));
  if (nb::isinstance<hierarchy::Machine>(machine)) {
    LeveledMapping made{{}, take(hierarchy::problem_of(layer)), nb::cast<const hierarchy::Machine&>(machine)};
    const auto space = take(HierarchySpace::make(layer.name, made.problem, made.machine, {}));
    made.mapping = space->mapping(take(classic_named(*space, name, best)));
    return nb::cast(made);
  }
  if (!nb::isinstance<Accelerator>(machine)) raise_type("dataflow: machine", machine, "an Accelerator or a LeveledMachine");
  const auto& array = nb::cast<const Accelerator&>(machine);
  const Nest nest = take(nest_of(layer));
  const auto classic = take(best_tiling(name, nest, array, {.evaluate = {}, .objective = best}));
  return nb::cast(classic ? classic->mapping : take(dataflow(name, nest, array, strided_for(Model::Sound))));
}

nb::object read_any(const nb::object& path, const Layer& layer, const nb::object& machine) {
  const std::string file = source_text(path, "read_mapping: path");
  if (!nb::isinstance<hierarchy::Machine>(machine)) return nb::cast(take(read_mapping(file, layer.name)));
  const auto& leveled = nb::cast<const hierarchy::Machine&>(machine);
  const std::string text = take(read_file(file));
  if (!take(has_top_key(file, {"mapping"}))) return nb::cast(leveled_from(text, file, layer, leveled));
  LeveledMapping made{{}, take(hierarchy::problem_of(layer)), leveled};
  made.mapping = take(hierarchy::mapping_from_timeloop(text, file, made.problem, made.machine));
  return nb::cast(made);
}

}  // namespace

void check_same(const LeveledMapping& mapping, const hierarchy::Problem& problem, const hierarchy::Machine& machine,
                const std::string& where) {
  hierarchy::Problem renamed = mapping.problem;
  renamed.name = problem.name;
  if (renamed != problem)
    raise(fmt::format("{}: the mapping is of layer {}, which has another shape", where, printable(mapping.problem.name)));
  if (mapping.machine != machine)
    raise(fmt::format("{}: the mapping is of another machine, {}", where, printable(mapping.machine.name)));
}

void bind_mapping(nb::module_& module) {
  bind_flat(module);
  bind_leveled(module);
  bind_costs(module);
  module.def("read_mapping", &read_any, "path"_a, "layer"_a, "machine"_a,
             nb::sig("def read_mapping(path: str | os.PathLike[str], layer: Layer, machine: Accelerator | LeveledMachine) "
                     "-> Mapping | LeveledMapping"),
             "Reads a mapping of the layer on the machine: .yaml (ours, Timeloop's) or .m (MAESTRO).");
  module.def("dataflow", &dataflow_any, "name"_a, "layer"_a, "machine"_a, "objective"_a = "edp",
             nb::sig("def dataflow(name: str, layer: Layer, machine: Accelerator | LeveledMachine, objective: str = 'edp') "
                     "-> Mapping | LeveledMapping"),
             "A classic dataflow by name ('nvdla', 'row-stationary'), with the tiles that are best for the objective.");
  module.def("evaluate", &evaluate_any, "mapping"_a, "layer"_a, "machine"_a, nb::kw_only(), "model"_a = nb::none(),
             "constraints"_a = "hard",
             nb::sig("def evaluate(mapping: Mapping | LeveledMapping, layer: Layer, machine: Accelerator | LeveledMachine, "
                     "*, model: str | None = None, "
                     "constraints: str = 'hard') -> Cost | LeveledCost"),
             "What a mapping of the layer costs on the machine; Infeasible, with its reason, where it cannot run.\n\n"
             "    model: sound (default), exact, maestro, maestro@e1d8efd; of machines with memory levels hierarchy "
             "(default), timeloop\n"
             "    constraints: limits of an Accelerator: hard, soft or report");
}

}  // namespace tilewright::python
