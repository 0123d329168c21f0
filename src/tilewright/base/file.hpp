// Whole files in and out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "tilewright/base/result.hpp"

namespace tilewright {

// The file's bytes. A missing, unreadable or larger file is an Error that names it; a directory is not a file.
Result<std::string> read_file(const std::filesystem::path& path, std::int64_t most_bytes = std::int64_t{64} << 20);

// Writes beside the target and renames, so that a reader sees the old file or the whole new one, after a power cut too.
// Follows links; devices and pipes are written into. A file without permission to write is left as it is.
Result<Done> write_file(const std::filesystem::path& path, std::string_view content);

// Makes names that were added to or removed from a directory survive a power cut.
void sync_directory(const std::filesystem::path& directory);

}  // namespace tilewright
