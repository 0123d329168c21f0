#include "tilewright/study/hierarchy_evaluation.hpp"

#include <numeric>

#include <nlohmann/json.hpp>

#include "../scratch.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/hierarchy/mapping_text.hpp"
#include "tilewright/hierarchy/timeloop_yaml.hpp"
#include "tilewright/space/hierarchy_classics.hpp"
#include "tilewright/study/hierarchy_energy.hpp"
#include "tiny.hpp"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

// A product of 4 x 4 x 4 on four MACs with a buffer of 10 words.
constexpr const char* kMachine =
    "format: tilewright-accelerator-2\nname: four\nmac: {instances: 4, energy_pj: 1}\nlevels:\n"
    "- {name: buffer, capacity: 10, energy_pj: 2}\n- {name: dram, technology: dram, energy_pj: 100}\n";
constexpr const char* kProblem =
    "problem:\n  shape:\n    dimensions: [M, N, K]\n    data_spaces:\n"
    "    - {name: A, projection: [[[M]], [[K]]]}\n    - {name: B, projection: [[[K]], [[N]]]}\n"
    "    - {name: Z, projection: [[[M]], [[N]]], read_write: true}\n  instance: {M: 4, N: 4, K: 4}\n";
constexpr const char* kTooLarge =
    "format: tilewright-mapping-2\nlevels:\n- {level: dram}\n- {level: buffer, time: [M4, N4, K4]}\n";
// Rows of A stay: 4 words of A, 1 of B, 1 of Z.
constexpr const char* kFits =
    "format: tilewright-mapping-2\nlevels:\n- {level: dram, time: [M4, N4]}\n- {level: buffer, time: [K4]}\n";

class HierarchyEvaluation : public ::testing::Test {
 protected:
  HierarchyEvaluation() {
    for (const auto& [name, text] :
         {std::pair("four.yaml", kMachine), {"product.yaml", kProblem}, {"large.yaml", kTooLarge}, {"fits.yaml", kFits}}) {
      EXPECT_TRUE(write_file(scratch_ / name, text));
    }
  }
  EvaluationOptions options(const std::string& mapping) const {
    return {.network = scratch_ / "product.yaml", .hardware = scratch_ / "four.yaml", .mapping = scratch_ / mapping};
  }
  HierarchyEvaluationStudy evaluated(const EvaluationOptions& options) const {
    Result<AnyEvaluationJob> job = read_any_evaluation_job(options);
    EXPECT_TRUE(job) << job.error().message;
    return evaluate(std::get<HierarchyEvaluationJob>(*job));
  }
  Scratch scratch_;
};

TEST_F(HierarchyEvaluation, SaysReasonNeedAndLimit) {
  const HierarchyEvaluationStudy study = evaluated(options("large.yaml"));
  EXPECT_FALSE(is_feasible(study));
  ASSERT_TRUE(study.layers[0].infeasible);
  EXPECT_EQ(*study.layers[0].infeasible, (hierarchy::Infeasible{hierarchy::Infeasible::Reason::Capacity, 0, 3 * 16, 10}));
  const auto layer = nlohmann::json::parse(to_json(study))["layers"][0];
  EXPECT_EQ(layer["status"], "error");
  EXPECT_EQ(layer["reason"], "capacity");
  EXPECT_EQ(layer["level"], "buffer");
  EXPECT_EQ(layer["need"], 48);
  EXPECT_EQ(layer["limit"], 10);
}

TEST_F(HierarchyEvaluation, CountsWhatCanBeCountedByHand) {
  const HierarchyEvaluationStudy study = evaluated(options("fits.yaml"));
  ASSERT_TRUE(study.layers[0].analysis);
  const hierarchy::Analysis& analysis = *study.layers[0].analysis;
  EXPECT_EQ(analysis.levels[0].held, 4 + 4 + 1) << "a row of A, a column of B, one of Z";
  EXPECT_EQ(analysis.cost.cycles.value, 64) << "one MAC is used";
  const std::vector<EnergyPart> parts = energy_parts(analysis, study.layers[0].layer.problem, study.machine);
  // dram: A 4 rows of 4, B 4 x 4 columns of 4, Z written once. buffer: filled with that, read by every multiplication.
  const auto part = [&](const std::string& level, const std::string& what) {
    for (const EnergyPart& one : parts) {
      if (one.level == level && one.what == what) return one.energy.value;
    }
    return -1.0;
  };
  EXPECT_EQ(part("dram", "A"), 100.0 * 16);
  EXPECT_EQ(part("dram", "B"), 100.0 * 64);
  EXPECT_EQ(part("dram", "Z"), 100.0 * 16);
  EXPECT_EQ(part("buffer", "A"), 2.0 * (64 + 16));
  EXPECT_EQ(part("buffer", "B"), 2.0 * (64 + 64));
  EXPECT_EQ(part("mac", "computing"), 64);
  EXPECT_EQ(part("buffer", "network"), -1);
}

TEST_F(HierarchyEvaluation, TakesTimeloopsFilesAndItsJudge) {
  const HierarchyEvaluationStudy ours = evaluated(options("fits.yaml"));
  const auto& layer = ours.layers[0].layer;
  ASSERT_TRUE(write_file(scratch_ / "timeloop.yaml", to_timeloop_yaml(*layer.mapping, layer.problem, ours.machine)));
  const HierarchyEvaluationStudy theirs = evaluated(options("timeloop.yaml"));
  EXPECT_EQ(theirs.layers[0].analysis->cost.energy.value, ours.layers[0].analysis->cost.energy.value);
  EvaluationOptions judged = options("fits.yaml");
  judged.levels.judge = hierarchy::Judge::Timeloop;
  hierarchy::Evaluator evaluator(layer.problem, ours.machine, {.judge = hierarchy::Judge::Timeloop});
  EXPECT_EQ(evaluated(judged).layers[0].analysis->cost.energy.value,
            std::get<hierarchy::Cost>(evaluator.evaluate(*layer.mapping)).energy.value);
  // Timeloop counts whole tiles only.
  ASSERT_TRUE(
      write_file(scratch_ / "ragged.yaml",
                 "format: tilewright-mapping-2\nlevels:\n- {level: dram, time: [M4, N4, K2]}\n- {level: buffer, time: "
                 "[K3]}\n"));
  EXPECT_TRUE(is_feasible(evaluated(options("ragged.yaml"))));
  judged.mapping = scratch_ / "ragged.yaml";
  EXPECT_THAT(read_any_evaluation_job(judged).error().message, HasSubstr("the factors of K multiply to 6, expected 4"));
}

TEST_F(HierarchyEvaluation, PartsAddUpToTheWholeForEveryClassicOfANetwork) {
  for (const ClassicInfo& classic : hierarchy_classics()) {
    const HierarchyEvaluationStudy study =
        evaluated({.network = "zoo:alexnet", .hardware = "zoo:simba-like", .dataflow = std::string(classic.name)});
    std::size_t with_cost = 0;
    std::vector<EnergyPart> sums;
    double all = 0;
    for (const HierarchyEvaluatedLayer& layer : study.layers) {
      EXPECT_NE(layer.analysis.has_value(), !layer.failure.empty());
      if (!layer.analysis) continue;
      ++with_cost;
      const double energy = layer.analysis->cost.energy.value;
      double sum = 0;
      const std::vector<EnergyPart> parts = energy_parts(*layer.analysis, layer.layer.problem, study.machine);
      for (const EnergyPart& part : parts) sum += part.energy.value;
      EXPECT_NEAR(sum / energy, 1, 1e-12) << classic.name << " " << layer.layer.name;
      add_parts(sums, parts, 2);
      all += 2 * energy;
    }
    EXPECT_EQ(with_cost, classic.name == "row-stationary" ? 5U : study.layers.size()) << classic.name;
    const double total = std::accumulate(sums.begin(), sums.end(), 0.0,
                                         [](double sum, const EnergyPart& part) { return sum + part.energy.value; });
    EXPECT_NEAR(total / all, 1, 1e-12);
  }
}

TEST_F(HierarchyEvaluation, RefusesWhatCannotBe) {
  const auto refusal = [](const EvaluationOptions& options) {
    const auto job = read_any_evaluation_job(options);
    return job ? "" : job.error().message;
  };
  EvaluationOptions both = options("fits.yaml");
  both.dataflow = "nvdla-like";
  EXPECT_THAT(refusal(both), HasSubstr("both given"));
  EXPECT_THAT(refusal({.network = "zoo:alexnet", .hardware = "zoo:tpu-like"}),
              HasSubstr("neither --mapping nor --dataflow"));
  EXPECT_THAT(refusal({.network = "zoo:alexnet", .hardware = "zoo:tpu-like", .dataflow = "tpulike"}),
              HasSubstr("did you mean 'tpu-like'?"));
  EvaluationOptions model = options("fits.yaml");
  model.model = Model::Exact;
  EXPECT_THAT(refusal(model), HasSubstr("--model exact does not go with machines of memory levels"));
  EvaluationOptions restricted = options("fits.yaml");
  restricted.levels.restrict_to = scratch_ / "restrict.yaml";
  ASSERT_TRUE(write_file(scratch_ / "restrict.yaml",
                         "mapspace_constraints:\n  targets:\n  - {target: buffer, type: temporal, factors: K=1}\n"));
  EXPECT_THAT(refusal(restricted), HasSubstr("level 'buffer' cuts K into 4, expected 1"));
}

}  // namespace
}  // namespace tilewright
