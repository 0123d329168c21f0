// Sections of the page of a mapped network that do not ask what the machine is: how the search went.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/agents/agents_searcher.hpp"
#include "tilewright/search/search_loop.hpp"
#include "tilewright/space/objective.hpp"
#include "tilewright/workload/coverage.hpp"

namespace tilewright {

inline constexpr std::size_t kMostColouredLayers = 8;
inline constexpr std::size_t kLayerColours[kMostColouredLayers] = {0, 1, 2, 3, 4, 5, 8, 6};

// What the search of a layer left behind; borrowed from the study.
struct SearchedLayer {
  const std::string* name;
  const Ledger* ledger;
  const std::vector<std::pair<std::string, std::int64_t>>* rejected;
  double weight = 0;  // EDP of all copies of the layer; 0 = nothing was found
};

// The objective as people write it.
std::string shown(const Objective& objective);

// Each is empty where there is nothing to tell.
std::string convergence_section(const std::vector<SearchedLayer>& layers, const Objective& objective);
std::string sample_section(const std::vector<SearchedLayer>& layers);
std::string agent_section(const std::optional<AgentsStory>& agents);
std::string coverage_section(const Coverage& coverage);

}  // namespace tilewright
