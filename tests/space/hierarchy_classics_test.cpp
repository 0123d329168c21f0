#include "tilewright/space/hierarchy_classics.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "tilewright/hierarchy/machine_yaml.hpp"

namespace tilewright {
namespace {

using namespace hierarchy;

Problem conv() {
  return problem_of(*shape_named("conv"), {{"R", 3}, {"S", 3}, {"P", 28}, {"Q", 28}, {"C", 64}, {"K", 128}, {"N", 1}}, {},
                    "test")
      .value();
}

TEST(HierarchyClassics, SpreadWhatTheirNamesSay) {
  const auto space = HierarchySpace::make("test", conv(), read_machine("zoo:simple3").value(), {}).value();
  const auto classics = classics_of(*space);
  const auto mapping_of = [&](std::string_view name) {
    const auto classic = std::ranges::find(classics, name, &HierarchyClassic::name);
    EXPECT_NE(classic, classics.end()) << name;
    return space->mapping(classic->point);
  };
  const auto dim = [&](char letter) { return *space->problem().dim_named(letter); };
  const auto spread = [&](const Mapping& mapping, char letter) { return mapping.levels[1].spatial.factors[dim(letter)]; };
  const Mapping weights = mapping_of("weight-stationary");
  EXPECT_EQ(spread(weights, 'K') * spread(weights, 'C') * spread(weights, 'R') * spread(weights, 'S'), 64);
  const Mapping outputs = mapping_of("output-stationary");
  EXPECT_GT(spread(outputs, 'P') * spread(outputs, 'Q'), 1);
  EXPECT_EQ(spread(outputs, 'C') * spread(outputs, 'R') * spread(outputs, 'S'), 1) << "sums stay where they are";
  EXPECT_EQ(spread(mapping_of("row-stationary"), 'S'), 3) << "a row of the kernel per processing element";
}

TEST(HierarchyClassics, AreFoundByEveryNameThereIs) {
  const auto space = HierarchySpace::make("test", conv(), read_machine("zoo:tpu-like").value(), {}).value();
  std::vector<Point> points;
  for (const ClassicInfo& info : hierarchy_classics()) points.push_back(classic_named(*space, info.name).value());
  // classics_of tells each point once, under its first name.
  for (const HierarchyClassic& classic : classics_of(*space)) {
    EXPECT_EQ(classic_named(*space, classic.name).value(), classic.point);
  }
  for (const Point& point : points) {
    EXPECT_TRUE(std::ranges::any_of(classics_of(*space), [&](const HierarchyClassic& one) { return one.point == point; }));
  }
  EXPECT_NE(classic_named(*space, "nvdla_like").error().message.find("did you mean 'nvdla-like'?"), std::string::npos);
  const Problem product = problem_of(*shape_named("gemm"), {{"M", 8}, {"N", 8}, {"K", 8}}, {}, "test").value();
  const auto other = HierarchySpace::make("test", product, read_machine("zoo:tpu-like").value(), {}).value();
  EXPECT_NE(classic_named(*other, "row-stationary").error().message.find("is for convolutions"), std::string::npos);
}

TEST(HierarchyClassics, OneFitsEveryMachineOfTheZoo) {
  const Problem product = problem_of(*shape_named("gemm"), {{"M", 197}, {"N", 768}, {"K", 768}}, {}, "test").value();
  for (const char* machine : {"simple3", "eyeriss-like", "simba-like", "eyeriss-dram", "nvdla-dram", "tpu-like"}) {
    for (const Problem& problem : {conv(), product}) {
      const auto space =
          HierarchySpace::make("test", problem, read_machine(std::string("zoo:") + machine).value(), {}).value();
      const auto evaluator = space->evaluator();
      const auto classics = classics_of(*space);
      EXPECT_GE(classics.size(), 3u) << machine;
      EXPECT_TRUE(std::ranges::any_of(classics, [&](const HierarchyClassic& classic) {
        return is_legal(*space, classic.point) && evaluator->evaluate(classic.point).feasible;
      })) << machine;
    }
  }
}

}  // namespace
}  // namespace tilewright
