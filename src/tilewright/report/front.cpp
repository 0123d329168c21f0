#include "tilewright/report/front.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/csv.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/report/page.hpp"
#include "tilewright/report/plot.hpp"

namespace tilewright {
namespace {

using Curve = std::vector<std::pair<double, double>>;

// A line through the members, ascending in the first metric; a third metric is not drawn.
std::string front_svg(const std::string& name, Curve points, const Fronts& fronts, std::size_t colour) {
  const std::vector<Objective::Term>& terms = fronts.objective.terms;
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

std::string front_note(const Fronts& fronts) {
  const bool two = fronts.objective.terms.size() == 2;
  return fmt::format(
      "No mapping here is better than another in {}{}. Above the whole network, {}; below its layers. pareto.csv and "
      "result.json have every mapping.",
      two ? "both" : "all", two ? "" : ", of which the first two are drawn",
      fronts.network.bound > 1
          ? fmt::format("within {:.2g} % of every combination of the layers' mappings", 100 * (fronts.network.bound - 1))
          : "from all combinations of the layers' mappings");
}

std::string front_cells(const Metrics& m) {
  return fmt::format("{},{},{},{},{}", m.latency, m.energy, m.edp(), m.area ? fmt::format("{}", *m.area) : "", m.power);
}

}  // namespace

std::string front_text(const Fronts& fronts) {
  const std::vector<NetworkMember>& members = fronts.network.members;
  if (members.empty()) return "No front of the network: a layer has no mapping.\n";
  std::string text = fmt::format(
      "Front of the network: {} of {} mappings{}\n", with_thousands(static_cast<std::int64_t>(members.size())),
      name_of(fronts.objective),
      fronts.network.bound > 1 ? fmt::format(", within {:.2g} % of every combination", 100 * (fronts.network.bound - 1))
                               : "");
  for (const Objective::Term& term : fronts.objective.terms)
    text += fmt::format(" {:>22}", fmt::format("{}, {}", name_of(term.metric), unit_of(term.metric)));
  text += "\n";
  constexpr std::size_t kShown = 12;
  const std::size_t shown = std::min(kShown, members.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const NetworkMember& member = members[shown > 1 ? i * (members.size() - 1) / (shown - 1) : 0];
    for (const Objective::Term& term : fronts.objective.terms)
      text += fmt::format(" {:>22.6g}", value_of(term.metric, member.metrics));
    text += "\n";
  }
  return text;
}

std::string front_section(const Fronts& fronts) {
  const std::vector<Objective::Term>& terms = fronts.objective.terms;
  const auto points_of = [&](const auto& members) {
    Curve points;
    for (const auto& member : members) {
      points.emplace_back(value_of(terms[0].metric, member.metrics), value_of(terms[1].metric, member.metrics));
    }
    return points;
  };
  std::string drawn;
  if (!fronts.network.members.empty()) drawn += front_svg("", points_of(fronts.network.members), fronts, 0);
  for (const Fronts::Layer& layer : fronts.layers) {
    if (layer.front.empty()) continue;
    drawn +=
        fmt::format("<details><summary>{}<span class=\"muted\">{} mappings</span></summary>\n{}</details>\n",
                    html_escaped(layer.name), layer.front.size(), front_svg(layer.name, points_of(layer.front), fronts, 2));
  }
  if (drawn.empty()) return "";
  return fmt::format("<h2>What there is to choose from</h2>\n<p class=\"muted\">{}</p>\n{}",
                     html_escaped(front_note(fronts)), drawn);
}

std::string pareto_csv(const Fronts& fronts) {
  std::string csv = "layer,count,member,latency_cycles,energy_nj,edp,area_um2,power_mw,pes,sample,choice,mapping\n";
  for (std::size_t i = 0; i < fronts.network.members.size(); ++i) {
    const NetworkMember& member = fronts.network.members[i];
    std::string choice;
    for (const std::size_t index : member.choice) choice += fmt::format("{}{}", choice.empty() ? "" : " ", index);
    csv += fmt::format("(network),1,{},{},{},,{},\n", i, front_cells(member.metrics), member.metrics.pes, choice);
  }
  for (const Fronts::Layer& layer : fronts.layers) {
    for (std::size_t i = 0; i < layer.front.size(); ++i) {
      const Fronts::Member& member = layer.front[i];
      csv += fmt::format("{},{},{},{},{},{},,{}\n", csv_cell(layer.name), layer.count, i, front_cells(member.metrics),
                         member.pes, member.sample, csv_cell(member.mapping));
    }
  }
  return csv;
}

}  // namespace tilewright
