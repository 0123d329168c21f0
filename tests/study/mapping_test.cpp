#include "tilewright/study/mapping.hpp"

#include <atomic>
#include <set>

#include <nlohmann/json.hpp>

#include "../scratch.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/study/mapping_run.hpp"
#include "tilewright/study/run_directory.hpp"
#include "tiny.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

MapOptions few_samples(const std::string& search = "random") { return {.search = search, .samples = 40}; }

MappingStudy mapped(const MappingJob& job, const MapOptions& options, RunContext& context) {
  Result<MappingStudy> study = map(job, options, context);
  EXPECT_TRUE(study) << study.error().message;
  return std::move(study).value();
}

TEST(MappingJob, HasAProblemForEveryDistinctLayer) {
  ThreadPool threads(1);
  const MappingJob job = tiny_job(threads);
  ASSERT_EQ(job.problems.size(), 3U);
  EXPECT_EQ(job.problems[1].name, "conv2");
  EXPECT_EQ(job.problems[1].count, 2);
  EXPECT_TRUE(is_complete(job.coverage));
  for (const MappingProblem& problem : job.problems) {
    ASSERT_FALSE(problem.known.empty());
    // What a point stands for is what the space evaluates.
    const Point& point = problem.known.front();
    const Outcome outcome = problem.space->evaluator()->evaluate(point);
    const Evaluation evaluation = evaluate(problem.mapping(point), problem.nest, problem.machine(point), Model::Sound);
    ASSERT_TRUE(std::holds_alternative<Cost>(evaluation));
    EXPECT_EQ(static_cast<double>(std::get<Cost>(evaluation).runtime.value), outcome.metrics.latency);
  }
}

TEST(MappingJob, RefusesWhatCannotBe) {
  ThreadPool threads(1);
  const auto refusal = [&](const MappingOptions& options) {
    const auto job = mapping_job(tiny_network(), small_machine(), options, threads);
    return job ? "" : job.error().message;
  };
  MappingOptions options;
  options.layer = "conv3";
  EXPECT_THAT(refusal(options), HasSubstr("conv3"));
  options = {};
  options.max_l1 = 0;
  EXPECT_EQ(refusal(options), "--max-l1 is 0, expected at least 1");
  options = {};
  options.max_area = 5;
  EXPECT_THAT(refusal(options), HasSubstr("gamma-edge gives no figures for one"));
  options = {};
  options.layer = "fc";
  EXPECT_EQ(tiny_job(threads, options).problems.size(), 1U);
}

TEST(Map, SpendsTheSamplesAndSumsUpByCount) {
  ThreadPool threads(2);
  RunContext context{threads};
  const MappingStudy study = mapped(tiny_job(threads), few_samples(), context);
  const MappingTotals totals = totals_of(study);
  EXPECT_EQ(totals.samples, 3 * 40);
  EXPECT_EQ(totals.failed, 0U);
  double latency = 0;
  for (const MappedLayer& layer : study.layers) {
    EXPECT_EQ(layer.ledger.samples, 40);
    EXPECT_GE(*layer.dataflow_factor, 1) << layer.name;  // never worse than a classic
    latency += static_cast<double>(layer.count) * layer.found->metrics.latency;
  }
  EXPECT_EQ(totals.metrics.latency, latency);
  EXPECT_FALSE(study.interrupted);
}

TEST(Map, GivesTheSameBytesWithAnyNumberOfThreads) {
  const auto json = [](std::size_t count, std::uint64_t seed) {
    ThreadPool threads(count);
    RunContext context{threads};
    MapOptions options = few_samples("agents");
    options.settings = {"agents.hidden=8"};
    options.seed = seed;
    return to_json(mapped(tiny_job(threads), options, context));
  };
  EXPECT_EQ(json(1, 1), json(2, 1));
  EXPECT_NE(json(1, 1), json(1, 2));
}

TEST(Map, TellsTheAgentsAndTheirTeam) {
  ThreadPool threads(1);
  RunContext context{threads};
  MapOptions options = few_samples("agents");
  options.settings = {"agents.hidden=8", "agents.assign=by-role"};
  const MappingStudy study = mapped(tiny_job(threads), options, context);
  ASSERT_TRUE(study.agents);
  EXPECT_EQ(study.agents->assignment.origin, "by-role");
  EXPECT_TRUE(study.agents->team);
  EXPECT_FALSE(mapped(tiny_job(threads), few_samples(), context).agents);
}

TEST(Map, StopsWhenAskedAndKeepsWhatThereIs) {
  ThreadPool threads(1);
  std::atomic<bool> asked = false;
  std::vector<ProgressState> states;
  const Progress progress{{}, [&](const ProgressState& state) {
                            states.push_back(state);
                            asked = true;
                          }};
  RunContext context{.threads = threads, .progress = progress, .stop = StopToken(&asked)};
  const MappingStudy study = mapped(tiny_job(threads), {.search = "random", .samples = 5'000}, context);
  EXPECT_TRUE(study.interrupted);
  ASSERT_FALSE(states.empty());
  EXPECT_EQ(states.front().title, "tiny on gamma-edge");
  EXPECT_EQ(states.front().all, 15'000);
  EXPECT_EQ(states.front().lines.size(), 3U);
  EXPECT_LT(totals_of(study).samples, 15'000);
  EXPECT_THAT(remarks_of(study).front(), HasSubstr("Stopped early"));
}

TEST(Map, GoesOnFromItsStore) {
  const Scratch scratch;
  ThreadPool threads(1);
  const MappingJob job = tiny_job(threads);
  std::vector<std::string> results;
  for (int turn = 0; turn < 2; ++turn) {
    Result<RunDirectory> opened = RunDirectory::open(scratch / "run");
    ASSERT_TRUE(opened) << opened.error().message;
    RunDirectory directory = std::move(opened).value();
    ASSERT_TRUE(directory.begin_or_continue(run_json({.search = few_samples()}, job)));
    RunContext context{.threads = threads, .directory = &directory};
    const MappingStudy study = mapped(job, few_samples(), context);
    EXPECT_EQ(study.known_before > 0, turn == 1);
    results.push_back(to_json(study));
    const Result<Done> other = directory.begin_or_continue(run_json({.search = few_samples("genetic")}, job));
    ASSERT_FALSE(other);
    EXPECT_THAT(other.error().message, HasSubstr("search of the run there is \"random\", but now it is \"genetic\""));
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST(Map, SaysWhatLimitsWouldHaveToGive) {
  ThreadPool threads(1);
  RunContext context{threads};
  MappingOptions limited;
  limited.layer = "fc";
  limited.max_latency = 1;
  limited.no_classics = true;
  const MappingStudy study = mapped(tiny_job(threads, limited), few_samples(), context);
  ASSERT_FALSE(study.layers[0].found);
  ASSERT_TRUE(study.layers[0].nearest);
  EXPECT_THAT(study.layers[0].explain, HasSubstr("--layer fc"));
  EXPECT_THAT(study.layers[0].explain, HasSubstr("--max-latency 1"));
  EXPECT_THAT(remarks_of(study).front(), HasSubstr("There is an answer with --max-latency"));
  EXPECT_EQ(totals_of(study).failed, 1U);
}

TEST(Map, RefusesBeforeTheFirstSample) {
  ThreadPool threads(1);
  RunContext context{threads};
  const MappingJob job = tiny_job(threads);
  const auto refusal = [&](const MapOptions& options) {
    const auto study = map(job, options, context);
    return study ? "" : study.error().message;
  };
  EXPECT_EQ(refusal({.samples = 0}), "--samples is 0, expected 1 to 1000000000");
  EXPECT_THAT(refusal({.search = "gama"}), HasSubstr("did you mean 'gamma'?"));
  EXPECT_THAT(refusal({.settings = {"gamma.populaton=4"}}), HasSubstr("did you mean 'population'?"));
  EXPECT_THAT(refusal({.search = "dcoc-network"}), HasSubstr("expected codesign"));
}

TEST(MapRun, IsReadAsItWasWritten) {
  const Scratch scratch;
  ThreadPool threads(1);
  MapRequest asked;
  asked.inputs = {"zoo:alexnet", "zoo:eyeriss", 2, {"sequence=8"}};
  asked.mapping.layer = "conv3";
  asked.mapping.objective = *objective_named("weighted:latency=2,energy=1");
  asked.mapping.model = Model::Exact;
  asked.mapping.constraints = Constraints::Soft;
  asked.mapping.tiles = Tiles::Any;
  asked.mapping.levels = LevelRange{1, 3};
  asked.mapping.no_classics = true;
  asked.mapping.max_power = 2.5;
  asked.search = {.search = "gamma", .samples = 12, .seed = 7, .settings = {"gamma.population=9"}};
  asked.command = {"tilewright", "map"};
  const MappingJob job = tiny_job(threads);
  ASSERT_TRUE(write_file(scratch / "run.json", run_json(asked, job)));
  Result<MapRequest> read = read_map_run(scratch.path());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(run_json(*read, job), run_json(asked, job));
  EXPECT_EQ(text_of(read->mapping.levels), "1-3");
  EXPECT_EQ(name_of(read->mapping.objective), "weighted:latency=2,energy=1");

  // Records of before had empty lists and texts.
  Json record = Json::parse(run_json(asked, job));
  record["arguments"]["settings"] = Json::array();
  ASSERT_TRUE(write_file(scratch / "run.json", record.dump()));
  EXPECT_TRUE(read_map_run(scratch.path())->search.settings.empty());
  record["arguments"]["tiles"] = "divisor";
  ASSERT_TRUE(write_file(scratch / "run.json", record.dump()));
  EXPECT_THAT(read_map_run(scratch.path()).error().message, HasSubstr("tiles: tiles 'divisor' is not known"));
}

TEST(MapRun, NamesEveryOptionOnce) {
  MapRequest request;
  std::set<std::string> names, flags;
  for (const OptionField& field : options_of(request)) {
    EXPECT_TRUE(names.insert(std::string(field.name)).second) << field.name;
    EXPECT_TRUE(flags.insert(flag_of(field)).second) << field.name;
    EXPECT_FALSE(field.meaning.empty()) << field.name;
  }
}

TEST(MappingSpaceText, IsReadBack) {
  MappingOptions options;
  options.tiles = Tiles::Gamma;
  options.levels = LevelRange{3, 3};
  options.search_pes = true;
  EXPECT_EQ(space_text(options), "mapping with tiles gamma, levels 3, processing elements searched");
  const Result<MappingOptions> read = space_options(space_text(options));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->tiles, Tiles::Gamma);
  EXPECT_EQ(read->levels, options.levels);
  EXPECT_TRUE(read->search_pes);
  EXPECT_EQ(space_options("archgym")->space, SpaceKind::Archgym);
  EXPECT_FALSE(space_options("mapping with tiles some, levels 2"));
}

// Numbers that can be added up by hand.
TEST(MappingTotals, LeaveOutLayersWithoutAMapping) {
  MappingStudy study;
  study.machine.clock_ghz = 1;
  for (const double latency : {100.0, 30.0, 7.0}) {
    MappedLayer& layer = study.layers.emplace_back();
    layer.count = 2;
    layer.ledger.samples = 10;
    layer.ledger.valid = 4;
    layer.found.emplace();
    layer.found->metrics.latency = latency;
    layer.found->metrics.energy = 5;
    layer.dataflow_metrics = layer.found->metrics;
    layer.dataflow_metrics->latency *= 3;
  }
  study.layers[2].found.reset();
  const MappingTotals totals = totals_of(study);
  EXPECT_EQ(totals.metrics.latency, 260);
  EXPECT_EQ(totals.metrics.energy, 20);
  EXPECT_EQ(totals.samples, 30);
  EXPECT_EQ(totals.valid, 12);
  EXPECT_EQ(totals.failed, 1U);
  EXPECT_DOUBLE_EQ(*totals.dataflow_factor, 3);
}

}  // namespace
}  // namespace tilewright
