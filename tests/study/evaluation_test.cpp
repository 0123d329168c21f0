#include "tilewright/study/evaluation.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../scratch.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/study/explanation.hpp"
#include "tilewright/study/mapping.hpp"
#include "tilewright/study/mapping_run.hpp"
#include "tilewright/study/points.hpp"
#include "tilewright/study/run_directory.hpp"
#include "tiny.hpp"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

EvaluationOptions alexnet(const std::string& dataflow) {
  return {.network = "zoo:alexnet", .hardware = "zoo:eyeriss", .dataflow = dataflow};
}

TEST(Evaluate, SaysOfEveryLayerItsCostOrWhyItHasNone) {
  const auto job = read_evaluation_job(alexnet("nvdla"));
  ASSERT_TRUE(job) << job.error().message;
  const EvaluationStudy study = evaluate(*job);
  ASSERT_EQ(study.layers.size(), job->layers.size());
  for (const EvaluatedLayer& layer : study.layers) {
    EXPECT_NE(layer.cost.has_value(), !layer.failure.empty()) << layer.layer.name;
    if (!layer.cost) continue;
    const Evaluation again = evaluate(*layer.layer.mapping, layer.layer.nest, job->accelerator, Model::Sound);
    EXPECT_EQ(std::get<Cost>(again).runtime.value, layer.cost->runtime.value);
    EXPECT_GT(utilisation(*layer.cost, study.accelerator), 0);
    EXPECT_LE(utilisation(*layer.cost, study.accelerator), 1);
  }
  const auto json = nlohmann::json::parse(to_json(study));
  EXPECT_EQ(json["layers"].size(), study.layers.size());
  EXPECT_EQ(json["layers"][0]["status"], study.layers[0].cost ? "ok" : "error");
}

TEST(Evaluate, RefusesOptionsThatDoNotGoTogether) {
  const auto refusal = [](const EvaluationOptions& options) {
    const auto job = read_evaluation_job(options);
    return job ? "" : job.error().message;
  };
  EXPECT_THAT(refusal(alexnet("nvdlb")), HasSubstr("is not known"));
  EXPECT_THAT(refusal(alexnet("")), HasSubstr("neither --mapping nor --dataflow"));
  EvaluationOptions both = alexnet("nvdla");
  both.mapping = "some.yaml";
  EXPECT_THAT(refusal(both), HasSubstr("both given"));
  EvaluationOptions images = alexnet("nvdla");
  images.batch = 4;
  EXPECT_THAT(refusal(images), HasSubstr("expected a .onnx network"));
}

TEST(Explain, FindsTheNearestClassicAndWhatLimitsLack) {
  EvaluationOptions options = alexnet("");
  options.layer = "conv3";
  const auto study = explain(options, {});
  ASSERT_TRUE(study) << study.error().message;
  ASSERT_EQ(study->layers.size(), 1U);
  EXPECT_TRUE(study->is_nearest);
  ASSERT_TRUE(study->layers[0].candidate);
  EXPECT_FALSE(study->layers[0].candidate->dataflow.empty());
  EXPECT_TRUE(is_feasible(*study));

  LimitOptions limits;
  limits.max_latency = 1;
  const auto limited = explain(options, limits);
  ASSERT_TRUE(limited);
  EXPECT_FALSE(is_feasible(*limited));
  EXPECT_THAT(to_json(*limited), HasSubstr("\"status\": \"over-limit\""));
  limits = {};
  limits.max_l1 = 4;
  const auto cramped = explain(options, limits);
  ASSERT_TRUE(cramped);
  EXPECT_TRUE(cramped->layers[0].candidate->relaxation);

  options.model = Model::Maestro;
  EXPECT_THAT(explain(options, {}).error().message, HasSubstr("explain is about the sound and exact models"));
}

TEST(Points, OfARunAreStreamedInOrder) {
  const Scratch scratch;
  ThreadPool threads(1);
  ASSERT_TRUE(write_file(scratch / "tiny.yaml", to_yaml(tiny_network())));
  const MapRequest request{.inputs = {.network = (scratch / "tiny.yaml").string(), .hardware = "zoo:gamma-edge"},
                           .mapping = {},
                           .search = {.search = "random", .samples = 20}};
  {
    const auto job = read_mapping_job(request.inputs, request.mapping, threads);
    ASSERT_TRUE(job) << job.error().message;
    Result<RunDirectory> opened = RunDirectory::open(scratch / "run");
    ASSERT_TRUE(opened);
    RunDirectory directory = std::move(opened).value();
    ASSERT_TRUE(directory.begin_or_continue(run_json(request, *job)));
    RunContext context{.threads = threads, .directory = &directory};
    ASSERT_TRUE(map(*job, request.search, context));
  }
  std::vector<std::string> columns;
  std::vector<bool> numbers;
  std::size_t count = 0;
  const auto keep = [&](const PointTable& table) {
    columns = table.columns();
    numbers = table.are_numbers();
  };
  const auto see = [&](std::span<const PointCell> cells) {
    EXPECT_EQ(cells.size(), columns.size());
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const bool is_number = cells[i].text.empty() ? numbers[i] : cells[i].number;
      EXPECT_EQ(is_number, numbers[i]) << columns[i];
    }
    EXPECT_EQ(cells[0].text, "fc");
    return ++count < 5;  // enough
  };
  const auto streamed = stream_points(scratch / "run", "fc", keep, see);
  ASSERT_TRUE(streamed) << streamed.error().message;
  EXPECT_EQ(count, 5U);
  EXPECT_EQ(columns[0], "layer");
  EXPECT_THAT(stream_points(scratch / "run", "conv3", keep, see).error().message, HasSubstr("the run has no layer 'conv3'"));
}

}  // namespace
}  // namespace tilewright
