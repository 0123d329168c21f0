// The fronts of a `map` run: what they are, as CSV, and as a figure of the report.
#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/csv.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/study/map_result.hpp"

namespace tilewright {
namespace {

std::string front_cells(const Metrics& m) {
  return fmt::format("{},{},{},{},{}", m.latency, m.energy, m.edp(), m.area ? fmt::format("{}", *m.area) : "", m.power);
}

}  // namespace

NetworkFront front_of(const MapResult& result) {
  std::vector<FrontLayer> layers;
  for (const MappedLayer& layer : result.layers) {
    FrontLayer& one = layers.emplace_back();
    one.count = static_cast<double>(layer.count);
    for (const MappedLayer::Member& member : layer.front) one.front.push_back(member.metrics);
    if (one.front.empty()) return {};
  }
  return network_front(layers, result.objective, [&](Metrics& sums) { finish_totals(sums, result); });
}

std::string pareto_csv(const MapResult& result) {
  std::string csv = "layer,count,member,latency_cycles,energy_nj,edp,area_um2,power_mw,pes,sample,choice,mapping\n";
  for (std::size_t i = 0; i < result.front.members.size(); ++i) {
    const NetworkMember& member = result.front.members[i];
    std::string choice;
    for (const std::size_t index : member.choice) choice += fmt::format("{}{}", choice.empty() ? "" : " ", index);
    csv += fmt::format("(network),1,{},{},{},,{},\n", i, front_cells(member.metrics), member.metrics.pes, choice);
  }
  for (const MappedLayer& layer : result.layers) {
    for (std::size_t i = 0; i < layer.front.size(); ++i) {
      const MappedLayer::Member& member = layer.front[i];
      std::string mapping = to_maestro(member.mapping);
      std::ranges::replace(mapping, '\n', ' ');
      csv += fmt::format("{},{},{},{},{},{},,{}\n", csv_cell(layer.name), layer.count, i, front_cells(member.metrics),
                         member.machine.pes, member.sample, csv_cell(trim(mapping)));
    }
  }
  return csv;
}

}  // namespace tilewright
