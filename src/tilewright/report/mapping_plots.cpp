#include "tilewright/report/mapping_plots.hpp"

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

// Best so far by the final best. The curve goes on to the layer's last sample.
PlotSeries convergence_of(const MappedLayer& layer, std::size_t colour, bool faint) {
  PlotSeries series{layer.name, colour, {}, {}, faint};
  const std::vector<Improvement>& curve = layer.ledger.improvements;
  for (const Improvement& improvement : curve) {
    series.x.push_back(static_cast<double>(improvement.sample));
    series.y.push_back(improvement.score[0] / curve.back().score[0]);
  }
  if (layer.ledger.samples > curve.back().sample) {
    series.x.push_back(static_cast<double>(layer.ledger.samples));
    series.y.push_back(1);
  }
  return series;
}

using Curve = std::vector<std::pair<double, double>>;

// A line through the members, ascending in the first metric; a third metric is not drawn.
std::string front_svg(const std::string& name, Curve points, const MappingStudy& study, std::size_t colour) {
  const std::vector<Objective::Term>& terms = study.objective.terms;
  const auto axis = [&](std::size_t i) { return fmt::format("{}, {}", name_of(terms[i].metric), unit_of(terms[i].metric)); };
  std::ranges::sort(points);
  PlotSeries series{name, colour, {}, {}, false};
  for (const auto& [x, y] : points) {
    series.x.push_back(x);
    series.y.push_back(y);
  }
  LinePlot plot{axis(0), axis(1), {}, {}, 0, ""};
  plot.x_scale = plot.y_scale = Scale::Logarithmic;
  plot.steps = true;
  plot.series.push_back(std::move(series));
  return to_svg(plot);
}

std::string front_note(const MappingStudy& study) {
  const bool two = study.objective.terms.size() == 2;
  return fmt::format(
      "No mapping here is better than another in {}{}. Above the whole network, {}; below its layers. pareto.csv and "
      "result.json have every mapping.",
      two ? "both" : "all", two ? "" : ", of which the first two are drawn",
      study.front.bound > 1
          ? fmt::format("within {:.2g} % of every combination of the layers' mappings", 100 * (study.front.bound - 1))
          : "from all combinations of the layers' mappings");
}

}  // namespace

std::string convergence_section(const MappingStudy& study) {
  std::vector<std::size_t> by_share;
  for (std::size_t i = 0; i < study.layers.size(); ++i) {
    const std::vector<Improvement>& curve = study.layers[i].ledger.improvements;
    if (!curve.empty() && curve.back().score[0] > 0) by_share.push_back(i);
  }
  if (by_share.empty()) return "";
  std::ranges::stable_sort(by_share, std::greater<>(), [&](std::size_t i) { return weight_of(study.layers[i]); });
  LinePlot plot{"samples of the layer", shown(study.objective) + ", × of the final best", {}, {}, 0, ""};
  plot.x_scale = plot.y_scale = Scale::Logarithmic;
  plot.steps = true;
  for (std::size_t rank = 0; rank < by_share.size(); ++rank) {
    const bool faint = rank >= kMostColouredLayers;
    plot.series.push_back(convergence_of(study.layers[by_share[rank]], faint ? kGrey : kLayerColours[rank], faint));
  }
  const std::size_t others = by_share.size() - std::min(by_share.size(), kMostColouredLayers);
  return fmt::format(
      "<h2>Convergence</h2>\n<p class=\"muted\">Best {} so far of each layer, divided by its final best{}.</p>\n{}{}",
      html_escaped(shown(study.objective)), others > 0 ? "; in colour the layers with the largest shares of EDP" : "",
      legend(plot.series, fmt::format("{} other layer{}", others, others == 1 ? "" : "s")), to_svg(plot));
}

std::string front_section(const MappingStudy& study) {
  if (!has_front(study)) return "";
  const std::vector<Objective::Term>& terms = study.objective.terms;
  const auto points_of = [&](const auto& members) {
    Curve points;
    for (const auto& member : members) {
      points.emplace_back(value_of(terms[0].metric, member.metrics), value_of(terms[1].metric, member.metrics));
    }
    return points;
  };
  std::string fronts;
  if (!study.front.members.empty()) fronts += front_svg("", points_of(study.front.members), study, 0);
  for (const MappedLayer& layer : study.layers) {
    if (layer.front.empty()) continue;
    fronts +=
        fmt::format("<details><summary>{}<span class=\"muted\">{} mappings</span></summary>\n{}</details>\n",
                    html_escaped(layer.name), layer.front.size(), front_svg(layer.name, points_of(layer.front), study, 2));
  }
  if (fronts.empty()) return "";
  return fmt::format("<h2>What there is to choose from</h2>\n<p class=\"muted\">{}</p>\n{}", html_escaped(front_note(study)),
                     fronts);
}

std::string agent_section(const MappingStudy& study) {
  if (!study.agents || !study.agents->clustered) return "";
  const ClusterMap map = cluster_map(*study.agents->clustered);
  const AgentAssignment& assignment = study.agents->assignment;
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

}  // namespace tilewright
