// JSON from outside: what is wrong with it has a line, and a key that stands twice is wrong. JsonPlace reads the values.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "tilewright/base/json_templates.hpp"
#include "tilewright/base/result.hpp"

namespace tilewright {

// `where` is what error sentences call the file: "m.json:3: is not JSON: …". Nothing in `text` makes it throw; nesting
// deeper than 64 and numbers that no double holds are an Error, too.
Result<nlohmann::json> parse_json(const std::string& text, const std::string& where);

// "m.json:3", the line on which a key of `text` stands first; "m.json" where that cannot be told.
std::string key_position(const std::string& text, const std::string& where, const std::string& key);

}  // namespace tilewright
