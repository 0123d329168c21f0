#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/report/evaluation.hpp"
#include "tilewright/report/explanation_parts.hpp"

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

std::string layer_text(const ExplainedLayer& layer, const ExplanationStudy& study) {
  if (!layer.candidate) return fmt::format("  no mapping: {}\n", layer.candidate.error().message);
  const Candidate& candidate = *layer.candidate;
  std::string text;
  if (!candidate.dataflow.empty() && study.is_nearest) {
    text += fmt::format("  the nearest classic dataflow, {}\n", candidate.dataflow);
  }
  if (candidate.relaxation) return text + relaxation_text(*candidate.relaxation);
  const auto broken = broken_limit(study.limits, candidate.metrics);
  text +=
      fmt::format("  {}: {}\n", broken ? "fits the machine, but not the limits" : "feasible", cost_text(*candidate.cost));
  return text + headroom_text(*candidate.cost, study.accelerator) + limits_text(study.limits, candidate.metrics);
}

}  // namespace

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

std::string to_text(const ExplanationStudy& study) {
  std::string text;
  for (const ExplainedLayer& layer : study.layers) {
    text += fmt::format("{} / {} on {}\n", study.network, layer.name, study.accelerator.name) + layer_text(layer, study);
  }
  return text;
}

}  // namespace tilewright
