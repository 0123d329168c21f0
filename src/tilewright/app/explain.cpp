#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/app/commands.hpp"
#include "tilewright/app/print.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/cost/relaxation.hpp"

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

}  // namespace

int run_explain(const ExplainArguments& arguments) {
  if (arguments.job.network.empty()) return report(invalid("--network is missing, expected zoo:NAME or a file"));
  if (arguments.job.hardware.empty()) return report(invalid("--hardware is missing, expected zoo:NAME or a file"));
  const Result<Job> job = read_job(arguments.job);
  if (!job) return report(job.error());
  if (is_maestro(job->model)) {
    return report(invalid(fmt::format("explain is about the sound and exact models, --model is '{}'", name_of(job->model))));
  }

  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  bool all_fit = true;
  for (const LayerJob& layer : job->layers) {
    std::string text = fmt::format("{} / {} on {}\n", job->network, layer.name, job->accelerator.name);
    nlohmann::ordered_json entry{{"name", layer.name}};
    if (!layer.mapping) {
      all_fit = false;
      text += fmt::format("  no mapping: {}\n", layer.mapping.error().message);
      entry.update({{"status", "error"}, {"reason", "no-mapping"}, {"msg", layer.mapping.error().message}});
    } else if (const auto relaxation = relax(*layer.mapping, layer.nest, job->accelerator, job->model)) {
      all_fit = false;
      text += relaxation_text(*relaxation);
      entry.update(relaxation_json(*relaxation));
    } else {
      const Cost cost = std::get<Cost>(evaluate(*layer.mapping, layer.nest, job->accelerator, job->model));
      text += fmt::format("  feasible: {}\n", cost_text(cost)) + headroom_text(cost, job->accelerator);
      entry["status"] = "ok";
    }
    if (!arguments.json) print(text);
    json.push_back(std::move(entry));
  }
  if (arguments.json) print(nlohmann::ordered_json{{"layers", json}}.dump(2) + "\n");
  return all_fit ? kExitDone : kExitInfeasible;
}

}  // namespace tilewright
