// 64 bits that tell whether bytes are those that were written: any change within eight neighbouring bytes changes them.
// It guards against accidents and edits, not against somebody who computes it anew.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "tilewright/base/result.hpp"

namespace tilewright {

std::uint64_t checksum(std::string_view bytes);

// Of a file of any length, without holding it in memory.
Result<std::uint64_t> file_checksum(const std::filesystem::path& path);

std::string checksum_text(std::uint64_t checksum);  // 16 hexadecimal digits

}  // namespace tilewright
