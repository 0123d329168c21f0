// Co-design as a library: no command line, no files but those it is given a directory for.
#include "tilewright/study/codesign.hpp"

#include <nlohmann/json.hpp>

#include "../scratch.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/study/machine_ledger.hpp"
#include "tilewright/study/run_directory.hpp"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using Json = nlohmann::ordered_json;

Layer small(const std::string& name, std::int64_t in, std::int64_t out) {
  return convolution(name, {.out_channels = out,
                            .in_channels = in,
                            .in_height = 6,
                            .in_width = 6,
                            .kernel_height = 3,
                            .kernel_width = 3,
                            .pad = 1});
}

Network two_layers() {
  Network network;
  network.name = "two";
  network.layers.push_back({.layer = small("conv1", 16, 32), .count = 3, .inputs = {}});
  network.layers.push_back({.layer = small("conv2", 32, 16), .count = 1, .inputs = {}});
  return network;
}

// Of layers so small, random points of a given machine are mostly valid.
CodesignJob given_machine() {
  CodesignSpaceOptions space;
  space.fixed_machine = true;
  return std::move(codesign_job(two_layers(), space)).value();
}

CodesignOptions random_search() {
  CodesignOptions options;
  options.search = "random";
  options.measurements = 12;
  options.seed = 3;
  return options;
}

TEST(CodesignOptions, AreWrittenAndReadAgain) {
  CodesignOptions options = random_search();
  options.network = "zoo:alexnet";
  options.operators = {Operator::Convolution, Operator::FullyConnected};
  options.max_power = 2.5;
  options.timing.core = vta::Core::Sequential;
  options.settings = {"dcoc.batch=32"};
  const Json json = to_json(options_of(options));
  EXPECT_EQ(json.at("operators"), "conv,fc");
  EXPECT_EQ(json.at("core"), "sequential");
  EXPECT_FALSE(json.contains("area_budget"));
  CodesignOptions again;
  ASSERT_TRUE(read_options(options_of(again), json, "run.json"));
  EXPECT_EQ(again.operators, options.operators);
  EXPECT_EQ(again.timing.core, vta::Core::Sequential);
  EXPECT_EQ(to_json(options_of(again)), json);
}

TEST(CodesignOptions, AreRefusedInOneSentence) {
  CodesignOptions options;
  const auto refusal = [&](const char* json) {
    const Result<Done> read = read_options(options_of(options), Json::parse(json), "run.json");
    return read ? "" : read.error().message;
  };
  EXPECT_THAT(refusal(R"({"operators": "conv,cf"})"), HasSubstr("'cf', expected some of conv"));
  EXPECT_THAT(refusal(R"({"core": "pipelind"})"), HasSubstr("did you mean 'pipelined'?"));
  EXPECT_THAT(refusal(R"({"measurements": 0})"), HasSubstr("--measurements is 0, expected at least 1"));
}

TEST(CodesignJob, HasTheLayersThatWereAskedFor) {
  const CodesignSpaceOptions space;
  const Result<CodesignJob> one = codesign_job(two_layers(), space, {.layer = "conv2", .operators = {}});
  ASSERT_TRUE(one);
  ASSERT_EQ(one->layers.size(), 1U);
  EXPECT_EQ(one->layers[0].name, "conv2");
  const Result<CodesignJob> none = codesign_job(two_layers(), space, {.layer = "", .operators = {Operator::MatrixMultiply}});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "two: has no layer for the machine: none is of --operators matmul");
}

Outcome taking(double cycles, double area) {
  Outcome outcome;
  outcome.feasible = true;
  outcome.metrics.latency = cycles;
  outcome.metrics.area = area;
  return outcome;
}

TEST(MachineLedger, AnswersWithTheMachineOfTheFewestCyclesOfAllLayers) {
  MachineLedger ledger({2, 1}, 1);  // the first layer is there twice; one entry names the machine
  const Point a1{0, 1}, a2{0, 2}, b1{1, 1}, b2{1, 2};
  ledger.consider(0, a1, taking(10, 1));
  EXPECT_FALSE(ledger.answer());  // its second layer was never measured
  ledger.consider(1, a2, taking(5, 1));
  EXPECT_EQ(ledger.answer()->cycles, 25);
  ledger.consider(0, b1, taking(9, 0.5));
  ledger.consider(1, b2, Outcome{});  // infeasible
  EXPECT_EQ(ledger.answer()->cycles, 25);
  ledger.consider(1, b2, taking(7, 0.5));
  EXPECT_EQ(ledger.answer()->cycles, 25);  // as many, on a smaller machine
  EXPECT_EQ(ledger.answer()->area, 0.5);
  EXPECT_EQ(ledger.answer()->layers[1].point, b2);
  EXPECT_EQ(ledger.machines(), 2U);
  EXPECT_EQ(ledger.complete_machines(), 2U);
  EXPECT_THAT(ledger.curve(), ElementsAre(Pair(2, 25.0), Pair(5, 25.0)));
}

TEST(Codesign, FindsSchedulesAndExecutesThem) {
  ThreadPool threads(2);
  RunContext context{.threads = threads};
  std::int64_t told = 0;
  context.progress.show = [&](const ProgressState& state) { told = state.done; };
  const Result<CodesignStudy> study = codesign(given_machine(), random_search(), context);
  ASSERT_TRUE(study) << study.error().message;
  ASSERT_TRUE(study->machine);
  ASSERT_EQ(study->layers.size(), 2U);
  EXPECT_EQ(told, 24);  // of both layers
  EXPECT_TRUE(study->check.equal) << study->check.sentence;
  EXPECT_EQ(study->check.programs, 2U);
  const CodesignTotals totals = totals_of(*study);
  EXPECT_EQ(totals.measurements, 24);
  EXPECT_EQ(totals.cycles, 3 * study->layers[0].found->metrics.latency + study->layers[1].found->metrics.latency);
  for (const CodesignedLayer& layer : study->layers) {
    const TimedLayer timed = time_layer(layer.layer, *study->machine, layer.found->schedule, study->options);
    EXPECT_EQ(static_cast<double>(timed.timing.cycles), layer.found->metrics.latency);
  }
}

TEST(Codesign, GivesTheSameWithAnyNumberOfThreads) {
  const CodesignJob job = given_machine();
  std::string first;
  for (const std::size_t count : {1U, 3U}) {
    ThreadPool threads(count);
    RunContext context{.threads = threads};
    const Result<CodesignStudy> study = codesign(job, random_search(), context);
    ASSERT_TRUE(study);
    if (first.empty()) first = to_json(*study);
    EXPECT_EQ(to_json(*study), first);
  }
}

TEST(Codesign, StopsWithWhatItHas) {
  ThreadPool threads(1);
  const std::atomic<bool> asked = true;
  RunContext context{.threads = threads, .stop = StopToken(&asked)};
  CodesignOptions options = random_search();
  options.measurements = 100'000;
  const Result<CodesignStudy> study = codesign(given_machine(), options, context);
  ASSERT_TRUE(study);
  EXPECT_TRUE(study->interrupted);
  EXPECT_FALSE(study->check.executed);
}

class CodesignRuns : public ::testing::Test {
 protected:
  Result<CodesignStudy> run(const CodesignOptions& options) {
    Result<RunDirectory> directory = RunDirectory::open(path_);
    if (!directory) return directory.error();
    ThreadPool threads(2);
    RunContext context{.threads = threads, .directory = &directory.value()};
    return codesign(job_, options, context);
  }

  Scratch scratch_;
  std::filesystem::path path_ = scratch_.path() / "run";
  CodesignJob job_ = given_machine();
};

TEST_F(CodesignRuns, GoOnFromTheirPoints) {
  const Result<CodesignStudy> first = run(random_search());
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->known, 0);
  EXPECT_TRUE(std::filesystem::exists(path_ / "programs" / "000_conv1.vtaprog"));
  EXPECT_TRUE(std::filesystem::exists(path_ / "listing.txt"));
  const Result<CodesignStudy> again = run(random_search());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_GT(again->known, 0);
  EXPECT_EQ(to_json(*again), to_json(*first));
  const Result<CodesignOptions> recorded = read_codesign_run(path_);
  ASSERT_TRUE(recorded);
  EXPECT_EQ(recorded->measurements, 12);
  EXPECT_TRUE(check_same_codesign(path_, *recorded, job_));
}

TEST_F(CodesignRuns, RefuseAnotherQuestion) {
  ASSERT_TRUE(run(random_search()));
  CodesignOptions other = random_search();
  other.seed = 4;
  const Result<CodesignStudy> refused = run(other);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("seed of the run there is 3, but now it is 4"));
}

TEST(CodesignJson, IsReadAgain) {
  ThreadPool threads(1);
  RunContext context{.threads = threads};
  const Result<CodesignStudy> study = codesign(given_machine(), random_search(), context);
  ASSERT_TRUE(study);
  const Result<CodesignStudy> read = codesign_study_from(Json::parse(to_json(*study)));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->layers[0].found->schedule, study->layers[0].found->schedule);
  EXPECT_EQ(read->layers[1].ledger.valid, study->layers[1].ledger.valid);
  EXPECT_EQ(read->curve, study->curve);
  EXPECT_THAT(codesign_study_from(Json::parse(R"({"network": 3})")).error().message, HasSubstr("is no result of codesign"));
}

}  // namespace
}  // namespace tilewright
