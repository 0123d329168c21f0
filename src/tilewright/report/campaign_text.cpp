#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/text.hpp"
#include "tilewright/report/campaign.hpp"
#include "tilewright/report/campaign_parts.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

std::string bytes_text(double bytes) { return with_prefix(bytes) + "B"; }

}  // namespace

std::string number_text(const Json& value) {
  if (!value.is_number()) return "–";
  const double number = value.get<double>();
  return number == 0 || (std::abs(number) >= 1e-3 && std::abs(number) < 1e6) ? fmt::format("{:.4g}", number)
                                                                             : fmt::format("{:.4e}", number);
}

std::string to_text(const CampaignForecast& forecast, const std::string& name) {
  std::string text = fmt::format(
      "{}: {} studies, {} tasks, {} of them done\n", name, with_thousands(static_cast<std::int64_t>(forecast.studies)),
      with_thousands(static_cast<std::int64_t>(forecast.tasks)), with_thousands(static_cast<std::int64_t>(forecast.done)));
  text += fmt::format("time  about {} on {} thread{} of this machine, by ", clock_text(forecast.seconds), forecast.threads,
                      forecast.threads == 1 ? "" : "s");
  const std::size_t known = forecast.kinds - std::min(forecast.kinds, forecast.tried);
  text += forecast.tried == 0 ? "the rates of finished tasks\n"
                              : fmt::format("the rates of {} kind{} of task tried for a moment{}\n", forecast.tried,
                                            forecast.tried == 1 ? "" : "s", known > 0 ? " and of finished tasks" : "");
  text +=
      fmt::format("disk  about {}{}\n", bytes_text(forecast.bytes),
                  forecast.points > 0 ? fmt::format(", {} points at most among it", with_thousands(forecast.points)) : "");
  return text;
}

std::string to_json(const CampaignForecast& forecast, const std::string& name) {
  const Json json{{"name", name},
                  {"studies", forecast.studies},
                  {"tasks", forecast.tasks},
                  {"done", forecast.done},
                  {"threads", forecast.threads},
                  {"seconds", forecast.seconds},
                  {"bytes", forecast.bytes},
                  {"points", forecast.points},
                  {"kinds", forecast.kinds},
                  {"tried", forecast.tried}};
  return json.dump(1) + "\n";
}

std::vector<Json> comparison_summaries(const CampaignStatus& status) {
  std::vector<Json> found;
  for (std::size_t i = 0; i < status.studies.size(); ++i) {
    if (status.studies[i].verb != CampaignVerb::Compare || !status.states[i].summary) continue;
    Json one = *status.states[i].summary;
    one["name"] = title_of(status.studies[i]);
    found.push_back(std::move(one));
  }
  return found;
}

std::string to_text(const CampaignStatus& status) {
  std::string text =
      fmt::format("{}: {} of {} tasks done{}\n", status.name, with_thousands(static_cast<std::int64_t>(status.done)),
                  with_thousands(static_cast<std::int64_t>(status.tasks)),
                  status.failures.empty() ? "" : fmt::format(", {} failed", status.failures.size()));
  const Json standings = standings_of(status.studies, status.states);
  std::size_t width = 5;
  for (const Json& one : standings) width = std::max(width, one["name"].get<std::string>().size());
  if (!standings.empty())
    text += fmt::format("\n{:<{}}  {:>6}  {:>12}  {:>27}  measure\n", "study", width, "done", "median", "95 %");
  for (const Json& one : standings) {
    const bool any = one.contains("median");
    text += fmt::format("{:<{}}  {:>6}  {:>12}  {:>27}  {}\n", one["name"].get<std::string>(), width,
                        fmt::format("{}/{}", one["values"].get<std::size_t>(), one["studies"].get<std::size_t>()),
                        any ? number_text(one["median"]) : "–",
                        any ? fmt::format("[{}, {}]", number_text(one["low"]), number_text(one["high"])) : "",
                        one["measure"].get<std::string>());
  }
  for (const Json& one : comparison_summaries(status)) {
    text += fmt::format("\n{} ({}, factor of the best known)\n", one["name"].get<std::string>(), one.value("objective", ""));
    for (const Json& contender : one["contenders"]) {
      const Json factor = contender.value("factor", Json());
      text += fmt::format(
          "  {:<20}  {:>9}  {}\n", contender["label"].get<std::string>(),
          factor.is_object() ? number_text(factor["value"]) : "–",
          factor.is_object() ? fmt::format("[{}, {}]", number_text(factor["low"]), number_text(factor["high"])) : "");
    }
  }
  return text;
}

}  // namespace tilewright
