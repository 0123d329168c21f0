#include "tilewright/base/checksum.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include <fmt/format.h>

namespace tilewright {
namespace {

// Each step is a bijection of the state, so that a change in one word is never lost again.
class State {
 public:
  explicit State(std::uint64_t bytes) : hash_(0x9E3779B97F4A7C15u ^ bytes) {}

  // All but the last piece have whole words.
  void add(std::string_view piece) {
    std::uint64_t word = 0;
    for (; piece.size() >= sizeof word; piece.remove_prefix(sizeof word)) {
      std::memcpy(&word, piece.data(), sizeof word);
      mix(word);
    }
    rest_ = 0;
    if (!piece.empty()) std::memcpy(&rest_, piece.data(), piece.size());
  }
  std::uint64_t value() {
    mix(rest_);
    return hash_;
  }

 private:
  void mix(std::uint64_t word) {
    hash_ = (hash_ ^ word) * 0xD6E8FEB86659FD93u;
    hash_ ^= hash_ >> 32;
  }
  std::uint64_t hash_, rest_ = 0;
};

}  // namespace

std::uint64_t checksum(std::string_view bytes) {
  State state(bytes.size());
  state.add(bytes);
  return state.value();
}

Result<std::uint64_t> file_checksum(const std::filesystem::path& path) {
  const auto unread = [&](const std::string& reason) {
    return Error{ErrorCode::Io, fmt::format("{}: could not be read: {}", path.string(), reason)};
  };
  std::error_code status;
  const std::uintmax_t bytes = std::filesystem::file_size(path, status);
  if (status) return unread(status.message());
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return unread(std::strerror(errno));
  State state(bytes);
  std::vector<char> piece(std::size_t{1} << 20);
  std::uintmax_t read = 0;
  while (stream.read(piece.data(), static_cast<std::streamsize>(piece.size())), stream.gcount() > 0) {
    state.add({piece.data(), static_cast<std::size_t>(stream.gcount())});
    read += static_cast<std::uintmax_t>(stream.gcount());
  }
  if (stream.bad() || read != bytes) return unread("it changed meanwhile");
  return state.value();
}

std::string checksum_text(std::uint64_t checksum) { return fmt::format("{:016x}", checksum); }

}  // namespace tilewright
