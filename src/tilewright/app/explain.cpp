#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/app/command_line.hpp"
#include "tilewright/app/commands.hpp"
#include "tilewright/app/print.hpp"
#include "tilewright/app/verb.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/cost/relaxation.hpp"
#include "tilewright/mapping/dataflows.hpp"
#include "tilewright/space/mapping_outcome.hpp"
#include "tilewright/study/common_options.hpp"

namespace tilewright {
namespace {

std::string_view limit_name(Infeasible::Reason reason) {
  switch (reason) {
    case Infeasible::Reason::PeOverflow:
      return "PEs";
    case Infeasible::Reason::L1Overflow:
      return "L1 bytes per PE";
    case Infeasible::Reason::L2Overflow:
      return "L2 bytes";
    case Infeasible::Reason::NocBandwidth:
      return "NoC elements/cycle";
    default:
      return "off-chip elements/cycle";
  }
}

std::string change_text(const TileChange& change) {
  const std::string what = change.dim ? fmt::format("the tile of {}", name_of(*change.dim)) : "the cluster";
  return fmt::format("{} at level {} from {} to {}", what, change.level, with_thousands(change.from),
                     with_thousands(change.to));
}

std::string cost_text(const Cost& cost) {
  return fmt::format("{} cycles, {:.4g} nJ", with_thousands(cost.runtime.value), cost.energy.value);
}

std::string headroom_text(const Cost& cost, const Accelerator& accelerator) {
  std::string text;
  for (const Limit& limit : limits(cost, accelerator)) {
    const std::string most = limit.limit >= kUnlimited ? "unlimited" : with_thousands(limit.limit);
    text += fmt::format("    {:<24} {:>14} of {}\n", limit_name(limit.reason), with_thousands(limit.need), most);
  }
  return text;
}

std::string relaxation_text(const Relaxation& relaxation) {
  std::string text = fmt::format("  infeasible ({}): {}\n", name_of(relaxation.why.reason), to_sentence(relaxation.why));
  if (relaxation.raised_limits.empty()) {
    text += "  No limit of the machine is the reason: raising them does not help.\n";
  } else {
    text += "  It fits a machine with\n";
    for (const Limit& limit : relaxation.raised_limits) {
      text += fmt::format("    {} {} instead of {}\n", with_thousands(limit.need), limit_name(limit.reason),
                          with_thousands(limit.limit));
    }
    if (relaxation.with_raised_limits) text += fmt::format("    -> {}\n", cost_text(*relaxation.with_raised_limits));
  }
  if (relaxation.tiles.empty()) {
    text += "  No change of tiles was found that makes it fit.\n";
  } else {
    text +=
        fmt::format("  It fits this machine with {} changed\n", relaxation.tiles.size() == 1 ? "one tile" : "these tiles");
    for (const TileChange& change : relaxation.tiles) text += fmt::format("    {}\n", change_text(change));
    text += fmt::format("    -> {}\n", cost_text(*relaxation.with_changed_tiles));
  }
  return text;
}

nlohmann::ordered_json relaxation_json(const Relaxation& relaxation) {
  nlohmann::ordered_json json;
  json["status"] = "error";
  json["reason"] = name_of(relaxation.why.reason);
  json["msg"] = to_sentence(relaxation.why);
  json["raised_limits"] = nlohmann::ordered_json::array();
  for (const Limit& limit : relaxation.raised_limits) {
    json["raised_limits"].push_back({{"reason", name_of(limit.reason)}, {"need", limit.need}, {"limit", limit.limit}});
  }
  json["tiles"] = nlohmann::ordered_json::array();
  for (const TileChange& change : relaxation.tiles) {
    json["tiles"].push_back({{"level", change.level},
                             {"dim", change.dim ? std::string(name_of(*change.dim)) : "cluster"},
                             {"from", change.from},
                             {"to", change.to}});
  }
  if (relaxation.changed) json["mapping"] = to_maestro(*relaxation.changed);
  return json;
}

// What is explained of a layer: the mapping that was given, or the classic dataflow that comes nearest.
struct Candidate {
  std::string dataflow;  // empty: a mapping file
  Mapping mapping;
  std::optional<Relaxation> relaxation;  // nothing when it fits the machine
  std::optional<Cost> cost;              // when it fits
  Metrics metrics;                       // likewise
};

Candidate candidate_of(const std::string& dataflow, const Mapping& mapping, const LayerJob& layer, const Job& job) {
  Candidate candidate{dataflow, mapping, relax(mapping, layer.nest, job.accelerator, job.model), {}, {}};
  if (candidate.relaxation) return candidate;
  const Evaluation evaluation = evaluate(mapping, layer.nest, job.accelerator, job.model);
  candidate.cost = std::get<Cost>(evaluation);
  candidate.metrics = outcome_of(evaluation, macs(layer.nest), job.accelerator, false).metrics;
  return candidate;
}

// Fitting the machine comes first, then keeping the limits, then being mended by smaller tiles.
Result<Candidate> nearest_classic(const LayerJob& layer, const Job& job, const std::string& wanted, const Limits& limits) {
  std::optional<Candidate> nearest;
  std::optional<Error> error;
  const auto rank = [&](const Candidate& one) {
    return std::pair(one.cost ? 0 : one.relaxation->tiles.empty() ? 2 : 1, one.cost ? excess_of(limits, one.metrics) : 0);
  };
  for (const Dataflow& known : dataflows()) {
    if (!wanted.empty() && known.name != wanted) continue;
    const Result<Mapping> mapping = dataflow(known.name, layer.nest, job.accelerator, StridedTiles::Several);
    if (!mapping) {
      error = mapping.error();
      continue;
    }
    Candidate one = candidate_of(std::string(known.name), *mapping, layer, job);
    if (!nearest || rank(one) < rank(*nearest)) nearest = std::move(one);
  }
  if (nearest) return *std::move(nearest);
  return *error;
}

std::string limits_text(const Limits& limits, const Metrics& metrics) {
  std::string text;
  std::string relaxed;
  for (const auto& [metric, limit] : limits_of(limits)) {
    const double value = value_of(metric, metrics);
    text += fmt::format("    {:<24} {:>14.6g} {} of {:.6g}", name_of(metric), value, unit_of(metric), limit);
    if (value > limit) {
      text += fmt::format(": {:.4g} times too much", value / limit);
      relaxed += fmt::format(" --max-{} {}", name_of(metric), value);
    }
    text += "\n";
  }
  if (!relaxed.empty()) text += fmt::format("  It keeps the limits with{}\n", relaxed);
  return text;
}

nlohmann::ordered_json limits_json(const Limits& limits, const Metrics& metrics) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [metric, limit] : limits_of(limits)) {
    const double value = value_of(metric, metrics);
    json[std::string(name_of(metric))] = {{"limit", limit}, {"value", value}, {"factor", value / limit}};
  }
  return json;
}

Result<Job> explained_job(const ExplainArguments& arguments) {
  if (arguments.job.network.empty()) return invalid("--network is missing, expected zoo:NAME or a file");
  if (arguments.job.hardware.empty()) return invalid("--hardware is missing, expected zoo:NAME or a file");
  JobArguments wanted = arguments.job;
  const bool brings_mappings = wanted.network.ends_with(".m");
  if (wanted.mapping.empty() && wanted.dataflow.empty() && !brings_mappings) wanted.dataflow = dataflows().front().name;
  TW_TRY(Job job, read_job(wanted));
  TW_TRY(job.accelerator, within_limits(std::move(job.accelerator), arguments.limits, wanted.hardware));
  if (is_maestro(job.model)) {
    return invalid(fmt::format("explain is about the sound and exact models, --model is '{}'", name_of(job.model)));
  }
  return job;
}

}  // namespace

int run_explain(const ExplainArguments& arguments) {
  const Result<Job> job = explained_job(arguments);
  if (!job) return report(job.error());
  const Result<Limits> limits = limits_from(arguments.limits);
  if (!limits) return report(limits.error());
  Objective objective;
  objective.limits = *limits;
  if (const Result<Done> known = check_area(objective, job->accelerator, arguments.job.hardware); !known) {
    return report(known.error());
  }
  const bool classic = arguments.job.mapping.empty() && !arguments.job.network.ends_with(".m");

  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  bool all_fit = true;
  for (const LayerJob& layer : job->layers) {
    std::string text = fmt::format("{} / {} on {}\n", job->network, layer.name, job->accelerator.name);
    nlohmann::ordered_json entry{{"name", layer.name}};
    Result<Candidate> candidate = layer.mapping || classic ? Result<Candidate>(Candidate{}) : layer.mapping.error();
    if (classic || !arguments.job.dataflow.empty()) {
      candidate = nearest_classic(layer, *job, arguments.job.dataflow, *limits);
    } else if (layer.mapping) {
      candidate = candidate_of("", *layer.mapping, layer, *job);
    }
    if (!candidate) {
      all_fit = false;
      text += fmt::format("  no mapping: {}\n", candidate.error().message);
      entry.update({{"status", "error"}, {"reason", "no-mapping"}, {"msg", candidate.error().message}});
    } else {
      if (!candidate->dataflow.empty()) {
        entry["dataflow"] = candidate->dataflow;
        if (arguments.job.dataflow.empty()) text += fmt::format("  the nearest classic dataflow, {}\n", candidate->dataflow);
      }
      if (candidate->relaxation) {
        all_fit = false;
        text += relaxation_text(*candidate->relaxation);
        entry.update(relaxation_json(*candidate->relaxation));
      } else {
        const auto broken = broken_limit(*limits, candidate->metrics);
        all_fit = all_fit && !broken;
        text += fmt::format("  {}: {}\n", broken ? "fits the machine, but not the limits" : "feasible",
                            cost_text(*candidate->cost));
        text += headroom_text(*candidate->cost, job->accelerator) + limits_text(*limits, candidate->metrics);
        entry["status"] = broken ? "over-limit" : "ok";
        if (limits_of(*limits).size() > 0) entry["limits"] = limits_json(*limits, candidate->metrics);
      }
    }
    if (!arguments.json) print(text);
    json.push_back(std::move(entry));
  }
  if (arguments.json) print(nlohmann::ordered_json{{"layers", json}}.dump(2) + "\n");
  return all_fit ? kExitDone : kExitInfeasible;
}

Verb explain_verb() {
  const auto arguments = std::make_shared<ExplainArguments>();
  OptionTable options = job_options(arguments->job);
  options.push_back(batch_field(arguments->job.batch));
  options.push_back({"json", &arguments->json, "everything as JSON"});
  for (OptionField& field : options_of(arguments->limits)) options.push_back(std::move(field));
  return {
      .name = "explain",
      .summary = "why a mapping does not fit, and the smallest change that makes it fit",
      .options = std::move(options),
      .footer = dataflow_help() +
                examples_text(
                    {{"tilewright explain --network zoo:resnet18 --layer conv2_1 --hardware zoo:eyeriss --dataflow eyeriss",
                      "what it needs of what there is"},
                     {"tilewright explain --network zoo:alexnet --layer conv3 --hardware zoo:eyeriss",
                      "without a mapping: the classic dataflow that is nearest to fitting"}}),
      .run = [arguments] { return run_explain(*arguments); }};
}

}  // namespace tilewright
