// What mapping a network leaves behind besides the mappings, for a terminal.
#pragma once

#include <string>
#include <string_view>

#include "tilewright/study/mapping_record.hpp"

namespace tilewright {

// How the samples went, which agents took them, and what of the network is covered. `classics` is what was tried first.
std::string record_text(const StudyRecord& study, const SampleTotals& totals, std::string_view classics);

}  // namespace tilewright
