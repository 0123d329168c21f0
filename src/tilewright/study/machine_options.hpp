// The options of everything that is timed on a VTA-class machine.
#pragma once

#include <string>
#include <string_view>

#include "tilewright/base/options.hpp"
#include "tilewright/vta/cost.hpp"
#include "tilewright/vta/timing.hpp"

namespace tilewright {

OptionTable options_of(vta::TimingOptions& timing);
OptionTable options_of(vta::PhysicalOptions& physical, std::string_view group);

// A machine that computes what networks are quantised to; those of other widths only run programs.
Result<vta::Machine> read_compiled_machine(const std::string& source);

}  // namespace tilewright
