#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/hierarchy/mapping_text.hpp"
#include "tilewright/report/hierarchy_energy.hpp"
#include "tilewright/report/hierarchy_mapping.hpp"
#include "tilewright/report/hierarchy_mapping_plots.hpp"
#include "tilewright/report/page.hpp"
#include "tilewright/report/search_sections.hpp"
#include "tilewright/study/units.hpp"

namespace tilewright {
namespace {

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string machine_card(const hierarchy::Machine& machine) {
  std::vector<std::vector<std::string>> rows;
  const auto or_dash = [](const auto& value) { return value ? fmt::format("{:g}", static_cast<double>(*value)) : "–"; };
  for (std::size_t level = machine.levels.size(); level-- > 0;) {
    const hierarchy::StorageLevel& storage = machine.levels[level];
    const auto& bandwidth = storage.shared_bandwidth ? storage.shared_bandwidth : storage.read_bandwidth;
    rows.push_back({html_escaped(storage.name), with_thousands(storage.instances),
                    storage.capacity ? with_thousands(*storage.capacity) : "–", fmt::format("{}", storage.word_bits),
                    or_dash(bandwidth), short_number(storage.energy.read.value / static_cast<double>(storage.block_size))});
  }
  rows.push_back({html_escaped(machine.mac.name), with_thousands(machine.mac.instances), "–",
                  fmt::format("{}", machine.mac.word_bits), "–", short_number(machine.mac.energy.value)});
  return table({{"level", false},
                {"copies"},
                {"words", true, "per copy"},
                {"bits"},
                {"words/cycle", true, "read, per copy"},
                {"pJ/word", true, "of a read; of a MAC"}},
               rows);
}

std::string layers_table(const HierarchyStudy& study) {
  std::vector<std::vector<std::string>> rows;
  for (const HierarchyLayer& layer : study.layers) {
    std::string loops;
    for (std::size_t dim = 0; dim < layer.problem.dims.size(); ++dim) {
      loops += fmt::format("{}{}{}", loops.empty() ? "" : " ", layer.problem.dims[dim], layer.problem.bounds[dim]);
    }
    std::vector<std::string> row = {html_escaped(layer.name), fmt::format("{}", layer.count), html_escaped(loops)};
    if (layer.found) {
      const hierarchy::Cost& cost = layer.found->analysis.cost;
      for (std::string cell :
           {with_thousands(cost.cycles.value), in_units(cost.energy.value * 1e-12, "J"), short_number(cost.edp()),
            percent(cost.utilization), html_escaped(level_name(study.machine, cost.bottleneck)), gap_text(layer.bound),
            layer.dataflow_factor ? fmt::format("{:.2f}x {}", *layer.dataflow_factor, layer.dataflow) : std::string("–")}) {
        row.push_back(std::move(cell));
      }
    } else {
      row.insert(row.end(), {"no mapping", "", "", "", "", "", ""});
    }
    rows.push_back(std::move(row));
  }
  return table({{"layer", false},
                {"count"},
                {"loops", false},
                {"cycles"},
                {"energy"},
                {"EDP, J·cycles"},
                {"MACs busy"},
                {"limited by", false},
                {"gap", true, "how far the objective may be from its optimum: no mapping is below the bound"},
                {"vs dataflow", true, "the objective of the best classic dataflow by ours"}},
               rows);
}

std::string provenance(const HierarchyStudy& study) {
  std::vector<std::pair<std::string, std::string>> settings = {{"model", std::string(name(study.judge))},
                                                               {"objective", name_of(study.objective)}};
  for (const SettingValue& setting : study.settings) {
    settings.emplace_back(study.search + "." + setting.name, setting.value);
  }
  return fmt::format("<h2>Settings and provenance</h2>\n{}<p class=\"command\"><code>{}</code></p>\n", properties(settings),
                     html_escaped(join(study.command, " ")));
}

}  // namespace

std::string to_html(const HierarchyStudy& study) {
  const HierarchyTotals totals = totals_of(study);
  const double seconds = static_cast<double>(totals.cycles.value) / (study.machine.clock_ghz * 1e9);
  std::string body = fmt::format(
      "<h1>{} on {}</h1>\n<p class=\"muted\">least {}, found by {} with {} samples per layer, seed {}, tilewright {}</p>\n",
      html_escaped(study.network), html_escaped(study.machine.name), html_escaped(shown(study.objective)),
      html_escaped(study.search), with_thousands(study.samples), study.seed, TILEWRIGHT_VERSION);
  body += note(to_text(study.coverage));
  body += figures({{in_units(seconds, "s"), "per inference", fmt::format("{} cycles", with_thousands(totals.cycles.value))},
                   {in_units(totals.energy.value * 1e-12, "J"), "per inference", power_text(totals.metrics.power)},
                   {totals.dataflow_factor ? fmt::format("{:.2f}x", *totals.dataflow_factor) : "–", "vs dataflow",
                    "the best classic of every layer, by ours"}});
  for (const std::string& remark : remarks_of(study)) body += note(remark);
  if (has_front(study)) body += front_section(fronts_of(study));
  body += "<h2>Where the energy goes</h2>" + energy_html(energy_of(study));
  body += "<h2>Layers</h2>" + layers_table(study);
  body += layer_energy_section(study);
  body += "<h2>Machine</h2>" + machine_card(study.machine) +
          properties({{"clock", fmt::format("{:g} GHz", study.machine.clock_ghz)}, {"source", study.machine.source}});
  body += search_sections(study);
  body += "<h2>Mappings</h2>";
  for (const HierarchyLayer& layer : study.layers) {
    if (!layer.found) continue;
    body += fmt::format("<details><summary>{}</summary><pre>{}</pre></details>", html_escaped(layer.name),
                        html_escaped(to_text(layer.found->mapping, layer.problem, study.machine)));
  }
  return page(fmt::format("{} on {}", study.network, study.machine.name), body + provenance(study));
}

}  // namespace tilewright
