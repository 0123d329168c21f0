// Names of files that runs write.
#pragma once

#include <cctype>
#include <string>

#include <fmt/format.h>

namespace tilewright {

// A layer by its number and name: "003_conv2_1".
inline std::string file_name_of(std::size_t index, const std::string& name) {
  std::string plain;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    plain += std::isalnum(byte) != 0 || c == '-' || c == '_' || c == '.' ? c : '_';
  }
  return fmt::format("{:03}_{}", index, plain.substr(0, 80));
}

}  // namespace tilewright
