// A value of a JSON document that knows where it stands, so that every reader can say `traj.json: steps[3].action is …`.
//
//   TW_TRY(const nlohmann::json json, parse_json(text, "traj.json"));
//   const JsonPlace root = JsonPlace::root(json, "traj.json");
//   TW_TRY(const JsonPlace episodes, root.member("episodes"));
//   TW_TRY(const std::int64_t count, episodes.integer(1, 1000));
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/json.hpp"

namespace tilewright {

struct JsonPlace {
  const nlohmann::json* json;
  std::string path;  // "traj.json: steps[3].action"; "traj.json: " is the whole of it

  static JsonPlace root(const nlohmann::json& json, const std::string& where) { return {&json, where + ": "}; }

  // "traj.json: steps is 'none', expected an array".
  Error wrong(std::string_view expected) const;

  std::optional<JsonPlace> find(const std::string& key) const;  // nothing when absent or not in an object
  Result<JsonPlace> member(const std::string& key) const;
  // The elements of an array of `count`, or of any size when there is none given.
  Result<std::vector<JsonPlace>> elements(std::optional<std::size_t> count = {}) const;

  // This value itself. A whole number may be written as 3 and as 3.0, and has to lie within the limits.
  Result<std::string> text() const;
  Result<bool> truth() const;
  Result<double> number() const;
  Result<std::int64_t> integer(std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                               std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;
};

}  // namespace tilewright
