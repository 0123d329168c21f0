#include "tilewright/study/evaluation.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/mapping/dataflows.hpp"
#include "tilewright/mapping/mapping_maestro.hpp"
#include "tilewright/space/classics.hpp"
#include "tilewright/study/common_options.hpp"
#include "tilewright/workload/maestro_file.hpp"

namespace tilewright {
namespace {

constexpr std::string_view kFastest = "lexicographic:latency,energy";

struct Source {
  Network network;
  std::optional<MaestroFile> maestro;  // when the network came as a .m file
};

Result<Source> read_source(const EvaluationOptions& options, Model model) {
  Source source;
  if (options.network.ends_with(".m")) {
    TW_TRY(const std::string text, read_file(options.network));
    const FilterTiles rule = model == Model::Maestro ? FilterTiles::Whole : FilterTiles::Any;
    TW_TRY(source.maestro, parse_maestro(text, options.network, rule));
  }
  // A .m file whose layers the MAESTRO models take as they are need not make sense as a network.
  if (source.maestro && is_maestro(model)) {
    source.network.name = source.maestro->network;
    for (const MaestroLayer& layer : source.maestro->layers) {
      NetworkLayer entry;
      entry.layer.name = layer.name;
      source.network.layers.push_back(std::move(entry));
    }
    return source;
  }
  TW_TRY(const ReadOptions read, read_options(options.batch, options.dims));
  TW_TRY(source.network, read_network(options.network, read));
  return source;
}

Result<Mapping> mapping_for(const EvaluationOptions& options, const Source& source, std::size_t index, const Nest& nest,
                            const EvaluationJob& job, DimNames& names) {
  if (!options.mapping.empty()) return read_mapping(options.mapping, source.network.layers[index].layer.name);
  if (!options.dataflow.empty()) {
    // The fastest tiles, of equal ones those with the least energy; where none fits, what the estimate would take is shown.
    const Judging judging{{.model = job.model, .constraints = job.constraints}, false, *objective_named(kFastest)};
    TW_TRY(const std::optional<Classic> classic, best_tiling(options.dataflow, nest, job.accelerator, judging));
    if (classic) return classic->mapping;
    return dataflow(options.dataflow, nest, job.accelerator, strided_for(job.model));
  }
  return mapping_of(source.maestro->layers[index], names);
}

// A .m file whose layers a MAESTRO model takes as they are: only their nests are known.
bool is_declared(const Source& source, Model model) { return source.maestro && is_maestro(model); }

// With --mapping or in a MAESTRO model every layer stands for itself; otherwise equal shapes cost the same.
Result<std::vector<LayerGroup>> groups_of(const EvaluationOptions& options, const Source& source, Model model) {
  const auto alone = [&](std::size_t index) { return LayerGroup{index, source.network.layers[index].count, {index}}; };
  if (!options.layer.empty()) {
    TW_TRY(const std::size_t index, find_layer(source.network, options.layer));
    return std::vector{alone(index)};
  }
  if (!options.dataflow.empty() && !is_maestro(model)) return distinct_layers(source.network);
  std::vector<LayerGroup> groups;
  for (std::size_t index = 0; index < source.network.layers.size(); ++index) groups.push_back(alone(index));
  return groups;
}

Result<LayerJob> layer_job(const EvaluationOptions& options, const Source& source, const LayerGroup& group,
                           const EvaluationJob& job) {
  const std::size_t index = group.first;
  const Layer& layer = source.network.layers[index].layer;
  const bool declared = is_declared(source, job.model);
  DimNames names;
  const Result<Nest> nest = declared ? nest_of(*source.maestro, index, names) : nest_of(layer);
  if (!nest) return nest.error();
  std::vector<std::string> members;
  for (const std::size_t member : group.members) members.push_back(printable(source.network.layers[member].layer.name));
  return LayerJob{printable(layer.name), group.count, declared ? std::nullopt : std::optional(layer),
                  std::move(members),    *nest,       mapping_for(options, source, index, *nest, job, names)};
}

Coverage declared_coverage(const Source& source, const EvaluationJob& job) {
  Coverage coverage;
  for (const LayerJob& layer : job.layers) coverage.macs += macs(layer.nest) * layer.count;
  const std::size_t rest = source.network.layers.size() - job.layers.size();
  if (rest > 0) {
    coverage.left_out.push_back(
        {.name = "layers not asked for", .count = static_cast<std::int64_t>(rest), .macs = std::nullopt});
  }
  return coverage;
}

// Options that do not go together, or not with the network.
Result<Done> check(const EvaluationOptions& options, const Source& source) {
  if (!options.mapping.empty() && !options.dataflow.empty()) {
    return invalid("--mapping and --dataflow are both given, expected one of them");
  }
  if (options.mapping.empty() && options.dataflow.empty() && !source.maestro) {
    return invalid("neither --mapping nor --dataflow is given, expected one of them (only a .m network brings its own)");
  }
  if (!options.dataflow.empty()) {  // a misspelt name is wrong input, not one failing layer after another
    std::vector<std::string> names;
    for (const Dataflow& known : dataflows()) names.emplace_back(known.name);
    if (std::ranges::find(names, options.dataflow) == names.end()) {
      return invalid(fmt::format("dataflow '{}' is not known{}, expected one of {}", options.dataflow,
                                 did_you_mean(options.dataflow, names), join(names, ", ")));
    }
  }
  if (options.batch != 1 && !options.network.ends_with(".onnx")) {
    return invalid("--batch gives the images of an ONNX model, expected a .onnx network");
  }
  if (!options.dims.empty() && source.maestro) {
    return invalid("--dim gives an open dimension of an ONNX model, expected a .onnx network");
  }
  if (source.network.layers.empty()) {
    return invalid(fmt::format("{}: has no layer to evaluate, only {}", options.network,
                               source.network.others.empty() ? "inputs" : names_of(source.network.others)));
  }
  return Done{};
}

}  // namespace

OptionTable options_of(EvaluationOptions& options) {
  OptionTable table = {network_field(options.network, NetworkIs::Flag),
                       layer_field(options.layer),
                       hardware_field(options.hardware),
                       {"mapping", &options.mapping, "mapping file: .yaml (ours, Timeloop's), .m (MAESTRO)"},
                       {"dataflow", &options.dataflow, "classic dataflow by name instead of a mapping file (see below)"},
                       dim_field(options.dims),
                       model_field(options.model, options.levels),
                       constraints_field(options.constraints)};
  for (OptionField& field : options_of(options.levels)) table.push_back(std::move(field));
  return table;
}

Result<EvaluationJob> read_evaluation_job(const EvaluationOptions& options) {
  EvaluationJob job;
  job.model = options.model;
  job.constraints = options.constraints;
  TW_TRY(job.accelerator, read_accelerator(options.hardware));
  TW_TRY(const Source source, read_source(options, job.model));
  job.network = printable(source.network.name);
  TW_TRY([[maybe_unused]] const Done checked, check(options, source));
  TW_TRY(const std::vector<LayerGroup> groups, groups_of(options, source, job.model));
  for (const LayerGroup& group : groups) {
    TW_TRY(LayerJob layer, layer_job(options, source, group, job));
    job.layers.push_back(std::move(layer));
  }
  // One layer without a mapping is that layer's answer; none with one is a wrong file.
  const auto mapped = [](const LayerJob& layer) { return static_cast<bool>(layer.mapping); };
  const bool is_own_answer = options.layer.empty() && !options.dataflow.empty() && !is_maestro(job.model);
  if (!is_own_answer && std::ranges::none_of(job.layers, mapped)) return job.layers.front().mapping.error();
  job.coverage = is_declared(source, job.model) ? declared_coverage(source, job) : coverage_of(source.network, groups);
  return job;
}

}  // namespace tilewright
