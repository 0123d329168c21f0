// The parts of study/codesign.hpp that its files share.
#pragma once

#include <string>
#include <vector>

#include "tilewright/study/codesign.hpp"

namespace tilewright {

// Everything a run depends on, as run.json has it; nothing about how or where it is done.
std::string codesign_record(const CodesignOptions& options, const CodesignJob& job);

std::string operator_words(const std::vector<Operator>& operators);  // "conv,fc"

// Makes, executes and compares the programs of the answer.
Result<CodesignCheck> check_codesign(const CodesignOptions& options, const CodesignStudy& study, RunContext& context);

}  // namespace tilewright
