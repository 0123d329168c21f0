#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/report/mapping.hpp"
#include "tilewright/report/page.hpp"
#include "tilewright/report/search_sections.hpp"
#include "tilewright/study/dim_legend.hpp"
#include "tilewright/study/roofline.hpp"
#include "tilewright/study/units.hpp"

namespace tilewright {
namespace {

constexpr std::string_view kUnknown = "–";

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string factor_text(double factor) { return fmt::format("{:.{}f}×", factor, factor < 10 ? 2 : factor < 100 ? 1 : 0); }

// EDP of all copies of the layer.
double weight_of(const MappedLayer& layer) {
  return layer.found ? static_cast<double>(layer.count) * layer.found->metrics.edp() : 0;
}

double share_of(const MappedLayer& layer, double sum) { return sum > 0 ? weight_of(layer) / sum : 0; }

double sum_of_weights(const MappingStudy& study) {
  double sum = 0;
  for (const MappedLayer& layer : study.layers) sum += weight_of(layer);
  return sum;
}

double ratio(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::vector<Figure> figures_of(const MappingStudy& study) {
  const MappingTotals totals = totals_of(study);
  const Metrics& all = totals.metrics;
  std::vector<Figure> tiles;
  tiles.push_back({prefixed_number(all.edp()), "EDP, nJ·cycles", "energy × latency of the whole network"});
  if (all.latency > 0) {
    tiles.push_back({time_text(all.latency, study.machine), "per inference",
                     fmt::format("{:.4g} inferences/s at {:g} GHz", 1 / seconds_of(all.latency, study.machine),
                                 study.machine.clock_ghz)});
    tiles.push_back({energy_text(all.energy), "energy per inference", ""});
  }
  tiles.push_back({prefixed_number(all.latency), "latency, cycles",
                   all.latency > 0 ? fmt::format("{} MACs per cycle", short_number(all.macs / all.latency)) : ""});
  tiles.push_back({prefixed_number(all.energy), "energy, nJ",
                   all.macs > 0 ? fmt::format("{} pJ per MAC", short_number(1000 * all.energy / all.macs)) : ""});
  if (totals.dataflow_factor) {
    const bool better = *totals.dataflow_factor >= 1;
    tiles.push_back({factor_text(better ? *totals.dataflow_factor : 1 / *totals.dataflow_factor),
                     fmt::format("{} {}", better ? "less" : "more", shown(study.objective)),
                     "than the best classic dataflow of each layer"});
  }
  tiles.push_back({percent(ratio(totals.samples - totals.valid, totals.samples)), "invalid samples",
                   fmt::format("of {}", with_thousands(totals.samples))});
  return tiles;
}

std::string head(const MappingStudy& study) {
  std::string html = fmt::format(
      "<h1>{} on {}</h1>\n<p class=\"muted\">least {}, found by {} with {} samples per layer, seed {}, tilewright {}</p>\n",
      html_escaped(study.network), html_escaped(study.machine.name), html_escaped(shown(study.objective)),
      html_escaped(study.search), with_thousands(study.samples), study.seed, TILEWRIGHT_VERSION);
  std::size_t missing = 0;
  for (const MappedLayer& layer : study.layers) missing += layer.found ? 0 : 1;
  if (missing > 0) {
    html += note(fmt::format("{} of {} layers {} no valid mapping yet, and the totals are of the others only.", missing,
                             study.layers.size(), missing == 1 ? "has" : "have"));
  }
  html += note(to_text(study.coverage));
  for (const std::string& sentence : remarks_of(study)) html += note(sentence);
  return html + figures(figures_of(study));
}

std::string layer_section(const MappingStudy& study) {
  const double sum = sum_of_weights(study);
  bool any_optimum = false, any_dataflow = false;
  double widest = 0;
  for (const MappedLayer& layer : study.layers) {
    any_optimum = any_optimum || layer.optimum_factor;
    any_dataflow = any_dataflow || layer.dataflow_factor;
    widest = std::max(widest, share_of(layer, sum));
  }
  std::vector<TableColumn> columns{{"layer", false},
                                   {"shape", false, "input -> output, kernel"},
                                   {"times", true, "how often the network has the layer"},
                                   {"MACs"},
                                   {"latency", true, "cycles"},
                                   {"energy", true, "nJ"},
                                   {"EDP", true, "nJ·cycles"},
                                   {"share of EDP", true, "of the sum over layers, every layer as often as it is there"},
                                   {"utilisation", true, "of the processing elements"}};
  if (any_dataflow)
    columns.push_back({"vs. classic", true, shown(study.objective) + " of the best classic dataflow, by ours"});
  if (any_optimum) columns.push_back({"vs. optimum", true, "our " + shown(study.objective) + " by the least there is"});
  columns.push_back({"valid", true, "share of the samples"});
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < study.layers.size(); ++i) {
    const MappedLayer& layer = study.layers[i];
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(fmt::format("<a href=\"#layer{}\">{}</a>", i, html_escaped(layer.name)));
    row.push_back(fmt::format("<span class=\"muted\">{}</span>", html_escaped(shape_text(layer.layer))));
    row.push_back(with_thousands(layer.count));
    row.push_back(prefixed_number(static_cast<double>(macs(layer.nest).value)));
    if (layer.found) {
      const double share = share_of(layer, sum);
      row.push_back(prefixed_number(layer.found->metrics.latency));
      row.push_back(prefixed_number(layer.found->metrics.energy));
      row.push_back(prefixed_number(layer.found->metrics.edp()));
      row.push_back(percent(share) + " " + bar(widest > 0 ? share / widest : 0, 0));
      row.push_back(percent(utilisation(layer.found->metrics, study.machine.simd_lanes)));
    } else {
      row.insert(row.end(), 5, std::string(kUnknown));
    }
    if (any_dataflow) {
      const bool loss = is_loss(layer);
      row.push_back(layer.dataflow_factor
                        ? fmt::format("<span{} title=\"{}\">{}{}</span>", loss ? " class=\"loss\"" : "",
                                      html_escaped(layer.dataflow), loss ? "▼ " : "", factor_text(*layer.dataflow_factor))
                        : std::string(kUnknown));
    }
    if (any_optimum) {
      row.push_back(layer.optimum_factor ? fmt::format("{:.3f}×", *layer.optimum_factor) : std::string(kUnknown));
    }
    row.push_back(percent(ratio(layer.ledger.valid, layer.ledger.samples)));
  }
  return "<h2>Layers</h2>\n" + table(columns, rows);
}

std::vector<std::pair<std::string, std::string>> machine_card(const Accelerator& machine) {
  const auto bytes = [](std::int64_t count) {
    return count >= kUnlimited ? "no limit" : fmt::format("{} bytes", with_thousands(count));
  };
  const auto bandwidth = [&](std::int64_t elements) {
    return elements >= kUnlimited ? "no limit"
                                  : fmt::format("{} bytes per cycle, {}", with_thousands(elements),
                                                bandwidth_text(static_cast<double>(elements), machine));
  };
  const double macs = static_cast<double>(machine.pes * machine.simd_lanes);
  return {{"processing elements", machine.simd_lanes > 1 ? fmt::format("{} of {} lanes", machine.pes, machine.simd_lanes)
                                                         : with_thousands(machine.pes)},
          {"clock", fmt::format("{:g} GHz", machine.clock_ghz)},
          {"peak", in_units(2 * macs * machine.clock_ghz * 1e9, "OP/s")},
          {"L1 of each", bytes(machine.l1.value)},
          {"L2", bytes(machine.l2.value)},
          {"network on chip", bandwidth(machine.noc.bandwidth)},
          {"off-chip memory", bandwidth(machine.offchip_bandwidth)},
          {"energy of a MAC, L1, L2 access", fmt::format("{:.3g}, {:.3g}, {:.3g} pJ", machine.energy.mac.value,
                                                         machine.energy.l1_access.value, machine.energy.l2_access.value)}};
}

std::string machine_section(const MappingStudy& study) {
  return "<h2>The machine</h2>\n" + properties(machine_card(study.machine));
}

// Where the energy of a layer goes, and which roof holds it down.
struct EnergyAndRoof {
  std::array<double, 3> parts;  // MAC, L1, L2: nJ
  Roofline roof;
};
std::optional<EnergyAndRoof> energy_of(const MappedLayer& layer, const MappingStudy& study) {
  if (!layer.found || is_maestro(study.model)) return std::nullopt;
  const Evaluation evaluation =
      evaluate(layer.found->mapping, layer.nest, layer.found->machine, study.model, study.constraints);
  const auto* cost = std::get_if<Cost>(&evaluation);
  if (cost == nullptr) return std::nullopt;
  const EnergyParts& parts = cost->energy_parts;
  return EnergyAndRoof{{parts.mac.value / 1000, parts.l1.value / 1000, parts.l2.value / 1000},
                       roofline(*cost, layer.found->machine)};
}

std::string energy_section(const MappingStudy& study) {
  std::vector<TableColumn> columns{{"layer", false}, {"energy", true, "nJ"}};
  for (const char* name : {"MAC", "L1", "L2"}) columns.push_back({name, true, "share of the layer's energy"});
  columns.push_back({"held down by", false, "the lowest roof of the machine"});
  columns.push_back({"of that roof", true, "MACs per cycle by what the roof allows"});
  std::vector<std::vector<std::string>> rows;
  for (const MappedLayer& layer : study.layers) {
    const std::optional<EnergyAndRoof> where = energy_of(layer, study);
    if (!where) continue;
    const double energy = layer.found->metrics.energy;
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(html_escaped(layer.name));
    row.push_back(prefixed_number(energy));
    for (std::size_t i = 0; i < where->parts.size(); ++i) {
      const double share = energy > 0 ? where->parts[i] / energy : 0;
      row.push_back(percent(share) + " " + bar(share, kLayerColours[i]));
    }
    row.push_back(html_escaped(where->roof.bound));
    row.push_back(percent(where->roof.achieved / where->roof.lowest_roof()));
  }
  return rows.empty() ? "" : "<h2>Energy and roofs</h2>\n" + table(columns, rows);
}

std::string legend_of(const MappingStudy& study) {
  std::string legend;
  for (const NestKind kind : {NestKind::Convolution, NestKind::MatrixMultiply}) {
    const auto has = [&](const MappedLayer& layer) {
      return (layer.nest.kind == NestKind::MatrixMultiply) == (kind == NestKind::MatrixMultiply);
    };
    if (std::ranges::any_of(study.layers, has)) {
      legend += fmt::format("{}{}", legend.empty() ? "" : "; of matrix multiplies: ", dim_legend(kind));
    }
  }
  return legend;
}

std::string mapping_section(const MappingStudy& study) {
  std::string html = "<h2>Mappings</h2>\n";
  if (!study.layers.empty()) html += fmt::format("<p class=\"muted\">{}</p>\n", html_escaped(legend_of(study)));
  const bool single = study.objective.form == Objective::Form::Single;
  const std::string unit(single ? unit_of(study.objective.terms[0].metric) : "");
  for (std::size_t i = 0; i < study.layers.size(); ++i) {
    const MappedLayer& layer = study.layers[i];
    html += fmt::format("<details id=\"layer{}\"><summary>{}<span class=\"muted\">", i, html_escaped(layer.name));
    if (!layer.found) {
      html +=
          fmt::format("no valid mapping in {} samples</span></summary></details>\n", with_thousands(layer.ledger.samples));
      continue;
    }
    html += fmt::format("{} {} {}", html_escaped(shown(study.objective)), prefixed_number(layer.found->score[0]),
                        html_escaped(unit));
    if (layer.dataflow_factor) {
      html += fmt::format(", {} needs {} of it", html_escaped(layer.dataflow), factor_text(*layer.dataflow_factor));
    }
    html +=
        fmt::format(", {} of {} samples valid, {} proposed before</span></summary>\n", with_thousands(layer.ledger.valid),
                    with_thousands(layer.ledger.samples), with_thousands(layer.ledger.repeated));
    const MappedLayer::Found& found = *layer.found;
    for (const std::string& text : {to_loop_nest(found.mapping, layer.nest, found.machine.pes), to_maestro(found.mapping)}) {
      html += fmt::format("<pre>{}</pre>\n", html_escaped(text));
    }
    html += "</details>\n";
  }
  return html;
}

std::string provenance_section(const MappingStudy& study) {
  std::vector<std::pair<std::string, std::string>> settings = {{"space", study.space},
                                                               {"model", std::string(name_of(study.model))}};
  for (const SettingValue& setting : study.settings) {
    settings.emplace_back(study.search + "." + setting.name, setting.value);
  }
  return fmt::format(
      "<h2>Settings and provenance</h2>\n{}<p class=\"command\"><code>{}</code></p>\n<p class=\"muted\">tilewright {}; the "
      "same "
      "command gives the same mappings, bit by bit, with any number of threads and after any interruption.</p>\n",
      properties(settings), html_escaped(join(study.command, " ")), TILEWRIGHT_VERSION);
}

}  // namespace

std::string to_html(const MappingStudy& study) {
  std::vector<SearchedLayer> searched;
  for (const MappedLayer& layer : study.layers) {
    searched.push_back({&layer.name, &layer.ledger, &layer.rejected, weight_of(layer)});
  }
  return page(study.network + " on " + study.machine.name,
              head(study) + (has_front(study) ? front_section(fronts_of(study)) : "") + layer_section(study) +
                  energy_section(study) + machine_section(study) + coverage_section(study.coverage) +
                  convergence_section(searched, study.objective) + sample_section(searched) + agent_section(study.agents) +
                  mapping_section(study) + provenance_section(study));
}

}  // namespace tilewright
