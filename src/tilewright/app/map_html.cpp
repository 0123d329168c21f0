#include <fmt/format.h>

#include "tilewright/app/agents_result.hpp"
#include "tilewright/app/map_result.hpp"
#include "tilewright/report/map_report.hpp"

namespace tilewright {
namespace {

ReportedLayer to_reported(const MappedLayer& layer, const MapResult& result) {
  ReportedLayer reported;
  reported.name = layer.name;
  reported.count = layer.count;
  reported.macs = static_cast<double>(macs(layer.nest).value);
  if (layer.found) {
    const MappedLayer::Found& found = *layer.found;
    reported.found = ReportedLayer::Found{.latency = found.metrics.latency,
                                          .energy = found.metrics.energy,
                                          .edp = found.metrics.edp(),
                                          .utilisation = utilisation(found.metrics, result.machine.simd_lanes),
                                          .objective = found.score[0],
                                          .mapping = to_maestro(found.mapping),
                                          .loop_nest = to_loop_nest(found.mapping, layer.nest, found.machine.pes)};
  }
  reported.dataflow = layer.dataflow;
  reported.dataflow_factor = layer.dataflow_factor;
  reported.optimum_factor = layer.optimum_factor;
  reported.samples = layer.ledger.samples;
  reported.valid = layer.ledger.valid;
  reported.repeated = layer.ledger.repeated;
  reported.rejected = layer.rejected;
  for (const Improvement& improvement : layer.ledger.improvements) {
    reported.curve.emplace_back(improvement.sample, improvement.score[0]);
  }
  return reported;
}

}  // namespace

std::string to_html(const MapResult& result) {
  const MapTotals totals = totals_of(result);
  MapReport report;
  report.network = result.network;
  report.machine = result.machine.name;
  report.objective = name_of(result.objective);
  if (result.objective.form == Objective::Form::Single) report.unit = unit_of(result.objective.terms[0].metric);
  report.searcher = result.search;
  report.samples_per_layer = result.samples;
  report.seed = result.seed;
  report.version = TILEWRIGHT_VERSION;
  for (const std::string& word : result.command) report.command += (report.command.empty() ? "" : " ") + word;
  report.settings = {{"space", result.space}, {"model", std::string(name_of(result.model))}};
  for (const SettingValue& setting : result.settings) {
    report.settings.emplace_back(result.search + "." + setting.name, setting.value);
  }
  for (const MappedLayer& layer : result.layers) report.layers.push_back(to_reported(layer, result));
  report.latency = totals.metrics.latency;
  report.energy = totals.metrics.energy;
  report.edp = totals.metrics.edp();
  report.macs = totals.metrics.macs;
  report.dataflow_factor = totals.dataflow_factor;
  if (result.agents) {
    const AgentsStory& story = *result.agents;
    report.agents_origin = fmt::format("{}; {} agents", story.assignment.origin, story.assignment.agents.size());
    if (story.clustered) report.agents = cluster_map(*story.clustered);
  }
  report.coverage = result.coverage;
  report.notes = remarks_of(result);
  return to_html(report);
}

}  // namespace tilewright
