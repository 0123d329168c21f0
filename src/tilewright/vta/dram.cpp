#include "tilewright/vta/dram.hpp"

#include <algorithm>

#include "tilewright/base/result.hpp"

namespace tilewright::vta {

Dram::Dram(const DramRange& range, std::uint8_t fill) : range_(range), fill_(fill) {
  TW_ASSERT(range.begin <= range.end && range.end <= kDramMostEnd);
  chunks_.resize((range.end + kChunkBytes - 1) / kChunkBytes);
}

void Dram::read(std::uint64_t address, std::span<std::uint8_t> bytes) const {
  TW_ASSERT(address >= range_.begin && address + bytes.size() <= range_.end);
  while (!bytes.empty()) {
    const std::uint64_t offset = address % kChunkBytes;
    const std::size_t count = std::min<std::size_t>(bytes.size(), kChunkBytes - offset);
    if (const auto& chunk = chunks_[address / kChunkBytes]) {
      std::copy_n(chunk.get() + offset, count, bytes.begin());
    } else {
      std::fill_n(bytes.begin(), count, fill_);
    }
    address += count;
    bytes = bytes.subspan(count);
  }
}

bool Dram::write(std::uint64_t address, std::span<const std::uint8_t> bytes) {
  TW_ASSERT(address >= range_.begin && address + bytes.size() <= range_.end);
  while (!bytes.empty()) {
    const std::uint64_t offset = address % kChunkBytes;
    const std::size_t count = std::min<std::size_t>(bytes.size(), kChunkBytes - offset);
    auto& chunk = chunks_[address / kChunkBytes];
    if (!chunk) {
      if (++chunk_count_ * kChunkBytes > kDramMostBytes) return false;
      chunk = std::make_unique_for_overwrite<std::uint8_t[]>(kChunkBytes);
      std::fill_n(chunk.get(), kChunkBytes, fill_);
    }
    std::copy_n(bytes.begin(), count, chunk.get() + offset);
    address += count;
    bytes = bytes.subspan(count);
  }
  return true;
}

}  // namespace tilewright::vta
