#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/marl/profile.hpp"

namespace tilewright {
namespace {

using Row = std::vector<std::string>;

PhaseTotals sum(const ProfileTotals& totals, Phase first, Phase last) {
  PhaseTotals result;
  for (auto phase = static_cast<std::size_t>(first); phase <= static_cast<std::size_t>(last); ++phase) {
    const PhaseTotals& part = totals.phases[phase];
    result.calls += part.calls;
    result.wall_seconds += part.wall_seconds;
    result.cpu_seconds += part.cpu_seconds;
    result.bytes += part.bytes;
    result.cache_misses += part.cache_misses;
    result.dtlb_misses += part.dtlb_misses;
  }
  return result;
}

std::string count(std::uint64_t number) { return with_thousands(static_cast<std::int64_t>(number)); }

}  // namespace

std::string profile_table(const ProfileTotals& totals) {
  const PhaseTotals whole = sum(totals, Phase::Environment, Phase::Other);
  std::vector<Row> rows = {{"phase", "share", "wall s", "CPU s", "calls", "gathered"}};
  if (totals.has_counters) rows[0].insert(rows[0].end(), {"cache misses", "dTLB misses"});
  const auto add = [&](std::string name, const PhaseTotals& part, bool is_sum) {
    const double share = whole.wall_seconds > 0 ? 100 * part.wall_seconds / whole.wall_seconds : 0;
    Row row = {std::move(name),
               fmt::format("{:.1f} %", share),
               fmt::format("{:.3f}", part.wall_seconds),
               fmt::format("{:.3f}", part.cpu_seconds),
               is_sum ? "" : count(part.calls),
               part.bytes > 0 ? with_prefix(static_cast<double>(part.bytes)) + "B" : ""};
    if (totals.has_counters) row.insert(row.end(), {count(part.cache_misses), count(part.dtlb_misses)});
    rows.push_back(std::move(row));
  };
  const auto add_phase = [&](Phase phase, std::string_view indent) {
    add(std::string(indent) + std::string(to_string(phase)), totals[phase], false);
  };
  add_phase(Phase::Environment, "");
  add_phase(Phase::Acting, "");
  add("update-all-trainers", sum(totals, Phase::Sampling, Phase::TargetUpdate), true);
  for (const Phase phase : {Phase::Sampling, Phase::TargetQ, Phase::QLoss, Phase::PLoss, Phase::TargetUpdate}) {
    add_phase(phase, "  ");
  }
  add_phase(Phase::Other, "");
  add("total", whole, true);

  std::vector<std::size_t> widths(rows[0].size());
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line = fmt::format("{:<{}}", row[0], widths[0]);
    for (std::size_t i = 1; i < row.size(); ++i) line += fmt::format("  {:>{}}", row[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace tilewright
