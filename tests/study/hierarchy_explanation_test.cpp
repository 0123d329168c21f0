#include "tilewright/study/hierarchy_explanation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "../scratch.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/hierarchy/machine_yaml.hpp"
#include "tilewright/space/hierarchy_classics.hpp"
#include "tilewright/study/hierarchy_mapping.hpp"
#include "tilewright/study/run_context.hpp"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

constexpr const char* kNetwork =
    "format: tilewright-network-1\nname: tiny\nlayers:\n- {name: fc, op: fc, in: 64, out: 40}\n";

class HierarchyExplanation : public ::testing::Test {
 protected:
  HierarchyExplanation() { EXPECT_TRUE(write_file(scratch_ / "tiny.yaml", kNetwork)); }
  // A machine whose registers hold `capacity` words and have to keep everything.
  EvaluationOptions with_registers(std::int64_t capacity) const {
    EXPECT_TRUE(write_file(scratch_ / "machine.yaml",
                           "format: tilewright-accelerator-2\nname: small\nmac: {instances: 4}\nlevels:\n"
                           "- {name: registers, instances: 4, capacity: " +
                               std::to_string(capacity) +
                               ", keep: [weights, inputs, outputs]}\n- {name: dram, technology: dram}\n"));
    return {.network = scratch_ / "tiny.yaml", .hardware = scratch_ / "machine.yaml"};
  }
  Scratch scratch_;
};

TEST_F(HierarchyExplanation, FindsTheNearestOfAllMappings) {
  const auto study = explain_levels(with_registers(24), {});
  ASSERT_TRUE(study) << study.error().message;
  EXPECT_TRUE(study->is_nearest);
  EXPECT_TRUE(is_feasible(*study));
  const HierarchyCandidate& candidate = *study->layers[0].candidate;
  ASSERT_TRUE(candidate.analysis);
  // None of the classics is better.
  ThreadPool threads(1);
  const auto job =
      read_hierarchy_job({.network = scratch_ / "tiny.yaml", .hardware = scratch_ / "machine.yaml"}, {}, threads);
  const auto evaluator = job->problems[0].space->evaluator();
  for (const Point& point : job->problems[0].known) {
    EXPECT_LE(candidate.metrics.edp(), evaluator->evaluate(point).metrics.edp());
  }
}

TEST_F(HierarchyExplanation, SaysHowLargeALevelHasToBe) {
  // One word of each tensor is the least there is; partial sums are as wide as all else.
  const auto study = explain_levels(with_registers(2), {});
  ASSERT_TRUE(study) << study.error().message;
  EXPECT_FALSE(is_feasible(*study));
  const HierarchyCandidate& candidate = *study->layers[0].candidate;
  ASSERT_TRUE(candidate.relaxation);
  const auto& changes = candidate.relaxation->fitting.changes;
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0], (hierarchy::MachineChange{hierarchy::MachineChange::What::Capacity, 0, 2, 3}));
  EXPECT_TRUE(candidate.relaxation->moves.empty()) << "no mapping fits";
  const auto layer = nlohmann::json::parse(to_json(*study))["layers"][0];
  EXPECT_EQ(layer["reason"], "capacity");
  EXPECT_EQ(layer["machine"][0]["to"], 3);
  EXPECT_TRUE(is_feasible(*explain_levels(with_registers(3), {})));
}

TEST_F(HierarchyExplanation, TellsMapWhatToAsk) {
  const EvaluationOptions options = with_registers(2);
  ThreadPool threads(1);
  RunContext context{threads};
  MappingOptions mapping;
  mapping.bits = "weights=16";
  const auto job = read_hierarchy_job({.network = options.network, .hardware = options.hardware}, mapping, threads);
  ASSERT_TRUE(job) << job.error().message;
  const auto study = map(*job, {.search = "random", .samples = 20}, context);
  ASSERT_TRUE(study);
  EXPECT_FALSE(study->layers[0].found);
  EXPECT_EQ(study->layers[0].explain, "tilewright explain --network " + options.network + " --layer fc --hardware " +
                                          options.hardware + " --model hierarchy --bits weights=16");
  EXPECT_THAT(remarks_of(*study).back(), HasSubstr("`" + study->layers[0].explain + "` tells more"));
  EXPECT_EQ(nlohmann::json::parse(to_json(*study))["layers"][0]["explain"], study->layers[0].explain);
}

TEST_F(HierarchyExplanation, MeasuresLimitsAndRefusesOthers) {
  LimitOptions limits;
  limits.max_latency = 10;
  const auto study = explain_levels(with_registers(24), limits);
  ASSERT_TRUE(study);
  EXPECT_FALSE(is_feasible(*study));
  const auto layer = nlohmann::json::parse(to_json(*study))["layers"][0];
  EXPECT_EQ(layer["status"], "over-limit");
  const double latency = study->layers[0].candidate->metrics.latency;
  EXPECT_EQ(layer["limits"]["latency"]["factor"], latency / 10);
  limits.max_latency = latency;
  EXPECT_TRUE(is_feasible(*explain_levels(with_registers(24), limits)));
  limits = {};
  limits.max_l1 = 100;
  EXPECT_THAT(explain_levels(with_registers(24), limits).error().message, HasSubstr("does not go with machines of memory"));
  limits = {};
  limits.max_area = 100;
  EXPECT_THAT(explain_levels(with_registers(24), limits).error().message, HasSubstr("--max-area needs an area"));
}

}  // namespace
}  // namespace tilewright
