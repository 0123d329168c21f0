#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/report/explanation_parts.hpp"
#include "tilewright/report/hierarchy_evaluation.hpp"
#include "tilewright/study/units.hpp"

namespace tilewright {
namespace {

using hierarchy::Machine;
using hierarchy::MachineChange;

std::string costs(const hierarchy::Cost& cost) {
  return fmt::format("{} cycles, {}", with_thousands(cost.cycles.value), in_units(cost.energy.value * 1e-12, "J"));
}

std::string change_text(const MachineChange& change, const Machine& machine) {
  const std::string& level = level_name(machine, change.level);
  if (change.what == MachineChange::What::Utilization) {
    return fmt::format("min_utilization {:.4g} of {} instead of {:.4g}", change.to, level, change.from);
  }
  const std::string_view unit = change.what == MachineChange::What::Capacity  ? "words in a copy"
                                : change.what == MachineChange::What::Columns ? "columns"
                                                                              : "rows";
  return fmt::format("{} {} of {} instead of {}", with_thousands(static_cast<std::int64_t>(change.to)), unit, level,
                     with_thousands(static_cast<std::int64_t>(change.from)));
}

std::string relaxation_text(const hierarchy::Relaxation& relaxation, const hierarchy::Problem& problem,
                            const Machine& machine) {
  std::string text =
      fmt::format("  does not fit ({}): {}\n", name_of(relaxation.why.reason), to_sentence(relaxation.why, machine));
  text += "  It fits a machine with\n";
  for (const MachineChange& change : relaxation.fitting.changes)
    text += fmt::format("    {}\n", change_text(change, machine));
  if (relaxation.fitting.cost) text += fmt::format("    -> {}\n", costs(*relaxation.fitting.cost));
  if (relaxation.moves.empty()) return text + "  No move of loops was found that makes it fit.\n";
  text += fmt::format("  It fits this machine with {} moved\n", relaxation.moves.size() == 1 ? "one loop" : "these loops");
  for (const hierarchy::LoopMove& move : relaxation.moves) {
    text += fmt::format("    {}{}, {} {}, to the time of {}\n", problem.dims[move.dim], move.factor,
                        move.was_spread ? "spread inside" : "in time at", level_name(machine, move.from),
                        level_name(machine, move.to));
  }
  return text + fmt::format("    -> {}\n", costs(*relaxation.with_moves));
}

std::string headroom_text(const hierarchy::Analysis& analysis, const Machine& machine) {
  std::string text;
  for (std::size_t index = machine.levels.size(); index-- > 0;) {
    const auto usable = machine.levels[index].usable();
    if (!usable) continue;
    text += fmt::format("    {:<24} {:>14} of {} words in a copy\n", machine.levels[index].name,
                        with_thousands(analysis.levels[index].held), with_thousands(*usable));
  }
  return text + fmt::format("    {:<24} {:>14} of {} in use\n", machine.mac.name, with_thousands(analysis.macs),
                            with_thousands(machine.mac.instances));
}

std::string layer_text(const HierarchyExplainedLayer& layer, const HierarchyExplanationStudy& study) {
  if (!layer.candidate) return fmt::format("  no mapping: {}\n", layer.candidate.error().message);
  const HierarchyCandidate& candidate = *layer.candidate;
  std::string text;
  if (study.is_nearest && candidate.dataflow == kOutermost) {
    text += "  no classic dataflow comes nearer than all loops outermost, where every level holds as little as can be\n";
  } else if (study.is_nearest) {
    text += fmt::format("  the nearest classic dataflow, {}\n", candidate.dataflow);
  }
  if (candidate.relaxation) return text + relaxation_text(*candidate.relaxation, layer.problem, study.machine);
  const auto broken = broken_limit(study.limits, candidate.metrics);
  text += fmt::format("  {}: {}\n", broken ? "fits the machine, but not the limits" : "feasible",
                      costs(candidate.analysis->cost));
  return text + headroom_text(*candidate.analysis, study.machine) + limits_text(study.limits, candidate.metrics);
}

}  // namespace

std::string to_text(const HierarchyExplanationStudy& study) {
  std::string text;
  for (const HierarchyExplainedLayer& layer : study.layers) {
    text += fmt::format("{} / {} on {}\n", study.network, layer.name, study.machine.name) + layer_text(layer, study);
  }
  return text;
}

}  // namespace tilewright
