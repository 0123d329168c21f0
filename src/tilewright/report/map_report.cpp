#include "tilewright/report/map_report.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/report/page.hpp"
#include "tilewright/report/plot.hpp"

namespace tilewright {
namespace {

constexpr std::size_t kMostColouredLayers = 8;
constexpr std::size_t kLayerColours[kMostColouredLayers] = {0, 1, 2, 3, 4, 5, 8, 6};
constexpr std::string_view kUnknown = "–";

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string factor_text(double factor) { return fmt::format("{:.{}f}×", factor, factor < 10 ? 2 : factor < 100 ? 1 : 0); }

// The objective as people write it.
std::string shown(const std::string& objective) {
  if (objective.starts_with("pareto:")) return "product of the metrics";
  return objective == "edp" ? "EDP" : objective;
}

// EDP of all copies of the layer.
double weight_of(const ReportedLayer& layer) {
  return layer.found ? static_cast<double>(layer.count) * layer.found->edp : 0;
}

double share_of(const ReportedLayer& layer, double sum) { return sum > 0 ? weight_of(layer) / sum : 0; }

double sum_of_weights(const MapReport& report) {
  double sum = 0;
  for (const ReportedLayer& layer : report.layers) sum += weight_of(layer);
  return sum;
}

struct SampleSums {
  std::int64_t samples = 0, valid = 0, repeated = 0;
};
SampleSums sums_of(const MapReport& report) {
  SampleSums sums;
  for (const ReportedLayer& layer : report.layers) {
    sums.samples += layer.samples;
    sums.valid += layer.valid;
    sums.repeated += layer.repeated;
  }
  return sums;
}

double ratio(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string head(const MapReport& report) {
  const SampleSums sums = sums_of(report);
  std::string html = fmt::format(
      "<h1>{} on {}</h1>\n<p class=\"muted\">least {}, found by {} with {} samples per layer, seed {}, tilewright {}</p>\n",
      html_escaped(report.network), html_escaped(report.machine), html_escaped(shown(report.objective)),
      html_escaped(report.searcher), with_thousands(report.samples_per_layer), report.seed, html_escaped(report.version));
  std::size_t missing = 0;
  for (const ReportedLayer& layer : report.layers) missing += layer.found ? 0 : 1;
  if (missing > 0) {
    html += note(fmt::format("{} of {} layers {} no valid mapping yet, and the totals are of the others only.", missing,
                             report.layers.size(), missing == 1 ? "has" : "have"));
  }
  if (report.coverage) html += note(to_text(*report.coverage));
  for (const std::string& sentence : report.notes) html += note(sentence);

  std::vector<Figure> tiles;
  tiles.push_back({prefixed_number(report.edp), "EDP, nJ·cycles", report.edp_meaning});
  if (!report.time_text.empty()) tiles.push_back({report.time_text, "per inference", report.rate_text});
  if (!report.energy_text.empty()) tiles.push_back({report.energy_text, "energy per inference", ""});
  tiles.push_back({prefixed_number(report.latency), "latency, cycles",
                   report.latency > 0 ? fmt::format("{} MACs per cycle", short_number(report.macs / report.latency)) : ""});
  tiles.push_back({prefixed_number(report.energy), "energy, nJ",
                   report.macs > 0 ? fmt::format("{} pJ per MAC", short_number(1000 * report.energy / report.macs)) : ""});
  if (report.dataflow_factor) {
    const bool better = *report.dataflow_factor >= 1;
    tiles.push_back({factor_text(better ? *report.dataflow_factor : 1 / *report.dataflow_factor),
                     fmt::format("{} {}", better ? "less" : "more", shown(report.objective)),
                     "than the " + report.dataflow_meaning});
  }
  tiles.push_back({percent(ratio(sums.samples - sums.valid, sums.samples)), "invalid samples",
                   fmt::format("of {}", with_thousands(sums.samples))});
  if (report.seconds > 0) {
    tiles.push_back(
        {short_number(std::round(static_cast<double>(sums.samples) / report.seconds)), "samples per second",
         fmt::format(
             "{} s in all{}", short_number(report.seconds),
             report.remembered > 0 ? fmt::format(", {} remembered", percent(ratio(report.remembered, sums.samples))) : "")});
  }
  return html + figures(tiles);
}

std::string layer_section(const MapReport& report) {
  const double sum = sum_of_weights(report);
  bool any_optimum = false, any_dataflow = false;
  double widest = 0;
  for (const ReportedLayer& layer : report.layers) {
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
    columns.push_back({"vs. classic", true, shown(report.objective) + " of the best classic dataflow, by ours"});
  if (any_optimum) columns.push_back({"vs. optimum", true, "our " + shown(report.objective) + " by the least there is"});
  columns.push_back({"valid", true, "share of the samples"});
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < report.layers.size(); ++i) {
    const ReportedLayer& layer = report.layers[i];
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(fmt::format("<a href=\"#layer{}\">{}</a>", i, html_escaped(layer.name)));
    row.push_back(fmt::format("<span class=\"muted\">{}</span>", html_escaped(layer.shape)));
    row.push_back(with_thousands(layer.count));
    row.push_back(prefixed_number(layer.macs));
    if (layer.found) {
      const double share = share_of(layer, sum);
      row.push_back(prefixed_number(layer.found->latency));
      row.push_back(prefixed_number(layer.found->energy));
      row.push_back(prefixed_number(layer.found->edp));
      row.push_back(percent(share) + " " + bar(widest > 0 ? share / widest : 0, 0));
      row.push_back(percent(layer.found->utilisation));
    } else {
      row.insert(row.end(), 5, std::string(kUnknown));
    }
    if (any_dataflow) {
      const bool loss = layer.dataflow_factor && *layer.dataflow_factor < 0.9999;
      row.push_back(layer.dataflow_factor
                        ? fmt::format("<span{} title=\"{}\">{}{}</span>", loss ? " class=\"loss\"" : "",
                                      html_escaped(layer.dataflow), loss ? "▼ " : "", factor_text(*layer.dataflow_factor))
                        : std::string(kUnknown));
    }
    if (any_optimum) {
      row.push_back(layer.optimum_factor ? fmt::format("{:.3f}×", *layer.optimum_factor) : std::string(kUnknown));
    }
    row.push_back(percent(ratio(layer.valid, layer.samples)));
  }
  return "<h2>Layers</h2>\n" + table(columns, rows);
}

std::string coverage_section(const MapReport& report) {
  if (!report.coverage || report.coverage->left_out.empty()) return "";
  std::vector<std::vector<std::string>> rows;
  for (const OtherOperator& other : report.coverage->left_out) {
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

// Best so far by the final best. The curve goes on to the layer's last sample.
PlotSeries convergence_of(const ReportedLayer& layer, std::size_t colour, bool faint) {
  PlotSeries series{layer.name, colour, {}, {}, faint};
  const double best = layer.curve.back().second;
  for (const auto& [sample, objective] : layer.curve) {
    series.x.push_back(static_cast<double>(sample));
    series.y.push_back(objective / best);
  }
  if (layer.samples > layer.curve.back().first) {
    series.x.push_back(static_cast<double>(layer.samples));
    series.y.push_back(1);
  }
  return series;
}

std::string machine_section(const MapReport& report) {
  if (report.machine_card.empty()) return "";
  return "<h2>The machine</h2>\n" + properties(report.machine_card);
}

// Where the energy goes and which roof holds a layer down.
std::string energy_section(const MapReport& report) {
  if (report.energy_part_names.empty()) return "";
  std::vector<TableColumn> columns{{"layer", false}, {"energy", true, "nJ"}};
  for (const std::string& name : report.energy_part_names) columns.push_back({name, true, "share of the layer's energy"});
  columns.push_back({"held down by", false, "the lowest roof of the machine"});
  columns.push_back({"of that roof", true, "MACs per cycle by what the roof allows"});
  std::vector<std::vector<std::string>> rows;
  for (const ReportedLayer& layer : report.layers) {
    if (!layer.found || layer.found->energy_parts.empty()) continue;
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(html_escaped(layer.name));
    row.push_back(prefixed_number(layer.found->energy));
    for (std::size_t i = 0; i < layer.found->energy_parts.size(); ++i) {
      const double share = layer.found->energy > 0 ? layer.found->energy_parts[i] / layer.found->energy : 0;
      row.push_back(percent(share) + " " + bar(share, kLayerColours[i]));
    }
    row.push_back(html_escaped(layer.found->bound));
    row.push_back(percent(layer.found->roof));
  }
  return rows.empty() ? "" : "<h2>Energy and roofs</h2>\n" + table(columns, rows);
}

std::string convergence_section(const MapReport& report) {
  std::vector<std::size_t> by_share;
  for (std::size_t i = 0; i < report.layers.size(); ++i) {
    if (!report.layers[i].curve.empty() && report.layers[i].curve.back().second > 0) by_share.push_back(i);
  }
  if (by_share.empty()) return "";
  std::ranges::stable_sort(by_share, std::greater<>(), [&](std::size_t i) { return weight_of(report.layers[i]); });
  LinePlot plot{"samples of the layer", shown(report.objective) + ", × of the final best", {}, {}, 0, ""};
  plot.x_scale = plot.y_scale = Scale::Logarithmic;
  plot.steps = true;
  for (std::size_t rank = 0; rank < by_share.size(); ++rank) {
    const bool faint = rank >= kMostColouredLayers;
    plot.series.push_back(convergence_of(report.layers[by_share[rank]], faint ? kGrey : kLayerColours[rank], faint));
  }
  const std::size_t others = by_share.size() - std::min(by_share.size(), kMostColouredLayers);
  return fmt::format(
      "<h2>Convergence</h2>\n<p class=\"muted\">Best {} so far of each layer, divided by its final best{}.</p>\n{}{}",
      html_escaped(shown(report.objective)), others > 0 ? "; in colour the layers with the largest shares of EDP" : "",
      legend(plot.series, fmt::format("{} other layer{}", others, others == 1 ? "" : "s")), to_svg(plot));
}

std::string front_section(const MapReport& report) {
  if (report.fronts.empty()) return "";
  std::string html =
      fmt::format("<h2>What there is to choose from</h2>\n<p class=\"muted\">{}</p>\n", html_escaped(report.front_note));
  const auto drawn = [&](const ReportedFront& front, std::size_t colour) {
    LinePlot plot{report.front_x, report.front_y, {}, {}, 0, ""};
    plot.x_scale = plot.y_scale = Scale::Logarithmic;
    plot.steps = true;
    plot.series.push_back({front.name, colour, front.y, front.x, false});
    return to_svg(plot);
  };
  for (const ReportedFront& front : report.fronts) {
    if (front.name.empty()) {
      html += drawn(front, 0);
    } else {
      html += fmt::format("<details><summary>{}<span class=\"muted\">{} mappings</span></summary>\n{}</details>\n",
                          html_escaped(front.name), front.x.size(), drawn(front, 2));
    }
  }
  return html;
}

std::string sample_section(const MapReport& report) {
  const SampleSums sums = sums_of(report);
  if (sums.samples == 0) return "";
  std::map<std::string, std::int64_t> reasons;
  for (const ReportedLayer& layer : report.layers) {
    for (const auto& [reason, count] : layer.rejected) reasons[reason] += count;
  }
  std::vector<std::pair<std::string, std::int64_t>> sorted(reasons.begin(), reasons.end());
  std::ranges::stable_sort(sorted, std::greater<>(), [](const auto& entry) { return entry.second; });
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const std::string& name, std::int64_t count, std::size_t colour) {
    rows.push_back({html_escaped(name), with_thousands(count),
                    percent(ratio(count, sums.samples)) + " " + bar(ratio(count, sums.samples), colour)});
  };
  add("valid", sums.valid, 2);
  for (const auto& [reason, count] : sorted) add("invalid: " + reason, count, 1);
  add("proposed before, and charged again", sums.repeated, kGrey);
  return "<h2>Where the samples went</h2>\n" + table({{"outcome", false}, {"samples"}, {"share"}}, rows);
}

std::string agent_section(const MapReport& report) {
  if (!report.agents) return "";
  const ClusterMap& map = *report.agents;
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
      report.agents_origin.empty() ? "" : ": " + html_escaped(report.agents_origin), html_escaped(map.meaning), to_svg(map),
      table({{"agent", false}, {"decides", false}}, rows));
}

std::string mapping_section(const MapReport& report) {
  std::string html = "<h2>Mappings</h2>\n";
  if (!report.dim_legend.empty()) html += fmt::format("<p class=\"muted\">{}</p>\n", html_escaped(report.dim_legend));
  for (std::size_t i = 0; i < report.layers.size(); ++i) {
    const ReportedLayer& layer = report.layers[i];
    html += fmt::format("<details id=\"layer{}\"><summary>{}<span class=\"muted\">", i, html_escaped(layer.name));
    if (!layer.found) {
      html += fmt::format("no valid mapping in {} samples</span></summary></details>\n", with_thousands(layer.samples));
      continue;
    }
    html += fmt::format("{} {} {}", html_escaped(shown(report.objective)), prefixed_number(layer.found->objective),
                        html_escaped(report.unit));
    if (layer.dataflow_factor) {
      html += fmt::format(", {} needs {} of it", html_escaped(layer.dataflow), factor_text(*layer.dataflow_factor));
    }
    html += fmt::format(", {} of {} samples valid, {} proposed before</span></summary>\n", with_thousands(layer.valid),
                        with_thousands(layer.samples), with_thousands(layer.repeated));
    for (const std::string* text : {&layer.found->loop_nest, &layer.found->mapping}) {
      if (!text->empty()) html += fmt::format("<pre>{}</pre>\n", html_escaped(*text));
    }
    html += "</details>\n";
  }
  return html;
}

std::string provenance_section(const MapReport& report) {
  return fmt::format(
      "<h2>Settings and provenance</h2>\n{}<p class=\"command\"><code>{}</code></p>\n<p class=\"muted\">tilewright {}; the "
      "same "
      "command gives the same mappings, bit by bit, with any number of threads and after any interruption.</p>\n",
      properties(report.settings), html_escaped(report.command), html_escaped(report.version));
}

}  // namespace

std::string to_html(const MapReport& report) {
  return page(report.network + " on " + report.machine,
              head(report) + front_section(report) + layer_section(report) + energy_section(report) +
                  machine_section(report) + coverage_section(report) + convergence_section(report) + sample_section(report) +
                  agent_section(report) + mapping_section(report) + provenance_section(report));
}

}  // namespace tilewright
