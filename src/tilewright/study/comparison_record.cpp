#include "tilewright/study/comparison_record.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/study/input_facts.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

Json ledger_json(const Ledger& ledger) {
  Json json{{"samples", ledger.samples}, {"valid", ledger.valid}, {"repeated", ledger.repeated}};
  json["classics"] = ledger.classics;
  if (ledger.best) json["best"] = {{"point", ledger.best->point}, {"score", ledger.best->score}};
  json["improvements"] = Json::array();
  for (const Improvement& improvement : ledger.improvements) {
    json["improvements"].push_back({improvement.sample, improvement.score});
  }
  return json;
}

Ledger ledger_from(const Json& json) {
  Ledger ledger;
  json.at("samples").get_to(ledger.samples);
  json.at("valid").get_to(ledger.valid);
  json.at("repeated").get_to(ledger.repeated);
  json.at("classics").get_to(ledger.classics);
  if (json.contains("best")) {
    ledger.best.emplace();
    json["best"].at("point").get_to(ledger.best->point);
    json["best"].at("score").get_to(ledger.best->score);
  }
  for (const Json& entry : json.at("improvements")) {
    ledger.improvements.push_back({entry.at(0).get<std::int64_t>(), entry.at(1).get<Score>()});
  }
  return ledger;
}

Json audit_json(const AuditSummary& audit) {
  return {{"proposals", audit.proposals}, {"distinct", audit.distinct}, {"invalid", audit.invalid},
          {"stuck", audit.stuck},         {"movable", audit.movable},   {"never_moved", audit.never_moved}};
}

AuditSummary audit_from(const Json& json) {
  return {.proposals = json.at("proposals").get<double>(),
          .distinct = json.at("distinct").get<double>(),
          .invalid = json.at("invalid").get<double>(),
          .never_moved = json.at("never_moved").get<std::vector<std::string>>(),
          .stuck = json.at("stuck").get<std::int64_t>(),
          .movable = json.at("movable").get<std::int64_t>()};
}

Json job_facts(const DesignJob& job) {
  MappingInputs inputs = job.inputs;
  MappingOptions options = job.options;
  Json arguments = to_json(options_of(inputs, options, NetworkIs::Flag));
  arguments["no_classics"] = options.no_classics;
  Json problems = Json::array();
  for (const DesignProblem* problem : job.design_problems()) {
    problems.push_back({problem->name, problem->count, fmt::format("{:016x}", problem->space->problem_key())});
  }
  return {{"arguments", arguments}, {"inputs", input_facts(arguments)}, {"problems", problems}};
}

constexpr std::string_view name_of(AssignmentSource source) {
  switch (source) {
    case AssignmentSource::AsSet:
      return "as set";
    case AssignmentSource::RandomAsMany:
      return "random, as many";
    case AssignmentSource::OtherNetwork:
      return "of another network";
  }
  return "?";
}

bool is_audited(const ComparisonPlan& plan, const ComparisonRun& run) {
  return run.seed == 0 && run.budget + 1 == plan.budgets.size();
}

}  // namespace

ComparisonRuns planned_runs(const ComparisonPlan& plan) {
  ComparisonRuns runs;
  for (std::size_t seed = 0; seed < static_cast<std::size_t>(plan.seeds); ++seed) {
    for (std::size_t budget = plan.budgets.size(); budget-- > 0;) {
      for (std::size_t contender = 0; contender < plan.contenders.size(); ++contender) {
        ComparisonRun& run = runs.runs.emplace_back();
        run.contender = contender;
        run.budget = budget;
        run.seed = seed;
        run.audited = is_audited(plan, run);
      }
    }
  }
  if (plan.target) runs.targets.resize(plan.job.spaces().size());
  return runs;
}

std::size_t task_count(const ComparisonRuns& runs) { return runs.targets.size() + runs.runs.size(); }

std::int64_t samples_of_task(const ComparisonPlan& plan, const ComparisonRuns& runs, std::size_t task) {
  if (task < runs.targets.size()) return plan.target->samples;
  return plan.budgets[runs.runs[task - runs.targets.size()].budget] * static_cast<std::int64_t>(plan.job.spaces().size());
}

Json common_facts(const ComparisonPlan& plan) { return job_facts(plan.job); }

Json asked_of(const ComparisonPlan& plan, const ComparisonRuns& runs, std::size_t task, const Json& common) {
  Json asked{{"verb", "compare"}, {"version", TILEWRIGHT_VERSION}, {"job", common}};
  if (task < runs.targets.size()) {
    asked["target"] = {{"search", text_of(*plan.target)},
                       {"layer", task},
                       {"seed", plan.first_seed},
                       {"settings", plan.contenders.front().settings}};
    return asked;
  }
  const ComparisonRun& run = runs.runs[task - runs.targets.size()];
  const Contender& contender = plan.contenders[run.contender];
  asked["run"] = {{"search", contender.searcher},
                  {"settings", contender.settings},
                  {"samples", plan.budgets[run.budget]},
                  {"seed", plan.seed(run.seed)},
                  {"audited", run.audited}};
  Json settings = Json::array();  // some name a file
  for (const auto& [name, value] : contender.settings) settings.push_back(fmt::format("{}={}", name, value));
  if (Json facts = input_facts({{"settings", settings}}); !facts.empty()) asked["run"]["inputs"] = std::move(facts);
  if (contender.has_team) asked["run"]["team"] = plan.team_facts;
  if (contender.source != AssignmentSource::AsSet) asked["run"]["agents"] = name_of(contender.source);
  if (contender.source == AssignmentSource::OtherNetwork)
    asked["run"]["elsewhere"] = job_facts(tilewright::common(*plan.elsewhere));
  return asked;
}

Json result_of(const ComparisonRuns& runs, std::size_t task) {
  if (task < runs.targets.size()) return {{"layers", {ledger_json(runs.targets[task].ledger)}}};
  const ComparisonRun& run = runs.runs[task - runs.targets.size()];
  Json json{{"layers", Json::array()}, {"agents", run.agents}};
  for (const Ledger& ledger : run.layers) json["layers"].push_back(ledger_json(ledger));
  if (run.audit) json["audit"] = audit_json(*run.audit);
  return json;
}

bool take_result(ComparisonRuns& runs, std::size_t task, const Json& result) {
  try {
    std::vector<Ledger> ledgers;
    for (const Json& ledger : result.at("layers")) ledgers.push_back(ledger_from(ledger));
    if (task < runs.targets.size()) {
      if (ledgers.size() != 1) return false;
      runs.targets[task] = {true, std::move(ledgers.front())};
      return true;
    }
    ComparisonRun& run = runs.runs[task - runs.targets.size()];
    std::optional<AuditSummary> audit;
    if (run.audited) audit = audit_from(result.at("audit"));
    result.at("agents").get_to(run.agents);
    run.audit = std::move(audit);
    run.layers = std::move(ledgers);
    run.done = true;
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

}  // namespace tilewright
