#include "tilewright/report/hierarchy_mapping_plots.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/report/page.hpp"
#include "tilewright/report/plot.hpp"
#include "tilewright/report/search_sections.hpp"
#include "tilewright/study/units.hpp"

namespace tilewright {
namespace {

// Levels have the colours of the table of levels: the outermost first, MACs grey.
std::size_t colour_of(std::size_t place, std::size_t places) { return place + 1 == places ? kGrey : place % kGrey; }

std::vector<std::string> level_names(const hierarchy::Machine& machine) {
  std::vector<std::string> names;
  for (std::size_t level = machine.levels.size(); level-- > 0;) names.push_back(machine.levels[level].name);
  names.push_back(machine.mac.name);
  return names;
}

// pJ of all copies of the layer, in the order of level_names.
std::vector<double> energies_of(const HierarchyLayer& layer, const hierarchy::Machine& machine) {
  const auto count = static_cast<double>(layer.count);
  const hierarchy::Analysis& analysis = layer.found->analysis;
  std::vector<double> energies;
  for (std::size_t level = machine.levels.size(); level-- > 0;) {
    energies.push_back(count * (analysis.levels[level].energy + analysis.levels[level].network_energy).value);
  }
  energies.push_back(count * analysis.mac_energy.value);
  return energies;
}

std::string stack(const std::vector<double>& parts, const std::vector<std::string>& names, double most) {
  std::string html = "<span style=\"display:inline-flex;width:320px;height:12px;vertical-align:-1px\">";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] <= 0) continue;
    html += fmt::format("<i title=\"{} {}\" style=\"width:{:.2f}%;background:var(--c{})\"></i>", html_escaped(names[i]),
                        in_units(parts[i] * 1e-12, "J"), 100 * parts[i] / most, colour_of(i, parts.size()));
  }
  return html + "</span>";
}

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

}  // namespace

std::string layer_energy_section(const HierarchyStudy& study) {
  double most = 0;
  for (const HierarchyLayer& layer : study.layers) {
    if (layer.found) most = std::max(most, sum_of(energies_of(layer, study.machine)));
  }
  if (most <= 0) return "";
  const std::vector<std::string> names = level_names(study.machine);
  std::vector<std::vector<std::string>> rows;
  for (const HierarchyLayer& layer : study.layers) {
    if (!layer.found) continue;
    const std::vector<double> energies = energies_of(layer, study.machine);
    rows.push_back({html_escaped(layer.name), with_thousands(layer.count), in_units(sum_of(energies) * 1e-12, "J"),
                    stack(energies, names, most)});
  }
  std::vector<PlotSeries> legend_of;
  for (std::size_t i = 0; i < names.size(); ++i) legend_of.push_back({names[i], colour_of(i, names.size()), {}});
  return "<h2>Energy of the layers</h2>\n" + legend(legend_of) +
         table({{"layer", false},
                {"times", true, "how often the network has the layer"},
                {"energy", true, "of all of them"},
                {"by level", false}},
               rows);
}

std::string search_sections(const HierarchyStudy& study) {
  std::vector<SearchedLayer> layers;
  for (const HierarchyLayer& layer : study.layers) {
    const double weight = layer.found ? static_cast<double>(layer.count) * layer.found->metrics.edp() : 0;
    layers.push_back({&layer.name, &layer.ledger, &layer.rejected, weight});
  }
  return coverage_section(study.coverage) + convergence_section(layers, study.objective) + sample_section(layers) +
         agent_section(study.agents);
}

}  // namespace tilewright
