#include "tilewright/report/mapping_plots.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/report/page.hpp"
#include "tilewright/report/plot.hpp"

namespace tilewright {
namespace {

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

}  // namespace tilewright
