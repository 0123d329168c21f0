#include "tilewright/cost/relaxation.hpp"

#include "mapper_style.hpp"

namespace tilewright {
namespace {

TEST(Relaxation, FeasibleMappingsNeedNone) {
  Rng rng(1, "feasible");
  const Nest nest = draw_nest(rng, NestKind::MatrixMultiply, 16, false);
  Accelerator accelerator;
  accelerator.pes = 64;
  for (int i = 0; i < 100; ++i) {
    const Mapping mapping = draw_mapping(rng, nest, {.levels = 2, .divisors = true});
    EXPECT_EQ(relax(mapping, nest, accelerator).has_value(),
              !std::holds_alternative<Cost>(evaluate(mapping, nest, accelerator)));
  }
}

TEST(Relaxation, RaisedLimitsAreJustEnough) {
  Rng rng(2, "limits");
  int broken = 0;
  for (int i = 0; i < 300; ++i) {
    const Nest nest = draw_nest(rng, NestKind::Convolution, 16, false);
    Accelerator accelerator;
    accelerator.pes = 64;
    accelerator.l1 = {64};
    accelerator.l2 = {1024};
    const Mapping mapping = draw_mapping(rng, nest, {.levels = 2, .divisors = true});
    const auto relaxation = relax(mapping, nest, accelerator);
    if (!relaxation || relaxation->raised_limits.empty()) continue;
    ++broken;
    for (const int lack : {0, 1}) {  // exactly the named limits fit; one byte less in any of them does not
      Accelerator raised = accelerator;
      for (const Limit& limit : relaxation->raised_limits) {
        if (limit.reason == Infeasible::Reason::L1Overflow) raised.l1 = {limit.need - lack};
        if (limit.reason == Infeasible::Reason::L2Overflow) raised.l2 = {limit.need - lack};
        if (limit.reason == Infeasible::Reason::PeOverflow) raised.pes = limit.need - lack;
      }
      EXPECT_EQ(std::holds_alternative<Cost>(evaluate(mapping, nest, raised)), lack == 0) << i;
    }
  }
  EXPECT_GT(broken, 50);
}

TEST(Relaxation, ChangedTilesReallyFit) {
  Rng rng(3, "tiles");
  int found = 0, single = 0;
  for (int i = 0; i < 300; ++i) {
    const Nest nest = draw_nest(rng, NestKind::Convolution, 16, false);
    Accelerator accelerator;
    accelerator.pes = 64;
    accelerator.l1 = {128};
    accelerator.l2 = {2048};
    const Mapping mapping = draw_mapping(rng, nest, {.levels = 2});
    const auto relaxation = relax(mapping, nest, accelerator);
    if (!relaxation || !relaxation->changed) continue;
    ++found;
    if (relaxation->tiles.size() == 1) ++single;
    EXPECT_TRUE(std::holds_alternative<Cost>(evaluate(*relaxation->changed, nest, accelerator)));
    EXPECT_FALSE(relaxation->tiles.empty());
  }
  EXPECT_GT(found, 100);
  EXPECT_GT(single, 20);
}

}  // namespace
}  // namespace tilewright
