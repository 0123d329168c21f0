#include "tilewright/study/map_result.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/csv.hpp"
#include "tilewright/base/seal.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/cost/area.hpp"
#include "tilewright/study/network_json.hpp"
#include "tilewright/study/units.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Metrics& metrics) {
  return {{"latency", metrics.latency}, {"energy", metrics.energy},
          {"edp", metrics.edp()},       {"area", metrics.area ? Json(*metrics.area) : Json()},
          {"power", metrics.power},     {"macs", metrics.macs},
          {"l1", metrics.l1},           {"l2", metrics.l2},
          {"pes", metrics.pes}};
}

Json to_json(const Nest& nest) {
  Json json{{"kind", static_cast<int>(nest.kind)}, {"batched", nest.batched}};
  for (std::size_t i = 0; i < kDimCount; ++i) {
    const std::string name(name_of(static_cast<Dim>(i)));
    if (nest.size[i] != 0) json["size"][name] = nest.size[i];
    if (nest.stride[i] != 0) json["stride"][name] = nest.stride[i];
  }
  return json;
}

// Of an area by the machine's own figures; MAESTRO's is no sum of true parts.
std::optional<AreaParts> area_parts(const MappedLayer::Found& found, Model model) {
  if (is_maestro(model)) return std::nullopt;
  return area_of(found.machine, Bytes{std::llround(found.metrics.l1)}, Bytes{std::llround(found.metrics.l2)});
}

Json to_json(const MappedLayer& layer, const MapResult& result) {
  Json json{{"name", layer.name}, {"count", layer.count}};
  add_layer(json, layer.layer, layer.members);
  json["nest"] = to_json(layer.nest);
  json["log10_space"] = layer.log10_size;
  json["status"] = layer.found ? "ok" : "failed";
  if (layer.found) {
    const MappedLayer::Found& found = *layer.found;
    json["metrics"] = to_json(found.metrics);
    json["score"] = found.score;
    if (const auto parts = area_parts(found, result.model)) {
      json["area_parts"] = {{"pe", parts->pe.value}, {"l1", parts->l1.value}, {"l2", parts->l2.value}};
    }
    json["utilisation"] = utilisation(found.metrics, result.machine.simd_lanes);
    json["pes"] = found.machine.pes;
    json["mapping"] = to_yaml(found.mapping);
    if (found.exact_factor) json["exact_factor"] = *found.exact_factor;
    if (!found.exact_refusal.empty()) json["exact_refusal"] = found.exact_refusal;
    if (layer.dataflow_factor) {
      json["dataflow"] = layer.dataflow;
      json["dataflow_factor"] = *layer.dataflow_factor;
    }
    if (layer.optimum_factor) json["optimum_factor"] = *layer.optimum_factor;
  }
  json["dataflows"] = Json::object();
  for (const auto& [name, objective] : layer.dataflows) json["dataflows"][name] = objective;
  json["classics"] = layer.ledger.classics;
  for (const MappedLayer::Member& member : layer.front) {
    json["pareto"].push_back({{"metrics", to_json(member.metrics)},
                              {"pes", member.machine.pes},
                              {"sample", member.sample},
                              {"mapping", to_yaml(member.mapping)}});
  }
  if (!layer.found) json["explain"] = layer.explain;
  if (layer.nearest) {
    const auto limits = limits_of(result.objective.limits);
    for (std::size_t i = 0; i < limits.size(); ++i) {
      const double least = layer.ledger.limits->least[i];
      json["limits"][std::string(name_of(limits[i].first))] = {
          {"limit", limits[i].second}, {"least", least}, {"factor", least / limits[i].second}};
    }
    json["nearest"] = {{"metrics", to_json(layer.nearest->metrics)},
                       {"factor", layer.ledger.limits->excess},
                       {"pes", layer.nearest->machine.pes},
                       {"mapping", to_yaml(layer.nearest->mapping)}};
  }
  json["samples"] = layer.ledger.samples;
  json["valid"] = layer.ledger.valid;
  json["repeated"] = layer.ledger.repeated;
  json["rejected"] = Json::object();
  for (const auto& [reason, count] : layer.rejected) json["rejected"][reason] = count;
  return json;
}

// A classic dataflow is better, by more than rounding.
bool is_loss(const MappedLayer& layer) { return layer.dataflow_factor && *layer.dataflow_factor < 0.9999; }

// Why a layer has no mapping, and what would have to give.
std::string failure_of(const MappedLayer& layer, const MapResult& result) {
  const std::string samples = with_thousands(layer.ledger.samples);
  const std::string tells = fmt::format("`{}` tells more", layer.explain);
  if (!layer.nearest) {
    const std::string why = layer.rejected.empty() ? "no sample was drawn" : "mostly " + layer.rejected.front().first;
    return fmt::format("Layer {}: none of {} samples is feasible ({}); {}.", layer.name, samples, why, tells);
  }
  std::string least, relax;
  const auto limits = limits_of(result.objective.limits);
  for (std::size_t i = 0; i < limits.size(); ++i) {
    const auto& [metric, limit] = limits[i];
    least += fmt::format("{}{} {:.6g} {} (limit {:.6g})", least.empty() ? "" : ", ", name_of(metric),
                         layer.ledger.limits->least[i], unit_of(metric), limit);
    const double value = value_of(metric, layer.nearest->metrics);
    if (value > limit) relax += fmt::format(" --max-{} {}", name_of(metric), value);
  }
  return fmt::format("Layer {}: none of {} samples keeps the limits. The least seen: {}. There is an answer with{}; {}.",
                     layer.name, samples, least, relax, tells);
}

std::string factor_text(const std::optional<double>& factor) { return factor ? fmt::format("{:.2f}x", *factor) : "-"; }

// The network's front, of which a terminal shows a dozen members, evenly.
std::string front_text(const MapResult& result) {
  const std::vector<NetworkMember>& members = result.front.members;
  if (members.empty()) return "No front of the network: a layer has no mapping.\n";
  std::string text = fmt::format(
      "Front of the network: {} of {} mappings{}\n", with_thousands(static_cast<std::int64_t>(members.size())),
      name_of(result.objective),
      result.front.bound > 1 ? fmt::format(", within {:.2g} % of every combination", 100 * (result.front.bound - 1)) : "");
  for (const Objective::Term& term : result.objective.terms)
    text += fmt::format(" {:>22}", fmt::format("{}, {}", name_of(term.metric), unit_of(term.metric)));
  text += "\n";
  constexpr std::size_t kShown = 12;
  const std::size_t shown = std::min(kShown, members.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const NetworkMember& member = members[shown > 1 ? i * (members.size() - 1) / (shown - 1) : 0];
    for (const Objective::Term& term : result.objective.terms)
      text += fmt::format(" {:>22.6g}", value_of(term.metric, member.metrics));
    text += "\n";
  }
  return text;
}

}  // namespace

double utilisation(const Metrics& metrics, std::int64_t lanes) {
  const double peak = metrics.latency * metrics.pes * static_cast<double>(lanes);
  return peak > 0 ? metrics.macs / peak : 0;
}

void finish_totals(Metrics& sums, const MapResult& result) {
  if (is_maestro(result.model) || !(sums.latency > 0)) return;
  sums.power = power_of({sums.energy}, sums.latency, result.machine).value;
}

MapTotals totals_of(const MapResult& result) {
  MapTotals totals;
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

std::vector<std::string> remarks_of(const MapResult& result) {
  std::vector<std::string> remarks;
  const MapTotals totals = totals_of(result);
  if (result.interrupted) {
    remarks.push_back(fmt::format("Stopped early: {} of {} samples were spent; the best so far is kept.",
                                  with_thousands(totals.samples),
                                  with_thousands(result.samples * static_cast<std::int64_t>(result.layers.size()))));
  }
  if (result.search == "exhaustive" &&
      std::ranges::any_of(result.layers, [&](const MappedLayer& layer) { return layer.ledger.samples == result.samples; })) {
    remarks.push_back(fmt::format("{} samples per layer were spent before every mapping was evaluated: better may be left.",
                                  with_thousands(result.samples)));
  }
  for (const MappedLayer& layer : result.layers) {
    if (!layer.found) remarks.push_back(failure_of(layer, result));
  }
  std::string losses;
  for (const MappedLayer& layer : result.layers) {
    if (!is_loss(layer)) continue;
    losses +=
        fmt::format("{}{} ({:.2f} of {})", losses.empty() ? "" : ", ", layer.name, *layer.dataflow_factor, layer.dataflow);
  }
  if (!losses.empty()) {
    remarks.push_back(fmt::format("A classic dataflow is better than what was found: {}. Try more --samples.", losses));
  }
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

std::string to_text(const MapResult& result) {
  std::size_t width = 5;
  for (const MappedLayer& layer : result.layers) width = std::max(width, layer.name.size());
  std::string text = fmt::format("{} on {}, {} minimised by {} ({} samples per layer, seed {}, model {})\n", result.network,
                                 result.machine.name, name_of(result.objective), result.search,
                                 with_thousands(result.samples), result.seed, name_of(result.model));
  text += fmt::format("{:<{}} {:>5} {:>14} {:>12} {:>12} {:>6} {:>12} {:<12} {:>8}\n", "layer", width, "count", "cycles",
                      "energy nJ", "EDP", "util", "vs dataflow", "", "optimum");
  for (const MappedLayer& layer : result.layers) {
    if (!layer.found) {
      text += fmt::format("{:<{}} {:>5} {:>14}\n", layer.name, width, layer.count, "no mapping");
      continue;
    }
    const Metrics& metrics = layer.found->metrics;
    text += fmt::format("{:<{}} {:>5} {:>14} {:>12.4g} {:>12.4g} {:>5.1f}% {:>12} {:<12} {:>8}{}\n", layer.name, width,
                        layer.count, with_thousands(std::llround(metrics.latency)), metrics.energy, metrics.edp(),
                        100 * utilisation(metrics, result.machine.simd_lanes), factor_text(layer.dataflow_factor),
                        layer.dataflow, factor_text(layer.optimum_factor), is_loss(layer) ? "  LOSS" : "");
  }
  const MapTotals totals = totals_of(result);
  text += fmt::format("{:<{}} {:>5} {:>14} {:>12.4g} {:>12.4g} {:>5.1f}% {:>12} {:<12}\n", "all", width, "",
                      with_thousands(std::llround(totals.metrics.latency)), totals.metrics.energy, totals.metrics.edp(),
                      100 * utilisation(totals.metrics, result.machine.simd_lanes), factor_text(totals.dataflow_factor),
                      "best of each");
  if (totals.metrics.latency > 0) {
    text += fmt::format("{} and {} per inference: {:.4g} inferences/s, {}, at {:g} GHz\n",
                        time_text(totals.metrics.latency, result.machine), energy_text(totals.metrics.energy),
                        1 / seconds_of(totals.metrics.latency, result.machine), power_text(totals.metrics.power),
                        result.machine.clock_ghz);
  }
  text += fmt::format(
      "{} samples: {:.1f} % valid, {:.1f} % proposed before{}\n", with_thousands(totals.samples),
      100.0 * static_cast<double>(totals.valid) / static_cast<double>(std::max<std::int64_t>(1, totals.samples)),
      100.0 * static_cast<double>(totals.repeated) / static_cast<double>(std::max<std::int64_t>(1, totals.samples)),
      totals.classics > 0 ? fmt::format("; {} tilings of classic dataflows tried first", with_thousands(totals.classics))
                          : "");
  if (result.agents) {
    const AgentsStory& story = *result.agents;
    text += fmt::format("{} agents: {}{}{}\n", story.assignment.agents.size(), story.assignment.origin,
                        story.explored > 0 ? fmt::format(", {} samples explored first", with_thousands(story.explored)) : "",
                        story.revisions > 0 ? fmt::format(", revised {} times", story.revisions) : "");
  }
  text += to_text(result.coverage) + "\n";
  if (has_front(result)) text += front_text(result);
  for (const std::string& remark : remarks_of(result)) text += remark + "\n";
  return text;
}

std::string to_json(const MapResult& result) {
  const MapTotals totals = totals_of(result);
  Json json{{"format", "tilewright-map-1"},
            {"version", TILEWRIGHT_VERSION},
            {"network", result.network},
            {"machine", to_yaml(result.machine)},
            {"model", name_of(result.model)},
            {"constraints", static_cast<int>(result.constraints)},
            {"gamma_rules", result.gamma_rules},
            {"objective", name_of(result.objective)},
            {"space", result.space},
            {"search", result.search},
            {"samples", result.samples},
            {"seed", result.seed},
            {"interrupted", result.interrupted},
            {"settings", Json::object()},
            {"limits", Json::object()}};
  for (const SettingValue& setting : result.settings) json["settings"][setting.name] = setting.value;
  const Limits& limits = result.objective.limits;
  if (limits.latency) json["limits"]["latency"] = *limits.latency;
  if (limits.energy) json["limits"]["energy"] = *limits.energy;
  if (limits.area) json["limits"]["area"] = *limits.area;
  if (limits.power) json["limits"]["power"] = *limits.power;
  if (!result.from.empty()) json["from"] = result.from;
  json["totals"] = to_json(totals.metrics);
  json["totals"]["classics"] = totals.classics;
  json["totals"]["samples"] = totals.samples;
  json["totals"]["valid"] = totals.valid;
  json["totals"]["repeated"] = totals.repeated;
  if (totals.dataflow_factor) json["totals"]["dataflow_factor"] = *totals.dataflow_factor;
  json["coverage"] = to_json(result.coverage);
  json["layers"] = Json::array();
  for (const MappedLayer& layer : result.layers) json["layers"].push_back(to_json(layer, result));
  if (result.agents) {
    json["agents"] = {{"origin", result.agents->assignment.origin},
                      {"explored", result.agents->explored},
                      {"revisions", result.agents->revisions},
                      {"assignment", result.agents->assignment.agents}};
  }
  if (has_front(result)) {
    json["pareto"] = {{"bound", result.front.bound}, {"network", Json::array()}};
    for (const NetworkMember& member : result.front.members) {
      json["pareto"]["network"].push_back({{"metrics", to_json(member.metrics)}, {"choice", member.choice}});
    }
  }
  json["remarks"] = remarks_of(result);
  return sealed(std::move(json), 1);
}

std::string layers_csv(const MapResult& result) {
  std::string csv =
      "layer,operator,shape,stride,count,macs,latency,energy_nj,edp,area_um2,power_mw,l1,l2,utilisation,objective,dataflow,"
      "dataflow_factor,"
      "optimum_factor,samples,valid,repeated,members\n";
  for (const MappedLayer& layer : result.layers) {
    csv += fmt::format("{},{},{},{},{},{},", csv_cell(layer.name), name_of(layer.layer.op),
                       csv_cell(shape_text(layer.layer)), stride_text(layer.layer), layer.count, macs(layer.nest).value);
    if (layer.found) {
      const Metrics& m = layer.found->metrics;
      csv +=
          fmt::format("{},{},{},{},{},{},{},{},{},", m.latency, m.energy, m.edp(), m.area ? fmt::format("{}", *m.area) : "",
                      m.power, m.l1, m.l2, utilisation(m, result.machine.simd_lanes), layer.found->score[0]);
    } else {
      csv += ",,,,,,,,,";
    }
    csv += fmt::format("{},{},{},{},{},{},{}\n", layer.dataflow,
                       layer.dataflow_factor ? fmt::format("{}", *layer.dataflow_factor) : "",
                       layer.optimum_factor ? fmt::format("{}", *layer.optimum_factor) : "", layer.ledger.samples,
                       layer.ledger.valid, layer.ledger.repeated, csv_cell(join(layer.members, ";")));
  }
  return csv;
}

std::string convergence_csv(const MapResult& result) {
  std::string csv = "layer,sample,objective\n";
  for (std::size_t i = 0; i < result.layers.size(); ++i) {
    for (const Improvement& improvement : result.layers[i].ledger.improvements) {
      csv += fmt::format("{},{},{}\n", i, improvement.sample, improvement.score[0]);
    }
  }
  return csv;
}

std::string file_name_of(std::size_t index, const std::string& name) {
  std::string plain;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    plain += std::isalnum(byte) != 0 || c == '-' || c == '_' || c == '.' ? c : '_';
  }
  return fmt::format("{:03}_{}", index, plain.substr(0, 80));
}

}  // namespace tilewright
