#include "tilewright/base/file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include <fcntl.h>
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

namespace {

Error not_written(const std::filesystem::path& path, const std::string& reason) {
  return {ErrorCode::Io, fmt::format("{}: could not be written: {}", path.string(), reason)};
}

// Returns once the bytes are on the disk, so that a power cut after the renaming cannot leave an empty file; what failed, or
// "".
std::string write_synced(const std::filesystem::path& path, std::string_view content) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return std::strerror(errno);
  std::string failure;
  while (!content.empty()) {
    const ssize_t written = write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      failure = std::strerror(errno);
      break;
    }
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  if (failure.empty() && fsync(file) != 0) failure = std::strerror(errno);
  if (close(file) != 0 && failure.empty()) failure = std::strerror(errno);
  return failure;
}

// Where a chain of links leads to.
std::filesystem::path followed(std::filesystem::path path) {
  std::error_code status;
  for (int links = 0; links < 40 && std::filesystem::is_symlink(path, status); ++links) {
    path = path.parent_path() / std::filesystem::read_symlink(path, status);
  }
  return path;
}

}  // namespace

void sync_directory(const std::filesystem::path& directory) {
  const int file = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  fsync(file);
  close(file);
}

Result<Done> write_file(const std::filesystem::path& path, std::string_view content) {
  const std::filesystem::path target = followed(path);
  std::error_code status;
  const std::filesystem::file_status kind = std::filesystem::status(target, status);
  if (std::filesystem::is_directory(kind)) return not_written(path, "is a directory, expected a file");
  if (std::filesystem::exists(kind) && access(target.c_str(), W_OK) != 0) return not_written(path, std::strerror(errno));
  if (std::filesystem::exists(kind) && !std::filesystem::is_regular_file(kind)) {  // a device or a pipe stays what it is
    std::ofstream stream(target, std::ios::binary | std::ios::app);
    stream.write(content.data(), static_cast<std::streamsize>(content.size()));
    stream.close();
    if (!stream) return not_written(path, std::strerror(errno));
    return Done{};
  }
  const std::filesystem::path draft = target.string() + fmt::format(".{}.draft", getpid());
  std::string failure = write_synced(draft, content);
  if (failure.empty() && rename(draft.c_str(), target.c_str()) != 0) failure = std::strerror(errno);
  if (!failure.empty()) {
    unlink(draft.c_str());
    return not_written(path, failure);
  }
  sync_directory(target.has_parent_path() ? target.parent_path() : ".");
  return Done{};
}

}  // namespace tilewright
