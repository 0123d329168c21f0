// Reading Timeloop's YAML: keys with hyphens or underscores, lists as texts or as lists.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "tilewright/base/yaml.hpp"

namespace tilewright::hierarchy {

// The field under any of the names, hyphens read as underscores; the first name that is there wins.
const Yaml* find_key(const Yaml& node, std::initializer_list<std::string_view> names);

// "M=2 N=8", "M=2, N=8" and [M=2, N=8] alike; also a single number or word.
Result<std::vector<std::string>> words_of(const Yaml& node, std::string_view what);

}  // namespace tilewright::hierarchy
