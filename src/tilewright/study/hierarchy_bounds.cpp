#include "tilewright/study/hierarchy_bounds.hpp"

#include <nlohmann/json.hpp>

#include "tilewright/optimum/floor.hpp"

namespace tilewright {

BoundStudy bounds_of(const HierarchyJob& job) {
  BoundStudy study{.network = job.network_name,
                   .machine = job.machine_name,
                   .judge = *job.options.judge,
                   .clock_ghz = job.machine.clock_ghz,
                   .layers = {}};
  for (const HierarchyProblem& problem : job.problems) {
    const HierarchySpace& space = problem.mappings();
    const optimum::Floor floor = optimum::floor_of({space.problem(), space.machine(), space.judge(), space.restriction()});
    study.layers.push_back({problem.name, problem.count, floor.cycles, floor.energy});
    study.cycles += static_cast<double>(problem.count) * floor.cycles;
    study.energy_pj += static_cast<double>(problem.count) * floor.energy;
  }
  return study;
}

std::string to_json(const BoundStudy& study) {
  nlohmann::ordered_json json{
      {"network", study.network},
      {"machine", study.machine},
      {"model", name(study.judge)},
      {"totals",
       {{"cycles", study.cycles}, {"energy_pj", study.energy_pj}, {"edp", study.energy_pj * study.cycles * 1e-12}}},
      {"layers", nlohmann::ordered_json::array()}};
  for (const LayerFloor& layer : study.layers) {
    json["layers"].push_back({{"name", layer.name},
                              {"count", layer.count},
                              {"cycles", layer.cycles},
                              {"energy_pj", layer.energy_pj},
                              {"edp", layer.edp()}});
  }
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace tilewright
