// What the files of study/compilation.hpp share.
#pragma once

#include <string>

#include "tilewright/study/compilation.hpp"

namespace tilewright {

// Everything a run depends on, as run.json has it.
Result<std::string> compile_record(const CompileOptions& options, const vta::Machine& machine);

}  // namespace tilewright
