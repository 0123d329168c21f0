#include "tilewright/study/training.hpp"

#include <nlohmann/json.hpp>

#include "../scratch.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/study/run_directory.hpp"
#include "tilewright/study/train_summary.hpp"

namespace tilewright {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

// Seconds of nothing but a matrix game.
TrainOptions climbing(std::int64_t episodes) {
  TrainOptions options;
  options.settings.world = "toy:climbing";
  options.settings.algorithm = Algorithm::Mappo;
  options.settings.hidden = {8};
  options.settings.rollout = 16;
  options.episodes = episodes;
  return options;
}

std::string refusal(const TrainOptions& options) {
  ThreadPool threads(1);
  RunContext context{.threads = threads};
  const Result<TrainingStudy> study = train(options, context);
  return study ? "" : study.error().message;
}

TEST(TrainSettings, AreWrittenAndReadAgain) {
  TrainSettings settings;
  settings.world = "simple_tag";
  settings.dialect = Dialect::PettingZoo;
  settings.prey = Prey{PreyController::Network, "prey.safetensors"};
  settings.hidden = {32, 16};
  settings.sampler = *parse_sampler("reuse:4");
  settings.layout = ReplayLayout::PerAgent;
  settings.tau = 0.5;
  const Json json = to_json(options_of(settings));
  EXPECT_EQ(json.dump(),
            R"({"world":"simple_tag","dialect":"pettingzoo","prey":"prey.safetensors","hidden":"32,16","sampler":"reuse:4",)"
            R"("layout":"per-agent","tau":0.5})");
  TrainSettings again;
  ASSERT_TRUE(read_options(options_of(again), json, "run.json"));
  EXPECT_EQ(again.prey->controller, PreyController::Network);
  EXPECT_EQ(to_json(options_of(again)), json);
  const auto misspelt = read_options(options_of(again), Json{{"algorithm", "mapo"}}, "run.json");
  ASSERT_FALSE(misspelt);
  EXPECT_THAT(misspelt.error().message,
              HasSubstr("run.json: algorithm: algorithm 'mapo' is not known (did you mean 'mappo'?)"));
}

TEST(TrainSettings, OfOtherWorldsAndAlgorithmsAreRefused) {
  TrainOptions options = climbing(10);
  options.settings.tau = 0.5;
  EXPECT_EQ(refusal(options), "--tau belongs to maddpg and masac, but the algorithm is mappo");
  options = climbing(10);
  options.settings.dialect = Dialect::OpenAi;
  EXPECT_EQ(refusal(options), "--dialect belongs to particle worlds, but the world is toy:climbing");
  options = climbing(10);
  options.settings.gamma = 1.5;
  EXPECT_EQ(refusal(options), "--gamma is 1.5, expected at most 1");
  EXPECT_THAT(refusal({}), HasSubstr("the world is missing"));
}

TEST(Training, GivesACurveAndGreedyReturns) {
  ThreadPool threads(2);
  RunContext context{.threads = threads};
  TrainOptions options = climbing(100);
  options.eval = 5;
  options.settings.curve_every = 10;
  std::int64_t told = 0;
  context.progress.show = [&](const ProgressState& state) { told = state.done; };
  const Result<TrainingStudy> study = train(options, context);
  ASSERT_TRUE(study) << study.error().message;
  EXPECT_EQ(study->state.curve.size(), 10U);
  EXPECT_EQ(told, 100);
  EXPECT_GT(study->updates, 0);
  EXPECT_EQ(study->eval_episodes, 5);
  EXPECT_EQ(study->eval_returns.size(), study->spec.agent_count());
  EXPECT_EQ(title_of(*study), "toy:climbing, mappo, 2 agents");
  EXPECT_EQ(why_no_updates(*study), "");
}

class TrainingRuns : public ::testing::Test {
 protected:
  Result<TrainingStudy> run(const TrainOptions& options, const StopToken& stop = {}) {
    Result<RunDirectory> directory = RunDirectory::open(path_);
    if (!directory) return directory.error();
    ThreadPool threads(1);
    RunContext context{.threads = threads, .directory = &directory.value(), .progress = {}, .stop = stop};
    return train(options, context);
  }
  std::string curve() { return *read_file(path_ / "curve.csv"); }

  Scratch scratch_;
  fs::path path_ = scratch_ / "run";
};

TEST_F(TrainingRuns, GoOnWhereTheyWereStopped) {
  TrainOptions options = climbing(60);
  options.settings.curve_every = 5;
  ASSERT_TRUE(run(options));
  const std::string whole = curve();
  fs::remove_all(path_);

  const std::atomic<bool> asked = true;
  const Result<TrainingStudy> stopped = run(options, StopToken(&asked));
  ASSERT_TRUE(stopped) << stopped.error().message;
  EXPECT_TRUE(stopped->interrupted);
  EXPECT_LT(stopped->state.episodes, 60);
  TrainOptions resumed;
  resumed.resume = true;
  const Result<TrainingStudy> rest = run(resumed);
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_EQ(rest->first_episode, stopped->state.episodes);
  EXPECT_EQ(rest->state.episodes, 60);
  EXPECT_EQ(curve(), whole);
}

TEST_F(TrainingRuns, RefuseOtherSettings) {
  ASSERT_TRUE(run(climbing(20)));
  TrainOptions other = climbing(20);
  other.settings.gamma = 0.5;
  const Result<TrainingStudy> refused = run(other);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("--gamma is 0.5, but"));
}

TEST_F(TrainingRuns, ResumeOnlyWhatIsThere) {
  TrainOptions options;
  options.resume = true;
  EXPECT_THAT(run(options).error().message, HasSubstr("holds no run to resume"));
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_THAT(refusal(options), HasSubstr("--resume needs the directory of a run"));
}

}  // namespace
}  // namespace tilewright
