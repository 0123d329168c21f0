#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/report/campaign.hpp"
#include "tilewright/report/campaign_parts.hpp"
#include "tilewright/report/page.hpp"
#include "tilewright/report/plot.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostRows = 2'000;  // of a table: a page has to open
constexpr std::size_t kMostDots = 40;

std::string whole(std::size_t number) { return with_thousands(static_cast<std::int64_t>(number)); }

std::string head(const CampaignStatus& status) {
  const double share = status.tasks > 0 ? static_cast<double>(status.done) / static_cast<double>(status.tasks) : 1;
  const std::size_t here = status.done - std::min(status.done, status.found);
  const std::size_t missing = status.tasks - status.done;
  const double left = here > 0 ? status.elapsed / static_cast<double>(here) * static_cast<double>(missing) : 0;
  std::vector<Figure> tiles = {
      {fmt::format("{:.0f} %", 100 * share), "done", fmt::format("{} of {} tasks", whole(status.done), whole(status.tasks))},
      {whole(missing), "missing",
       status.ended ? ""
       : here > 0   ? fmt::format("about {} left", clock_text(left))
                    : "just begun"},
      {clock_text(status.task_seconds), "of work", "the tasks' own time, added up"}};
  if (status.done > 0) {
    tiles.push_back({short_number(status.task_seconds / static_cast<double>(status.done)) + " s", "per task", "mean"});
  }
  std::string html = figures(tiles);
  for (const TaskFailure& failure : status.failures) html += note(failure.sentence);
  return html;
}

std::string standings_section(const CampaignStatus& status) {
  const Json standings = standings_of(status.studies, status.states);
  if (standings.empty()) return "";
  std::string html =
      "<h2>Standings</h2>\n<p class=\"muted\">Studies that differ in nothing but their seed together: the median and its "
      "bootstrap 95 % interval.</p>\n";
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> measures;
  for (const Json& one : standings) {
    const std::string measure = one["measure"].get<std::string>();
    if (one.contains("median") && std::ranges::find(measures, measure) == measures.end()) measures.push_back(measure);
    if (rows.size() == kMostRows) break;
    rows.push_back({html_escaped(one["name"].get<std::string>()), html_escaped(measure),
                    one.contains("median") ? number_text(one["median"]) : "–",
                    one.contains("low") ? fmt::format("{} … {}", number_text(one["low"]), number_text(one["high"])) : "",
                    fmt::format("{} of {}", one["values"].get<std::size_t>(), one["studies"].get<std::size_t>())});
  }
  for (const std::string& measure : measures) {
    DotPlot plot;
    plot.x_name = measure;
    for (const Json& one : standings) {
      if (!one.contains("median") || one["measure"] != measure || plot.rows.size() == kMostDots) continue;
      plot.rows.push_back({one["name"].get<std::string>(), plot.rows.size() % kColourCount, one["median"].get<double>(),
                           one["low"].get<double>(), one["high"].get<double>()});
    }
    html += to_svg(plot);
  }
  return html + table({{"study", false}, {"measure", false}, {"median"}, {"95 % interval"}, {"values"}}, rows);
}

std::string comparisons_section(const CampaignStatus& status) {
  std::string html;
  for (const Json& one : comparison_summaries(status)) {
    DotPlot plot;
    plot.x_name = fmt::format("factor of the best known, {}", one.value("objective", ""));
    plot.mark = 1;
    plot.mark_name = "best known";
    for (const Json& contender : one["contenders"]) {
      const Json factor = contender.value("factor", Json());
      if (!factor.is_object() || !factor["value"].is_number() || !factor["high"].is_number()) continue;
      plot.rows.push_back({contender["label"].get<std::string>(), plot.rows.size() % kColourCount,
                           factor["value"].get<double>(), factor["low"].get<double>(), factor["high"].get<double>()});
    }
    html +=
        fmt::format("<h3>{}</h3>\n{}", html_escaped(one["name"].get<std::string>()), plot.rows.empty() ? "" : to_svg(plot));
  }
  return html.empty() ? "" : "<h2>Searchers side by side</h2>\n" + html;
}

std::string studies_section(const CampaignStatus& status) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < status.studies.size() && rows.size() < kMostRows; ++i) {
    const StudyState& state = status.states[i];
    const double share = state.tasks > 0 ? static_cast<double>(state.done) / static_cast<double>(state.tasks) : 1;
    const Json value = state.summary ? state.summary->value("value", Json()) : Json();
    rows.push_back({fmt::format("{}", i + 1), html_escaped(title_of(status.studies[i])),
                    std::string(name(status.studies[i].verb)),
                    fmt::format("{} of {}", whole(state.done), whole(state.tasks)), bar(share, share < 1 ? kGrey : 0),
                    number_text(value), state.done > 0 ? even_number(state.seconds / static_cast<double>(state.done)) : "–",
                    state.done > 0 ? even_number(state.seconds) : "–"});
  }
  return fmt::format("<h2>Studies</h2>\n<p class=\"muted\">{}</p>\n",
                     status.studies.size() > kMostRows ? fmt::format("The first {} of {}; all are in result.json.",
                                                                     whole(kMostRows), whole(status.studies.size()))
                                                       : "Each study's document is in studies/, under its number.") +
         table(
             {{"number"}, {"study", false}, {"verb", false}, {"tasks done"}, {"", false}, {"value"}, {"s per task"}, {"s"}},
             rows);
}

}  // namespace

std::string to_html(const CampaignStatus& status) {
  const std::string again = status.ended ? "" : "<meta http-equiv=\"refresh\" content=\"5\">\n";
  return page("Campaign " + status.name,
              again + head(status) + standings_section(status) + comparisons_section(status) + studies_section(status));
}

Result<Done> write_files(const CampaignStatus& status, const std::filesystem::path& directory) {
  return write_file(directory / "report.html", to_html(status));
}

}  // namespace tilewright
