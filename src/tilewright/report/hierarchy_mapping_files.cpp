#include <fmt/format.h>

#include "tilewright/base/csv.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/hierarchy/mapping_text.hpp"
#include "tilewright/report/hierarchy_energy.hpp"
#include "tilewright/report/hierarchy_mapping.hpp"
#include "tilewright/study/file_name.hpp"

namespace tilewright {

std::string layers_csv(const HierarchyStudy& study) {
  std::string csv =
      "layer,count,macs,cycles,energy_pj,edp_j_cycles,utilisation,bottleneck,dataflow,dataflow_factor,lower_bound,gap,"
      "proven,samples,valid,"
      "repeated,mac_pj";
  for (const hierarchy::StorageLevel& level : study.machine.levels) csv += fmt::format(",{}", csv_cell(level.name + "_pj"));
  csv += ",members\n";
  for (const HierarchyLayer& layer : study.layers) {
    csv += fmt::format("{},{},{},", csv_cell(layer.name), layer.count, computes(layer.problem));
    if (layer.found) {
      const hierarchy::Cost& cost = layer.found->analysis.cost;
      csv += fmt::format("{},{},{},{},{},", cost.cycles.value, cost.energy.value, cost.edp(), cost.utilization,
                         csv_cell(level_name(study.machine, cost.bottleneck)));
    } else {
      csv += ",,,,,";
    }
    csv += fmt::format(
        "{},{},{},{},{},{}", layer.dataflow, layer.dataflow_factor ? fmt::format("{}", *layer.dataflow_factor) : "",
        layer.bound ? fmt::format("{},{},{}", layer.bound->lower_bound, layer.bound->gap(), layer.bound->proven()) : ",,",
        layer.ledger.samples, layer.ledger.valid, layer.ledger.repeated);
    csv += layer.found ? fmt::format(",{}", layer.found->analysis.mac_energy.value) : ",";
    for (std::size_t level = 0; level < study.machine.levels.size(); ++level) {
      csv += ",";
      if (!layer.found) continue;
      const hierarchy::LevelAnalysis& analysed = layer.found->analysis.levels[level];
      csv += fmt::format("{}", analysed.energy.value + analysed.network_energy.value);
    }
    csv += fmt::format(",{}\n", csv_cell(join(layer.members, ";")));
  }
  return csv;
}

std::string convergence_csv(const HierarchyStudy& study) {
  std::string csv = "layer,sample,objective\n";
  for (std::size_t i = 0; i < study.layers.size(); ++i) {
    for (const Improvement& improvement : study.layers[i].ledger.improvements) {
      csv += fmt::format("{},{},{}\n", i, improvement.sample, improvement.score[0]);
    }
  }
  return csv;
}

std::string energy_csv(const HierarchyStudy& study) {
  std::string csv = fmt::format("layer,count,{}\n", energy_csv_header());
  for (const HierarchyLayer& layer : study.layers) {
    if (!layer.found) continue;
    for (const EnergyPart& part : energy_parts(layer.found->analysis, layer.problem, study.machine)) {
      csv += fmt::format("{},{},{}\n", csv_cell(layer.name), layer.count, energy_csv(part));
    }
  }
  return csv;
}

Fronts fronts_of(const HierarchyStudy& study) {
  Fronts fronts{study.objective, study.front, {}};
  for (const HierarchyLayer& layer : study.layers) {
    Fronts::Layer& one = fronts.layers.emplace_back(Fronts::Layer{layer.name, layer.count, {}});
    for (const HierarchyLayer::Member& member : layer.front) {
      std::vector<std::string> lines;  // of the levels
      const std::string text = to_text(member.mapping, layer.problem, study.machine);
      for (const std::string_view line : split(text, '\n')) {
        if (!line.empty()) lines.emplace_back(trim(line));
      }
      one.front.push_back({member.metrics, member.metrics.pes, member.sample, join(lines, "; ")});
    }
  }
  return fronts;
}

Result<Done> write_files(const HierarchyStudy& study, const std::filesystem::path& directory) {
  std::error_code status;
  std::filesystem::create_directories(directory / "best", status);
  if (status) return Error{ErrorCode::Io, fmt::format("{}: {}", directory.string(), status.message())};
  for (std::size_t i = 0; i < study.layers.size(); ++i) {
    const HierarchyLayer& layer = study.layers[i];
    if (!layer.found) continue;
    TW_TRY([[maybe_unused]] const Done a, write_file(directory / "best" / (file_name_of(i, layer.name) + ".yaml"),
                                                     to_yaml(layer.found->mapping, layer.problem, study.machine)));
  }
  if (study.agents && study.agents->team) {
    TW_TRY([[maybe_unused]] const Done b, write_team(*study.agents->team, directory / "team"));
  }
  TW_TRY([[maybe_unused]] const Done c, write_file(directory / "layers.csv", layers_csv(study)));
  TW_TRY([[maybe_unused]] const Done d, write_file(directory / "convergence.csv", convergence_csv(study)));
  TW_TRY([[maybe_unused]] const Done f, write_file(directory / "energy.csv", energy_csv(study)));
  if (has_front(study)) {
    TW_TRY([[maybe_unused]] const Done g, write_file(directory / "pareto.csv", pareto_csv(fronts_of(study))));
  }
  TW_TRY([[maybe_unused]] const Done e, write_file(directory / "report.html", to_html(study)));
  return write_file(directory / "result.json", to_json(study));
}

}  // namespace tilewright
