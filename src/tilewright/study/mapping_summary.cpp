// What follows from the layers of a mapped network: sums, fronts, and what a reader might take for granted.
#include <algorithm>

#include <fmt/format.h>

#include "tilewright/cost/area.hpp"
#include "tilewright/study/mapping.hpp"

namespace tilewright {

double utilisation(const Metrics& metrics, std::int64_t lanes) {
  const double peak = metrics.latency * metrics.pes * static_cast<double>(lanes);
  return peak > 0 ? metrics.macs / peak : 0;
}

void finish_totals(Metrics& sums, const MappingStudy& result) {
  if (is_maestro(result.model) || !(sums.latency > 0)) return;
  sums.power = power_of({sums.energy}, sums.latency, result.machine).value;
}

MappingTotals totals_of(const MappingStudy& result) {
  MappingTotals totals;
  Metrics classic;
  bool all_classic = true;
  for (const MappedLayer& layer : result.layers) {
    totals.classics += layer.ledger.classics;
    totals.samples += layer.ledger.samples;
    totals.valid += layer.ledger.valid;
    totals.repeated += layer.ledger.repeated;
    if (!layer.found) {
      ++totals.failed;
      continue;
    }
    accumulate(totals.metrics, layer.found->metrics, static_cast<double>(layer.count));
    if (layer.dataflow_metrics) {
      accumulate(classic, *layer.dataflow_metrics, static_cast<double>(layer.count));
    } else {
      all_classic = false;
    }
  }
  for (Metrics* network : {&totals.metrics, &classic}) finish_totals(*network, result);
  if (all_classic && totals.failed < result.layers.size()) {
    totals.dataflow_factor = score_of(result.objective, classic)[0] / score_of(result.objective, totals.metrics)[0];
  }
  return totals;
}

NetworkFront front_of(const MappingStudy& result) {
  std::vector<FrontLayer> layers;
  for (const MappedLayer& layer : result.layers) {
    FrontLayer& one = layers.emplace_back();
    one.count = static_cast<double>(layer.count);
    for (const MappedLayer::Member& member : layer.front) one.front.push_back(member.metrics);
    if (one.front.empty()) return {};
  }
  return network_front(layers, result.objective, [&](Metrics& sums) { finish_totals(sums, result); });
}

std::vector<std::string> remarks_of(const MappingStudy& result) {
  std::vector<LayerAnswer> answers;
  for (const MappedLayer& layer : result.layers) {
    answers.push_back({&layer, layer.found.has_value(), layer.nearest ? &layer.nearest->metrics : nullptr});
  }
  std::vector<std::string> remarks = search_remarks(result, answers);
  std::size_t apart = 0;
  double most = 1;
  std::string worst;
  for (const MappedLayer& layer : result.layers) {
    if (!layer.found) continue;
    if (!layer.found->exact_refusal.empty()) {
      remarks.push_back(fmt::format("Layer {}: the exact model refuses every mapping found, this one as {}", layer.name,
                                    layer.found->exact_refusal));
    }
    if (!layer.found->exact_factor) continue;
    const double factor = *layer.found->exact_factor;
    const double away = std::max(factor, 1 / factor);
    if (away > 1.01) ++apart;
    if (away > most) {
      most = away;
      worst = layer.name;
    }
  }
  if (apart > 0) {
    remarks.push_back(
        fmt::format("The exact model prices {} of {} mappings differently by more than 1 %, most of all {} ({}).", apart,
                    result.layers.size(), worst, fmt::format("{:.2f} times", most)));
  }
  return remarks;
}

}  // namespace tilewright
