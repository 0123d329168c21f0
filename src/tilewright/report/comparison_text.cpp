#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/report/comparison.hpp"

namespace tilewright {
namespace {

// Columns of text, the first to the left and the others to the right; widths count characters, not bytes.
std::string table_text(const std::vector<std::vector<std::string>>& rows) {
  const auto width_of = [](const std::string& text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
  };
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string room(widths[i] - width_of(row[i]), ' ');
      line += i == 0 ? row[i] + room : "  " + room + row[i];
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text + "\n";
}

std::string interval_text(const Interval& interval) {
  return fmt::format("{} [{}, {}]", factor_text(interval.value), factor_text(interval.low), factor_text(interval.high));
}

std::string head_text(const ComparisonStudy& result) {
  std::vector<std::string> budgets;
  for (const std::int64_t budget : result.budgets) budgets.push_back(with_thousands(budget));
  const auto counted = [](std::size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  const std::string seeds = result.seeds == 1
                                ? fmt::format("seed {}", result.first_seed)
                                : fmt::format("seeds {} to {}", result.first_seed,
                                              result.first_seed + static_cast<std::uint64_t>(result.seeds) - 1);
  return fmt::format("{}: {}, {}, {}, {} samples per layer, {} model, {}\n\n", title_of(result),
                     counted(result.layers.size(), "layer"), counted(result.contenders.size(), "contender"), seeds,
                     join(budgets, " and "), result.model, result.space);
}

std::string audit_text(const ComparisonStudy& result) {
  std::vector<std::vector<std::string>> rows = {{"", "distinct", "of the first", "invalid", "repeated", "never moved"}};
  for (const ComparedContender& contender : result.contenders) {
    if (!contender.audit) continue;
    const AuditSummary& audit = *contender.audit;
    rows.push_back({contender.label, fmt::format("{:.1f}", audit.distinct),
                    with_thousands(static_cast<std::int64_t>(std::llround(audit.proposals))), share_text(contender.invalid),
                    share_text(contender.repeated),
                    audit.never_moved.empty()
                        ? (audit.stuck > 0 ? fmt::format("{} of {} on single layers", audit.stuck, audit.movable) : "none")
                        : join(audit.never_moved, " ")});
  }
  return fmt::format(
             "audit: distinct points among the first proposals (mean over layers, seed {}), shares of all charged samples, "
             "parameters\n",
             result.first_seed) +
         table_text(rows);
}

std::string standings_text(const ComparisonStudy& result) {
  std::vector<std::vector<std::string>> rows = {{""}};
  for (const std::int64_t budget : result.budgets) rows[0].push_back(fmt::format("{} samples", with_thousands(budget)));
  for (const ComparedContender& contender : result.contenders) {
    auto& row = rows.emplace_back(std::vector<std::string>{contender.label});
    for (const Standing& standing : contender.standings) {
      std::string text = standing.factors.empty() ? "no run finished" : interval_text(standing.factor);
      if (result.partial && !standing.factors.empty()) text += fmt::format(" ({} seeds)", standing.factors.size());
      row.push_back(std::move(text));
    }
  }
  return fmt::format("{} by best known, geometric mean over layers: median of the seeds, 95 % interval\n",
                     result.objective) +
         table_text(rows);
}

std::string wins_text(const ComparisonStudy& result) {
  if (result.contenders.size() < 2) return "";
  std::vector<std::vector<std::string>> rows = {{"against"}};
  for (const std::int64_t budget : result.budgets) rows[0].push_back(fmt::format("{} samples", with_thousands(budget)));
  for (std::size_t c = 1; c < result.contenders.size(); ++c) {
    auto& row = rows.emplace_back(std::vector<std::string>{result.contenders[c].label});
    for (const Standing& standing : result.contenders[c].standings) {
      row.push_back(standing.first_wins ? fmt::format("{:.3f} [{:.3f}, {:.3f}]", standing.first_wins->value,
                                                      standing.first_wins->low, standing.first_wins->high)
                                        : "–");
    }
  }
  return fmt::format("probability that {} is better, over layers and pairs of seeds (0.5 = even), 95 % interval\n",
                     result.contenders.front().label) +
         table_text(rows);
}

std::string reaches_text(const ComparisonStudy& result) {
  std::vector<std::vector<std::string>> rows = {{""}};
  for (const std::string& target : result.targets) rows[0].push_back(target);
  for (const ComparedContender& contender : result.contenders) {
    if (contender.reaches.empty()) continue;
    auto& row = rows.emplace_back(std::vector<std::string>{contender.label});
    for (const Reach& reach : contender.reaches) {
      row.push_back(fmt::format("{} ({:.0f} %, {} of {})", samples_text(reach.samples.value), 100 * reach.share,
                                reach.layers, result.layers.size()));
    }
  }
  if (rows.size() == 1) return "";
  std::string text =
      "samples to a target, median of layers × seeds (share of them that get there; layers that do with the median seed)\n";
  if (result.targets.back() == "T1") text += fmt::format("T1 is the best of {} on each layer\n", result.target);
  return text + table_text(rows);
}

std::string times_text(const ComparisonStudy& result) {
  std::vector<std::vector<std::string>> rows = {{"", "wall s", "CPU s", "samples/s", "agents"}};
  for (const ComparedContender& contender : result.contenders) {
    if (contender.cpu_seconds == 0) continue;
    rows.push_back({contender.label, fmt::format("{:.2f}", contender.seconds), fmt::format("{:.2f}", contender.cpu_seconds),
                    with_thousands(std::llround(contender.samples_per_second)),
                    contender.agents > 0 ? fmt::format("{:.1f}", contender.agents) : ""});
  }
  return fmt::format("time of a run of {} samples per layer on one thread (samples/s by CPU time)\n",
                     with_thousands(result.budgets.back())) +
         table_text(rows);
}

std::string best_text(const ComparisonStudy& result) {
  std::vector<std::vector<std::string>> rows = {
      {"best known", result.unit.empty() ? result.objective : fmt::format("{}, {}", result.objective, result.unit), "by",
       "seed", "sample"}};
  for (const ComparedLayer& layer : result.layers) {
    if (!layer.best) {
      rows.push_back({layer.name, "none", "", "", ""});
      continue;
    }
    rows.push_back({layer.name, fmt::format("{:.6g}", shown_value(result, layer.best->value)),
                    layer.best->searcher + (layer.best_is_earlier ? " (earlier)" : ""), fmt::format("{}", layer.best->seed),
                    with_thousands(layer.best->sample)});
  }
  return table_text(rows);
}

}  // namespace

std::string factor_text(double factor) { return std::isfinite(factor) ? fmt::format("{:.4f}", factor) : "∞"; }

std::string samples_text(double samples) {
  return std::isfinite(samples) ? with_thousands(std::llround(samples)) : "not reached";
}

std::string share_text(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string to_text(const ComparisonStudy& result) {
  std::string text = head_text(result) + audit_text(result) + standings_text(result) + wins_text(result) +
                     reaches_text(result) + times_text(result) + best_text(result);
  text += to_text(result.coverage) + "\n";
  for (const std::string& remark : remarks_of(result)) text += remark + "\n";
  return text;
}

}  // namespace tilewright
