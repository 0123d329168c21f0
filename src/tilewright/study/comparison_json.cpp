#include <cmath>

#include <nlohmann/json.hpp>

#include "tilewright/base/seal.hpp"
#include "tilewright/study/comparison.hpp"
#include "tilewright/study/network_json.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::string_view kCompareFormat = "tilewright-compare-1";

// JSON has no infinity: null is "not reached" and "no valid mapping".
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json interval_json(const Interval& interval) {
  return {{"value", number(interval.value)}, {"low", number(interval.low)}, {"high", number(interval.high)}};
}

Json layers_json(const ComparisonStudy& result) {
  Json json = Json::array();
  for (const ComparedLayer& layer : result.layers) {
    Json entry{
        {"name", layer.name}, {"count", layer.count}, {"parameters", layer.parameters}, {"log10_size", layer.log10_size}};
    entry["best"] = Json();
    if (layer.best) {
      entry["best"] = {{"value", layer.best->value},   {"searcher", layer.best->searcher},
                       {"seed", layer.best->seed},     {"budget", layer.best->budget},
                       {"sample", layer.best->sample}, {"earlier", layer.best_is_earlier},
                       {"design", layer.best->design}};
    }
    entry["target"] = layer.target ? Json(*layer.target) : Json();
    json.push_back(std::move(entry));
  }
  return json;
}

Json contender_json(const ComparisonStudy& result, const ComparedContender& contender) {
  Json json{{"label", contender.label}, {"searcher", contender.searcher}};
  for (const auto& [name, value] : contender.settings) json["settings"][name] = value;
  if (contender.audit) {
    const AuditSummary& audit = *contender.audit;
    json["audit"] = {{"proposals", audit.proposals}, {"distinct", audit.distinct}, {"invalid", audit.invalid},
                     {"stuck", audit.stuck},         {"movable", audit.movable},   {"never_moved", audit.never_moved}};
  }
  json["invalid"] = contender.invalid;
  json["repeated"] = contender.repeated;
  json["agents"] = contender.agents;
  json["standings"] = Json::array();
  for (std::size_t budget = 0; budget < contender.standings.size(); ++budget) {
    const Standing& standing = contender.standings[budget];
    Json entry{{"budget", result.budgets[budget]}, {"runs", standing.factors.size()}};
    if (!standing.factors.empty()) {
      entry["factor"] = interval_json(standing.factor);
      entry["factors"] = Json::array();
      for (const double factor : standing.factors) entry["factors"].push_back(number(factor));
      entry["layers"] = Json::array();
      for (const Interval& layer : standing.layers) entry["layers"].push_back(interval_json(layer));
    }
    if (standing.first_wins) entry["first_wins"] = interval_json(*standing.first_wins);
    json["standings"].push_back(std::move(entry));
  }
  json["reaches"] = Json::array();
  for (std::size_t target = 0; target < contender.reaches.size(); ++target) {
    const Reach& reach = contender.reaches[target];
    json["reaches"].push_back({{"target", result.targets[target]},
                               {"samples", interval_json(reach.samples)},
                               {"share", reach.share},
                               {"layers", reach.layers}});
  }
  json["curve"] = Json::array();
  for (const Interval& point : contender.curve) json["curve"].push_back(interval_json(point));
  json["seconds"] = contender.seconds;
  json["cpu_seconds"] = contender.cpu_seconds;
  json["samples_per_second"] = contender.samples_per_second;
  return json;
}

}  // namespace

std::string to_json(const ComparisonStudy& result) {
  Json json{{"format", kCompareFormat},        {"verb", "compare"},
            {"version", TILEWRIGHT_VERSION},   {"command", result.command},
            {"network", result.network},       {"hardware", result.hardware},
            {"model", result.model},           {"space", result.space},
            {"objective", result.objective},   {"unit", result.unit},
            {"budgets", result.budgets},       {"seeds", result.seeds},
            {"first_seed", result.first_seed}, {"partial", result.partial},
            {"seconds", result.seconds},       {"target", result.target.empty() ? Json() : Json(result.target)},
            {"targets", result.targets},       {"curve_samples", result.curve_samples}};
  json["layers"] = layers_json(result);
  json["contenders"] = Json::array();
  for (const ComparedContender& contender : result.contenders) {
    json["contenders"].push_back(contender_json(result, contender));
  }
  json["coverage"] = to_json(result.coverage);
  json["remarks"] = remarks_of(result);
  return sealed(std::move(json), 2);
}

}  // namespace tilewright
