#include "tilewright/study/mapping_record.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/text.hpp"
#include "tilewright/study/network_json.hpp"

namespace tilewright {

using Json = nlohmann::ordered_json;

namespace {

// Why a layer has no mapping, and what would have to give.
std::string failure_of(const LayerRecord& layer, const Objective& objective, const Metrics* nearest) {
  const std::string samples = with_thousands(layer.ledger.samples);
  const std::string tells = fmt::format("`{}` tells more", layer.explain);
  if (nearest == nullptr) {
    const std::string why = layer.rejected.empty() ? "no sample was drawn" : "mostly " + layer.rejected.front().first;
    return fmt::format("Layer {}: none of {} samples is feasible ({}); {}.", layer.name, samples, why, tells);
  }
  std::string least, relax;
  const auto limits = limits_of(objective.limits);
  for (std::size_t i = 0; i < limits.size(); ++i) {
    const auto& [metric, limit] = limits[i];
    least += fmt::format("{}{} {:.6g} {} (limit {:.6g})", least.empty() ? "" : ", ", name_of(metric),
                         layer.ledger.limits->least[i], unit_of(metric), limit);
    const double value = value_of(metric, *nearest);
    if (value > limit) relax += fmt::format(" --max-{} {}", name_of(metric), value);
  }
  return fmt::format("Layer {}: none of {} samples keeps the limits. The least seen: {}. There is an answer with{}; {}.",
                     layer.name, samples, least, relax, tells);
}

}  // namespace

bool is_loss(const LayerRecord& layer) { return layer.dataflow_factor && *layer.dataflow_factor < 0.9999; }

std::vector<std::string> search_remarks(const StudyRecord& study, const std::vector<LayerAnswer>& layers) {
  std::vector<std::string> remarks;
  std::int64_t samples = 0;
  for (const LayerAnswer& answer : layers) samples += answer.layer->ledger.samples;
  if (study.interrupted) {
    remarks.push_back(fmt::format("Stopped early: {} of {} samples were spent; the best so far is kept.",
                                  with_thousands(samples), with_thousands(study.samples * std::ssize(layers))));
  }
  if (study.search == "exhaustive" && std::ranges::any_of(layers, [&](const LayerAnswer& answer) {
        return answer.layer->ledger.samples == study.samples;
      })) {
    remarks.push_back(fmt::format("{} samples per layer were spent before every mapping was evaluated: better may be left.",
                                  with_thousands(study.samples)));
  }
  for (const LayerAnswer& answer : layers) {
    if (!answer.found) remarks.push_back(failure_of(*answer.layer, study.objective, answer.nearest));
  }
  std::string losses;
  for (const LayerAnswer& answer : layers) {
    const LayerRecord& layer = *answer.layer;
    if (!is_loss(layer)) continue;
    losses +=
        fmt::format("{}{} ({:.2f} of {})", losses.empty() ? "" : ", ", layer.name, *layer.dataflow_factor, layer.dataflow);
  }
  if (!losses.empty()) {
    remarks.push_back(fmt::format("A classic dataflow is better than what was found: {}. Try more --samples.", losses));
  }
  return remarks;
}

void record(StudyRecord& study, const DesignJob& job, const SearchOptions& options, const SearchStudy& found) {
  study.network = job.network_name;
  study.objective = job.options.objective;
  study.search = options.search;
  study.samples = options.samples;
  study.seed = options.seed;
  study.settings = found.settings;
  study.interrupted = found.interrupted;
  study.coverage = job.coverage;
  study.from = options.from;
  study.known_before = found.known_before;
  if (const auto* agents = dynamic_cast<const AgentsStory*>(found.story.get())) study.agents = *agents;
}

void record(LayerRecord& layer, const DesignProblem& problem, const Ledger& ledger) {
  layer.name = problem.name;
  layer.count = problem.count;
  layer.members = problem.members;
  layer.ledger = ledger;
  for (const auto& [reason, count] : ledger.rejected) {
    layer.rejected.emplace_back(reason == kOverLimit ? "over-limit" : problem.space->reason_name(reason), count);
  }
  std::ranges::stable_sort(layer.rejected, std::ranges::greater{}, &std::pair<std::string, std::int64_t>::second);
}

void add_limits(Json& json, const LayerRecord& layer, const Limits& limits) {
  const auto all = limits_of(limits);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double least = layer.ledger.limits->least[i];
    json["limits"][std::string(name_of(all[i].first))] = {
        {"limit", all[i].second}, {"least", least}, {"factor", least / all[i].second}};
  }
}

void read_limits(const Json& json, LayerRecord& layer, const Limits& limits) {
  LimitStory& story = layer.ledger.limits.emplace();
  for (const auto& [metric, limit] : limits_of(limits)) {
    story.least.push_back(json.at("limits").at(std::string(name_of(metric))).at("least").get<double>());
  }
}

void add_search(Json& json, const StudyRecord& study) {
  json["search"] = study.search;
  json["samples"] = study.samples;
  json["seed"] = study.seed;
  json["interrupted"] = study.interrupted;
  json["settings"] = Json::object();
  json["limits"] = Json::object();
  for (const SettingValue& setting : study.settings) json["settings"][setting.name] = setting.value;
  for (const auto& [metric, limit] : limits_of(study.objective.limits)) json["limits"][std::string(name_of(metric))] = limit;
  if (!study.from.empty()) json["from"] = study.from;
}

void add_agents(Json& json, const StudyRecord& study) {
  if (!study.agents) return;
  json["agents"] = {{"origin", study.agents->assignment.origin},
                    {"explored", study.agents->explored},
                    {"revisions", study.agents->revisions},
                    {"assignment", study.agents->assignment.agents}};
}

void add_dataflows(Json& json, const LayerRecord& layer) {
  json["dataflows"] = Json::object();
  for (const auto& [name, objective] : layer.dataflows) json["dataflows"][name] = objective;
  json["classics"] = layer.ledger.classics;
}

void add_samples(Json& json, const LayerRecord& layer) {
  json["samples"] = layer.ledger.samples;
  json["valid"] = layer.ledger.valid;
  json["repeated"] = layer.ledger.repeated;
  json["rejected"] = Json::object();
  for (const auto& [reason, count] : layer.rejected) json["rejected"][reason] = count;
}

void add_samples(Json& json, const SampleTotals& totals) {
  json["classics"] = totals.classics;
  json["samples"] = totals.samples;
  json["valid"] = totals.valid;
  json["repeated"] = totals.repeated;
}

Result<Done> read_record(const Json& json, StudyRecord& study) {
  study.network = json.at("network").get<std::string>();
  TW_TRY(study.objective, objective_named(json.at("objective").get<std::string>()));
  const auto limit = [&limits = json.at("limits")](const char* name) {
    return limits.contains(name) ? std::optional<double>(limits.at(name).get<double>()) : std::nullopt;
  };
  study.objective.limits = {limit("latency"), limit("energy"), limit("area"), limit("power")};
  study.search = json.at("search").get<std::string>();
  study.samples = json.at("samples").get<std::int64_t>();
  study.seed = json.at("seed").get<std::uint64_t>();
  study.interrupted = json.at("interrupted").get<bool>();
  for (const auto& [name, value] : json.at("settings").items()) {
    study.settings.push_back({name, value.get<std::string>(), ""});
  }
  if (json.contains("from")) study.from = json.at("from").get<std::string>();
  TW_TRY(study.coverage, coverage_from(json.at("coverage")));
  if (json.contains("agents")) {
    const Json& agents = json.at("agents");
    AgentsStory& story = study.agents.emplace();
    story.assignment.origin = agents.at("origin").get<std::string>();
    story.assignment.agents = agents.at("assignment").get<std::vector<std::vector<std::string>>>();
    story.explored = agents.at("explored").get<std::int64_t>();
    story.revisions = agents.at("revisions").get<std::int64_t>();
  }
  return Done{};
}

void read_record(const Json& json, LayerRecord& layer) {
  layer.name = json.at("name").get<std::string>();
  layer.count = json.at("count").get<std::int64_t>();
  layer.members = json.at("members").get<std::vector<std::string>>();
  layer.ledger.classics = json.at("classics").get<std::int64_t>();
  layer.ledger.samples = json.at("samples").get<std::int64_t>();
  layer.ledger.valid = json.at("valid").get<std::int64_t>();
  layer.ledger.repeated = json.at("repeated").get<std::int64_t>();
  for (const auto& [reason, count] : json.at("rejected").items()) {
    layer.rejected.emplace_back(reason, count.get<std::int64_t>());
  }
  if (json.contains("explain")) layer.explain = json.at("explain").get<std::string>();
}

}  // namespace tilewright
