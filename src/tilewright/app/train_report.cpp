#include "tilewright/app/train_report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/app/plot.hpp"
#include "tilewright/app/train_world.hpp"
#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

constexpr std::size_t kMostPoints = 500;   // of a line
constexpr std::size_t kMostColumns = 120;  // of the phase plot

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --page: #ffffff; --card: #f5f6f8; --ink: #1c2126; --muted: #5d6770; --grid: #e1e5e9;
  --c0: #2b6cb0; --c1: #d97706; --c2: #2f855a; --c3: #b83280; --c4: #6b46c1; --c5: #0987a0; --c6: #975a16; --c7: #8a949e; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14181c; --card: #1e242a; --ink: #e6e9ec; --muted: #9aa5b0; --grid: #2f373f;
    --c0: #63a4e8; --c1: #f0a13a; --c2: #5cb985; --c3: #e87fb8; --c4: #a78bfa; --c5: #4cc3d9; --c6: #d0a05a; --c7: #7b8791; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 28px 24px 48px; max-width: 980px; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
h1 { font-size: 24px; line-height: 1.25; margin: 0; }
h2 { font-size: 17px; margin: 36px 0 8px; }
p { margin: 4px 0; }
.muted { color: var(--muted); }
.note { background: var(--card); border-left: 4px solid var(--c1); padding: 8px 14px; margin: 14px 0; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(190px, 1fr)); gap: 12px; margin: 20px 0 0; }
.figures div { background: var(--card); border-radius: 8px; padding: 12px 16px; }
.figures b { display: block; font-size: 27px; line-height: 1.25; font-weight: 650; font-variant-numeric: tabular-nums; }
.plot { width: 100%; height: auto; display: block; }
.plot text { fill: var(--muted); font-size: 12px; }
.plot .grid { stroke: var(--grid); }
.plot .mark { stroke: var(--muted); stroke-dasharray: 3 4; }
.plot .axis { stroke: var(--muted); }
.plot .line { fill: none; stroke: var(--c); stroke-width: 2; stroke-linejoin: round; }
.plot .dot { fill: var(--c); fill-opacity: 0; }
.plot .dot:hover, .plot .dot[r="3"] { fill-opacity: 1; }
.legend { margin: 2px 0 6px; font-size: 13px; color: var(--muted); }
.legend span { margin-right: 18px; white-space: nowrap; }
.legend i { display: inline-block; width: 12px; height: 12px; border-radius: 3px; margin-right: 6px; vertical-align: -1px; }
.scroll { overflow-x: auto; margin-top: 14px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 600; color: var(--muted); }
th, td { padding: 4px 14px 4px 0; border-bottom: 1px solid var(--grid); white-space: nowrap; }
td.n, th.n { text-align: right; }
td.wide { white-space: normal; overflow-wrap: anywhere; }
td i { display: inline-block; width: 12px; height: 12px; border-radius: 3px; margin-right: 8px; vertical-align: -1px; }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(300px, 1fr)); gap: 0 36px;
  align-items: start; }
.episode { display: block; width: 100%; max-width: 460px; border-radius: 8px; }
.command { margin: 18px 0 8px; }
code { font: 13px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
)";

std::string figure(const std::string& value, const std::string& name, const std::string& detail) {
  return fmt::format("<div>{}<b>{}</b><span class=\"muted\">{}</span></div>\n", html_escaped(name), html_escaped(value),
                     html_escaped(detail));
}

// Four significant digits without an exponent.
std::string short_number(double value) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  if (std::abs(value) >= 10'000) return with_thousands(static_cast<std::int64_t>(std::llround(value)));
  return fmt::format("{:.4g}", value);
}

std::string head(const TrainSummary& summary) {
  const TrainState& state = summary.state;
  const RecentReturns recent = recent_returns(state, *summary.settings.curve_every);
  std::string html = fmt::format("<h1>{}</h1>\n<p class=\"muted\">{} episodes, seed {}, tilewright {}</p>\n",
                                 html_escaped(title_of(summary)), with_thousands(state.episodes), *summary.settings.seed,
                                 TILEWRIGHT_VERSION);
  if (summary.interrupted) {
    html += fmt::format("<p class=\"note\">Stopped after {} of {} episodes.</p>\n", with_thousands(state.episodes),
                        with_thousands(summary.episodes));
  }
  if (const std::string why = why_no_updates(summary); !why.empty()) {
    html += fmt::format("<p class=\"note\">{}.</p>\n", html_escaped(why));
  }
  html += "<div class=\"figures\">\n";
  html +=
      figure(short_number(recent.total), "mean return", fmt::format("last {} episodes", with_thousands(recent.episodes)));
  if (summary.eval_episodes > 0) {
    double total = 0;
    for (const double value : summary.eval_returns) total += value;
    html += figure(short_number(total), "greedy return", fmt::format("{} episodes", with_thousands(summary.eval_episodes)));
  }
  html += figure(short_number(episodes_per_second(summary)), "episodes per second",
                 fmt::format("{} steps in all", with_thousands(state.steps)));
  html += figure(short_number(seconds(summary)), "seconds", fmt::format("{} updates", with_thousands(summary.updates)));
  return html + "</div>\n";
}

std::string curve_section(const TrainSummary& summary) {
  const std::vector<CurvePoint> curve = curve_so_far(summary.state, summary.updates);
  const std::vector<std::string> teams = team_names(summary.spec);
  LinePlot plot{"episodes", "return", {}, {{"all agents together", 0, {}}}, 0, ""};
  std::vector<double> x;
  std::vector<std::vector<double>> y(1 + teams.size());
  for (const CurvePoint& point : curve) {
    x.push_back(static_cast<double>(point.episodes));
    y[0].push_back(point.mean_return);
    const std::vector<double> by_team = team_returns(summary.spec, point.agent_returns);
    for (std::size_t team = 0; team < teams.size(); ++team) y[1 + team].push_back(by_team[team]);
    if (point.updates == 0) plot.mark = static_cast<double>(point.episodes);
  }
  if (summary.updates > 0) plot.mark_name = "first updates";
  plot.x = thinned(x, kMostPoints);
  plot.series[0].y = thinned(y[0], kMostPoints);
  if (teams.size() > 1) {
    for (std::size_t team = 0; team < teams.size(); ++team) {
      plot.series.push_back({teams[team], 1 + team % 6, thinned(y[1 + team], kMostPoints)});
    }
  }
  return fmt::format(
      "<h2>Learning curve</h2>\n<p class=\"muted\">Mean return of an episode, summed over agents; a point is the mean of {} "
      "episodes.</p>\n{}{}",
      with_thousands(*summary.settings.curve_every), plot.series.size() > 1 ? legend(plot.series) : "", to_svg(plot));
}

std::string returns_section(const TrainSummary& summary) {
  const EnvironmentSpec& spec = summary.spec;
  const RecentReturns recent = recent_returns(summary.state, *summary.settings.curve_every);
  const bool evaluated = summary.eval_episodes > 0;
  std::string html =
      "<div><h2>Returns by agent</h2>\n<div class=\"scroll\"><table><tr><th>agent</th><th>team</th><th "
      "class=\"n\">return</th>";
  html += evaluated ? "<th class=\"n\">greedy</th></tr>\n" : "</tr>\n";
  for (std::size_t agent = 0; agent < spec.agent_count(); ++agent) {
    html += fmt::format("<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td>{}</tr>\n", html_escaped(spec.agents[agent].name),
                        html_escaped(spec.agents[agent].team), short_number(recent.agents[agent]),
                        evaluated ? fmt::format("<td class=\"n\">{}</td>", short_number(summary.eval_returns[agent])) : "");
  }
  return html + "</table></div></div>\n";
}

// Neighbouring intervals together, so that every column stays wide enough to see.
SharePlot phase_plot(const std::vector<ProfileInterval>& intervals) {
  SharePlot plot{"episodes", {}, {}};
  for (std::size_t phase = 0; phase < kPhaseCount; ++phase) {
    plot.series.push_back({std::string(to_string(static_cast<Phase>(phase))), phase, {}});
  }
  const std::size_t columns = std::min(kMostColumns, intervals.size());
  for (std::size_t column = 0; column < columns; ++column) {
    const std::size_t first = column * intervals.size() / columns, last = (column + 1) * intervals.size() / columns;
    plot.edges.push_back(static_cast<double>(intervals[first].first));
    for (PlotSeries& series : plot.series) {
      series.y.push_back(0);
      for (std::size_t i = first; i < last; ++i) series.y.back() += intervals[i].phases[series.colour].wall_seconds;
    }
  }
  if (!intervals.empty()) plot.edges.push_back(static_cast<double>(intervals.back().last));
  return plot;
}

std::string phase_section(const TrainSummary& summary) {
  const SharePlot plot = phase_plot(summary.intervals);
  double sum = 0;
  for (const PhaseTotals& phase : summary.totals.phases) sum += phase.wall_seconds;
  std::string html = "<h2>Where the time went</h2>\n" + legend(plot.series) + to_svg(plot);
  html +=
      "<div class=\"scroll\"><table><tr><th>phase</th><th class=\"n\">share</th><th class=\"n\">seconds</th>"
      "<th class=\"n\">CPU seconds</th><th class=\"n\">calls</th><th class=\"n\">bytes gathered</th>";
  if (summary.totals.has_counters) html += "<th class=\"n\">cache misses</th><th class=\"n\">dTLB misses</th>";
  html += "</tr>\n";
  for (std::size_t index = 0; index < kPhaseCount; ++index) {
    const PhaseTotals& phase = summary.totals.phases[index];
    html += fmt::format(
        "<tr><td><i style=\"background:var(--c{})\"></i>{}</td><td class=\"n\">{:.1f} %</td><td class=\"n\">{:.3f}</td>"
        "<td class=\"n\">{:.3f}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>",
        index, to_string(static_cast<Phase>(index)), sum > 0 ? 100 * phase.wall_seconds / sum : 0, phase.wall_seconds,
        phase.cpu_seconds, with_thousands(static_cast<std::int64_t>(phase.calls)),
        phase.bytes > 0 ? with_prefix(static_cast<double>(phase.bytes)) : "–");
    if (summary.totals.has_counters) {
      html +=
          fmt::format("<td class=\"n\">{}</td><td class=\"n\">{}</td>", with_prefix(static_cast<double>(phase.cache_misses)),
                      with_prefix(static_cast<double>(phase.dtlb_misses)));
    }
    html += "</tr>\n";
  }
  html += "</table></div>\n";
  if (!summary.totals.has_counters && !summary.totals.why_no_counters.empty()) {
    html += fmt::format("<p class=\"muted\">{}</p>\n", html_escaped(summary.totals.why_no_counters));
  }
  return html;
}

// As an image of its own, so that its styles and the page's leave each other alone.
std::string episode_section(const TrainSummary& summary) {
  if (summary.animation.empty()) return "";
  std::string data;
  for (const char c : summary.animation) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       std::string_view("-_.!~*() ;:/,=").find(c) != std::string_view::npos;
    data += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return fmt::format(
      "<div><h2>A greedy episode after training</h2>\n<img class=\"episode\" alt=\"one episode, moving\" "
      "src=\"data:image/svg+xml,{}\"></div>\n",
      data);
}

std::string configuration_section(const TrainSummary& summary) {
  const nlohmann::ordered_json settings = to_json(summary.settings);
  std::string html = "<h2>Settings and provenance</h2>\n<div class=\"two\">\n";
  const std::size_t half = (settings.size() + 1) / 2;
  std::size_t index = 0;
  for (const auto& [name, value] : settings.items()) {
    if (index == 0 || index == half) html += index == 0 ? "<table>\n" : "</table>\n<table>\n";
    html += fmt::format("<tr><td class=\"muted\">{}</td><td class=\"n\">{}</td></tr>\n", html_escaped(name),
                        html_escaped(value.is_string() ? value.get<std::string>() : value.dump()));
    ++index;
  }
  html += "</table>\n</div>\n<p class=\"command\"><code>";
  for (const std::string& word : summary.command) html += html_escaped(word) + " ";
  html += fmt::format(
      "</code></p>\n<p class=\"muted\">tilewright {} with {} thread{} on {}; the same settings give the same curve and "
      "policy, bit by bit, "
      "with any number of threads and after any interruption.</p>\n",
      TILEWRIGHT_VERSION, summary.threads, summary.threads == 1 ? "" : "s", html_escaped(summary.processor));
  return html;
}

}  // namespace

std::string report_as_html(const TrainSummary& summary) {
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
      "'none'; style-src 'unsafe-inline'; img-src data:\">\n<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n",
      html_escaped(title_of(summary)), kStyle);
  html += head(summary);
  html += curve_section(summary);
  html += phase_section(summary);
  html += "<div class=\"two\">\n" + episode_section(summary) + returns_section(summary) + "</div>\n";
  html += configuration_section(summary);
  return html + "</body>\n</html>\n";
}

}  // namespace tilewright
