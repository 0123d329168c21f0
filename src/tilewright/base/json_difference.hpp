// Two JSON documents, leaf by leaf.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace tilewright {

// "/layers/0/metrics/energy is 12.5, the file says 12": what every leaf is, and what a file says it is. The order of keys
// does not count; a whole number equals the same number with a point.
std::vector<std::string> differences(const nlohmann::json& is, const nlohmann::json& says);

}  // namespace tilewright
