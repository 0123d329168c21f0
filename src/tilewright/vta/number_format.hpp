// Numbers as a machine keeps them: two's complement of 1 to 32 bits, packed from the lowest bit upward, little endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tilewright::vta {

// The lowest 2^log_width bits as a signed number.
inline std::int32_t sign_extended(std::uint32_t bits, int log_width) {
  const int unused = 32 - (1 << log_width);
  return static_cast<std::int32_t>(bits << unused) >> unused;
}

inline std::uint32_t word32_at(std::span<const std::uint8_t> bytes, std::size_t index) {
  const std::uint8_t* b = bytes.data() + 4 * index;
  return b[0] | static_cast<std::uint32_t>(b[1]) << 8 | static_cast<std::uint32_t>(b[2]) << 16 |
         static_cast<std::uint32_t>(b[3]) << 24;
}

// Number i of `bytes`, packed with 2^log_width bits each.
inline std::int32_t number_at(std::span<const std::uint8_t> bytes, int log_width, std::size_t i) {
  if (log_width == 5) return static_cast<std::int32_t>(word32_at(bytes, i));
  if (log_width == 4) return static_cast<std::int16_t>(bytes[2 * i] | bytes[2 * i + 1] << 8);
  const std::size_t per_byte = std::size_t{8} >> log_width;
  return sign_extended(static_cast<std::uint32_t>(bytes[i / per_byte]) >> ((i % per_byte) << log_width), log_width);
}

template <typename Number>
void unpack(std::span<const std::uint8_t> bytes, int log_width, std::span<Number> numbers) {
  if (log_width == 3) {
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int8_t>(bytes[i]);
    return;
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<Number>(number_at(bytes, log_width, i));
}

// The low bits of each number; nothing saturates.
inline void pack(std::span<const std::int32_t> numbers, int log_width, std::span<std::uint8_t> bytes) {
  if (log_width >= 3) {
    const std::size_t each = std::size_t{1} << (log_width - 3);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      for (std::size_t b = 0; b < each; ++b) {
        bytes[i * each + b] = static_cast<std::uint8_t>(static_cast<std::uint32_t>(numbers[i]) >> (8 * b));
      }
    }
    return;
  }
  const std::size_t per_byte = std::size_t{8} >> log_width;
  const auto mask = (1u << (1 << log_width)) - 1;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    unsigned byte = 0;
    for (std::size_t k = 0; k < per_byte; ++k) {
      byte |= (static_cast<std::uint32_t>(numbers[i * per_byte + k]) & mask) << (k << log_width);
    }
    bytes[i] = static_cast<std::uint8_t>(byte);
  }
}

}  // namespace tilewright::vta
