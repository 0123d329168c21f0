// A co-design as one page.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/report/codesign.hpp"
#include "tilewright/report/codesign_words.hpp"
#include "tilewright/report/page.hpp"
#include "tilewright/report/plot.hpp"
#include "tilewright/report/simulation.hpp"
#include "tilewright/vta/layouts.hpp"

namespace tilewright {
namespace {

constexpr std::size_t kNetworkColour = 0, kLayerColour = kGrey;

std::string share_text(double share) { return fmt::format("{:.1f} %", 100 * share); }
std::string times_text(double factor) { return fmt::format("{:.2f}×", factor); }
std::string count_text(double number) { return with_thousands(std::llround(number)); }

std::string codesign_head(const CodesignStudy& study, const CodesignTotals& totals) {
  std::string html = fmt::format(
      "<h1>{}: {}</h1>\n<p class=\"muted\">fewest cycles, found by {} with {} measurements per layer, seed {}, tilewright "
      "{}</p>\n",
      html_escaped(study.network),
      html_escaped(study.machine ? machine_words(*study.machine) : std::string("no machine for all layers")),
      html_escaped(study.search), with_thousands(study.measurements), study.seed, html_escaped(TILEWRIGHT_VERSION));
  for (const std::string& sentence : remarks_on(study)) html += note(sentence);
  for (const HostLayer& layer : study.host) {
    html += note(fmt::format("Layer {} runs on the host: {}.", layer.name, layer.reason));
  }
  if (!study.machine) return html;
  if (!study.check.equal) html += note(study.check.sentence);

  std::vector<Figure> tiles;
  tiles.push_back({prefixed_number(totals.cycles), "cycles",
                   fmt::format("{} MACs per cycle", short_number(totals.macs / totals.cycles))});
  if (totals.default_cycles) {
    const double factor = *totals.default_cycles / totals.cycles;
    tiles.push_back({times_text(factor >= 1 ? factor : 1 / factor), factor >= 1 ? "fewer cycles" : "more cycles",
                     "than the default machine at default schedules"});
  }
  const CodesignPower power = power_of(study, totals);
  tiles.push_back({share_text(totals.gemm_steps / totals.cycles), "of ideal", "GEMM steps per cycle"});
  tiles.push_back({fmt::format("{:.3f}", vta::relative_area(*study.machine)), "area of the default machine",
                   fmt::format("{} were allowed", short_number(study.options.area_budget))});
  tiles.push_back({fmt::format("{:.2f} W", power.watts), "power",
                   fmt::format("{:.0f} °C, {} MHz", power.celsius, short_number(study.options.physical.clock_mhz))});
  html += figures(tiles);
  if (study.check.equal) html += fmt::format("<p>{}</p>\n", html_escaped(study.check.sentence));
  return html;
}

std::string codesign_layers(const CodesignStudy& study, const CodesignTotals& totals) {
  double widest = 0;
  const auto weight = [&](const CodesignedLayer& layer) {
    return study.machine && layer.found && totals.cycles > 0
               ? static_cast<double>(layer.count) * layer.found->metrics.latency / totals.cycles
               : 0.0;
  };
  for (const CodesignedLayer& layer : study.layers) widest = std::max(widest, weight(layer));
  std::vector<std::vector<std::string>> rows;
  for (const CodesignedLayer& layer : study.layers) {
    std::vector<std::string> row = {html_escaped(layer.name), with_thousands(layer.count),
                                    prefixed_number(static_cast<double>(macs(layer.layer).value))};
    if (layer.found) {
      const CodesignedLayer::Found& found = *layer.found;
      const double share = weight(layer), cycles = found.metrics.latency;
      row.insert(row.end(), {count_text(cycles),
                             fmt::format("{} {}", share_text(share), bar(widest > 0 ? share / widest : 0, kNetworkColour)),
                             share_text(ideal_share(found)), share_text(mac_share(found, *study.machine)),
                             html_escaped(tile_words(found.schedule)), html_escaped(thread_words(found.schedule)),
                             layer.default_cycles ? times_text(static_cast<double>(*layer.default_cycles) / cycles) : "–"});
    } else {
      row.insert(row.end(), 7, "–");
    }
    const Ledger& ledger = layer.ledger;
    row.push_back(
        share_text(ledger.samples > 0 ? static_cast<double>(ledger.valid) / static_cast<double>(ledger.samples) : 0.0));
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

LinePlot network_plot(const CodesignStudy& study) {
  LinePlot plot{.x_name = "measurements of all layers", .y_name = "cycles", .x = {}, .series = {}, .mark_name = ""};
  plot.steps = true;
  PlotSeries whole{.name = "the network on the best machine so far", .colour = kNetworkColour, .y = {}};
  double all = 0;
  for (const CodesignedLayer& layer : study.layers) all += static_cast<double>(layer.ledger.samples);
  for (const auto& [measurement, cycles] : study.curve) {
    whole.x.push_back(static_cast<double>(measurement));
    whole.y.push_back(cycles);
  }
  whole.x.push_back(std::max(all, whole.x.back()));
  whole.y.push_back(whole.y.back());
  plot.series.push_back(whole);
  return plot;
}

LinePlot layers_plot(const CodesignStudy& study) {
  LinePlot plot{.x_name = "measurements of the layer",
                .y_name = "cycles by the layer's least",
                .x = {},
                .series = {},
                .mark_name = ""};
  plot.steps = true;
  plot.x_scale = Scale::Logarithmic;
  plot.y_scale = Scale::Logarithmic;
  for (const CodesignedLayer& layer : study.layers) {
    const std::vector<Improvement>& curve = layer.ledger.improvements;
    if (curve.empty()) continue;
    PlotSeries series{.name = layer.name, .colour = kLayerColour, .y = {}, .x = {}, .faint = true};
    for (const Improvement& one : curve) {
      series.x.push_back(static_cast<double>(one.sample));
      series.y.push_back(one.score[0] / curve.back().score[0]);
    }
    series.x.push_back(static_cast<double>(layer.ledger.samples));
    series.y.push_back(1);
    plot.series.push_back(std::move(series));
  }
  return plot;
}

std::string codesign_convergence(const CodesignStudy& study) {
  if (!study.machine || study.curve.empty()) return "";
  return fmt::format(
      "<h2>Convergence</h2>\n<p class=\"muted\">The network, on the machine that was best so far among those on which every "
      "layer had been measured.</p>\n{}<p class=\"muted\">Each layer by itself, whatever the machine.</p>\n{}",
      to_svg(network_plot(study)), to_svg(layers_plot(study)));
}

// A part of the machine beside the same part of the default machine.
struct MachinePart {
  std::string name, size, default_size;
  double area = 0, default_area = 0;  // in areas of the whole default machine
};

std::vector<MachinePart> parts_of(const vta::Machine& machine) {
  const vta::Machine usual;
  const vta::Area area = vta::area_of(machine), usual_area = vta::area_of(usual);
  const double unit = usual_area.total();
  const auto core = [](const vta::Machine& m) {
    return fmt::format("{} x {} x {} = {} MACs", m.batch(), m.block_in(), m.block_out(), m.macs_per_step());
  };
  const auto lanes = [](const vta::Machine& m) { return fmt::format("{} lanes", m.batch() * m.block_out()); };
  std::vector<MachinePart> parts = {{"GEMM core", core(machine), core(usual), area.macs / unit, usual_area.macs / unit},
                                    {"ALU", lanes(machine), lanes(usual), area.alu / unit, usual_area.alu / unit}};
  struct Part {
    vta::Buffer buffer;
    double vta::Area::*area;
  };
  for (const Part& part : {Part{vta::Buffer::Uop, &vta::Area::uop}, Part{vta::Buffer::Inp, &vta::Area::inp},
                           Part{vta::Buffer::Wgt, &vta::Area::wgt}, Part{vta::Buffer::Acc, &vta::Area::acc},
                           Part{vta::Buffer::Out, &vta::Area::out}}) {
    const auto size = [&](const vta::Machine& m) {
      return fmt::format("{} KiB: {} elements of {} bytes", buffer_bytes(m, part.buffer) / 1024,
                         with_thousands(vta::depth(m, part.buffer)), vta::element_bytes(m, part.buffer));
    };
    parts.push_back({fmt::format("{} buffer", vta::name_of(part.buffer)), size(machine), size(usual), area.*part.area / unit,
                     usual_area.*part.area / unit});
  }
  return parts;
}

std::string codesign_machine(const vta::Machine& machine) {
  const std::vector<MachinePart> parts = parts_of(machine);
  double widest = 0, sum = 0, default_sum = 0;
  for (const MachinePart& part : parts) {
    widest = std::max({widest, part.area, part.default_area});
    sum += part.area;
    default_sum += part.default_area;
  }
  std::vector<std::vector<std::string>> rows;
  for (const MachinePart& part : parts) {
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

std::string codesign_calibration(const CodesignStudy& study) {
  const std::vector<Calibration> rounds = mean_calibrations(study);
  if (!study.machine || rounds.size() < 2) return "";
  LinePlot plot{.x_name = "round", .y_name = "mean over layers", .x = {}, .series = {}, .mark_name = ""};
  PlotSeries rank{.name = "rank correlation", .colour = 0, .y = {}},
      recall{.name = "recall of the best tenth", .colour = 1, .y = {}};
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    plot.x.push_back(static_cast<double>(round + 2));  // the first has nothing to predict with
    rank.y.push_back(rounds[round].rank_correlation);
    recall.y.push_back(rounds[round].top_recall);
  }
  plot.series = {rank, recall};
  return fmt::format(
      "<h2>The surrogate</h2>\n<p class=\"muted\">How well it had predicted what was then measured.</p>\n{}{}",
      legend(plot.series), to_svg(plot));
}

// Who worked when in the layer that takes most cycles.
std::string codesign_timeline(const CodesignStudy& study) {
  const auto cycles = [](const CodesignedLayer& layer) {
    return static_cast<double>(layer.count) * layer.found->metrics.latency;
  };
  const CodesignedLayer& slowest = *std::ranges::max_element(study.layers, {}, cycles);
  vta::Code code;
  vta::generate(slowest.layer, *study.machine, slowest.found->schedule, study.options.finishing,
                vta::addresses_of(slowest.layer, *study.machine), code);
  std::vector<StreamResult> streams(1);
  streams[0].timing = vta::time_stream(code.instructions, *study.machine, study.options.timing, &streams[0].spans);
  streams[0].instructions = std::move(code.instructions);
  const Timeline timeline = timeline_of(streams);
  return fmt::format("<h2>Who worked when in {}</h2>\n<p class=\"muted\">The layer that takes most cycles; {}.</p>\n{}",
                     html_escaped(slowest.name), html_escaped(overlap_sentence(timeline)), to_svg(timeline));
}

}  // namespace

std::string to_html(const CodesignStudy& study) {
  const CodesignTotals totals = totals_of(study);
  std::string body = codesign_head(study, totals) + codesign_layers(study, totals);
  if (study.machine) body += codesign_timeline(study) + codesign_machine(*study.machine);
  body += codesign_convergence(study) + codesign_calibration(study);
  std::vector<std::pair<std::string, std::string>> facts = {{"command", join(study.command, " ")},
                                                            {"space", space_words(study)}};
  for (const SettingValue& setting : study.settings) facts.emplace_back(study.search + "." + setting.name, setting.value);
  body += "<h2>How it was made</h2>\n" + properties(facts);
  return page(fmt::format("{}: co-design", study.network), body);
}

}  // namespace tilewright
