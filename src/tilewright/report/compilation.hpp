// A compiled network as people read it.
#pragma once

#include <string>

#include "tilewright/study/compilation.hpp"

namespace tilewright {

std::string to_text(const CompilationStudy& study);

}  // namespace tilewright
