// A JSON document that tells when it was edited: `digest` is the checksum of everything else it says. The order of keys,
// line ends and spaces do not count.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace tilewright {

// The text of an object with its digest as the last field.
std::string sealed(nlohmann::ordered_json document, int indent);

// "digest is …, the file says …", or nothing where it is right.
std::optional<std::string> broken_seal(const nlohmann::json& document);

}  // namespace tilewright
