// What `verify` has found when it evaluated a result again.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/base/result.hpp"

namespace tilewright {

struct Verdicts {
  std::size_t layers = 0, without = 0;  // those for which nothing was found among them
  std::vector<std::string> faults;      // what is not as the file says
};

// Of a result of codesign: its layers, which the run.json beside it names, timed again.
Result<Verdicts> verify_codesign(const std::string& text, const std::filesystem::path& path);

}  // namespace tilewright
