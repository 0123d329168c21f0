// What a piece of code allocates: every operator new of the program is counted. The operators are defined here, so one file
// of a test program includes this and no other.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include <gtest/gtest.h>

namespace tilewright {

inline std::atomic<std::int64_t> allocations{0};

template <typename Run>
std::int64_t allocations_of(const Run& run) {
  const std::int64_t before = allocations;
  run();
  return allocations - before;
}

// Without it, a count of 0 would say nothing.
inline void expect_allocations_are_counted() {
  EXPECT_EQ(allocations_of([] { const std::vector<int> counted(10); }), 1);
}

}  // namespace tilewright

// GCC pairs inlined allocations with the library's own operators and so mistakes these for a mismatch.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

void* operator new(std::size_t size) {
  ++tilewright::allocations;
  if (void* memory = std::malloc(size != 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++tilewright::allocations;
  return std::malloc(size != 0 ? size : 1);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
