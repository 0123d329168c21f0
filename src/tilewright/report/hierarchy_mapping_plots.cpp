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

// Where energy goes at all, the outermost level first: as many colours as in the table of levels, MACs grey.
struct Places {
  std::vector<std::string> names;
  std::vector<std::vector<double>> energies;  // pJ of all copies of a layer with a mapping
};

std::size_t colour_of(std::size_t place, std::size_t places) { return place + 1 == places ? kGrey : place % kGrey; }

// pJ of all copies of the layer in a level and the network inside it.
double energy_in(const HierarchyLayer& layer, std::size_t level) {
  const hierarchy::LevelAnalysis& analysis = layer.found->analysis.levels[level];
  return static_cast<double>(layer.count) * (analysis.energy + analysis.network_energy).value;
}

Places places_of(const std::vector<const HierarchyLayer*>& layers, const hierarchy::Machine& machine) {
  Places places{{}, std::vector<std::vector<double>>(layers.size())};
  for (std::size_t level = machine.levels.size(); level-- > 0;) {
    const auto takes_some = [&](const HierarchyLayer* layer) { return energy_in(*layer, level) > 0; };
    if (std::ranges::none_of(layers, takes_some)) continue;
    places.names.push_back(machine.levels[level].name);
    for (std::size_t i = 0; i < layers.size(); ++i) places.energies[i].push_back(energy_in(*layers[i], level));
  }
  places.names.push_back(machine.mac.name);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const double count = static_cast<double>(layers[i]->count);
    places.energies[i].push_back(count * layers[i]->found->analysis.mac_energy.value);
  }
  return places;
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
  std::vector<const HierarchyLayer*> layers;
  for (const HierarchyLayer& layer : study.layers) {
    if (layer.found) layers.push_back(&layer);
  }
  const Places places = places_of(layers, study.machine);
  double most = 0;
  for (const std::vector<double>& energies : places.energies) most = std::max(most, sum_of(energies));
  if (most <= 0) return "";
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    rows.push_back({html_escaped(layers[i]->name), with_thousands(layers[i]->count),
                    in_units(sum_of(places.energies[i]) * 1e-12, "J"), stack(places.energies[i], places.names, most)});
  }
  std::vector<PlotSeries> colours;
  for (std::size_t i = 0; i < places.names.size(); ++i) {
    colours.push_back({places.names[i], colour_of(i, places.names.size()), {}});
  }
  return "<h2>Energy of the layers</h2>\n" + legend(colours) +
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
