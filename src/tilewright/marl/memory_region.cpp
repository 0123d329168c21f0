#include "tilewright/marl/memory_region.hpp"

#include <cstdint>
#include <new>

#include <sys/mman.h>

namespace tilewright {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kMostBytes = std::size_t{1} << 62;

}  // namespace

MemoryRegion::MemoryRegion(std::size_t count, std::size_t bytes_each, bool huge) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, bytes_each, &bytes) || bytes > kMostBytes) throw std::bad_alloc();
  // A huge page begins at a multiple of its size; small regions would only waste one.
  const std::size_t alignment = bytes >= kHugePage ? kHugePage : 64;
  mapped_bytes_ = bytes + alignment;
  mapping_ = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping_ == MAP_FAILED) throw std::bad_alloc();  // no object, so no destructor
  const auto address = reinterpret_cast<std::uintptr_t>(mapping_);
  const std::size_t skipped = (alignment - address % alignment) % alignment;
  data_ = reinterpret_cast<float*>(static_cast<char*>(mapping_) + skipped);
  // Advice only: a kernel without huge pages says no, and everything works as before.
  if (bytes >= kHugePage || !huge) madvise(mapping_, mapped_bytes_, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

MemoryRegion::~MemoryRegion() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_bytes_);
}

}  // namespace tilewright
