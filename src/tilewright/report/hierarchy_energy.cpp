#include "tilewright/report/hierarchy_energy.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tilewright/base/csv.hpp"
#include "tilewright/report/page.hpp"
#include "tilewright/study/units.hpp"

namespace tilewright {
namespace {

constexpr double kNoticed = 0.0005;  // share of the whole below which a part reads as 0.0 %

struct LevelShare {
  std::string level;
  double energy = 0;  // pJ
  double share = 0;   // of all levels
  std::string split;  // "Weights 20.0 %, Inputs 12.1 %"; empty where there is nothing to split
};

std::vector<LevelShare> shares_of(const std::vector<EnergyPart>& parts) {
  double all = 0;
  for (const EnergyPart& part : parts) all += part.energy.value;
  all = std::max(all, 1e-300);
  std::vector<LevelShare> shares;
  for (const EnergyPart& part : parts) {
    if (part.energy.value <= 0) continue;
    if (shares.empty() || shares.back().level != part.level) shares.push_back({part.level, 0, 0, ""});
    LevelShare& share = shares.back();
    share.energy += part.energy.value;
    share.share = share.energy / all;
    if (part.what == "computing" || part.energy.value < kNoticed * all) continue;
    share.split += fmt::format("{}{} {:.1f} %", share.split.empty() ? "" : ", ", part.what, 100 * part.energy.value / all);
  }
  return shares;
}

}  // namespace

std::string energy_text(const std::vector<EnergyPart>& parts) {
  const std::vector<LevelShare> shares = shares_of(parts);
  std::size_t width = 5;
  for (const LevelShare& share : shares) width = std::max(width, share.level.size());
  std::string text;
  for (const LevelShare& share : shares) {
    const std::string split = share.split.empty() ? "" : "  " + share.split;
    const auto filled = static_cast<std::size_t>(std::lround(share.share * 20));
    text += fmt::format("    {:<{}}  {:>10}  {}{} {:>5.1f} %{}\n", share.level, width, in_units(share.energy * 1e-12, "J"),
                        std::string(filled, '#'), std::string(20 - filled, '.'), 100 * share.share, split);
  }
  return text;
}

std::string energy_html(const std::vector<EnergyPart>& parts) {
  std::vector<std::vector<std::string>> rows;
  for (const LevelShare& share : shares_of(parts)) {
    const bool computing = share.split.empty();
    rows.push_back({html_escaped(share.level), in_units(share.energy * 1e-12, "J"),
                    fmt::format("{:.1f} %", 100 * share.share), bar(share.share, computing ? kGrey : rows.size() % kGrey),
                    html_escaped(share.split)});
  }
  return table({{"where", false}, {"energy"}, {"share"}, {"", false}, {"by tensor", false}}, rows);
}

std::string_view energy_csv_header() { return "level,part,tile,reads,fills,updates,part_energy_pj"; }

std::string energy_csv(const EnergyPart& part) {
  const hierarchy::TensorCounts& counts = part.counts;
  const std::string accesses =
      counts.kept ? fmt::format("{},{},{},{}", counts.tile, counts.reads, counts.fills, counts.updates) : ",,,";
  return fmt::format("{},{},{},{}", csv_cell(part.level), csv_cell(part.what), accesses, part.energy.value);
}

}  // namespace tilewright
