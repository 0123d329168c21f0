// What the files of study/compilation.hpp share.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tilewright/study/compilation.hpp"

namespace tilewright {

// Everything a run depends on, as run.json has it.
Result<std::string> compile_record(const CompileOptions& options, const vta::Machine& machine);

// By step: whether its result is the given step's or is needed for it.
std::vector<bool> steps_needed(const QuantisedNetwork& network, std::size_t step);

}  // namespace tilewright
