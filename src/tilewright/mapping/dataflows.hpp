// The classic dataflows by name, instantiated for any nest on any accelerator.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/hardware/accelerator.hpp"
#include "tilewright/mapping/mapping.hpp"

namespace tilewright {

struct Dataflow {
  std::string_view name;     // "eyeriss"
  std::string_view summary;  // one line for --help: what is stationary, what is spread over the array
  bool alias = false;        // another name of one that is listed before
};
const std::vector<Dataflow>& dataflows();

// How many outputs of a strided row or column a tile may hold. MAESTRO counts them as if the stride were 1, so that only
// single ones are counted right in every model; the sound and exact models count several right, and several keep the array
// busy.
enum class StridedTiles { Single, Several };

// The dataflow called `name` for `nest` with the tiles that the estimate likes best: never larger than their dimension,
// clusters never larger than the machine, every MAC done exactly once, also as MAESTRO counts; buffers and bandwidths of the
// machine are kept wherever tiles of this dataflow can keep them.
Result<Mapping> dataflow(std::string_view name, const Nest& nest, const Accelerator& accelerator,
                         StridedTiles strided = StridedTiles::Single);

}  // namespace tilewright
