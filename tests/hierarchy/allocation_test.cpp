// The hot path allocates nothing.
#include "../allocations.hpp"
#include "example_machine.hpp"

namespace tilewright::hierarchy {
namespace {

TEST(Allocation, EvaluatingAMappingAllocatesNothing) {
  const Mapping mapping = example_mapping();
  for (const auto judge : {Judge::Timeloop, Judge::Hierarchy}) {
    for (const auto detail : {EvaluateOptions::Detail::Cost, EvaluateOptions::Detail::All}) {
      Evaluator evaluator(example_problem(), example_machine(), {judge, detail});
      (void)evaluator.evaluate(mapping);  // vectors grow to their size
      int feasible = 0;
      EXPECT_EQ(allocations_of([&] {
                  for (int i = 0; i < 100; ++i) {
                    feasible += std::holds_alternative<Cost>(evaluator.evaluate(mapping)) ? 1 : 0;
                  }
                }),
                0);
      EXPECT_EQ(feasible, 100);
    }
  }
  expect_allocations_are_counted();
}

}  // namespace
}  // namespace tilewright::hierarchy
