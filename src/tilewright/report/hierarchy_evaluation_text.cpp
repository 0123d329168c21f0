#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/csv.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/hierarchy/mapping_text.hpp"
#include "tilewright/report/hierarchy_energy.hpp"
#include "tilewright/report/hierarchy_evaluation.hpp"
#include "tilewright/study/units.hpp"

namespace tilewright {
namespace {

using hierarchy::Analysis;
using hierarchy::LevelAnalysis;
using hierarchy::Machine;

std::string time_text(std::int64_t cycles, const Machine& machine) {
  return in_units(static_cast<double>(cycles) / (machine.clock_ghz * 1e9), "s");
}

std::string joules(double picojoules) { return in_units(picojoules * 1e-12, "J"); }

// What tiles take of every level, and how long each is busy: the slowest says how long it all takes.
std::string level_lines(const Analysis& analysis, const Machine& machine) {
  std::string text =
      fmt::format("  {:<14} {:>14} {:>14} {:>14} {:>16}\n", "levels", "copies", "words held", "of", "busy cycles");
  const auto line = [&](const std::string& name, std::int64_t used, std::int64_t copies, const std::string& held,
                        const std::string& of, std::int64_t cycles, bool limits) {
    text += fmt::format("    {:<12} {:>14} {:>14} {:>14} {:>16}{}\n", name, fmt::format("{} of {}", used, copies), held, of,
                        with_thousands(cycles), limits ? "  limits" : "");
  };
  for (std::size_t index = machine.levels.size(); index-- > 0;) {
    const hierarchy::StorageLevel& storage = machine.levels[index];
    const LevelAnalysis& level = analysis.levels[index];
    const auto usable = storage.usable();
    line(storage.name, level.instances, storage.instances, usable ? with_thousands(level.held) : "-",
         usable ? with_thousands(*usable) : "no limit", level.cycles, analysis.cost.bottleneck == index);
  }
  line(machine.mac.name, analysis.macs, machine.mac.instances, "-", "-", analysis.compute_cycles,
       analysis.cost.bottleneck == hierarchy::kMacLevel);
  return text;
}

std::string access_lines(const std::vector<EnergyPart>& parts, hierarchy::Judge judge) {
  std::string text =
      fmt::format("  {:<29} {:>12} {:>14} {:>14} {:>14} {:>12}\n",
                  judge == hierarchy::Judge::Timeloop ? "accesses of one copy, words" : "accesses of all copies, words",
                  "tile", "reads", "fills", "updates", "energy");
  for (const EnergyPart& part : parts) {
    const hierarchy::TensorCounts& counts = part.counts;
    text += fmt::format("    {:<12} {:<14}", part.level, part.what);
    for (const auto& [number, width] :
         {std::pair(counts.tile, 12), {counts.reads, 14}, {counts.fills, 14}, {counts.updates, 14}}) {
      text += fmt::format(" {:>{}}", counts.kept ? with_thousands(number) : "", width);
    }
    text += fmt::format(" {:>12}\n", joules(part.energy.value));
  }
  return text;
}

std::string cost_text(const HierarchyEvaluatedLayer& result, const Machine& machine, hierarchy::Judge judge) {
  const Analysis& analysis = *result.analysis;
  const hierarchy::Cost& cost = analysis.cost;
  const std::vector<EnergyPart> parts = energy_parts(analysis, result.layer.problem, machine);
  std::string text =
      fmt::format("  latency       {} cycles ({} at {:g} GHz), limited by {}\n", with_thousands(cost.cycles.value),
                  time_text(cost.cycles.value, machine), machine.clock_ghz, level_name(machine, cost.bottleneck));
  text += fmt::format("  MACs          {}\n", with_thousands(analysis.computes));
  text += fmt::format("  utilisation   {:.1f} % of {} MACs\n", 100 * cost.utilization, machine.mac.instances);
  text += fmt::format("  energy        {}\n{}", joules(cost.energy.value), energy_text(parts));
  text += fmt::format("  EDP           {:.6g} J x cycles\n\n", cost.edp());
  return text + level_lines(analysis, machine) + "\n" + access_lines(parts, judge);
}

// One layer, a full page.
std::string layer_text(const HierarchyEvaluationStudy& study, const HierarchyEvaluatedLayer& result) {
  std::string text =
      fmt::format("{} / {} on {} ({} MACs, {} levels), model {}\n\n", study.network, result.layer.name, study.machine.name,
                  study.machine.mac.instances, study.machine.levels.size(), name(study.judge));
  if (result.analysis) {
    text += cost_text(result, study.machine, study.judge);
  } else if (result.infeasible) {
    text += fmt::format("  does not fit ({}): {}\n    need  {:>14}\n    limit {:>14}\n", name_of(result.infeasible->reason),
                        result.failure, with_thousands(result.infeasible->need), with_thousands(result.infeasible->limit));
    text += "  `tilewright explain` with the same options tells what would make it fit.\n";
  } else {
    text += fmt::format("  no mapping: {}\n", result.failure);
  }
  if (result.layer.mapping) text += "\n" + to_text(*result.layer.mapping, result.layer.problem, study.machine);
  return text + "\n" + to_text(study.coverage) + "\n";
}

// A line per layer, totals.
std::string table_text(const HierarchyEvaluationStudy& study) {
  std::size_t width = 5;
  for (const HierarchyEvaluatedLayer& result : study.layers) width = std::max(width, result.layer.name.size());
  std::string text = fmt::format("{} on {} ({} MACs, {} levels), model {}\n\n", study.network, study.machine.name,
                                 study.machine.mac.instances, study.machine.levels.size(), name(study.judge));
  text += fmt::format("{:<{}} {:>5} {:>10} {:>14} {:>7} {:>12} {:>14}  {}\n", "layer", width, "count", "MACs", "cycles",
                      "util", "energy", "EDP J*cycles", "limited by");
  std::vector<EnergyPart> parts;
  std::int64_t cycles = 0;
  double energy = 0, macs = 0;
  std::size_t failed = 0;
  for (const HierarchyEvaluatedLayer& result : study.layers) {
    const HierarchyLayerJob& layer = result.layer;
    if (!result.analysis) {
      ++failed;
      text += fmt::format("{:<{}} {:>5} {}: {}\n", layer.name, width, layer.count,
                          result.infeasible ? "does not fit" : "no mapping", result.failure);
      continue;
    }
    const hierarchy::Cost& cost = result.analysis->cost;
    const auto count = static_cast<double>(layer.count);
    cycles += layer.count * cost.cycles.value;
    energy += count * cost.energy.value;
    macs += count * static_cast<double>(result.analysis->computes);
    add_parts(parts, energy_parts(*result.analysis, layer.problem, study.machine), count);
    text += fmt::format("{:<{}} {:>5} {:>10} {:>14} {:>6.1f}% {:>12} {:>14.6g}  {}\n", layer.name, width, layer.count,
                        with_prefix(static_cast<double>(result.analysis->computes)), with_thousands(cost.cycles.value),
                        100 * cost.utilization, joules(cost.energy.value), cost.edp(),
                        level_name(study.machine, cost.bottleneck));
  }
  text += fmt::format("\n{} MACs, {} cycles ({}), {}, EDP {:.6g} J x cycles", with_prefix(macs), with_thousands(cycles),
                      time_text(cycles, study.machine), joules(energy), energy * static_cast<double>(cycles) * 1e-12);
  text += failed == 0 ? "\n" : fmt::format("; without {} layer{} that have no cost\n", failed, failed == 1 ? "" : "s");
  return text + energy_text(parts) + to_text(study.coverage) + "\n";
}

}  // namespace

std::string to_text(const HierarchyEvaluationStudy& study) {
  return study.layers.size() == 1 ? layer_text(study, study.layers.front()) : table_text(study);
}

std::string to_csv(const HierarchyEvaluationStudy& study) {
  std::string csv =
      fmt::format("layer,count,cycles,energy_pj,edp_j_cycles,utilisation,bottleneck,{}\n", energy_csv_header());
  for (const HierarchyEvaluatedLayer& result : study.layers) {
    if (!result.analysis) continue;
    const hierarchy::Cost& cost = result.analysis->cost;
    const std::string head =
        fmt::format("{},{},{},{},{},{},{}", csv_cell(result.layer.name), result.layer.count, cost.cycles.value,
                    cost.energy.value, cost.edp(), cost.utilization, csv_cell(level_name(study.machine, cost.bottleneck)));
    for (const EnergyPart& part : energy_parts(*result.analysis, result.layer.problem, study.machine)) {
      csv += fmt::format("{},{}\n", head, energy_csv(part));
    }
  }
  return csv;
}

}  // namespace tilewright
