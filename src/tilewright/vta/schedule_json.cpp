#include "tilewright/vta/schedule_json.hpp"

#include <vector>

#include <fmt/format.h>

#include "tilewright/base/json_place.hpp"
#include "tilewright/base/text.hpp"

namespace tilewright::vta {
namespace {

constexpr std::int64_t kMostKnob = 1'000'000;

struct TileKnob {
  const char* name;
  std::int64_t Schedule::*value;
};
constexpr TileKnob kTileKnobs[] = {{"tile_b", &Schedule::tile_b},
                                   {"tile_h", &Schedule::tile_h},
                                   {"tile_w", &Schedule::tile_w},
                                   {"tile_ci", &Schedule::tile_ci},
                                   {"tile_co", &Schedule::tile_co}};
struct ThreadKnob {
  const char* name;
  int Schedule::*value;
};
constexpr ThreadKnob kThreadKnobs[] = {{"h_threading", &Schedule::h_threading}, {"oc_threading", &Schedule::oc_threading}};

std::string shown(const nlohmann::json& value) {
  return value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace).substr(0, 40);
}

Result<Done> set_knob(const std::string& key, const nlohmann::json& value, const std::string& where, Schedule& schedule) {
  const bool fits = value.is_number_integer() && value >= 1 && value <= kMostKnob;
  std::vector<std::string> names;
  const auto set = [&](const auto& knob) -> bool {
    names.emplace_back(knob.name);
    if (key != knob.name) return false;
    if (fits) schedule.*knob.value = value.get<int>();
    return true;
  };
  bool found = false;
  for (const TileKnob& knob : kTileKnobs) found = set(knob) || found;
  for (const ThreadKnob& knob : kThreadKnobs) found = set(knob) || found;
  if (!found) {
    return invalid(fmt::format("{}: '{}' is no knob of a schedule, expected one of {}{}", where,
                               printable(key.substr(0, 60)), join(names, ", "), did_you_mean(key, names)));
  }
  if (!fits)
    return invalid(fmt::format("{}: {} is {}, expected a whole number from 1 to {}", where, key, shown(value), kMostKnob));
  return Done{};
}

// {"layers": {name: knobs}}, or the steps of a manifest, as pairs of name and knobs.
Result<std::map<std::string, nlohmann::json>> entries_of(const nlohmann::json& json, const std::string& file) {
  std::map<std::string, nlohmann::json> entries;
  const std::string format = json.is_object() && json.contains("format") ? shown(json["format"]) : "missing";
  if (format == "\"tilewright-schedules-1\"" && json.contains("layers") && json["layers"].is_object()) {
    for (auto item = json["layers"].begin(); item != json["layers"].end(); ++item) entries[item.key()] = item.value();
    return entries;
  }
  if (format == "\"tilewright-manifest-1\"" && json.contains("steps") && json["steps"].is_array()) {
    for (const nlohmann::json& step : json["steps"]) {
      // Pools and sums have no schedule of their own choice.
      if (!step.is_object() || !step.contains("layer") || step.contains("stands_for") || !step.contains("schedule"))
        continue;
      if (step.contains("name") && step["name"].is_string()) entries[step["name"].get<std::string>()] = step["schedule"];
    }
    return entries;
  }
  return invalid(fmt::format(
      "{}: format is {}, expected tilewright-schedules-1 with layers or tilewright-manifest-1 with steps", file, format));
}

}  // namespace

Result<Schedule> schedule_from_json(const nlohmann::json& json, const std::string& where) {
  if (!json.is_object()) return invalid(fmt::format("{}: is {}, expected an object of knobs", where, shown(json)));
  Schedule schedule;
  for (auto item = json.begin(); item != json.end(); ++item) {
    TW_TRY([[maybe_unused]] const Done set, set_knob(item.key(), item.value(), where, schedule));
  }
  return schedule;
}

Result<Schedules> schedules_from_json(const std::string& text, const std::string& where) {
  TW_TRY(const nlohmann::json json, parse_json(text, where));
  TW_TRY(const auto entries, entries_of(json, where));
  Schedules schedules;
  for (const auto& [name, knobs] : entries) {
    TW_TRY(schedules[name], schedule_from_json(knobs, fmt::format("{}: layer '{}'", where, printable(name.substr(0, 60)))));
  }
  return schedules;
}

}  // namespace tilewright::vta
