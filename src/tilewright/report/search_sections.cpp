#include "tilewright/report/search_sections.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/report/assignment.hpp"
#include "tilewright/report/page.hpp"
#include "tilewright/report/plot.hpp"

namespace tilewright {
namespace {

double ratio(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

// Best so far by the final best. The curve goes on to the layer's last sample.
PlotSeries convergence_of(const SearchedLayer& layer, std::size_t colour, bool faint) {
  PlotSeries series{*layer.name, colour, {}, {}, faint};
  const std::vector<Improvement>& curve = layer.ledger->improvements;
  for (const Improvement& improvement : curve) {
    series.x.push_back(static_cast<double>(improvement.sample));
    series.y.push_back(improvement.score[0] / curve.back().score[0]);
  }
  if (layer.ledger->samples > curve.back().sample) {
    series.x.push_back(static_cast<double>(layer.ledger->samples));
    series.y.push_back(1);
  }
  return series;
}

}  // namespace

std::string shown(const Objective& objective) {
  if (objective.form == Objective::Form::Pareto) return "product of the metrics";
  const std::string name = name_of(objective);
  return name == "edp" ? "EDP" : name;
}

std::string convergence_section(const std::vector<SearchedLayer>& layers, const Objective& objective) {
  std::vector<std::size_t> by_share;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::vector<Improvement>& curve = layers[i].ledger->improvements;
    if (!curve.empty() && curve.back().score[0] > 0) by_share.push_back(i);
  }
  if (by_share.empty()) return "";
  std::ranges::stable_sort(by_share, std::greater<>(), [&](std::size_t i) { return layers[i].weight; });
  LinePlot plot{"samples of the layer", shown(objective) + ", × of the final best", {}, {}, 0, ""};
  plot.x_scale = plot.y_scale = Scale::Logarithmic;
  plot.steps = true;
  for (std::size_t rank = 0; rank < by_share.size(); ++rank) {
    const bool faint = rank >= kMostColouredLayers;
    plot.series.push_back(convergence_of(layers[by_share[rank]], faint ? kGrey : kLayerColours[rank], faint));
  }
  const std::size_t others = by_share.size() - std::min(by_share.size(), kMostColouredLayers);
  return fmt::format(
      "<h2>Convergence</h2>\n<p class=\"muted\">Best {} so far of each layer, divided by its final best{}.</p>\n{}{}",
      html_escaped(shown(objective)), others > 0 ? "; in colour the layers with the largest shares of EDP" : "",
      legend(plot.series, fmt::format("{} other layer{}", others, others == 1 ? "" : "s")), to_svg(plot));
}

std::string sample_section(const std::vector<SearchedLayer>& layers) {
  std::int64_t samples = 0, valid = 0, repeated = 0;
  std::map<std::string, std::int64_t> reasons;
  for (const SearchedLayer& layer : layers) {
    samples += layer.ledger->samples;
    valid += layer.ledger->valid;
    repeated += layer.ledger->repeated;
    for (const auto& [reason, count] : *layer.rejected) reasons[reason] += count;
  }
  if (samples == 0) return "";
  std::vector<std::pair<std::string, std::int64_t>> sorted(reasons.begin(), reasons.end());
  std::ranges::stable_sort(sorted, std::greater<>(), [](const auto& entry) { return entry.second; });
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const std::string& name, std::int64_t count, std::size_t colour) {
    rows.push_back({html_escaped(name), with_thousands(count),
                    percent(ratio(count, samples)) + " " + bar(ratio(count, samples), colour)});
  };
  add("valid", valid, 2);
  for (const auto& [reason, count] : sorted) add("invalid: " + reason, count, 1);
  add("proposed before, and charged again", repeated, kGrey);
  return "<h2>Where the samples went</h2>\n" + table({{"outcome", false}, {"samples"}, {"share"}}, rows);
}

std::string agent_section(const std::optional<AgentsStory>& agents) {
  if (!agents || !agents->clustered) return "";
  const ClusterMap map = cluster_map(*agents->clustered);
  const AgentAssignment& assignment = agents->assignment;
  std::map<std::size_t, std::vector<std::string>> members;
  for (const std::size_t place : map.order) members[map.clusters[place]].push_back(map.names[place]);
  std::vector<std::vector<std::string>> rows;
  for (const auto& [cluster, names] : members) {
    rows.push_back({fmt::format("{}agent {}", chip(cluster_colour(cluster)), cluster + 1),
                    fmt::format("<span style=\"white-space:normal\">{}</span>", html_escaped(join(names, ", ")))});
  }
  return fmt::format(
      "<h2>Who decides what</h2>\n<p class=\"muted\">Parameters that depend on each other are decided by one agent{}; a "
      "stronger "
      "colour is a stronger {}.</p>\n{}{}",
      ": " + html_escaped(fmt::format("{}; {} agents", assignment.origin, assignment.agents.size())),
      html_escaped(map.meaning), to_svg(map), table({{"agent", false}, {"decides", false}}, rows));
}

std::string coverage_section(const Coverage& coverage) {
  if (coverage.left_out.empty()) return "";
  std::vector<std::vector<std::string>> rows;
  for (const OtherOperator& other : coverage.left_out) {
    rows.push_back({html_escaped(other.name), with_thousands(other.count),
                    other.macs ? prefixed_number(static_cast<double>(*other.macs)) : "unknown",
                    other.operations_known ? prefixed_number(static_cast<double>(other.operations)) : "unknown"});
  }
  return "<h2>Left out</h2>\n" + table({{"operator", false},
                                        {"times"},
                                        {"MACs", true, "multiply-accumulates of all of them"},
                                        {"operations", true, "of all of them; a multiply-accumulate is two"}},
                                       rows);
}

}  // namespace tilewright
