#include "tilewright/base/file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <unistd.h>

#include <fmt/format.h>

namespace tilewright {

Result<std::string> read_file(const std::filesystem::path& path, std::int64_t most_bytes) {
  std::error_code status;
  if (!std::filesystem::exists(path, status)) {
    return Error{ErrorCode::NotFound, fmt::format("{}: no such file", path.string())};
  }
  if (std::filesystem::is_directory(path, status)) {
    return invalid(fmt::format("{}: is a directory, expected a file", path.string()));
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return Error{ErrorCode::Io, fmt::format("{}: {}", path.string(), std::strerror(errno))};
  std::string content;
  char block[1 << 16];
  while (stream.read(block, sizeof block), stream.gcount() > 0) {
    content.append(block, static_cast<std::size_t>(stream.gcount()));
    if (static_cast<std::int64_t>(content.size()) > most_bytes) {
      return invalid(fmt::format("{}: has more than {} bytes, expected at most that", path.string(), most_bytes));
    }
  }
  if (stream.bad()) return Error{ErrorCode::Io, fmt::format("{}: could not be read", path.string())};
  return content;
}

Result<Done> write_file(const std::filesystem::path& path, std::string_view content) {
  const std::filesystem::path draft = path.string() + fmt::format(".{}.draft", getpid());
  std::ofstream stream(draft, std::ios::binary | std::ios::trunc);
  stream.write(content.data(), static_cast<std::streamsize>(content.size()));
  stream.close();
  std::error_code status;
  if (stream) std::filesystem::rename(draft, path, status);
  if (!stream || status) {
    const std::string reason = status ? status.message() : std::strerror(errno);
    std::filesystem::remove(draft, status);
    return Error{ErrorCode::Io, fmt::format("{}: could not be written: {}", path.string(), reason)};
  }
  return Done{};
}

}  // namespace tilewright
