// Lower bounds of every layer of a network on a machine with memory levels, without a mapping.
#pragma once

#include <string>
#include <vector>

#include "tilewright/study/hierarchy_job.hpp"

namespace tilewright {

struct LayerFloor {
  std::string name;
  std::int64_t count = 1;
  double cycles = 0, energy_pj = 0;

  double edp() const { return energy_pj * cycles * 1e-12; }
};

struct BoundStudy {
  std::string network, machine;
  hierarchy::Judge judge = hierarchy::Judge::Hierarchy;
  double clock_ghz = 1;
  std::vector<LayerFloor> layers;
  double cycles = 0, energy_pj = 0;  // of the network, each layer as often as it is there
};

BoundStudy bounds_of(const HierarchyJob& job);
std::string to_json(const BoundStudy& study);

}  // namespace tilewright
