// The networks and machines that come with the program: the files of the zoo/ folder, embedded at build time.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/result.hpp"

namespace tilewright {

struct ZooFile {
  std::string_view kind;  // "networks" or "accelerators", the folder under zoo/
  std::string_view name;  // "resnet18"
  std::string_view text;  // YAML
};
std::span<const ZooFile> zoo_files();

// All names of a kind, sorted.
std::vector<std::string> zoo_names(std::string_view kind);

// The YAML text behind "zoo:NAME", or an Error that names the nearest one.
// " (did you mean 'zoo:resnet18'?)" for a source that is like the name of a file of the zoo, or "".
std::string zoo_hint(std::string_view kind, std::string_view source);

Result<std::string> zoo_text(std::string_view kind, std::string_view name);

// True for "zoo:…"; the name without the prefix is then what zoo_text takes.
inline bool is_zoo_source(std::string_view source) { return source.starts_with("zoo:"); }

}  // namespace tilewright
