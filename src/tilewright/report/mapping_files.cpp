#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/csv.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/report/mapping.hpp"
#include "tilewright/study/file_name.hpp"

namespace tilewright {

Fronts fronts_of(const MappingStudy& study) {
  Fronts fronts{study.objective, study.front, {}};
  for (const MappedLayer& layer : study.layers) {
    Fronts::Layer& one = fronts.layers.emplace_back(Fronts::Layer{layer.name, layer.count, {}});
    for (const MappedLayer::Member& member : layer.front) {
      std::string mapping = to_maestro(member.mapping);
      std::ranges::replace(mapping, '\n', ' ');
      one.front.push_back(
          {member.metrics, static_cast<double>(member.machine.pes), member.sample, std::string(trim(mapping))});
    }
  }
  return fronts;
}

std::string layers_csv(const MappingStudy& result) {
  std::string csv =
      "layer,operator,shape,stride,count,macs,latency,energy_nj,edp,area_um2,power_mw,l1,l2,utilisation,objective,dataflow,"
      "dataflow_factor,"
      "optimum_factor,samples,valid,repeated,members\n";
  for (const MappedLayer& layer : result.layers) {
    csv += fmt::format("{},{},{},{},{},{},", csv_cell(layer.name), name_of(layer.layer.op),
                       csv_cell(shape_text(layer.layer)), stride_text(layer.layer), layer.count, macs(layer.nest).value);
    if (layer.found) {
      const Metrics& m = layer.found->metrics;
      csv +=
          fmt::format("{},{},{},{},{},{},{},{},{},", m.latency, m.energy, m.edp(), m.area ? fmt::format("{}", *m.area) : "",
                      m.power, m.l1, m.l2, utilisation(m, result.machine.simd_lanes), layer.found->score[0]);
    } else {
      csv += ",,,,,,,,,";
    }
    csv += fmt::format("{},{},{},{},{},{},{}\n", layer.dataflow,
                       layer.dataflow_factor ? fmt::format("{}", *layer.dataflow_factor) : "",
                       layer.optimum_factor ? fmt::format("{}", *layer.optimum_factor) : "", layer.ledger.samples,
                       layer.ledger.valid, layer.ledger.repeated, csv_cell(join(layer.members, ";")));
  }
  return csv;
}

std::string convergence_csv(const MappingStudy& result) {
  std::string csv = "layer,sample,objective\n";
  for (std::size_t i = 0; i < result.layers.size(); ++i) {
    for (const Improvement& improvement : result.layers[i].ledger.improvements) {
      csv += fmt::format("{},{},{}\n", i, improvement.sample, improvement.score[0]);
    }
  }
  return csv;
}

Result<Done> write_files(const MappingStudy& study, const std::filesystem::path& directory) {
  std::error_code status;
  std::filesystem::create_directories(directory / "best", status);
  if (status) return Error{ErrorCode::Io, fmt::format("{}: {}", directory.string(), status.message())};
  for (std::size_t i = 0; i < study.layers.size(); ++i) {
    const MappedLayer& layer = study.layers[i];
    if (!layer.found) continue;
    const std::string name = file_name_of(i, layer.name);
    TW_TRY([[maybe_unused]] const Done a, write_file(directory / "best" / (name + ".yaml"), to_yaml(layer.found->mapping)));
  }
  if (study.agents && study.agents->team) {
    TW_TRY([[maybe_unused]] const Done b, write_team(*study.agents->team, directory / "team"));
  }
  TW_TRY([[maybe_unused]] const Done c, write_file(directory / "layers.csv", layers_csv(study)));
  TW_TRY([[maybe_unused]] const Done d, write_file(directory / "convergence.csv", convergence_csv(study)));
  if (has_front(study)) {
    TW_TRY([[maybe_unused]] const Done f, write_file(directory / "pareto.csv", pareto_csv(fronts_of(study))));
  }
  TW_TRY([[maybe_unused]] const Done e, write_file(directory / "report.html", to_html(study)));
  return write_file(directory / "result.json", to_json(study));
}

}  // namespace tilewright
