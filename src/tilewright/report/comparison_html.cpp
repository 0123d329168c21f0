#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/report/comparison.hpp"
#include "tilewright/report/page.hpp"
#include "tilewright/report/plot.hpp"

namespace tilewright {
namespace {

// Grey stays free for what is not compared.
std::size_t colour_of(std::size_t contender) {
  const std::size_t colour = contender % (kColourCount - 1);
  return colour < kGrey ? colour : colour + 1;
}

std::string named(const ComparisonStudy& result, std::size_t contender) {
  return fmt::format("{} {}", chip(colour_of(contender)), html_escaped(result.contenders[contender].label));
}

std::string interval_cell(const Interval& interval) {
  return fmt::format("{} <span class=\"muted\">{} … {}</span>", factor_text(interval.value), factor_text(interval.low),
                     factor_text(interval.high));
}

// The contender with the least factor at the largest budget; nothing when no run finished.
std::optional<std::size_t> leader(const ComparisonStudy& result) {
  std::optional<std::size_t> best;
  for (std::size_t c = 0; c < result.contenders.size(); ++c) {
    const Standing& standing = result.contenders[c].standings.back();
    if (standing.factors.empty()) continue;
    if (!best || standing.factor.value < result.contenders[*best].standings.back().factor.value) best = c;
  }
  return best;
}

std::string head(const ComparisonStudy& result) {
  std::string html = fmt::format(
      "<h1>Searchers on {}</h1>\n<p class=\"muted\">{} layers, {} seeds, up to {} samples per layer, all charged: valid, "
      "invalid and repeated. {} model, {}, tilewright {}</p>\n",
      html_escaped(title_of(result)), result.layers.size(), result.seeds, with_thousands(result.budgets.back()),
      html_escaped(result.model), html_escaped(result.space), TILEWRIGHT_VERSION);
  html += note(to_text(result.coverage));
  for (const std::string& remark : remarks_of(result)) html += note(remark);
  std::vector<Figure> tiles;
  if (const auto best = leader(result)) {
    const ComparedContender& contender = result.contenders[*best];
    std::vector<std::string> near;  // whose interval reaches into the leader's
    for (std::size_t c = 0; c < result.contenders.size(); ++c) {
      const Standing& standing = result.contenders[c].standings.back();
      if (c == *best || standing.factors.empty()) continue;
      if (standing.factor.low <= contender.standings.back().factor.high) near.push_back(result.contenders[c].label);
    }
    tiles.push_back({contender.label, fmt::format("best with {} samples", with_thousands(result.budgets.back())),
                     fmt::format("{}× the best known{}", factor_text(contender.standings.back().factor.value),
                                 near.empty() ? "" : ", not told apart from " + join(near, ", "))});
  }
  const ComparedContender& first = result.contenders.front();
  if (!first.standings.back().factors.empty()) {
    const Interval& factor = first.standings.back().factor;
    tiles.push_back({factor_text(factor.value) + "×", fmt::format("of the best known by {}", first.label),
                     fmt::format("{} … {}", factor_text(factor.low), factor_text(factor.high))});
  }
  if (!first.reaches.empty()) {
    const std::size_t shown = result.targets.back() == "T1" ? first.reaches.size() - 1 : 0;
    tiles.push_back({samples_text(first.reaches[shown].samples.value), fmt::format("samples to {}", result.targets[shown]),
                     fmt::format("{}, median of layers and seeds", first.label)});
  }
  return html + figures(tiles);
}

std::string standings_section(const ComparisonStudy& result) {
  std::string html = fmt::format(
      "<h2>How good</h2>\n<p class=\"muted\">Best {} found by the best known, geometric mean over layers; median of the "
      "seeds and its bootstrap 95 % interval. Every budget has runs of its own.</p>\n",
      html_escaped(result.objective));
  std::vector<TableColumn> columns = {{"searcher", false}};
  std::vector<std::vector<std::string>> rows(result.contenders.size());
  for (std::size_t c = 0; c < rows.size(); ++c) rows[c].push_back(named(result, c));
  for (std::size_t budget = 0; budget < result.budgets.size(); ++budget) {
    columns.push_back({fmt::format("{} samples", with_thousands(result.budgets[budget]))});
    DotPlot plot;
    plot.x_name = fmt::format("factor of the best known, {} samples per layer", with_thousands(result.budgets[budget]));
    plot.mark = 1;
    plot.mark_name = "best known";
    for (std::size_t c = 0; c < result.contenders.size(); ++c) {
      const Standing& standing = result.contenders[c].standings[budget];
      if (standing.factors.empty()) {
        rows[c].emplace_back("–");
        continue;
      }
      rows[c].push_back(interval_cell(standing.factor));
      plot.rows.push_back(
          {result.contenders[c].label, colour_of(c), standing.factor.value, standing.factor.low, standing.factor.high});
    }
    html += to_svg(plot);
  }
  return html + table(columns, rows);
}

std::string curves_section(const ComparisonStudy& result) {
  BandPlot plot;
  plot.x_name = "samples per layer";
  plot.y_name = "% above the best known";
  // Before the tenth sample everybody guesses, and the axis would be about that.
  const auto guesses = result.curve_samples.back() >= 100
                           ? std::ranges::lower_bound(result.curve_samples, 10.0) - result.curve_samples.begin()
                           : 0;
  plot.x.assign(result.curve_samples.begin() + guesses, result.curve_samples.end());
  plot.x_scale = plot.y_scale = Scale::Logarithmic;
  const auto excess = [](double factor) { return 100 * (factor - 1); };
  for (std::size_t c = 0; c < result.contenders.size(); ++c) {
    const ComparedContender& contender = result.contenders[c];
    if (contender.curve.empty()) continue;
    BandSeries series{contender.label, colour_of(c), {}, {}, {}};
    for (std::size_t i = static_cast<std::size_t>(guesses); i < contender.curve.size(); ++i) {
      const Interval& point = contender.curve[i];
      series.middle.push_back(excess(point.value));
      series.low.push_back(excess(point.low));
      series.high.push_back(excess(point.high));
    }
    plot.series.push_back(std::move(series));
  }
  if (plot.series.empty()) return "";
  return fmt::format(
      "<h2>Convergence</h2>\n<p class=\"muted\">Geometric mean over layers of the best so far by the best known, less 1: "
      "median of the seeds, shaded its 95 % interval. A line begins where all layers have a valid mapping.</p>\n{}{}",
      legend(plot.series), to_svg(plot));
}

std::string wins_section(const ComparisonStudy& result) {
  DotPlot plot;
  const std::string& first = result.contenders.front().label;
  plot.x_name =
      fmt::format("probability that {} is better, {} samples per layer", first, with_thousands(result.budgets.back()));
  plot.mark = 0.5;
  plot.mark_name = "even";
  const auto rounded = [](double value) { return std::round(1000 * value) / 1000; };
  for (std::size_t c = 1; c < result.contenders.size(); ++c) {
    const auto& wins = result.contenders[c].standings.back().first_wins;
    if (!wins) continue;
    plot.rows.push_back({"against " + result.contenders[c].label, colour_of(c), rounded(wins->value), rounded(wins->low),
                         rounded(wins->high)});
  }
  if (plot.rows.empty()) return "";
  return fmt::format(
      "<h2>Who is better how often</h2>\n<p class=\"muted\">Over all layers and pairs of seeds, a tie counting half (Mann "
      "and Whitney's U); runs are resampled whole for the 95 % interval.</p>\n{}",
      to_svg(plot));
}

std::string reaches_section(const ComparisonStudy& result) {
  std::vector<TableColumn> columns = {{"searcher", false}};
  for (const std::string& target : result.targets) columns.push_back({target});
  std::vector<std::vector<std::string>> rows;
  for (std::size_t c = 0; c < result.contenders.size(); ++c) {
    if (result.contenders[c].reaches.empty()) continue;
    auto& row = rows.emplace_back(std::vector<std::string>{named(result, c)});
    for (const Reach& reach : result.contenders[c].reaches) {
      row.push_back(fmt::format("{} <span class=\"muted\">{:.0f} %, {} layers</span>", samples_text(reach.samples.value),
                                100 * reach.share, reach.layers));
    }
  }
  if (rows.empty()) return "";
  const std::string meaning =
      result.targets.back() == "T1" ? fmt::format(" T1 is the best of {} on each layer.", html_escaped(result.target)) : "";
  return fmt::format(
             "<h2>Samples to a target</h2>\n<p class=\"muted\">Targets are multiples of the best known.{} Median over "
             "layers "
             "and seeds; the share of them that get there, and the layers that do with the median seed (of {}).</p>\n",
             meaning, result.layers.size()) +
         table(columns, rows);
}

std::string audit_section(const ComparisonStudy& result) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t c = 0; c < result.contenders.size(); ++c) {
    const ComparedContender& contender = result.contenders[c];
    if (!contender.audit) continue;
    const AuditSummary& audit = *contender.audit;
    rows.push_back({named(result, c), fmt::format("{:.1f} of {:.0f}", audit.distinct, audit.proposals),
                    share_text(contender.invalid), share_text(contender.repeated),
                    fmt::format("{} of {}", audit.stuck, audit.movable),
                    audit.never_moved.empty() ? "none" : html_escaped(join(audit.never_moved, ", "))});
  }
  if (rows.empty()) return "";
  return fmt::format(
             "<h2>Audit</h2>\n<p class=\"muted\">Distinct points among the first proposals on a layer (mean over layers, "
             "seed "
             "{}); shares of all samples. A parameter counts as never moved when it had one value in all of them although "
             "random points of the space have several.</p>\n",
             result.first_seed) +
         table({{"searcher", false},
                {"distinct points"},
                {"invalid"},
                {"repeated"},
                {"stuck", true, "pairs of layer and parameter with one value only"},
                {"never moved on any layer", false}},
               rows);
}

std::string layers_section(const ComparisonStudy& result) {
  std::vector<TableColumn> columns = {{"layer", false}, {"best known"}, {"by", false}};
  for (const ComparedContender& contender : result.contenders) columns.push_back({contender.label});
  std::vector<std::vector<std::string>> rows;
  for (std::size_t l = 0; l < result.layers.size(); ++l) {
    const ComparedLayer& layer = result.layers[l];
    auto& row = rows.emplace_back(std::vector<std::string>{html_escaped(layer.name)});
    row.push_back(layer.best ? prefixed_number(shown_value(result, layer.best->value)) : "none");
    row.push_back(layer.best ? html_escaped(layer.best->searcher) + (layer.best_is_earlier ? " (earlier)" : "") : "");
    for (const ComparedContender& contender : result.contenders) {
      const Standing& standing = contender.standings.back();
      row.push_back(standing.factors.empty() || !layer.best ? "–" : factor_text(standing.layers[l].value));
    }
  }
  return fmt::format(
             "<h2>Layers</h2>\n<p class=\"muted\">Median factor of the best known with {} samples; best known in {}.</p>\n",
             with_thousands(result.budgets.back()), result.unit.empty() ? html_escaped(result.objective) : result.unit) +
         table(columns, rows);
}

std::string times_section(const ComparisonStudy& result) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t c = 0; c < result.contenders.size(); ++c) {
    const ComparedContender& contender = result.contenders[c];
    if (contender.cpu_seconds == 0) continue;
    rows.push_back({named(result, c), even_number(contender.seconds), even_number(contender.cpu_seconds),
                    with_thousands(std::llround(contender.samples_per_second)),
                    contender.agents > 0 ? fmt::format("{:.1f}", contender.agents) : ""});
  }
  return fmt::format("<h2>Time</h2>\n<p class=\"muted\">Of a run of {} samples per layer on one thread.</p>\n",
                     with_thousands(result.budgets.back())) +
         table({{"searcher", false}, {"wall s"}, {"CPU s"}, {"samples per CPU second"}, {"agents"}}, rows);
}

std::string provenance_section(const ComparisonStudy& result) {
  std::vector<std::pair<std::string, std::string>> entries = {
      {"command", join(result.command, " ")},
      {"tilewright", TILEWRIGHT_VERSION},
      {"network", result.network},
      {"hardware", result.hardware},
      {"model", result.model},
      {"space", result.space},
      {"objective", result.objective},
      {"seeds", fmt::format("{} … {}", result.first_seed, result.first_seed + static_cast<std::uint64_t>(result.seeds) - 1)},
      {"target T1", result.target.empty() ? "none" : result.target},
      {"wall time", fmt::format("{:.1f} s", result.seconds)}};
  for (const ComparedContender& contender : result.contenders) {
    std::vector<std::string> settings;
    for (const auto& [name, value] : contender.settings) settings.push_back(fmt::format("{}={}", name, value));
    entries.emplace_back(contender.label, join(settings, ", "));
  }
  return "<h2>Provenance</h2>\n" + properties(entries);
}

}  // namespace

std::string to_html(const ComparisonStudy& result) {
  return page("Searchers on " + title_of(result), head(result) + standings_section(result) + curves_section(result) +
                                                      wins_section(result) + reaches_section(result) +
                                                      audit_section(result) + layers_section(result) +
                                                      times_section(result) + provenance_section(result));
}

}  // namespace tilewright
