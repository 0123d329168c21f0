// Whole numbers as bytes, seven bits each, so that small ones take a byte: what designs are stored as.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tilewright {

inline void append_varint(std::uint64_t number, std::string& bytes) {
  for (; number >= 0x80; number >>= 7) bytes.push_back(static_cast<char>(number | 0x80));
  bytes.push_back(static_cast<char>(number));
}

// Reads them back. Reading on after the end gives zeros, and then it has not ended well.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  std::uint8_t byte() {
    if (bytes_.empty()) {
      short_ = true;
      return 0;
    }
    const auto first = static_cast<std::uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return first;
  }

  std::uint64_t varint() {
    std::uint64_t number = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::uint8_t part = byte();
      number |= static_cast<std::uint64_t>(part & 0x7f) << shift;
      if (part < 0x80) return number;
    }
    short_ = true;
    return 0;
  }

  bool ended_well() const { return bytes_.empty() && !short_; }

 private:
  std::string_view bytes_;
  bool short_ = false;
};

}  // namespace tilewright
