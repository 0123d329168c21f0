#include "tilewright/report/codesign_report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/report/page.hpp"
#include "tilewright/report/plot.hpp"

namespace tilewright {
namespace {

constexpr std::size_t kNetworkColour = 0, kLayerColour = kGrey;

std::string share_text(double share) { return fmt::format("{:.1f} %", 100 * share); }
std::string times_text(double factor) { return fmt::format("{:.2f}×", factor); }
std::string count_text(double number) { return with_thousands(std::llround(number)); }

std::string codesign_head(const CodesignReport& report) {
  std::string html = fmt::format(
      "<h1>{}: {}</h1>\n<p class=\"muted\">fewest cycles, found by {} with {} measurements per layer, seed {}, tilewright "
      "{}</p>\n",
      html_escaped(report.network), html_escaped(report.machine.empty() ? "no machine for all layers" : report.machine),
      html_escaped(report.searcher), with_thousands(report.measurements_per_layer), report.seed,
      html_escaped(report.version));
  for (const std::string& sentence : report.notes) html += note(sentence);
  if (report.machine.empty()) return html;
  if (!report.equal) html += note(report.verification);

  std::vector<Figure> tiles;
  tiles.push_back({prefixed_number(report.cycles), "cycles",
                   fmt::format("{} MACs per cycle", short_number(report.macs / report.cycles))});
  if (report.default_cycles) {
    const double factor = *report.default_cycles / report.cycles;
    tiles.push_back({times_text(factor >= 1 ? factor : 1 / factor), factor >= 1 ? "fewer cycles" : "more cycles",
                     "than the default machine at default schedules"});
  }
  tiles.push_back({share_text(report.ideal_share), "of ideal", "GEMM steps per cycle"});
  tiles.push_back({fmt::format("{:.3f}", report.area), "area of the default machine",
                   fmt::format("{} were allowed", short_number(report.area_budget))});
  tiles.push_back({fmt::format("{:.2f} W", report.watts), "power",
                   fmt::format("{:.0f} °C, {} MHz", report.celsius, short_number(report.clock_mhz))});
  html += figures(tiles);
  if (report.equal) html += fmt::format("<p>{}</p>\n", html_escaped(report.verification));
  return html;
}

std::string codesign_layers(const CodesignReport& report) {
  double widest = 0;
  const auto weight = [&](const CodesignReportLayer& layer) {
    return layer.found && report.cycles > 0 ? static_cast<double>(layer.count) * layer.found->cycles / report.cycles : 0.0;
  };
  for (const CodesignReportLayer& layer : report.layers) widest = std::max(widest, weight(layer));
  std::vector<std::vector<std::string>> rows;
  for (const CodesignReportLayer& layer : report.layers) {
    std::vector<std::string> row = {html_escaped(layer.name), with_thousands(layer.count), prefixed_number(layer.macs)};
    if (layer.found) {
      const CodesignReportLayer::Found& found = *layer.found;
      const double share = weight(layer);
      row.insert(row.end(), {count_text(found.cycles),
                             fmt::format("{} {}", share_text(share), bar(widest > 0 ? share / widest : 0, kNetworkColour)),
                             share_text(found.ideal_share), share_text(found.mac_share), html_escaped(found.tiles),
                             html_escaped(found.threads),
                             layer.default_cycles ? times_text(*layer.default_cycles / found.cycles) : "–"});
    } else {
      row.insert(row.end(), 7, "–");
    }
    row.push_back(share_text(
        layer.measurements > 0 ? static_cast<double>(layer.valid) / static_cast<double>(layer.measurements) : 0.0));
    rows.push_back(std::move(row));
  }
  return "<h2>Layers</h2>\n" +
         table({{"layer", false},
                {"times", true, "how often the network has the layer"},
                {"MACs"},
                {"cycles"},
                {"share", true, "of the network's cycles, every layer as often as it is there"},
                {"of ideal", true, "GEMM steps per cycle"},
                {"MACs used", true, "of what the core could multiply in these cycles"},
                {"tiles", false, "images, rows, columns, blocks of input and of output channels"},
                {"threads", false, "virtual threads along rows and along output channels"},
                {"vs. default", true, "cycles of the default machine at its default schedule, by ours"},
                {"valid", true, "share of the measurements"}},
               rows);
}

std::string codesign_convergence(const CodesignReport& report) {
  if (report.curve.empty()) return "";
  LinePlot network{.x_name = "measurements of all layers", .y_name = "cycles", .x = {}, .series = {}, .mark_name = ""};
  network.steps = true;
  PlotSeries whole{.name = "the network on the best machine so far", .colour = kNetworkColour, .y = {}};
  double all = 0;
  for (const CodesignReportLayer& layer : report.layers) all += static_cast<double>(layer.measurements);
  for (const auto& [measurement, cycles] : report.curve) {
    whole.x.push_back(static_cast<double>(measurement));
    whole.y.push_back(cycles);
  }
  whole.x.push_back(std::max(all, whole.x.back()));
  whole.y.push_back(whole.y.back());
  network.series.push_back(whole);

  LinePlot layers{.x_name = "measurements of the layer",
                  .y_name = "cycles by the layer's least",
                  .x = {},
                  .series = {},
                  .mark_name = ""};
  layers.steps = true;
  layers.x_scale = Scale::Logarithmic;
  layers.y_scale = Scale::Logarithmic;
  for (const CodesignReportLayer& layer : report.layers) {
    if (layer.curve.empty()) continue;
    PlotSeries series{.name = layer.name, .colour = kLayerColour, .y = {}, .x = {}, .faint = true};
    for (const auto& [measurement, cycles] : layer.curve) {
      series.x.push_back(static_cast<double>(measurement));
      series.y.push_back(cycles / layer.curve.back().second);
    }
    series.x.push_back(static_cast<double>(layer.measurements));
    series.y.push_back(1);
    layers.series.push_back(std::move(series));
  }
  return fmt::format(
      "<h2>Convergence</h2>\n<p class=\"muted\">The network, on the machine that was best so far among those on which every "
      "layer had been measured.</p>\n{}<p class=\"muted\">Each layer by itself, whatever the machine.</p>\n{}",
      to_svg(network), to_svg(layers));
}

std::string codesign_machine(const CodesignReport& report) {
  if (report.parts.empty()) return "";
  double widest = 0, sum = 0, default_sum = 0;
  for (const CodesignReportPart& part : report.parts) {
    widest = std::max({widest, part.area, part.default_area});
    sum += part.area;
    default_sum += part.default_area;
  }
  std::vector<std::vector<std::string>> rows;
  for (const CodesignReportPart& part : report.parts) {
    rows.push_back({html_escaped(part.name), html_escaped(part.size), html_escaped(part.default_size),
                    fmt::format("{:.4f} {}", part.area, bar(part.area / widest, kNetworkColour)),
                    fmt::format("{:.4f} {}", part.default_area, bar(part.default_area / widest, kLayerColour))});
  }
  rows.push_back({"all", "", "", fmt::format("{:.4f}", sum), fmt::format("{:.4f}", default_sum)});
  return "<h2>The machine beside the default one</h2>\n" +
         table({{"part", false},
                {"size", false},
                {"default", false},
                {"area", true, "in areas of the default machine"},
                {"default's area", true, "in areas of the default machine"}},
               rows);
}

std::string codesign_calibration(const CodesignReport& report) {
  if (report.rounds.size() < 2) return "";
  LinePlot plot{.x_name = "round", .y_name = "mean over layers", .x = {}, .series = {}, .mark_name = ""};
  PlotSeries rank{.name = "rank correlation", .colour = 0, .y = {}},
      recall{.name = "recall of the best tenth", .colour = 1, .y = {}};
  for (std::size_t round = 0; round < report.rounds.size(); ++round) {
    plot.x.push_back(static_cast<double>(round + 2));  // the first has nothing to predict with
    rank.y.push_back(report.rounds[round].rank_correlation);
    recall.y.push_back(report.rounds[round].top_recall);
  }
  plot.series = {rank, recall};
  return fmt::format(
      "<h2>The surrogate</h2>\n<p class=\"muted\">How well it had predicted what was then measured.</p>\n{}{}",
      legend(plot.series), to_svg(plot));
}

}  // namespace

std::string to_html(const CodesignReport& report) {
  std::string body = codesign_head(report) + codesign_layers(report);
  if (report.timeline) {
    body += fmt::format("<h2>Who worked when in {}</h2>\n<p class=\"muted\">The layer that takes most cycles; {}.</p>\n{}",
                        html_escaped(report.slowest), html_escaped(report.overlap), to_svg(*report.timeline));
  }
  body += codesign_machine(report) + codesign_convergence(report) + codesign_calibration(report);
  std::vector<std::pair<std::string, std::string>> facts = report.settings;
  facts.insert(facts.begin(), {"command", report.command});
  body += "<h2>How it was made</h2>\n" + properties(facts);
  return page(fmt::format("{}: co-design", report.network), body);
}

}  // namespace tilewright
