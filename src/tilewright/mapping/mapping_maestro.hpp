// From MAESTRO's directives to a Mapping and back to text.
#pragma once

#include "tilewright/base/result.hpp"
#include "tilewright/mapping/mapping.hpp"
#include "tilewright/workload/maestro_file.hpp"

namespace tilewright {

// The Dataflow of `layer`; `names` gives unknown dimension names their Dim, the same as in nest_of. An Error when the layer
// has no Dataflow of its own (the real program cannot reuse the previous one), more than four levels, more directives in a
// level than fit, or more than four unknown names.
Result<Mapping> mapping_of(const MaestroLayer& layer, DimNames& names);

}  // namespace tilewright
