// The studies: map, compare, codesign, train and compile, each with the options of its verb.
//
// Each runs beside the calling thread (running.hpp) and hands back one StudyResult: what the verb would print, in every
// form.
#include "bind.hpp"
#include "convert.hpp"
#include "mapping.hpp"
#include "options.hpp"
#include "own_searcher.hpp"
#include "running.hpp"

#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/hierarchy/machine_yaml.hpp"
#include "tilewright/report/codesign.hpp"
#include "tilewright/report/comparison.hpp"
#include "tilewright/report/compilation.hpp"
#include "tilewright/report/hierarchy_mapping.hpp"
#include "tilewright/report/mapping.hpp"
#include "tilewright/report/training.hpp"
#include "tilewright/study/codesign.hpp"
#include "tilewright/study/comparison.hpp"
#include "tilewright/study/comparison_request.hpp"
#include "tilewright/study/compilation.hpp"
#include "tilewright/study/mapping_run.hpp"
#include "tilewright/study/run_directory.hpp"
#include "tilewright/study/training.hpp"

namespace tilewright::python {
namespace {

// What a study has found, in every form there is; texts are made when they are asked for.
struct StudyResult {
  std::string verb;
  bool interrupted = false;
  std::function<std::string()> json, text, html;               // html may be empty
  std::map<std::string, std::function<std::string()>> tables;  // CSV by name
  nb::object mappings = nb::none(), machine = nb::none();
};

// Where a run is kept, and how it is run: what all studies have besides their options.
struct How {
  std::string output;
  int threads = 0;
  nb::object progress;
};

How how_from(const nb::object& output, const nb::object& threads, const nb::object& progress) {
  How how{.output = output.is_none() ? std::string() : source_text(output, "output"), .progress = progress};
  from_python(threads, "threads", how.threads);
  return how;
}

std::optional<RunDirectory> opened(const std::string& output, std::span<const std::string_view> may_hold = {}) {
  std::optional<RunDirectory> directory;
  if (!output.empty()) directory.emplace(take(RunDirectory::open(output, may_hold)));
  return directory;
}

// Errors inside the work come out as exceptions of the calling thread.
struct Failed : std::exception {
  explicit Failed(Error of) : error(std::move(of)) {}
  const char* what() const noexcept override { return error.message.c_str(); }
  Error error;
};
template <typename T>
T need(Result<T> result) {
  if (!result) throw Failed(result.error());
  return std::move(result).value();
}

bool run(const How& how, const std::function<void(RunContext&)>& work) {
  try {
    return run_beside(how.progress, how.threads, work);
  } catch (const Failed& failure) {
    raise(failure.error);
  }
}

// ---- map

nb::object mappings_of(const MappingStudy& study) {
  nb::dict all;
  for (const MappedLayer& layer : study.layers) {
    if (layer.found) all[layer.name.c_str()] = nb::cast(layer.found->mapping);
  }
  return all;
}
nb::object mappings_of(const HierarchyStudy& study) {
  nb::dict all;
  for (const HierarchyLayer& layer : study.layers) {
    if (layer.found) all[layer.name.c_str()] = nb::cast(LeveledMapping{layer.found->mapping, layer.problem, study.machine});
  }
  return all;
}

OptionTable map_table(MapRequest& request) { return without(options_of(request), {"network", "hardware"}); }

AnyJob job_of(const nb::object& network, const nb::object& machine, MapRequest& request, const How& how) {
  const bool has_network = nb::isinstance<Network>(network);
  const bool has_array = nb::isinstance<Accelerator>(machine), has_levels = nb::isinstance<hierarchy::Machine>(machine);
  if (!has_network) request.inputs.network = source_text(network, "map: network");
  if (!has_array && !has_levels) request.inputs.hardware = source_text(machine, "map: machine");
  ThreadPool threads(static_cast<std::size_t>(how.threads));
  if (!has_network && !has_array && !has_levels) {
    const nb::gil_scoped_release released;
    return need(read_any_job(request.inputs, request.mapping, threads));
  }
  if (!how.output.empty()) {
    raise(
        "map: output: a run directory says what was read, expected network and machine by their names or files; save() "
        "writes them");
  }
  if (has_network && (request.inputs.batch != 1 || !request.inputs.dims.empty())) {
    raise("map: batch and dims are of a model that is read, expected them at read_network()");
  }
  Network read =
      has_network
          ? nb::cast<const Network&>(network)
          : take(read_network(request.inputs.network, take(read_options(request.inputs.batch, request.inputs.dims))));
  const auto leveled = [&](hierarchy::Machine levels) {
    return AnyJob(take(hierarchy_job(read, std::move(levels), request.mapping, threads)));
  };
  if (has_levels) return leveled(nb::cast<const hierarchy::Machine&>(machine));
  if (has_array) {
    const auto& array = nb::cast<const Accelerator&>(machine);
    return AnyJob(take(mapping_job(std::move(read), array, request.mapping, threads)));
  }
  if (take(has_memory_levels(request.inputs.hardware, request.mapping))) {
    return leveled(take(hierarchy::read_machine(request.inputs.hardware, request.mapping.energies)));
  }
  return AnyJob(
      take(mapping_job(std::move(read), take(read_accelerator(request.inputs.hardware)), request.mapping, threads)));
}

template <typename Job>
StudyResult mapped(const Job& job, const MapRequest& request, const How& how) {
  using Study = std::decay_t<decltype(map(job, request.search, std::declval<RunContext&>()).value())>;
  std::optional<RunDirectory> directory = opened(how.output);
  if (directory) take(directory->begin_or_continue(run_json(request, job)));
  std::shared_ptr<Study> study;
  run(how, [&](RunContext& context) {
    context.directory = directory ? &*directory : nullptr;
    study = std::make_shared<Study>(need(map(job, request.search, context)));
    if (!directory) return;
    need(write_files(*study, directory->path()));
    need(directory->end());
  });
  return {.verb = "map",
          .interrupted = study->interrupted,
          .json = [study] { return to_json(*study); },
          .text = [study] { return to_text(*study); },
          .html = [study] { return to_html(*study); },
          .tables = {{"layers", [study] { return layers_csv(*study); }},
                     {"convergence", [study] { return convergence_csv(*study); }}},
          .mappings = mappings_of(*study),
          .machine = nb::cast(study->machine)};
}

StudyResult map_network(const nb::object& network, const nb::object& machine, const nb::object& output,
                        const nb::object& threads, const nb::object& progress, const nb::dict& options) {
  const How how = how_from(output, threads, progress);
  MapRequest request;
  apply(map_table(request), options, "map");
  try {
    const AnyJob any = job_of(network, machine, request, how);
    return std::visit([&](const auto& job) { return mapped(job, request, how); }, any);
  } catch (const Failed& failure) {
    raise(failure.error);
  }
}

// ---- compare

OptionTable compare_table(CompareRequest& request) {
  return without(options_of(request), {"network", "hardware", "searches"});
}

// Names of ours, and (name, factory) of the caller's.
std::vector<OwnSearcher> read_searches(const nb::object& given, ComparisonOptions& options,
                                       const std::shared_ptr<const AnyDesign>& design) {
  std::vector<OwnSearcher> own;
  if (given.is_none()) return own;
  for (const nb::handle entry : nb::iter(given)) {
    if (nb::isinstance<nb::str>(entry)) {
      options.searches.push_back(nb::cast<std::string>(entry));
    } else if (nb::isinstance<nb::tuple>(entry) && nb::len(entry) == 2 &&
               PyCallable_Check(nb::object(entry[1]).ptr()) != 0) {
      const std::string name = nb::cast<std::string>(entry[0]);
      options.searches.push_back(name);
      own.push_back(own_searcher(name, entry[1], design));
    } else {
      raise_type("compare: an entry of searches", entry,
                 "a name, or a pair of a name and a function of (space, samples, seed)");
    }
  }
  return own;
}

StudyResult compare_searchers(const nb::object& network, const nb::object& machine, const nb::object& searches,
                              const nb::object& output, const nb::object& threads, const nb::object& progress,
                              const nb::dict& options) {
  const How how = how_from(output, threads, progress);
  CompareRequest request;
  apply(compare_table(request), options, "compare");
  request.mapping = mapping_of(request);
  MapRequest as_map{.inputs = request.inputs, .mapping = request.mapping};
  std::shared_ptr<const AnyDesign> design;
  {
    How read = how;
    read.output.clear();  // what a comparison leaves is complete in itself
    const bool named = !nb::isinstance<Network>(network) && !nb::isinstance<Accelerator>(machine) &&
                       !nb::isinstance<hierarchy::Machine>(machine);
    if (named) {
      request.inputs.network = source_text(network, "compare: network");
      request.inputs.hardware = source_text(machine, "compare: machine");
      ThreadPool pool(1);
      design =
          std::make_shared<const AnyDesign>(take(read_any_job(request.inputs, request.mapping, pool, plain_comparison())));
    } else {
      if (nb::isinstance<hierarchy::Machine>(machine) && as_map.mapping.levels == plain_comparison().levels)
        as_map.mapping.levels = {};
      design = std::make_shared<const AnyDesign>(job_of(network, machine, as_map, read));
    }
  }
  const DesignJob& job = common(std::get<AnyJob>(*design));
  const std::vector<OwnSearcher> own = read_searches(searches, request.options, design);
  auto plan = std::make_shared<std::optional<ComparisonPlan>>();
  {
    ThreadPool pool(1);
    plan->emplace(take(plan_comparison(job, request.options, pool, own)));
  }
  constexpr std::string_view kMayHold[] = {"best.csv"};
  std::optional<RunDirectory> directory = opened(how.output, kMayHold);
  if (directory) {
    (*plan)->earlier = take(read_best_file(directory->path() / "best.csv"));
    take(directory->begin_or_replace(plain_run_json("compare", TILEWRIGHT_VERSION, {})));
  }
  std::shared_ptr<ComparisonStudy> study;
  run(how, [&](RunContext& context) {
    study = std::make_shared<ComparisonStudy>(need(compare(**plan, context)));
    if (!directory) return;
    if (!study->partial || study->finished_runs > 0) need(write_files(*study, directory->path()));
    need(directory->end());
  });
  if (study->partial && study->finished_runs == 0) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw nb::python_error();
  }
  return {.verb = "compare",
          .interrupted = study->partial,
          .json = [study] { return to_json(*study); },
          .text = [study] { return to_text(*study); },
          .html = [study] { return to_html(*study); },
          .tables = {{"compare", [study] { return compare_csv(*study); }},
                     {"layers", [study] { return layers_csv(*study); }},
                     {"curves", [study] { return curves_csv(*study); }}}};
}

// ---- codesign, train, compile

StudyResult codesign_network(const nb::object& network, const nb::object& output, const nb::object& threads,
                             const nb::object& progress, const nb::dict& options) {
  const How how = how_from(output, threads, progress);
  CodesignOptions asked;
  apply(without(options_of(asked), {"network"}), options, "codesign");
  asked.network = source_text(network, "codesign: network");
  const CodesignJob job = take(read_codesign_job(asked));
  std::optional<RunDirectory> directory = opened(how.output);
  std::shared_ptr<CodesignStudy> study;
  run(how, [&](RunContext& context) {
    context.directory = directory ? &*directory : nullptr;
    study = std::make_shared<CodesignStudy>(need(codesign(job, asked, context)));
    if (!directory) return;
    need(write_files(*study, job.network, directory->path()));
    need(directory->end());
  });
  return {.verb = "codesign",
          .interrupted = study->interrupted,
          .json = [study] { return to_json(*study); },
          .text = [study] { return to_text(*study); },
          .html = [study] { return to_html(*study); },
          .tables = {{"layers", [study] { return layers_csv(*study); }},
                     {"convergence", [study] { return convergence_csv(*study); }},
                     {"calibration", [study] { return calibration_csv(*study); }}},
          .machine = study->machine ? nb::cast(*study->machine) : nb::none()};
}

StudyResult train_world(const nb::object& world, const nb::object& output, const nb::object& threads,
                        const nb::object& progress, const nb::dict& options) {
  const How how = how_from(output, threads, progress);
  TrainOptions asked;
  nb::dict all;
  for (auto [key, value] : options) all[key] = value;
  if (!world.is_none()) all["world"] = world;
  apply(options_of(asked), all, "train");
  std::optional<RunDirectory> directory = opened(how.output);
  std::shared_ptr<TrainingStudy> study;
  run(how, [&](RunContext& context) {
    context.directory = directory ? &*directory : nullptr;
    Training training = need(Training::open(asked, context));
    study = std::make_shared<TrainingStudy>(need(training.run()));
    if (!directory) return;
    need(write_files(*study, directory->path()));
    need(directory->end());
  });
  return {.verb = "train",
          .interrupted = study->interrupted,
          .json = [study] { return to_json(*study); },
          .text = [study] { return to_text(*study); },
          .html = [study] { return to_html(*study); },
          .tables = {}};
}

StudyResult compile_network(const nb::object& network, const nb::object& output, const nb::object& threads,
                            const nb::object& progress, const nb::dict& options) {
  const How how = how_from(output, threads, progress);
  CompileOptions asked;
  apply(without(options_of(asked), {"network"}), options, "compile");
  asked.network = source_text(network, "compile: network");
  std::optional<RunDirectory> directory;
  std::shared_ptr<CompilationStudy> study;
  run(how, [&](RunContext& context) {
    CompilationJob job = need(read_compilation_job(asked, context));
    if (!how.output.empty()) context.directory = &directory.emplace(need(RunDirectory::open(how.output)));
    study = std::make_shared<CompilationStudy>(need(compile(std::move(job), asked, context)));
    if (directory) need(directory->end());
  });
  return {.verb = "compile",
          .json = [study] { return to_json(*study); },
          .text = [study] { return to_text(*study); },
          .html = {},
          .tables = {}};
}

void bind_result(nb::module_& module) {
  nb::class_<StudyResult> cls(module, "StudyResult",
                              "What a study has found, as texts; tilewright.Study makes dictionaries and tables of it.");
  cls.def_ro("verb", &StudyResult::verb, "map, compare, codesign, train or compile.");
  cls.def_ro("interrupted", &StudyResult::interrupted, "It was stopped before it was done.");
  cls.def(
      "json", [](const StudyResult& self) { return self.json(); }, "What `tilewright VERB --json` prints.");
  cls.def(
      "text", [](const StudyResult& self) { return self.text(); }, "What `tilewright VERB` prints.");
  cls.def(
      "html", [](const StudyResult& self) { return self.html ? std::optional(self.html()) : std::nullopt; },
      "The report, a page of its own; None where there is none.");
  cls.def(
      "tables",
      [](const StudyResult& self) {
        std::vector<std::string> names;
        for (const auto& [name, make] : self.tables) names.push_back(name);
        return names;
      },
      "Names of its tables.");
  cls.def(
      "table",
      [](const StudyResult& self, const std::string& name) {
        const auto found = self.tables.find(name);
        if (found != self.tables.end()) return found->second();
        std::vector<std::string> names;
        for (const auto& [known, make] : self.tables) names.push_back(known);
        raise({ErrorCode::NotFound, fmt::format("there is no table '{}'{}, expected one of {}", printable(name),
                                                did_you_mean(name, names), join(names, ", "))});
      },
      "name"_a, "A table as CSV.");
  cls.def_prop_ro(
      "mappings", [](const StudyResult& self) { return self.mappings; },
      nb::sig("def mappings(self) -> dict[str, typing.Any] | None"), "The best mapping of every layer, of map.");
  cls.def_prop_ro(
      "machine", [](const StudyResult& self) { return self.machine; }, nb::sig("def machine(self) -> typing.Any"),
      "The machine, of map and codesign.");
}

}  // namespace

nb::dict study_options() {
  nb::dict all;
  MapRequest map;
  all["MapOptions"] = described(map_table(map));
  CompareRequest compare;
  all["CompareOptions"] = described(compare_table(compare));
  CodesignOptions codesign;
  all["CodesignOptions"] = described(without(options_of(codesign), {"network"}));
  TrainOptions train;
  all["TrainOptions"] = described(without(options_of(train), {"world"}));
  CompileOptions compile;
  all["CompileOptions"] = described(without(options_of(compile), {"network"}));
  return all;
}

void bind_study(nb::module_& module) {
  bind_result(module);
  module.def("map_network", &map_network, "network"_a, "machine"_a, "output"_a.none(), "threads"_a, "progress"_a.none(),
             "options"_a,
             nb::sig("def map_network(network: typing.Any, machine: typing.Any, output: typing.Any, threads: int, progress: "
                     "typing.Any, options: dict[str, typing.Any]) -> StudyResult"),
             "See tilewright.map.");
  module.def("compare_searchers", &compare_searchers, "network"_a, "machine"_a, "searches"_a.none(), "output"_a.none(),
             "threads"_a, "progress"_a.none(), "options"_a,
             nb::sig("def compare_searchers(network: typing.Any, machine: typing.Any, searches: typing.Any, output: "
                     "typing.Any, threads: int, progress: typing.Any, options: dict[str, typing.Any]) -> StudyResult"),
             "See tilewright.compare.");
  module.def("codesign_network", &codesign_network, "network"_a, "output"_a.none(), "threads"_a, "progress"_a.none(),
             "options"_a,
             nb::sig("def codesign_network(network: typing.Any, output: typing.Any, threads: int, progress: typing.Any, "
                     "options: dict[str, typing.Any]) -> StudyResult"),
             "See tilewright.codesign.");
  module.def("train_world", &train_world, "world"_a.none(), "output"_a.none(), "threads"_a, "progress"_a.none(), "options"_a,
             nb::sig("def train_world(world: str | None, output: typing.Any, threads: int, progress: typing.Any, options: "
                     "dict[str, typing.Any]) -> StudyResult"),
             "See tilewright.train.");
  module.def("compile_network", &compile_network, "network"_a, "output"_a.none(), "threads"_a, "progress"_a.none(),
             "options"_a,
             nb::sig("def compile_network(network: typing.Any, output: typing.Any, threads: int, progress: typing.Any, "
                     "options: dict[str, typing.Any]) -> StudyResult"),
             "See tilewright.compile.");
  module.def("stop_everything", &stop_everything,
             "Asks every study under way to end and waits for it: called when the interpreter ends.");
}

}  // namespace tilewright::python
