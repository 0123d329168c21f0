#include "tilewright/app/job.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/mapping/dataflows.hpp"
#include "tilewright/mapping/mapping_maestro.hpp"
#include "tilewright/workload/maestro_file.hpp"

namespace tilewright {
namespace {

struct Source {
  Network network;
  std::optional<MaestroFile> maestro;  // when the network came as a .m file
};

Result<Source> read_source(const JobArguments& arguments, Model model) {
  Source source;
  if (arguments.network.ends_with(".m")) {
    TW_TRY(const std::string text, read_file(arguments.network));
    const FilterTiles rule = model == Model::Maestro ? FilterTiles::Whole : FilterTiles::Any;
    TW_TRY(source.maestro, parse_maestro(text, arguments.network, rule));
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
  TW_TRY(source.network, read_network(arguments.network, {arguments.batch}));
  return source;
}

Result<Mapping> mapping_for(const JobArguments& arguments, const Source& source, std::size_t index, const Nest& nest,
                            const Accelerator& accelerator, Model model, DimNames& names) {
  if (!arguments.mapping.empty()) return read_mapping(arguments.mapping, source.network.layers[index].layer.name);
  if (!arguments.dataflow.empty()) {
    return dataflow(arguments.dataflow, nest, accelerator, is_maestro(model) ? StridedTiles::Single : StridedTiles::Several);
  }
  return mapping_of(source.maestro->layers[index], names);
}

Result<LayerJob> layer_job(const JobArguments& arguments, const Source& source, std::size_t index, const Job& job) {
  const NetworkLayer& entry = source.network.layers[index];
  DimNames names;
  const Result<Nest> nest =
      source.maestro && is_maestro(job.model) ? nest_of(*source.maestro, index, names) : nest_of(entry.layer);
  if (!nest) return nest.error();
  return LayerJob{printable(entry.layer.name), entry.count, *nest,
                  mapping_for(arguments, source, index, *nest, job.accelerator, job.model, names)};
}

}  // namespace

Result<Job> read_job(const JobArguments& arguments) {
  Job job;
  TW_TRY(job.model, model_named(arguments.model));
  TW_TRY(job.constraints, constraints_named(arguments.constraints));
  TW_TRY(job.accelerator, read_accelerator(arguments.hardware));
  TW_TRY(const Source source, read_source(arguments, job.model));
  job.network = printable(source.network.name);
  if (!arguments.mapping.empty() && !arguments.dataflow.empty()) {
    return invalid("--mapping and --dataflow are both given, expected one of them");
  }
  if (arguments.mapping.empty() && arguments.dataflow.empty() && !source.maestro) {
    return invalid("neither --mapping nor --dataflow is given, expected one of them (only a .m network brings its own)");
  }
  if (!arguments.dataflow.empty()) {  // a misspelt name is wrong input, not one failing layer after another
    std::vector<std::string> names;
    for (const Dataflow& known : dataflows()) names.emplace_back(known.name);
    if (std::ranges::find(names, arguments.dataflow) == names.end()) {
      return invalid(fmt::format("dataflow '{}' is not known{}, expected one of {}", arguments.dataflow,
                                 did_you_mean(arguments.dataflow, names), join(names, ", ")));
    }
  }
  if (arguments.batch != 1 && !arguments.network.ends_with(".onnx")) {
    return invalid("--batch gives the images of an ONNX model, expected a .onnx network");
  }
  if (source.network.layers.empty()) return invalid(fmt::format("{}: has no layer to evaluate", arguments.network));

  if (!arguments.layer.empty()) {
    TW_TRY(const std::size_t index, find_layer(source.network, arguments.layer));
    TW_TRY(LayerJob layer, layer_job(arguments, source, index, job));
    if (!layer.mapping) return layer.mapping.error();
    job.layers.push_back(std::move(layer));
    return job;
  }
  // With --mapping or in a MAESTRO model every layer stands for itself; otherwise equal shapes cost the same.
  const bool grouped = !arguments.dataflow.empty() && !is_maestro(job.model);
  if (grouped) {
    for (const LayerGroup& group : distinct_layers(source.network)) {
      TW_TRY(LayerJob layer, layer_job(arguments, source, group.first, job));
      layer.count = group.count;
      job.layers.push_back(std::move(layer));
    }
    return job;
  }
  for (std::size_t index = 0; index < source.network.layers.size(); ++index) {
    TW_TRY(LayerJob layer, layer_job(arguments, source, index, job));
    job.layers.push_back(std::move(layer));
  }
  // One layer without a mapping is that layer's answer; none with one is a wrong file.
  const auto mapped = [](const LayerJob& layer) { return static_cast<bool>(layer.mapping); };
  if (std::ranges::none_of(job.layers, mapped)) return job.layers.front().mapping.error();
  return job;
}

}  // namespace tilewright
