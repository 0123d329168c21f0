// The hot path allocates nothing: every operator new of this program is counted.
#include <atomic>
#include <cstdlib>
#include <new>

#include "mapper_style.hpp"
#include "tilewright/cost/evaluator.hpp"

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

namespace tilewright {
namespace {

TEST(Allocation, EvaluatingAMappingAllocatesNothing) {
  Rng rng(1, "allocation");
  const Nest nest = draw_nest(rng, NestKind::Convolution, 64, false);
  std::vector<Mapping> mappings;
  for (int i = 0; i < 500; ++i) mappings.push_back(draw_mapping(rng, nest, {.levels = 1 + i % 3}));
  Accelerator accelerator;
  accelerator.pes = 1024;
  for (const auto columns : {EvaluateOptions::Columns::Search, EvaluateOptions::Columns::All}) {
    Evaluator evaluator(nest, accelerator, {.columns = columns});
    int feasible = 0;
    const std::int64_t before = allocations;
    for (const Mapping& mapping : mappings) feasible += std::holds_alternative<Cost>(evaluator.evaluate(mapping)) ? 1 : 0;
    EXPECT_EQ(allocations - before, 0);
    EXPECT_GT(feasible, 100);
  }
  const std::int64_t before = allocations;
  const std::vector<int> counted(10);
  EXPECT_EQ(allocations - before, 1);  // the counter does count
}

}  // namespace
}  // namespace tilewright
