// The files of a co-design: CSV, and everything together in its directory.
#include <fmt/format.h>

#include "tilewright/base/csv.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/report/codesign.hpp"

namespace tilewright {

std::string layers_csv(const CodesignStudy& study) {
  std::string csv =
      "layer,count,macs,cycles,ideal_share,mac_share,energy,tile_b,tile_h,tile_w,tile_ci,tile_co,h_threading,oc_threading,"
      "default_cycles,measurements,valid\n";
  for (const CodesignedLayer& layer : study.layers) {
    csv += fmt::format("{},{},{},", csv_cell(layer.name), layer.count, macs(layer.layer).value);
    if (layer.found) {
      const vta::Schedule& s = layer.found->schedule;
      csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{},", layer.found->timing.cycles, ideal_share(*layer.found),
                         mac_share(*layer.found, *study.machine), layer.found->metrics.energy, s.tile_b, s.tile_h, s.tile_w,
                         s.tile_ci, s.tile_co, s.h_threading, s.oc_threading);
    } else {
      csv += std::string(11, ',');
    }
    csv += fmt::format("{},{},{}\n", layer.default_cycles ? fmt::format("{}", *layer.default_cycles) : "",
                       layer.ledger.samples, layer.ledger.valid);
  }
  return csv;
}

std::string convergence_csv(const CodesignStudy& study) {
  std::string csv = "measurement,cycles\n";
  for (const auto& [measurement, cycles] : study.curve) csv += fmt::format("{},{}\n", measurement, cycles);
  return csv;
}

std::string calibration_csv(const CodesignStudy& study) {
  std::string csv = "layer,round,rank_correlation,top_recall\n";
  for (std::size_t i = 0; i < study.layers.size(); ++i) {
    for (std::size_t round = 0; round < study.layers[i].calibrations.size(); ++round) {
      const Calibration& one = study.layers[i].calibrations[round];
      csv += fmt::format("{},{},{},{}\n", i, round + 2, one.rank_correlation, one.top_recall);
    }
  }
  return csv;
}

Result<Done> write_files(const CodesignStudy& study, const Network& network, const std::filesystem::path& directory) {
  TW_TRY([[maybe_unused]] const Done a, write_file(directory / "layers.csv", layers_csv(study)));
  TW_TRY([[maybe_unused]] const Done b, write_file(directory / "convergence.csv", convergence_csv(study)));
  TW_TRY([[maybe_unused]] const Done c, write_file(directory / "calibration.csv", calibration_csv(study)));
  TW_TRY([[maybe_unused]] const Done d, write_file(directory / "report.html", to_html(study)));
  if (study.machine) {
    TW_TRY([[maybe_unused]] const Done e, write_file(directory / "machine.json", vta::to_json(*study.machine)));
    TW_TRY([[maybe_unused]] const Done f, write_file(directory / "schedules.json", schedules_json(study, network)));
  }
  return write_file(directory / "result.json", to_json(study));
}

}  // namespace tilewright
