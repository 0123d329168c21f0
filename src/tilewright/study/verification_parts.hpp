// What verifying has in common, whatever the verb.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/space/outcome.hpp"
#include "tilewright/study/verification.hpp"

namespace tilewright {

// `directory` is where the document lies.
Result<Verdicts> verify_map(const nlohmann::ordered_json& json, const std::filesystem::path& directory);
Result<Verdicts> verify_hierarchy_map(const nlohmann::ordered_json& json, const std::filesystem::path& directory);
Result<Verdicts> verify_codesign(const nlohmann::ordered_json& json, const std::filesystem::path& directory);

// Where a result that was computed again and written differs from what the file says, but for version and digest; a layer is
// called by its name as well: "/layers/1/metrics/energy is 2, the file says 3 (layer conv2)".
std::vector<std::string> differences_of(const std::string& computed, const nlohmann::ordered_json& says);

// A study with nothing but its primary facts, computed again by `compute` and compared with what the file says.
template <typename Study, typename Compute>
Verdicts verify_study(Study& study, const nlohmann::ordered_json& says, const Compute& compute) {
  Verdicts verdicts;
  verdicts.layers = study.layers.size();
  if (study.layers.empty()) verdicts.faults.push_back("has no layers, expected at least one");
  compute(study, verdicts);
  for (std::string& fault : differences_of(to_json(study), says)) verdicts.faults.push_back(std::move(fault));
  if (verdicts.faults.empty()) {
    verdicts.checked.push_back(fmt::format("{} of {} layers evaluated again, every number equal",
                                           verdicts.layers - verdicts.without, verdicts.layers));
  }
  return verdicts;
}

// What run.json asked for beside what the result is of.
void compare_facts(const nlohmann::json& asked, const nlohmann::json& found, Verdicts& verdicts);

// An answer, as the store of its run would have it.
struct StoredAnswer {
  std::string layer;
  std::uint64_t problem = 0;
  std::string design;
  bool in_space = true;  // others come from elsewhere, and need not be there
  Metrics metrics;
};
// A store that is not there is only mentioned.
void compare_with_store(const std::filesystem::path& store, const std::vector<StoredAnswer>& answers, Verdicts& verdicts);

}  // namespace tilewright
