// The hot path allocates nothing.
#include "../allocations.hpp"
#include "mapper_style.hpp"
#include "tilewright/cost/evaluator.hpp"

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
    EXPECT_EQ(allocations_of([&] {
                for (const Mapping& mapping : mappings) {
                  feasible += std::holds_alternative<Cost>(evaluator.evaluate(mapping)) ? 1 : 0;
                }
              }),
              0);
    EXPECT_GT(feasible, 100);
  }
  expect_allocations_are_counted();
}

}  // namespace
}  // namespace tilewright
