// Layers and coverage as the JSON results of several verbs have them.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tilewright/workload/coverage.hpp"

namespace tilewright {

// Adds `operator`, `shape`, `stride` (rows, columns) and `members` to a layer's entry.
void add_layer(nlohmann::ordered_json& json, const Layer& layer, const std::vector<std::string>& members);

// The layer of such an entry, or an Error that is a phrase without the file's name.
Result<Layer> layer_from(const nlohmann::ordered_json& json, const std::string& name);

// {"share", "complete", "macs", "left_out": [{"op", "count", "macs", "operations"}]}; null is unknown.
nlohmann::ordered_json to_json(const Coverage& coverage);
Result<Coverage> coverage_from(const nlohmann::ordered_json& json);

}  // namespace tilewright
