// What a document says in a line, and what many lines say together.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "tilewright/base/seal.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/search/statistics.hpp"
#include "tilewright/study/campaign_parts.hpp"
#include "tilewright/study/comparison.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

Json at(const Json& json, const char* first, const char* second) {
  return json.contains(first) && json[first].is_object() ? json[first].value(second, Json()) : Json();
}

Json map_summary(const Json& document) {
  std::string metric = document.value("objective", "edp");
  Json value = at(document, "totals", metric.c_str());
  if (metric == "throughput") {
    const Json cycles = at(document, "totals", "latency"), macs = at(document, "totals", "macs");
    if (cycles.is_number() && macs.is_number() && cycles.get<double>() > 0)
      value = macs.get<double>() / cycles.get<double>();
  } else if (!value.is_number()) {  // of several metrics
    metric = "edp";
    value = at(document, "totals", "edp");
  }
  std::size_t found = 0;
  for (const Json& layer : document.value("layers", Json::array())) found += layer.value("status", "") == "ok" ? 1 : 0;
  const std::size_t layers = document.value("layers", Json::array()).size();
  return {{"measure", metric},
          {"value", found == layers ? value : Json()},
          {"latency", at(document, "totals", "latency")},
          {"energy", at(document, "totals", "energy")},
          {"layers", layers},
          {"found", found}};
}

Json compare_summary(const Json& document) {
  Json json{{"measure", "factor of the best known"}, {"objective", document.value("objective", Json())}};
  json["contenders"] = Json::array();
  for (const Json& contender : document.value("contenders", Json::array())) {
    const Json standings = contender.value("standings", Json::array());
    json["contenders"].push_back({{"label", contender.value("label", "")},
                                  {"budget", standings.empty() ? Json() : standings.back().value("budget", Json())},
                                  {"factor", standings.empty() ? Json() : standings.back().value("factor", Json())}});
  }
  return json;
}

Json codesign_summary(const Json& document) {
  return {{"measure", "cycles"},
          {"value", at(document, "totals", "cycles")},
          {"energy", at(document, "totals", "energy")},
          {"area", document.value("area", Json())},
          {"verified", at(document, "verification", "equal")}};
}

Json train_summary(const Json& document) {
  return {{"measure", "return"},
          {"value", at(document, "return", "total")},
          {"greedy", at(document, "greedy_return", "total")},
          {"episodes", document.value("episodes", Json())}};
}

Json evaluate_summary(const Json& document) {
  double edp = 0, cycles = 0;
  std::size_t found = 0, layers = 0;
  for (const Json& layer : document.value("layers", Json::array())) {
    ++layers;
    if (layer.value("status", "") != "ok") continue;
    ++found;
    const double count = layer.value("count", 1.0);
    const Json& cost = layer.contains("cost") ? layer["cost"] : layer;
    for (const char* name : {"runtime", "cycles", "latency"}) {
      if (cost.contains(name) && cost[name].is_number()) {
        cycles += count * cost[name].get<double>();
        break;
      }
    }
    for (const char* name : {"edp_nj_cycles", "edp"}) {
      if (cost.contains(name) && cost[name].is_number()) {
        edp += count * cost[name].get<double>();
        break;
      }
    }
  }
  const bool whole = found == layers && cycles > 0;
  return {{"measure", "cycles"},
          {"value", whole ? Json(cycles) : Json()},
          {"sum_of_edp", whole ? Json(edp) : Json()},
          {"layers", layers},
          {"found", found}};
}

// A comparison's document without what depends on the day.
Result<std::string> comparison_document(const Campaign& campaign, std::size_t study) {
  TW_TRY(const StudyRequest request, request_of(campaign.plan.studies[study]));
  TW_TRY(const std::unique_ptr<OpenComparison> open, open_comparison(std::get<CompareRequest>(request)));
  for (std::size_t task = campaign.first[study]; task < campaign.first[study + 1]; ++task) {
    const std::optional<FinishedWork> work = campaign.store.find(campaign.tasks[task].key);
    if (!work || !take_result(open->runs, campaign.tasks[task].part, work->result)) {
      return invalid(fmt::format("task {} has no whole document, expected it done", task + 1));
    }
  }
  Json json = Json::parse(to_json(summarise(*open->plan, open->runs)));
  const auto strip = [](Json& part) {
    for (const char* name : {"command", "seconds", "cpu_seconds", "samples_per_second"}) part.erase(name);
  };
  strip(json);
  for (Json& contender : json["contenders"]) strip(contender);
  return sealed(std::move(json), 1);
}

}  // namespace

Result<std::string> document_of(const Campaign& campaign, std::size_t study) {
  if (campaign.plan.studies[study].verb == CampaignVerb::Compare) return comparison_document(campaign, study);
  const std::optional<FinishedWork> work = campaign.store.find(campaign.tasks[campaign.first[study]].key);
  if (!work) return invalid(fmt::format("task {} has no whole document, expected it done", campaign.first[study] + 1));
  return work->result.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json summary_of(const PlannedStudy& study, const Json& document) {
  if (!document.is_object()) return Json::object();
  switch (study.verb) {
    case CampaignVerb::Map:
      return map_summary(document);
    case CampaignVerb::Compare:
      return compare_summary(document);
    case CampaignVerb::Codesign:
      return codesign_summary(document);
    case CampaignVerb::Train:
      return train_summary(document);
    case CampaignVerb::Evaluate:
      return evaluate_summary(document);
  }
  return Json::object();
}

Json standings_of(const std::vector<PlannedStudy>& studies, const std::vector<StudyState>& states) {
  struct Group {
    std::string name, measure;
    std::size_t studies = 0;
    std::vector<double> values;
  };
  std::vector<Group> groups;
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < studies.size(); ++i) {
    if (studies[i].verb == CampaignVerb::Compare) continue;  // has standings of its own
    PlannedStudy alike = studies[i];
    std::erase_if(alike.varied, [](const auto& axis) { return axis.first == "seed"; });
    const std::string name = title_of(alike);
    const auto [place, fresh] = index.emplace(name, groups.size());
    if (fresh) groups.push_back({.name = name, .measure = {}, .studies = 0, .values = {}});
    Group& group = groups[place->second];
    ++group.studies;
    if (!states[i].summary) continue;
    group.measure = states[i].summary->value("measure", "");
    const Json value = states[i].summary->value("value", Json());
    if (value.is_number()) group.values.push_back(value.get<double>());
  }
  Json standings = Json::array();
  for (const Group& group : groups) {
    Json json{{"name", group.name}, {"measure", group.measure}, {"studies", group.studies}, {"values", group.values.size()}};
    if (!group.values.empty()) {
      const Interval interval = median_interval(group.values, group.name);
      json["median"] = interval.value;
      json["low"] = interval.low;
      json["high"] = interval.high;
    }
    standings.push_back(std::move(json));
  }
  return standings;
}

}  // namespace tilewright
