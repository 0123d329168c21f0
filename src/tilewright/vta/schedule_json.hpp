// Schedules of a network in a file, by the names of its layers: {"format": "tilewright-schedules-1", "layers": {"conv1":
// {"tile_h": 7, …}}}, or the manifest of a compiled network.
#pragma once

#include <map>
#include <string>

#include "tilewright/base/json.hpp"
#include "tilewright/vta/schedule.hpp"

namespace tilewright::vta {

// {"tile_h": 14, "oc_threading": 2, …}: a knob that is absent is 1.
Result<Schedule> schedule_from_json(const nlohmann::json& json, const std::string& where);

using Schedules = std::map<std::string, Schedule>;
Result<Schedules> schedules_from_json(const std::string& text, const std::string& where);

}  // namespace tilewright::vta
