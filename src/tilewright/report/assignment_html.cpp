#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/report/assignment.hpp"
#include "tilewright/report/page.hpp"
#include "tilewright/report/plot.hpp"

namespace tilewright {
namespace {

std::string head(const AssignmentStudy& result) {
  const AgentsQuestion& question = result.question;
  std::string html =
      fmt::format("<h1>Agents for {}</h1>\n<p class=\"muted\">{} samples, seed {}, {} model, tilewright {}</p>\n",
                  html_escaped(title_of(result)), with_thousands(result.samples), question.exploration.seed,
                  model_text(result.options.model, result.options), TILEWRIGHT_VERSION);
  html += note(to_text(result.coverage));
  for (const std::string& remark : remarks_of(result)) html += note(remark);
  std::vector<Figure> tiles{{fmt::format("{}", result.found.assignment.agents.size()), "agents",
                             fmt::format("for {} parameters", result.parameters.size())},
                            {fmt::format("{:.2f}", result.found.silhouette), "silhouette", "1 = clusters far apart"}};
  for (const StabilityRow& row : result.stability) {
    if (row.varied != "bootstrap" && row.varied != "seed" && row.varied != "layer") continue;
    const std::string_view name = row.varied == "bootstrap" ? "under resampling"
                                  : row.varied == "seed"    ? "with other seeds"
                                                            : "layer by layer";
    tiles.push_back(
        {fmt::format("{:.2f}", row.mean), std::string(name), fmt::format("adjusted Rand index, {} comparisons", row.count)});
  }
  tiles.push_back({fmt::format("{:.0f} %", 100 * static_cast<double>(result.feasible) /
                                               static_cast<double>(std::max<std::int64_t>(result.samples, 1))),
                   "of samples feasible", fmt::format("{} layers", question.spaces.size())});
  return html + figures(tiles);
}

std::string matrix_section(const AssignmentStudy& result) {
  return fmt::format(
      "<h2>Correlation and dendrogram</h2>\n<p class=\"muted\">{}. Distance is 1 - correlation; a frame is an "
      "agent.</p>\n{}",
      html_escaped(result.found.assignment.origin), to_svg(cluster_map(result.found)));
}

std::string assignment_section(const AssignmentStudy& result) {
  std::vector<std::vector<std::string>> rows;
  const auto& agents = result.found.assignment.agents;
  for (std::size_t agent = 0; agent < agents.size(); ++agent) {
    rows.push_back({chip(cluster_colour(agent)) + fmt::format(" {}", agent + 1), fmt::format("{}", agents[agent].size()),
                    html_escaped(join(agents[agent], ", "))});
  }
  return "<h2>Agents</h2>\n" + table({{"agent", false}, {"parameters"}, {"decides", false}}, rows);
}

// The plot writes its numbers beside the marks, where there is room for few digits.
double hundredths(double value) { return std::round(100 * value) / 100; }

std::string stability_section(const AssignmentStudy& result) {
  if (result.stability.empty()) return "";
  DotPlot plot;
  plot.x_name = "adjusted Rand index";
  plot.mark = 0;
  plot.mark_name = "chance";
  std::vector<std::vector<std::string>> rows;
  std::string last;
  std::size_t colour = 0;
  for (const StabilityRow& row : result.stability) {
    if (!last.empty() && row.varied != last) colour = (colour + 1) % kGrey;
    last = row.varied;
    plot.rows.push_back({row.to.empty() ? row.varied : row.varied + ": " + row.to, colour, hundredths(row.mean),
                         hundredths(row.low), hundredths(row.high)});
    rows.push_back({html_escaped(row.varied), html_escaped(row.to), fmt::format("{:.3f}", row.mean),
                    row.count > 1 ? fmt::format("{:.3f} … {:.3f}", row.low, row.high) : "", fmt::format("{}", row.count),
                    fmt::format("{:.1f}", row.agents)});
  }
  return fmt::format(
      "<h2>Stability</h2>\n<p class=\"muted\">The same steps with one thing changed, compared with the agents above: 1 = "
      "the "
      "same agents, 0 = as like as chance. Points are means, lines 5 % to 95 %. Objective none takes all samples "
      "alike.</p>\n{}{}",
      to_svg(plot), table({{"changed", false}, {"to", false}, {"mean"}, {"5 % … 95 %"}, {"comparisons"}, {"agents"}}, rows));
}

std::string provenance_section(const AssignmentStudy& result) {
  const AgentsQuestion& question = result.question;
  std::vector<std::string> facts, values;
  for (const auto& [fact, value] : space_facts(result.options)) {
    facts.push_back(fact);
    values.push_back(value);
  }
  return "<h2>Provenance</h2>\n" +
         properties({{"command", join(result.command, " ")},
                     {"tilewright", TILEWRIGHT_VERSION},
                     {"network", result.network},
                     {"hardware", result.hardware},
                     {"model", model_text(result.options.model, result.options)},
                     {"objective", name_of(question.objective)},
                     {join(facts, ", "), join(values, ", ")},
                     {"exploration", fmt::format("{}, {} samples per layer", question.exploration.policy,
                                                 with_thousands(question.exploration.samples_per_problem))},
                     {"seed", fmt::format("{}", question.exploration.seed)},
                     {"samples of the stability study", with_thousands(result.stability_samples)}});
}

}  // namespace

ClusterMap cluster_map(const ClusteredAgents& found) {
  ClusterMap map;
  map.names = found.matrix.names;
  map.values = found.matrix.values;
  for (const Merge& merge : found.dendrogram.merges) map.merges.push_back({merge.a, merge.b, merge.height});
  map.order = found.dendrogram.order;
  map.clusters = found.clusters;
  map.cut = cut_height(found);
  return map;
}

std::string to_html(const AssignmentStudy& result) {
  return page("Agents for " + title_of(result), head(result) + matrix_section(result) + assignment_section(result) +
                                                    stability_section(result) + provenance_section(result));
}

}  // namespace tilewright
