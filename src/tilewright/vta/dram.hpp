// The DRAM of a program: bytes in one range of addresses, of which only those that were written take memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tilewright/vta/stream_check.hpp"

namespace tilewright::vta {

inline constexpr std::uint64_t kDramBegin = 0x1000;
inline constexpr std::uint64_t kDramMostEnd = std::uint64_t{1} << 32;    // addresses have 32 bits
inline constexpr std::uint64_t kDramMostBytes = std::uint64_t{1} << 29;  // written, in whole chunks

class Dram {
 public:
  // `fill` is what lies where nothing was written.
  Dram(const DramRange& range, std::uint8_t fill);

  const DramRange& range() const { return range_; }

  // Inside the range (TW_ASSERT). `write` is false when it would take more than kDramMostBytes.
  void read(std::uint64_t address, std::span<std::uint8_t> bytes) const;
  bool write(std::uint64_t address, std::span<const std::uint8_t> bytes);

 private:
  static constexpr std::uint64_t kChunkBytes = std::uint64_t{1} << 16;

  DramRange range_;
  std::uint8_t fill_;
  std::uint64_t chunk_count_ = 0;
  std::vector<std::unique_ptr<std::uint8_t[]>> chunks_;
};

}  // namespace tilewright::vta
