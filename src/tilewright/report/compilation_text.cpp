#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/report/compilation.hpp"
#include "tilewright/vta/column_folding.hpp"

namespace tilewright {
namespace {

std::string kind_text(const QuantisedStep& step) {
  if (step.is_average) return "average pool";
  if (step.is_extra) return step.has_residual ? "add" : "clip";
  if (step.kind != StepKind::Product) return std::string(name_of(step.kind));
  const Layer& layer = step.layer;
  const bool has_window = layer.op != Operator::FullyConnected && layer.op != Operator::MatrixMultiply;
  return has_window ? fmt::format("{} {}x{}", name_of(layer.op), layer.kernel_height, layer.kernel_width)
                    : std::string(name_of(layer.op));
}

std::string tiles_text(const vta::Schedule& s) {
  return fmt::format("b{} h{} w{} ci{} co{}", s.tile_b, s.tile_h, s.tile_w, s.tile_ci, s.tile_co);
}

std::string percent(double part, double whole) { return whole > 0 ? fmt::format("{:.1f}%", 100 * part / whole) : "–"; }

struct CompiledRow {
  std::string name, kind, result, tiles, threads, steps, cycles, ideal, used;
};

std::string to_line(const CompiledRow& row) {
  // The widths of fmt count code points.
  return fmt::format("  {:<22} {:<14} {:<14} {:<22} {:>7} {:>12} {:>12} {:>9} {:>9}\n", row.name, row.kind, row.result,
                     row.tiles, row.threads, row.steps, row.cycles, row.ideal, row.used);
}

std::vector<std::size_t> shown_steps(const CompilationStudy& study) {
  std::vector<std::size_t> shown;
  for (std::size_t index = 1; index < study.network.steps.size(); ++index) {
    if (!study.only || study.only == index) shown.push_back(index);
  }
  return shown;
}

// Of layers; what else runs on the machine is no multiplication that the network asked for.
std::int64_t macs_of(const QuantisedStep& step) { return is_layer(step) ? macs(step.layer).value : 0; }

std::string table_of(const CompilationStudy& study, const std::vector<std::size_t>& shown) {
  const double lanes = static_cast<double>(study.plan.machine.macs_per_step());
  std::string text =
      to_line({"step", "kind", "result", "tiles", "threads", "GEMM steps", "cycles", "of ideal", "MACs used"});
  std::int64_t steps = 0, cycles = 0, macs = 0;
  for (const std::size_t index : shown) {
    const QuantisedStep& step = study.network.steps[index];
    const vta::StepPlan& plan = study.plan.steps[index];
    CompiledRow row{printable(step.name.substr(0, 22)), kind_text(step), to_text(step.shape), "", "", "", "", "", ""};
    if (!plan.schedule) {
      row.tiles = "on the host";
    } else {
      const vta::Timing& timing = study.run.steps[index].timing;
      const auto count = static_cast<double>(timing.gemm_steps), time = static_cast<double>(timing.cycles);
      row.tiles = tiles_text(*plan.schedule);
      row.threads = fmt::format("{}x{}", plan.schedule->h_threading, plan.schedule->oc_threading);
      row.steps = with_thousands(timing.gemm_steps);
      row.cycles = with_thousands(timing.cycles);
      row.ideal = timing.gemm_steps > 0 ? percent(count, time) : "–";
      row.used = macs_of(step) > 0 ? percent(static_cast<double>(macs_of(step)), time * lanes) : "–";
      steps += timing.gemm_steps;
      cycles += timing.cycles;
      macs += macs_of(step);
    }
    text += to_line(row);
  }
  if (shown.size() < 2) return text;
  return text + to_line({"all", "", "", "", "", with_thousands(steps), with_thousands(cycles),
                         percent(static_cast<double>(steps), static_cast<double>(cycles)),
                         percent(static_cast<double>(macs), static_cast<double>(cycles) * lanes)});
}

// Reasons with the steps they hold for, in the order of the network.
std::string host_lines(const CompilationStudy& study, const std::vector<std::size_t>& shown) {
  std::vector<std::string> reasons;
  std::map<std::string, std::vector<std::string>> names;
  for (const std::size_t index : shown) {
    const vta::StepPlan& plan = study.plan.steps[index];
    if (plan.schedule) continue;
    if (!names.contains(plan.reason)) reasons.push_back(plan.reason);
    names[plan.reason].push_back(printable(study.network.steps[index].name));
  }
  std::string text;
  for (const std::string& reason : reasons) {
    std::vector<std::string>& steps = names[reason];
    const std::size_t count = steps.size();
    if (count > 3) {
      steps.resize(3);
      steps.back() = fmt::format("… ({} steps)", count);
    }
    text += fmt::format("on the host: {}: {}\n", join(steps, ", "), reason);
  }
  return text;
}

std::string input_line(const CompilationStudy& study) {
  const Calibrated& by = study.calibration;
  std::string chosen = "scales were chosen with noise";
  if (by.by == "model") chosen = "scales are the model's own";
  if (by.calibrated_on > 0)
    chosen = fmt::format("scales were chosen by {} images ({})", with_thousands(by.calibrated_on), by.by);
  const bool is_known = study.accuracy && study.accuracy->correct;
  const char* const hint = by.calibrated_on > 0 || by.by == "model" ? " (--labels tells)" : "";
  return fmt::format("input: real numbers from {} to {}{}; {}{}\n", by.input.low, by.input.high,
                     by.range_is_assumed ? ", which is assumed (--input-range LO,HI tells)" : "", chosen,
                     is_known ? "" : fmt::format(", so the accuracy is unknown{}", hint));
}

// How good the integers are, the worst steps first.
std::string accuracy_lines(const CompilationStudy& study) {
  if (!study.accuracy) return "";
  const Accuracy& known = *study.accuracy;
  std::string text;
  if (known.correct) {
    text += fmt::format("accuracy: {:.2f}% in integers, {:.2f}% in real numbers, on {} images with labels\n",
                        100 * *known.correct, 100 * *known.real_correct, with_thousands(known.images));
  }
  text += fmt::format("integers against real numbers on {} images: {:.2f}% have the same best class, correlation {:.5f}\n",
                      with_thousands(known.images), 100 * known.agreement, known.correlation);
  std::vector<std::string> worst;
  for (const std::size_t index : worst_steps(study)) {
    if (worst.size() == 5 || !std::isfinite(known.noise_ratio[index])) break;
    worst.push_back(fmt::format("{} {:.1f} dB", printable(study.network.steps[index].name), known.noise_ratio[index]));
  }
  return text + fmt::format("signal over noise, the worst steps first: {}\n", join(worst, ", "));
}

}  // namespace

std::string to_text(const CompilationStudy& study) {
  const vta::Machine& machine = study.plan.machine;
  const std::vector<std::size_t> shown = shown_steps(study);
  const std::size_t programs = study.plan.program_count();
  std::string text = fmt::format("{} on {} ({} x {} x {}), {}, seed {}: {}\n\n", printable(study.network.name),
                                 printable(study.machine_name), machine.batch(), machine.block_in(), machine.block_out(),
                                 vta::to_text(study.timing), study.seed,
                                 programs == 1 ? "1 program" : fmt::format("{} programs", programs));
  text += table_of(study, shown);
  text += "\nof ideal: GEMM steps per cycle; MACs used: of what the core could multiply in these cycles\n";
  text += host_lines(study, shown);
  text += "on the host, around every program: tensors brought into the machine's blocks and back; it takes no cycles here\n";
  for (const std::size_t index : shown) {
    const QuantisedStep& step = study.network.steps[index];
    if (step.kind != StepKind::Product || step.is_average || !vta::is_folded(step.layer)) continue;
    text += fmt::format("on the host, before {}: inputs under each column of the kernel side by side, as {} channels\n",
                        printable(step.name), vta::machine_layer(step).in_channels);
  }
  for (const std::string& note : study.network.notes) text += fmt::format("note: {}\n", printable(note));
  text += input_line(study);
  text += accuracy_lines(study);
  return text + verification_line(study) + "\n";
}

}  // namespace tilewright
