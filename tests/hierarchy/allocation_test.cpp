// The hot path allocates nothing: every operator new of this program is counted.
#include <atomic>
#include <cstdlib>
#include <new>

#include "example_machine.hpp"

namespace {
std::atomic<std::int64_t> allocations{0};
}

// GCC pairs inlined allocations with the library's own operators and so mistakes these for a mismatch.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size != 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size != 0 ? size : 1);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace tilewright::hierarchy {
namespace {

TEST(Allocation, EvaluatingAMappingAllocatesNothing) {
  const Mapping mapping = example_mapping();
  for (const auto judge : {Judge::Timeloop, Judge::Hierarchy}) {
    for (const auto detail : {EvaluateOptions::Detail::Cost, EvaluateOptions::Detail::All}) {
      Evaluator evaluator(example_problem(), example_machine(), {judge, detail});
      (void)evaluator.evaluate(mapping);  // vectors grow to their size
      const std::int64_t before = allocations;
      int feasible = 0;
      for (int i = 0; i < 100; ++i) feasible += std::holds_alternative<Cost>(evaluator.evaluate(mapping)) ? 1 : 0;
      EXPECT_EQ(allocations - before, 0);
      EXPECT_EQ(feasible, 100);
    }
  }
  const std::int64_t before = allocations;
  const std::vector<int> counted(10);
  EXPECT_EQ(allocations - before, 1);  // the counter does count
}

}  // namespace
}  // namespace tilewright::hierarchy
