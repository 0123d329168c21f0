// What `verify` has found when it evaluated a result again.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tilewright/base/result.hpp"

namespace tilewright {

struct Verdicts {
  std::size_t layers = 0, without = 0;  // those for which nothing was found among them
  std::vector<std::string> faults;      // what is not as the file says
  std::vector<std::string> checked;  // what was, and what could not be: "3 of 3 layers evaluated again, every number equal"
};

// Everything that follows from a result's primary facts (machine, shapes, mappings or schedules, counts, settings) computed
// again, written as the verb writes it, and compared leaf by leaf. `directory` is where the file lies: a run.json there is
// compared too. A document that cannot be read is an Error.
Result<Verdicts> verify_map(const nlohmann::ordered_json& json, const std::filesystem::path& directory);
Result<Verdicts> verify_codesign(const nlohmann::ordered_json& json, const std::filesystem::path& directory);

// Where a result that was computed again and written differs from what the file says, but for version and digest; a layer is
// called by its name as well: "/layers/1/metrics/energy is 2, the file says 3 (layer conv2)".
std::vector<std::string> differences_of(const std::string& computed, const nlohmann::ordered_json& says);

}  // namespace tilewright
