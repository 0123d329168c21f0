// `--settings`: the hyper-parameters a searcher would use.
#pragma once

#include <string>
#include <vector>

#include "tilewright/base/result.hpp"

namespace tilewright {

// Prints them with `settings` ("NAME.FIELD=VALUE") in force; the exit code.
Result<int> show_settings(const std::string& search, const std::vector<std::string>& settings);

}  // namespace tilewright
