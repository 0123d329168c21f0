// The work: random mappings as GAMMA draws them, for layers of the zoo.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/hardware/accelerator.hpp"
#include "tilewright/mapping/mapping.hpp"

namespace tilewright::bench {

struct LayerCases {
  std::string name;
  Nest nest;
  std::vector<Mapping> mappings;
};

// `levels` levels, every dimension at each, any order, tiles uniform within the tile around them, filters whole.
std::vector<LayerCases> gamma_cases(std::int64_t levels, std::size_t mappings_per_layer);

Accelerator gamma_machine();  // 168 processing elements, the limits of GAMMA's example

}  // namespace tilewright::bench
