// The grouped evaluation against the walk over every stance, on random mappings of every kind.
#include "tilewright/cost/stance_groups.hpp"

#include <cmath>

#include "mapper_style.hpp"
#include "tilewright/cost/stance_walk.hpp"

namespace tilewright {
namespace {

void expect_equal(const Analysis& a, const Analysis& b) {
  EXPECT_EQ(a.runtime, b.runtime);
  EXPECT_EQ(a.macs, b.macs);
  EXPECT_EQ(a.leaf_macs, b.leaf_macs);
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.utilisation, b.utilisation);
  for (std::size_t operand = 0; operand < kOperandCount; ++operand) {
    EXPECT_EQ(a.traffic[operand].l1_read, b.traffic[operand].l1_read);
    EXPECT_EQ(a.traffic[operand].l1_write, b.traffic[operand].l1_write);
    EXPECT_EQ(a.traffic[operand].l2_read, b.traffic[operand].l2_read);
    EXPECT_EQ(a.traffic[operand].l2_write, b.traffic[operand].l2_write);
  }
  EXPECT_EQ(a.upper_need, b.upper_need);
  EXPECT_EQ(a.first_lower_need, b.first_lower_need);
  EXPECT_EQ(a.descended, b.descended);
  EXPECT_EQ(a.peak_bandwidth, b.peak_bandwidth);
  EXPECT_EQ(a.bandwidth_sum, b.bandwidth_sum);
  EXPECT_EQ(a.offchip_bandwidth, b.offchip_bandwidth);
  EXPECT_TRUE(a.arithmetic_intensity == b.arithmetic_intensity ||
              (std::isnan(a.arithmetic_intensity) && std::isnan(b.arithmetic_intensity)));
  for (const auto& [x, y] : {std::pair(a.ingress, b.ingress), {a.egress, b.egress}, {a.compute, b.compute}}) {
    EXPECT_EQ(x.least, y.least);
    EXPECT_EQ(x.most, y.most);
    EXPECT_EQ(x.sum, y.sum);
  }
}

class StanceGroupsOnModel : public testing::TestWithParam<Model> {};

TEST_P(StanceGroupsOnModel, AgreesWithTheWalkOnRandomMappings) {
  Rng rng(11, "stance-groups");
  StanceGroups groups;
  int grouped = 0, failing = 0;
  constexpr NestKind kKinds[] = {NestKind::Convolution, NestKind::Depthwise, NestKind::Grouped, NestKind::MatrixMultiply};
  for (int i = 0; i < 4000; ++i) {
    const Nest nest = draw_nest(rng, kKinds[i % 4], 20, i % 3 == 0);
    const Mapping mapping = draw_mapping(rng, nest, {.levels = 1 + i % 4, .divisors = i % 5 == 0, .wild = i % 7 == 0});
    const MachineRates rates{rng.between(1, 40), rng.between(0, 3), rng.between(1, 40), rng.between(1, 4)};
    Plan plan;
    if (make_plan(plan, nest, mapping, 1 << rng.between(4, 10), GetParam())) continue;
    const auto fast = groups.analyse(plan, rates, true);
    if (std::holds_alternative<NotGrouped>(fast)) continue;
    ++grouped;
    const auto slow = walk_stances(plan, rates);
    if (const auto* failure = std::get_if<Infeasible>(&fast)) {
      ++failing;
      ASSERT_TRUE(std::holds_alternative<Infeasible>(slow)) << i;
      EXPECT_EQ(failure->reason, std::get<Infeasible>(slow).reason) << i;
      continue;
    }
    ASSERT_TRUE(std::holds_alternative<Analysis>(slow)) << i;
    expect_equal(std::get<Analysis>(fast), std::get<Analysis>(slow));
    if (HasFailure()) FAIL() << "mapping " << i << "\n" << to_maestro(mapping);
  }
  EXPECT_GT(grouped, 3000);
}

INSTANTIATE_TEST_SUITE_P(Models, StanceGroupsOnModel,
                         testing::Values(Model::Sound, Model::Exact, Model::Maestro, Model::MaestroE1d8efd));

TEST(StanceGroups, SearchColumnsAreThoseOfAllColumns) {
  Rng rng(12, "columns");
  StanceGroups groups;
  for (int i = 0; i < 500; ++i) {
    const Nest nest = draw_nest(rng, NestKind::Convolution, 20, false);
    Plan plan;
    if (make_plan(plan, nest, draw_mapping(rng, nest, {.levels = 2}), 256, Model::Sound)) continue;
    const auto all = groups.analyse(plan, {16, 1, 16, 1}, true);
    const auto search = groups.analyse(plan, {16, 1, 16, 1}, false);
    ASSERT_EQ(all.index(), search.index());
    if (!std::holds_alternative<Analysis>(all)) continue;
    EXPECT_EQ(std::get<Analysis>(all).runtime, std::get<Analysis>(search).runtime);
    EXPECT_EQ(std::get<Analysis>(all).peak_bandwidth, std::get<Analysis>(search).peak_bandwidth);
    EXPECT_EQ(std::get<Analysis>(all).offchip_bandwidth, std::get<Analysis>(search).offchip_bandwidth);
    EXPECT_EQ(std::get<Analysis>(all).leaf_macs, std::get<Analysis>(search).leaf_macs);
  }
}

}  // namespace
}  // namespace tilewright
