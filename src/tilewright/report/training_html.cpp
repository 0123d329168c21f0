#include "tilewright/report/training.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/text.hpp"
#include "tilewright/report/page.hpp"
#include "tilewright/report/plot.hpp"
#include "tilewright/study/train_summary.hpp"
#include "tilewright/study/training_parts.hpp"

namespace tilewright {
namespace {

constexpr std::size_t kMostPoints = 500;   // of a line
constexpr std::size_t kMostColumns = 120;  // of the phase plot

std::string head(const TrainingStudy& study) {
  const TrainState& state = study.state;
  const RecentReturns recent = recent_returns(state, *study.settings.curve_every);
  std::string html =
      fmt::format("<h1>{}</h1>\n<p class=\"muted\">{} episodes, seed {}, tilewright {}</p>\n", html_escaped(title_of(study)),
                  with_thousands(state.episodes), *study.settings.seed, TILEWRIGHT_VERSION);
  if (study.interrupted) {
    html += note(
        fmt::format("Stopped after {} of {} episodes.", with_thousands(state.episodes), with_thousands(study.episodes)));
  }
  if (const std::string why = why_no_updates(study); !why.empty()) html += note(why + ".");
  std::vector<Figure> tiles{
      {short_number(recent.total), "mean return", fmt::format("last {} episodes", with_thousands(recent.episodes))}};
  if (study.eval_episodes > 0) {
    double total = 0;
    for (const double value : study.eval_returns) total += value;
    tiles.push_back({short_number(total), "greedy return", fmt::format("{} episodes", with_thousands(study.eval_episodes))});
  }
  tiles.push_back({short_number(episodes_per_second(study)), "episodes per second",
                   fmt::format("{} steps in all", with_thousands(state.steps))});
  tiles.push_back({short_number(seconds(study)), "seconds", fmt::format("{} updates", with_thousands(study.updates))});
  return html + figures(tiles);
}

std::string curve_section(const TrainingStudy& study) {
  const std::vector<CurvePoint> curve = curve_so_far(study.state, study.updates);
  const std::vector<std::string> teams = team_names(study.spec);
  LinePlot plot{"episodes", "return", {}, {{"all agents together", 0, {}}}, 0, ""};
  std::vector<double> x;
  std::vector<std::vector<double>> y(1 + teams.size());
  for (const CurvePoint& point : curve) {
    x.push_back(static_cast<double>(point.episodes));
    y[0].push_back(point.mean_return);
    const std::vector<double> by_team = team_returns(study.spec, point.agent_returns);
    for (std::size_t team = 0; team < teams.size(); ++team) y[1 + team].push_back(by_team[team]);
    if (point.updates == 0) plot.mark = static_cast<double>(point.episodes);
  }
  if (study.updates > 0) plot.mark_name = "first updates";
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
      with_thousands(*study.settings.curve_every), plot.series.size() > 1 ? legend(plot.series) : "", to_svg(plot));
}

std::string returns_section(const TrainingStudy& study) {
  const EnvironmentSpec& spec = study.spec;
  const RecentReturns recent = recent_returns(study.state, *study.settings.curve_every);
  const bool evaluated = study.eval_episodes > 0;
  std::vector<TableColumn> columns{{"agent", false}, {"team", false}, {"return"}};
  if (evaluated) columns.push_back({"greedy"});
  std::vector<std::vector<std::string>> rows;
  for (std::size_t agent = 0; agent < spec.agent_count(); ++agent) {
    rows.push_back(
        {html_escaped(spec.agents[agent].name), html_escaped(spec.agents[agent].team), short_number(recent.agents[agent])});
    if (evaluated) rows.back().push_back(short_number(study.eval_returns[agent]));
  }
  return "<div><h2>Returns by agent</h2>\n" + table(columns, rows) + "</div>\n";
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

std::string phase_section(const TrainingStudy& study) {
  const SharePlot plot = phase_plot(study.intervals);
  double sum = 0;
  for (const PhaseTotals& phase : study.totals.phases) sum += phase.wall_seconds;
  std::string html = "<h2>Where the time went</h2>\n" + legend(plot.series) + to_svg(plot);
  std::vector<TableColumn> columns{{"phase", false}, {"share"}, {"seconds"}, {"CPU seconds"}, {"calls"}, {"bytes gathered"}};
  if (study.totals.has_counters) {
    columns.push_back({"cache misses"});
    columns.push_back({"dTLB misses"});
  }
  std::vector<std::vector<std::string>> rows;
  for (std::size_t index = 0; index < kPhaseCount; ++index) {
    const PhaseTotals& phase = study.totals.phases[index];
    rows.push_back({chip(index) + std::string(to_string(static_cast<Phase>(index))),
                    fmt::format("{:.1f} %", sum > 0 ? 100 * phase.wall_seconds / sum : 0),
                    fmt::format("{:.3f}", phase.wall_seconds), fmt::format("{:.3f}", phase.cpu_seconds),
                    with_thousands(static_cast<std::int64_t>(phase.calls)),
                    phase.bytes > 0 ? with_prefix(static_cast<double>(phase.bytes)) : "–"});
    if (study.totals.has_counters) {
      rows.back().push_back(with_prefix(static_cast<double>(phase.cache_misses)));
      rows.back().push_back(with_prefix(static_cast<double>(phase.dtlb_misses)));
    }
  }
  html += table(columns, rows);
  if (!study.totals.has_counters && !study.totals.why_no_counters.empty()) {
    html += fmt::format("<p class=\"muted\">{}</p>\n", html_escaped(study.totals.why_no_counters));
  }
  return html;
}

// As an image of its own, so that its styles and the page's leave each other alone.
std::string episode_section(const TrainingStudy& study) {
  if (study.animation.empty()) return "";
  std::string data;
  for (const char c : study.animation) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       std::string_view("-_.!~*() ;:/,=").find(c) != std::string_view::npos;
    data += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return fmt::format(
      "<div><h2>A greedy episode after training</h2>\n<img class=\"episode\" alt=\"one episode, moving\" "
      "src=\"data:image/svg+xml,{}\"></div>\n",
      data);
}

std::string configuration_section(const TrainingStudy& study) {
  const nlohmann::ordered_json json = to_json(study.settings);
  std::vector<std::pair<std::string, std::string>> settings;
  for (const auto& [name, value] : json.items()) {
    settings.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
  }
  std::string html = "<h2>Settings and provenance</h2>\n" + properties(settings) + "<p class=\"command\"><code>";
  for (const std::string& word : study.command) html += html_escaped(word) + " ";
  html += fmt::format(
      "</code></p>\n<p class=\"muted\">tilewright {} with {} thread{} on {}; the same settings give the same curve and "
      "policy, bit by bit, "
      "with any number of threads and after any interruption.</p>\n",
      TILEWRIGHT_VERSION, study.threads, study.threads == 1 ? "" : "s", html_escaped(study.processor));
  return html;
}

}  // namespace

std::string to_html(const TrainingStudy& study) {
  return page(title_of(study), head(study) + curve_section(study) + phase_section(study) + "<div class=\"two\">\n" +
                                   episode_section(study) + returns_section(study) + "</div>\n" +
                                   configuration_section(study));
}

}  // namespace tilewright
