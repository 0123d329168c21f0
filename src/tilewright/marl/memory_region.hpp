// Zeroed memory straight from the kernel: addresses now, pages when they are first written.
#pragma once

#include <cstddef>
#include <utility>

namespace tilewright {

class MemoryRegion {
 public:
  MemoryRegion() = default;
  // `huge` asks for 2 MiB pages where the kernel has them. Throws std::bad_alloc when it refuses the addresses.
  MemoryRegion(std::size_t count, std::size_t bytes_each, bool huge);
  ~MemoryRegion();
  MemoryRegion(MemoryRegion&& other) noexcept
      : mapping_(std::exchange(other.mapping_, nullptr)),
        mapped_bytes_(std::exchange(other.mapped_bytes_, 0)),
        data_(std::exchange(other.data_, nullptr)) {}
  MemoryRegion& operator=(MemoryRegion&& other) noexcept {
    std::swap(mapping_, other.mapping_);
    std::swap(mapped_bytes_, other.mapped_bytes_);
    std::swap(data_, other.data_);
    return *this;
  }

  float* data() { return data_; }
  const float* data() const { return data_; }

 private:
  void* mapping_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  float* data_ = nullptr;
};

}  // namespace tilewright
