#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/report/assignment.hpp"
#include "tilewright/report/map_report.hpp"
#include "tilewright/report/mapping.hpp"
#include "tilewright/study/dim_legend.hpp"
#include "tilewright/study/roofline.hpp"
#include "tilewright/study/units.hpp"

namespace tilewright {
namespace {

ReportedLayer to_reported(const MappedLayer& layer, const MappingStudy& result) {
  ReportedLayer reported;
  reported.name = layer.name;
  reported.shape = shape_text(layer.layer);
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
  if (layer.found) {
    const Evaluation evaluation =
        evaluate(layer.found->mapping, layer.nest, layer.found->machine, result.model, result.constraints);
    if (const auto* cost = std::get_if<Cost>(&evaluation); cost != nullptr && !is_maestro(result.model)) {
      const EnergyParts& parts = cost->energy_parts;
      reported.found->energy_parts = {parts.mac.value / 1000, parts.l1.value / 1000, parts.l2.value / 1000};
      const Roofline roof = roofline(*cost, layer.found->machine);
      reported.found->bound = roof.bound;
      reported.found->roof = roof.achieved / roof.lowest_roof();
    }
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

std::vector<std::pair<std::string, std::string>> machine_card(const Accelerator& machine) {
  const auto bytes = [](std::int64_t count) {
    return count >= kUnlimited ? "no limit" : fmt::format("{} bytes", with_thousands(count));
  };
  const auto bandwidth = [&](std::int64_t elements) {
    return elements >= kUnlimited ? "no limit"
                                  : fmt::format("{} bytes per cycle, {}", with_thousands(elements),
                                                bandwidth_text(static_cast<double>(elements), machine));
  };
  const double macs = static_cast<double>(machine.pes * machine.simd_lanes);
  return {{"processing elements", machine.simd_lanes > 1 ? fmt::format("{} of {} lanes", machine.pes, machine.simd_lanes)
                                                         : with_thousands(machine.pes)},
          {"clock", fmt::format("{:g} GHz", machine.clock_ghz)},
          {"peak", in_units(2 * macs * machine.clock_ghz * 1e9, "OP/s")},
          {"L1 of each", bytes(machine.l1.value)},
          {"L2", bytes(machine.l2.value)},
          {"network on chip", bandwidth(machine.noc.bandwidth)},
          {"off-chip memory", bandwidth(machine.offchip_bandwidth)},
          {"energy of a MAC, L1, L2 access", fmt::format("{:.3g}, {:.3g}, {:.3g} pJ", machine.energy.mac.value,
                                                         machine.energy.l1_access.value, machine.energy.l2_access.value)}};
}

// A line through the members, ascending in the first metric; a third metric is not drawn.
ReportedFront to_reported(const std::string& name, std::vector<std::pair<double, double>> points) {
  std::ranges::sort(points);
  ReportedFront front{name, {}, {}};
  for (const auto& [x, y] : points) {
    front.x.push_back(x);
    front.y.push_back(y);
  }
  return front;
}

void add_fronts(const MappingStudy& result, MapReport& report) {
  const std::vector<Objective::Term>& terms = result.objective.terms;
  const auto axis = [&](std::size_t i) { return fmt::format("{}, {}", name_of(terms[i].metric), unit_of(terms[i].metric)); };
  const auto point = [&](const Metrics& metrics) {
    return std::pair(value_of(terms[0].metric, metrics), value_of(terms[1].metric, metrics));
  };
  report.front_x = axis(0);
  report.front_y = axis(1);
  report.front_note = fmt::format(
      "No mapping here is better than another in {}{}. Above the whole network, {}; below its layers. pareto.csv and "
      "result.json have every mapping.",
      terms.size() == 2 ? "both" : "all", terms.size() == 2 ? "" : ", of which the first two are drawn",
      result.front.bound > 1
          ? fmt::format("within {:.2g} % of every combination of the layers' mappings", 100 * (result.front.bound - 1))
          : "from all combinations of the layers' mappings");
  std::vector<std::pair<double, double>> points;
  for (const NetworkMember& member : result.front.members) points.push_back(point(member.metrics));
  if (!points.empty()) report.fronts.push_back(to_reported("", std::move(points)));
  for (const MappedLayer& layer : result.layers) {
    points.clear();
    for (const MappedLayer::Member& member : layer.front) points.push_back(point(member.metrics));
    if (!points.empty()) report.fronts.push_back(to_reported(layer.name, std::move(points)));
  }
}

}  // namespace

std::string to_html(const MappingStudy& result) {
  const MappingTotals totals = totals_of(result);
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
  report.machine_card = machine_card(result.machine);
  if (!is_maestro(result.model)) report.energy_part_names = {"MAC", "L1", "L2"};
  if (totals.metrics.latency > 0) {
    report.time_text = time_text(totals.metrics.latency, result.machine);
    report.rate_text = fmt::format("{:.4g} inferences/s at {:g} GHz", 1 / seconds_of(totals.metrics.latency, result.machine),
                                   result.machine.clock_ghz);
    report.energy_text = energy_text(totals.metrics.energy);
  }
  for (const NestKind kind : {NestKind::Convolution, NestKind::MatrixMultiply}) {
    const auto has = [&](const MappedLayer& layer) {
      return (layer.nest.kind == NestKind::MatrixMultiply) == (kind == NestKind::MatrixMultiply);
    };
    if (std::ranges::any_of(result.layers, has))
      report.dim_legend +=
          fmt::format("{}{}", report.dim_legend.empty() ? "" : "; of matrix multiplies: ", dim_legend(kind));
  }
  if (has_front(result)) add_fronts(result, report);
  report.notes = remarks_of(result);
  return to_html(report);
}

}  // namespace tilewright
