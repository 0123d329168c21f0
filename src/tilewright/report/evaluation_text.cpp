#include "tilewright/report/evaluation.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/cost/audit.hpp"
#include "tilewright/cost/columns.hpp"
#include "tilewright/study/dim_legend.hpp"
#include "tilewright/study/roofline.hpp"

namespace tilewright {
namespace {

std::string_view limit_name(const Limit& limit) {
  switch (limit.reason) {
    case Infeasible::Reason::L1Overflow:
      return "L1 per PE, bytes";
    case Infeasible::Reason::L2Overflow:
      return "L2, bytes";
    case Infeasible::Reason::NocBandwidth:
      return "NoC, elements/cycle";
    default:
      return "off-chip, elements/cycle";
  }
}

std::string amount(std::int64_t number) { return number >= kUnlimited ? "unlimited" : with_thousands(number); }

std::string nanojoules(double nj) {
  if (nj >= 1e6) return fmt::format("{:.4g} mJ", nj / 1e6);
  if (nj >= 1e3) return fmt::format("{:.4g} uJ", nj / 1e3);
  return fmt::format("{:.4g} nJ", nj);
}

std::string bar(double share) {
  const auto filled = static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * 20));
  return std::string(filled, '#') + std::string(20 - filled, '.');
}

std::string energy_lines(const Cost& cost, Model model) {
  if (is_maestro(model)) {
    return fmt::format("  energy        {} (MAESTRO's column; its parts do not belong to one layer)\n",
                       nanojoules(cost.energy.value));
  }
  std::string text = fmt::format("  energy        {}\n", nanojoules(cost.energy.value));
  const std::pair<std::string_view, double> parts[] = {
      {"MAC", cost.energy_parts.mac.value}, {"L1", cost.energy_parts.l1.value}, {"L2", cost.energy_parts.l2.value}};
  for (const auto& [name, picojoules] : parts) {
    const double share = cost.energy.value > 0 ? picojoules / 1000 / cost.energy.value : 0;
    text += fmt::format("    {:<10}  {:<12} {} {:>5.1f} %\n", name, nanojoules(picojoules / 1000), bar(share), share * 100);
  }
  return text;
}

// "0.66 mm2 of PEs, 3.9 mm2 of L2": what there is none of is left out.
std::string area_line(const Cost& cost, Model model) {
  if (!cost.area) return "  area          unknown (the machine file gives no figures)\n";
  std::vector<std::string> parts;
  for (const auto& [name, part] : {std::pair("PEs", cost.area_parts.pe),
                                   {"L1s", cost.area_parts.l1},
                                   {"L2", cost.area_parts.l2},
                                   {"NoC", cost.area_parts.noc}}) {
    if (part.value > 0) parts.push_back(fmt::format("{} {:.4g}", name, part.value / 1e6));
  }
  return fmt::format("  area          {:.4g} mm2 with the buffers this mapping needs ({}{})\n", cost.area->value / 1e6,
                     is_maestro(model) ? "MAESTRO's regression: " : "", join(parts, ", "));
}

std::string power_line(const Cost& cost, const Accelerator& accelerator, Model model) {
  if (is_maestro(model)) return fmt::format("  power         {:.4g} mW (MAESTRO's regression)\n", cost.power.value);
  const std::string leakage =
      accelerator.leakage.value > 0 ? fmt::format(", of which {:.4g} leak", accelerator.leakage.value) : "";
  return fmt::format("  power         {:.4g} mW at {:g} GHz{}\n", cost.power.value, accelerator.clock_ghz, leakage);
}

std::string limit_lines(const Cost& cost, const Accelerator& accelerator) {
  std::string text = fmt::format("  {:<26} {:>14} {:>14}\n", "needs", "need", "limit");
  for (const Limit& limit : limits(cost, accelerator)) {
    std::string state;
    if (limit.broken()) {
      state = "  does not fit";
    } else if (limit.limit < kUnlimited) {
      state = fmt::format("  {:>3.0f} %", 100.0 * static_cast<double>(limit.need) / static_cast<double>(limit.limit));
    }
    text += fmt::format("    {:<24} {:>14} {:>14}{}\n", limit_name(limit), with_thousands(limit.need), amount(limit.limit),
                        state);
  }
  return text;
}

std::string traffic_lines(const Cost& cost) {
  std::string text =
      fmt::format("  {:<14} {:>12} {:>12} {:>12} {:>12}\n", "accesses", "L2 read", "L2 write", "L1 read", "L1 write");
  constexpr std::string_view kNames[] = {"input", "weight", "output"};
  for (std::size_t operand = 0; operand < kOperandCount; ++operand) {
    const Traffic& t = cost.traffic[operand];
    text += fmt::format("    {:<12} {:>12} {:>12} {:>12} {:>12}\n", kNames[operand],
                        with_prefix(static_cast<double>(t.l2_read)), with_prefix(static_cast<double>(t.l2_write)),
                        with_prefix(static_cast<double>(t.l1_read)), with_prefix(static_cast<double>(t.l1_write)));
  }
  return text;
}

std::string roofline_lines(const Cost& cost, const Accelerator& accelerator) {
  const Roofline roof = roofline(cost, accelerator);
  std::string text = fmt::format("  roofline      {:.4g} MAC/cycle, {:.1f} % of the lowest roof ({})\n", roof.achieved,
                                 100 * roof.achieved / roof.lowest_roof(), roof.bound);
  text += fmt::format("    compute     {:>10.4g} MAC/cycle\n", roof.compute_roof);
  const auto line = [&](std::string_view name, std::int64_t bandwidth, double roof_height, double intensity) {
    const std::string height = bandwidth >= kUnlimited ? "no limit" : fmt::format("{:.4g}", roof_height);
    text += fmt::format("    {:<11} {:>10} MAC/cycle at {:.4g} MAC/element\n", name, height, intensity);
  };
  line("NoC", accelerator.noc.bandwidth, roof.noc_roof, roof.noc_intensity);
  line("off-chip", accelerator.offchip_bandwidth, roof.offchip_roof, roof.offchip_intensity);
  return text;
}

// One layer, a full page.
std::string layer_text(const EvaluationStudy& study, const EvaluatedLayer& result) {
  const LayerJob& layer = result.layer;
  const Accelerator& machine = study.accelerator;
  std::string text =
      fmt::format("{} / {} on {} ({} PEs{}), model {}\n\n", study.network, layer.name, machine.name, machine.pes,
                  machine.simd_lanes > 1 ? fmt::format(" x {} lanes", machine.simd_lanes) : "", name_of(study.model));
  if (!result.cost) {
    text += fmt::format("  infeasible: {}\n", result.failure);
    text += "  `tilewright explain` with the same options tells what would make it fit.\n";
  } else {
    const Cost& cost = *result.cost;
    text += fmt::format("  latency       {} cycles ({:.4g} ms at {:g} GHz)\n", with_thousands(cost.runtime.value),
                        milliseconds(cost, machine), machine.clock_ghz);
    text += fmt::format("  MACs          {}\n", with_thousands(cost.macs.value));
    text += fmt::format("  utilisation   {} {:.1f} % of {} MAC/cycle\n", bar(utilisation(cost, machine)),
                        100 * utilisation(cost, machine), machine.pes * machine.simd_lanes);
    text += energy_lines(cost, study.model);
    text += fmt::format("  EDP           {:.4g} nJ x cycles\n", cost.energy_delay());
    text += area_line(cost, study.model) + power_line(cost, machine, study.model) + "\n";
    text += limit_lines(cost, machine) + "\n" + traffic_lines(cost) + "\n" + roofline_lines(cost, machine);
  }
  if (layer.mapping) {
    text += fmt::format("\n{}({})\n", to_loop_nest(*layer.mapping, layer.nest), dim_legend(layer.nest.kind));
  }
  return text + "\n" + to_text(study.coverage) + "\n";
}

// A line per layer, totals.
std::string table_text(const EvaluationStudy& study) {
  std::size_t width = 5;
  for (const EvaluatedLayer& result : study.layers) width = std::max(width, result.layer.name.size());
  std::string text = fmt::format("{} on {} ({} PEs), model {}\n\n", study.network, study.accelerator.name,
                                 study.accelerator.pes, name_of(study.model));
  text += fmt::format("{:<{}} {:>5} {:>10} {:>14} {:>7} {:>12} {:>12} {:>10} {:>10}\n", "layer", width, "count", "MACs",
                      "cycles", "util", "energy", "EDP", "L1 need", "L2 need");
  double cycles = 0, energy = 0, macs = 0;
  std::size_t failed = 0;
  for (const EvaluatedLayer& result : study.layers) {
    const LayerJob& layer = result.layer;
    if (!result.cost) {
      ++failed;
      text += fmt::format("{:<{}} {:>5} infeasible: {}\n", layer.name, width, layer.count, result.failure);
      continue;
    }
    const Cost& cost = *result.cost;
    const auto count = static_cast<double>(layer.count);
    cycles += count * static_cast<double>(cost.runtime.value);
    energy += count * cost.energy.value;
    macs += count * static_cast<double>(cost.macs.value);
    text += fmt::format("{:<{}} {:>5} {:>10} {:>14} {:>6.1f}% {:>12} {:>12.4g} {:>10} {:>10}\n", layer.name, width,
                        layer.count, with_prefix(static_cast<double>(cost.macs.value)), with_thousands(cost.runtime.value),
                        100 * utilisation(cost, study.accelerator), nanojoules(cost.energy.value), cost.energy_delay(),
                        with_thousands(cost.l1.value), with_thousands(cost.l2.value));
  }
  text += fmt::format("\n{} MACs, {} cycles ({:.4g} ms), {}, EDP {:.4g} nJ x cycles", with_prefix(macs),
                      with_thousands(static_cast<std::int64_t>(cycles)), cycles / (study.accelerator.clock_ghz * 1e6),
                      nanojoules(energy), energy * cycles);
  text += failed == 0 ? "\n" : fmt::format("; without {} infeasible layer{}\n", failed, failed == 1 ? "" : "s");
  return text + to_text(study.coverage) + "\n";
}

}  // namespace

std::string to_text(const EvaluationStudy& study) {
  return study.layers.size() == 1 ? layer_text(study, study.layers.front()) : table_text(study);
}

std::string to_csv(const EvaluationStudy& study) {
  std::string text = csv_header() + "\n";
  for (const EvaluatedLayer& result : study.layers) {
    if (!result.cost) continue;
    text +=
        csv_row(study.network, result.layer.name, row_of(*result.cost, result.layer.nest, study.accelerator, study.model)) +
        "\n";
  }
  return text;
}

}  // namespace tilewright
