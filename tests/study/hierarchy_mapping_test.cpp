#include "tilewright/study/hierarchy_mapping.hpp"

#include <nlohmann/json.hpp>

#include "tiny.hpp"

namespace tilewright {
namespace {

HierarchyStudy mapped(const std::string& objective, std::int64_t samples) {
  ThreadPool threads(2);
  RunContext context{threads};
  MappingOptions options;
  options.objective = *objective_named(objective);
  const HierarchyJob job = tiny_levels_job(threads, options);
  Result<HierarchyStudy> study = map(job, {.search = "random", .samples = samples}, context);
  EXPECT_TRUE(study) << study.error().message;
  return std::move(study).value();
}

TEST(MapOnMemoryLevels, SumsUpByCountAndByPart) {
  const HierarchyStudy study = mapped("edp", 60);
  const HierarchyTotals totals = totals_of(study);
  double energy = 0, parts = 0;
  for (const HierarchyLayer& layer : study.layers) {
    ASSERT_TRUE(layer.found);
    EXPECT_GE(*layer.dataflow_factor, 1) << layer.name;  // never worse than a classic
    energy += static_cast<double>(layer.count) * layer.found->analysis.cost.energy.value;
  }
  for (const EnergyPart& part : energy_of(study)) parts += part.energy.value;
  EXPECT_DOUBLE_EQ(totals.energy.value, energy);
  EXPECT_NEAR(parts / energy, 1, 1e-12);
}

TEST(MapOnMemoryLevels, KeepsTheFrontsItIsAskedFor) {
  EXPECT_TRUE(mapped("edp", 30).layers[0].front.empty());
  const HierarchyStudy study = mapped("pareto:latency,power", 60);
  const auto both = [](const Metrics& metrics) { return Score{metrics.latency, metrics.power}; };
  std::size_t members = 0;
  for (const HierarchyLayer& layer : study.layers) {
    ASSERT_FALSE(layer.front.empty());
    members += layer.front.size();
    double least = 1e300;
    for (const HierarchyLayer::Member& member : layer.front) {
      hierarchy::Evaluator evaluator(layer.problem, study.machine, {.judge = study.judge});
      const auto cost = std::get<hierarchy::Cost>(evaluator.evaluate(member.mapping));
      EXPECT_EQ(static_cast<double>(cost.cycles.value), member.metrics.latency);
      for (const HierarchyLayer::Member& other : layer.front) {
        EXPECT_FALSE(dominates(both(other.metrics), both(member.metrics)));
      }
      least = std::min(least, member.metrics.latency * member.metrics.power);
    }
    EXPECT_DOUBLE_EQ(layer.found->metrics.latency * layer.found->metrics.power, least)
        << "everything else is about the member with the least product";
  }
  EXPECT_GT(members, study.layers.size()) << "a front of one is no front";
  // For every combination of members the network has one that needs at most `bound` times as much.
  ASSERT_EQ(study.layers.size(), 3U);
  for (const auto& a : study.layers[0].front) {
    for (const auto& b : study.layers[1].front) {
      for (const auto& c : study.layers[2].front) {
        Metrics sum;
        accumulate(sum, a.metrics, static_cast<double>(study.layers[0].count));
        accumulate(sum, b.metrics, static_cast<double>(study.layers[1].count));
        accumulate(sum, c.metrics, static_cast<double>(study.layers[2].count));
        EXPECT_TRUE(std::ranges::any_of(study.front.members, [&](const NetworkMember& member) {
          const double bound = study.front.bound * (1 + 1e-12);
          return member.metrics.latency <= sum.latency * bound && member.metrics.energy <= sum.energy * bound;
        }));
      }
    }
  }
  const auto json = nlohmann::json::parse(to_json(study));
  EXPECT_EQ(json["pareto"]["network"].size(), study.front.members.size());
  EXPECT_EQ(json["layers"][0]["pareto"].size(), study.layers[0].front.size());
}

}  // namespace
}  // namespace tilewright
