// Whether a result says what is so, and whether a run's files are as it left them.
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
  std::vector<std::string> checked;  // what was, and what could not be: "3 of 3 layers evaluated again, every number equal"

  bool is_equal() const { return faults.empty(); }
};

// Of a result.json of map or codesign: everything that follows from its primary facts (machine, shapes, mappings or
// schedules, counts, settings) computed again, written as the verb writes it, and compared leaf by leaf. A run.json beside
// it must have asked for this, and the answers must be points of the run's store with the same numbers. Of a directory,
// besides: every file against its checksum. A document that is none of ours is an Error.
Result<Verdicts> verify(const std::filesystem::path& path);

std::string to_json(const Verdicts& verdicts);

}  // namespace tilewright
