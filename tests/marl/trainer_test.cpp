// The loop on games and learners small enough to count by hand; and every learner, interrupted and not.
#include "tilewright/marl/trainer.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../scratch.hpp"
#include "tilewright/marl/algorithms.hpp"
#include "tilewright/marl/replay.hpp"
#include "tilewright/marl/toy_games.hpp"

namespace tilewright {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two agents. Episode e takes 1 + e % 3 steps; each step pays the first agent e and costs the second 1. Both see the number
// of the step.
class CountingGame : public Environment {
 public:
  explicit CountingGame(std::size_t worlds) : worlds_(worlds), episodes_(worlds), steps_(worlds) {
    spec_.name = "counting";
    for (const char* name : {"rich", "poor"}) {
      spec_.agents.push_back({.name = name, .team = name, .observation_size = 1, .actions = {.categorical = {2}}});
    }
    spec_.episode_length = 3;
    arrays_.observations.resize(2 * worlds);
    arrays_.rewards.resize(2 * worlds);
    arrays_.terminated.resize(2 * worlds);
    arrays_.truncated.resize(2 * worlds);
  }
  const EnvironmentSpec& spec() const override { return spec_; }
  std::size_t world_count() const override { return worlds_; }
  void reset(std::uint64_t first_episode) override {
    for (std::size_t world = 0; world < worlds_; ++world) {
      episodes_[world] = first_episode + world;
      steps_[world] = 0;
      show(world, 0, 0, 0);
    }
  }
  void step(std::span<const float>) override {
    for (std::size_t world = 0; world < worlds_; ++world) {
      if (has_ended(arrays_, world, 2)) continue;
      ++steps_[world];
      show(world, static_cast<float>(episodes_[world]), -1, steps_[world] == 1 + episodes_[world] % 3 ? 1 : 0);
    }
  }
  const WorldArrays& arrays() const override { return arrays_; }

 private:
  void show(std::size_t world, float first, float second, std::uint8_t truncated) {
    for (const std::size_t place : {2 * world, 2 * world + 1}) {
      arrays_.observations[place] = static_cast<float>(steps_[world]);
      arrays_.truncated[place] = truncated;
    }
    arrays_.rewards[2 * world] = first;
    arrays_.rewards[2 * world + 1] = second;
  }

  EnvironmentSpec spec_;
  std::size_t worlds_;
  std::vector<std::uint64_t> episodes_, steps_;
  WorldArrays arrays_;
};

// Keeps a replay memory, and mixes a random transition of it into a number every seventh step.
class CountingLearner : public Learner {
 public:
  explicit CountingLearner(const EnvironmentSpec& spec, std::size_t capacity = 1'000)
      : replay_(spec, ReplayLayout::Joint, capacity), rng_(5, "counting") {}

  void act(std::span<const float>, std::span<const float>, std::size_t, Acting acting, std::span<float> actions) override {
    for (float& action : actions) action = acting == Acting::Greedy ? 1.0f : static_cast<float>(rng_.uniform());
  }
  void learn(const Experience& experience) override {
    for (std::size_t world = 0; world < experience.world_count; ++world) {
      if (experience.live[world] == 0) continue;
      ++transitions_;
      const float before = experience.observations[2 * world], after = experience.next_observations[2 * world];
      successors_are_next_ = successors_are_next_ && after == before + 1;
    }
    replay_.add(experience);
    if (++steps_ % 7 != 0) return;
    Batch batch = replay_.make_batch(1);
    batch.indices[0] = static_cast<std::uint32_t>(rng_.below(static_cast<std::int64_t>(replay_.size())));
    replay_.gather(batch);
    value_ = value_ * 0.99 + static_cast<double>(batch.rewards.row(0)[0]) + static_cast<double>(batch.current.row(0)[2]);
    ++updates_;
  }
  std::int64_t update_count() const override { return updates_; }
  const Losses& losses() const override { return losses_; }
  void save(TensorFile& file) const override {
    file.put("value", std::span<const double>(&value_, 1));
    file.put("steps", steps_);
    file.put("updates", updates_);
    file.put("position", static_cast<std::int64_t>(rng_.position()));
  }
  Result<Done> load(const TensorFile& file) override {
    TW_TRY(const Done value, file.get("value", std::span<double>(&value_, 1)));
    TW_TRY(steps_, file.get("steps"));
    TW_TRY(updates_, file.get("updates"));
    TW_TRY(const std::int64_t position, file.get("position"));
    rng_.seek(static_cast<std::uint64_t>(position));
    return Done{};
  }
  Replay* replay() override { return &replay_; }

  std::int64_t transitions_ = 0;
  bool successors_are_next_ = true;

 private:
  Replay replay_;
  Rng rng_;
  double value_ = 0;
  std::int64_t steps_ = 0, updates_ = 0;
  Losses losses_;
};

class TrainerTest : public ::testing::Test {
 protected:
  const Scratch scratch_;
  const fs::path folder_ = scratch_.path();
};

bool always(const TrainState&) { return true; }

std::vector<std::string> files_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string tensors_of(const Learner& learner) {
  TensorFile file;
  learner.save(file);
  return to_safetensors(file);
}

void expect_equal(const TrainState& a, const TrainState& b) {
  EXPECT_EQ(a.episodes, b.episodes);
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.interval_episodes, b.interval_episodes);
  EXPECT_EQ(a.interval_returns, b.interval_returns);
  ASSERT_EQ(a.curve.size(), b.curve.size());
  for (std::size_t i = 0; i < a.curve.size(); ++i) {
    EXPECT_EQ(a.curve[i].episodes, b.curve[i].episodes);
    EXPECT_EQ(a.curve[i].steps, b.curve[i].steps);
    EXPECT_EQ(a.curve[i].updates, b.curve[i].updates);
    EXPECT_EQ(a.curve[i].mean_return, b.curve[i].mean_return);
    EXPECT_EQ(a.curve[i].agent_returns, b.curve[i].agent_returns);
  }
}

TEST_F(TrainerTest, EveryEpisodeCountsOnceInTheCurve) {
  CountingGame game(1);
  CountingLearner learner(game.spec());
  Profile profile;
  Trainer trainer(game, learner, profile, {.episodes = 7, .curve_every = 3, .checkpoint_every = 0, .checkpoint_dir = {}});
  ASSERT_TRUE(trainer.run(always));
  const TrainState& state = trainer.state();
  // Episodes 0 … 6 take 1 2 3 1 2 3 1 steps and pay the first agent 0 2 6 3 8 15 6.
  EXPECT_EQ(state.episodes, 7);
  EXPECT_EQ(state.steps, 13);
  ASSERT_EQ(state.curve.size(), 2u);
  EXPECT_EQ(state.curve[0].episodes, 3);
  EXPECT_EQ(state.curve[0].steps, 6);
  EXPECT_EQ(state.curve[0].updates, 0);
  EXPECT_THAT(state.curve[0].agent_returns, ElementsAre(8.0 / 3, -2.0));
  EXPECT_EQ(state.curve[0].mean_return, 8.0 / 3 - 2);
  EXPECT_EQ(state.curve[1].steps, 12);
  EXPECT_EQ(state.curve[1].updates, 1);
  EXPECT_THAT(state.curve[1].agent_returns, ElementsAre(26.0 / 3, -2.0));
  EXPECT_EQ(state.interval_episodes, 1);
  EXPECT_THAT(state.interval_returns, ElementsAre(6.0, -1.0));

  const std::vector<CurvePoint> shown = curve_so_far(state, learner.update_count());
  ASSERT_EQ(shown.size(), 3u);
  EXPECT_EQ(shown[2].episodes, 7);
  EXPECT_EQ(shown[2].mean_return, 5);
}

TEST_F(TrainerTest, WorldsThatEndEarlyIdle) {
  CountingGame game(4);
  CountingLearner learner(game.spec());
  Profile profile;
  Trainer trainer(game, learner, profile, {.episodes = 6, .curve_every = 3, .checkpoint_every = 0, .checkpoint_dir = {}});
  ASSERT_TRUE(trainer.run(always));
  const TrainState& state = trainer.state();
  EXPECT_EQ(state.episodes, 8);  // whole rounds
  EXPECT_EQ(state.steps, 1 + 2 + 3 + 1 + 2 + 3 + 1 + 2);
  EXPECT_EQ(learner.transitions_, state.steps);
  EXPECT_EQ(learner.replay()->added(), static_cast<std::uint64_t>(state.steps));
  EXPECT_TRUE(learner.successors_are_next_);
  ASSERT_EQ(state.curve.size(), 2u);
  EXPECT_THAT(state.curve[0].agent_returns, ElementsAre(8.0 / 3, -2.0));  // as with one world
  EXPECT_THAT(state.curve[1].agent_returns, ElementsAre(26.0 / 3, -2.0));
  EXPECT_THAT(state.interval_returns, ElementsAre(6.0 + 14.0, -3.0));
}

TEST_F(TrainerTest, PhasesAreMeasured) {
  CountingGame game(2);
  CountingLearner learner(game.spec());
  Profile profile;
  Trainer trainer(game, learner, profile, {.episodes = 6, .curve_every = 3, .checkpoint_every = 0, .checkpoint_dir = {}});
  ASSERT_TRUE(trainer.run(always));
  const ProfileTotals totals = profile.totals();
  // Rounds of 2, 3 and 3 steps; each begins with a reset.
  EXPECT_EQ(totals[Phase::Acting].calls, 8u);
  EXPECT_EQ(totals[Phase::Environment].calls, 8u + 3u);
  EXPECT_GT(totals[Phase::Environment].wall_seconds, 0);
}

TEST_F(TrainerTest, GreedyEpisodesTeachNothing) {
  CountingGame game(4);
  CountingLearner learner(game.spec());
  const std::string before = tensors_of(learner);
  // Episodes 10 … 14 take 2 3 1 2 3 steps; the rest of the second round does not count.
  EXPECT_THAT(evaluate_greedily(game, learner, 5, 10),
              ElementsAre((10 * 2 + 11 * 3 + 12 * 1 + 13 * 2 + 14 * 3) / 5.0, -11.0 / 5));
  EXPECT_EQ(learner.transitions_, 0);
  EXPECT_EQ(tensors_of(learner), before);
}

// Runs `episodes` in a folder, beginning with what it holds.
struct Training {
  explicit Training(const fs::path& folder, std::int64_t episodes, std::int64_t every = 10, std::size_t capacity = 1'000)
      : game(3), learner(game.spec(), capacity), trainer(game, learner, profile, {episodes, 4, every, folder}) {}
  CountingGame game;
  CountingLearner learner;
  Profile profile;
  Trainer trainer;
};

TEST_F(TrainerTest, AResumedRunGoesOnBitByBit) {
  Training whole(folder_ / "whole", 60);
  EXPECT_FALSE(whole.trainer.resume().value());
  ASSERT_TRUE(whole.trainer.run(always));
  {
    Training first(folder_ / "parts", 60);
    ASSERT_TRUE(first.trainer.run([](const TrainState& state) { return state.episodes < 20; }));
    EXPECT_EQ(first.trainer.state().episodes, 21);
  }
  Training second(folder_ / "parts", 60);
  EXPECT_TRUE(second.trainer.resume().value());
  EXPECT_EQ(second.trainer.state().episodes, 21);
  ASSERT_TRUE(second.trainer.run(always));
  expect_equal(second.trainer.state(), whole.trainer.state());
  EXPECT_EQ(tensors_of(second.learner), tensors_of(whole.learner));
  EXPECT_EQ(second.learner.replay()->transitions(0, second.learner.replay()->added()),
            whole.learner.replay()->transitions(0, whole.learner.replay()->added()));

  Training finished(folder_ / "parts", 60);  // nothing left to do, and nothing is done
  EXPECT_TRUE(finished.trainer.resume().value());
  ASSERT_TRUE(finished.trainer.run([](const TrainState&) { return ADD_FAILURE(), true; }));
  expect_equal(finished.trainer.state(), whole.trainer.state());
}

TEST_F(TrainerTest, AStateThatACallerKeptGoesOnBitByBit) {
  Training whole(folder_ / "whole", 60);
  ASSERT_TRUE(whole.trainer.run(always));
  CountingGame game(3);
  CountingLearner learner(game.spec());
  Profile profile;
  TrainState kept;
  kept.interval_returns.resize(2);
  for (const std::int64_t until : {9, 30, 60}) {
    Trainer trainer(game, learner, profile, {.episodes = 60, .curve_every = 4, .checkpoint_every = 0, .checkpoint_dir = {}});
    trainer.go_on(kept);
    ASSERT_TRUE(trainer.run([&](const TrainState& state) { return state.episodes < until; }));
    kept = trainer.state();
    EXPECT_EQ(kept.episodes, until);
  }
  expect_equal(kept, whole.trainer.state());
  EXPECT_EQ(tensors_of(learner), tensors_of(whole.learner));
}

TEST_F(TrainerTest, AKilledRunLosesAtMostTheLastInterval) {
  Training whole(folder_ / "whole", 60);
  ASSERT_TRUE(whole.trainer.run(always));
  {
    Training killed(folder_ / "killed", 60);
    ASSERT_TRUE(killed.trainer.run([this](const TrainState& state) {
      if (state.episodes == 27) fs::copy(folder_ / "killed", folder_ / "left", fs::copy_options::recursive);
      return true;
    }));
  }
  // What a writer may leave when it is killed before it replaces latest.json.
  std::ofstream(folder_ / "left" / "replay-40-55.bin") << "half";
  std::ofstream(folder_ / "left" / "learner-30.safetensors") << "half";
  std::ofstream(folder_ / "left" / "latest.json.draft") << "{";

  Training second(folder_ / "left", 60);
  EXPECT_TRUE(second.trainer.resume().value());
  EXPECT_EQ(second.trainer.state().episodes, 21);  // the first round past 20
  ASSERT_TRUE(second.trainer.run(always));
  expect_equal(second.trainer.state(), whole.trainer.state());
  EXPECT_EQ(tensors_of(second.learner), tensors_of(whole.learner));
  EXPECT_EQ(files_in(folder_ / "left"), files_in(folder_ / "whole"));
}

TEST_F(TrainerTest, PiecesThatTheRingHasOverwrittenAreDeleted) {
  Training whole(folder_ / "whole", 60, 10, 30);
  ASSERT_TRUE(whole.trainer.run(always));
  {
    Training first(folder_ / "parts", 60, 10, 30);
    ASSERT_TRUE(first.trainer.run([](const TrainState& state) { return state.episodes < 40; }));
  }
  std::uint64_t first_needed = 0;
  {
    Training second(folder_ / "parts", 60, 10, 30);
    ASSERT_TRUE(second.trainer.resume().value());
    EXPECT_EQ(second.learner.replay()->size(), 30u);
    ASSERT_TRUE(second.trainer.run(always));
    EXPECT_EQ(tensors_of(second.learner), tensors_of(whole.learner));
    first_needed = second.learner.replay()->added() - 30;
  }
  std::size_t pieces = 0;
  for (const std::string& name : files_in(folder_ / "parts")) {
    if (!name.starts_with("replay-")) continue;
    ++pieces;
    EXPECT_GT(std::stoull(name.substr(name.rfind('-') + 1)), first_needed) << name;
  }
  EXPECT_GE(pieces, 2u);
}

TEST_F(TrainerTest, LargeMemoriesAreWrittenInPieces) {
  CountingGame game(1);
  CountingLearner learner(game.spec());
  Profile profile;
  Trainer trainer(game, learner, profile, {.episodes = 30, .curve_every = 3, .checkpoint_every = 0, .checkpoint_dir = {}});
  ASSERT_TRUE(trainer.run(always));
  CheckpointDirectory directory(folder_, 7 * learner.replay()->bytes_per_transition());
  ASSERT_TRUE(directory.write(learner, trainer.state()));
  const auto pieces = files_in(folder_);
  EXPECT_EQ(std::count_if(pieces.begin(), pieces.end(), [](const auto& name) { return name.starts_with("replay-"); }),
            (60 + 6) / 7);

  CountingLearner again(game.spec());
  TrainState state;
  state.interval_returns.resize(2);
  ASSERT_TRUE(CheckpointDirectory(folder_).read(again, state));
  EXPECT_EQ(again.replay()->transitions(0, 60), learner.replay()->transitions(0, 60));
  expect_equal(state, trainer.state());
}

TEST_F(TrainerTest, DamagedCheckpointsAreOneSentence) {
  { ASSERT_TRUE(Training(folder_ / "good", 20, 0).trainer.run(always)); }
  const auto refused = [this](const std::string& name, const std::function<void(const fs::path&)>& damage) {
    fs::remove_all(folder_ / "bad");
    fs::copy(folder_ / "good", folder_ / "bad");
    damage(folder_ / "bad" / name);
    Training run(folder_ / "bad", 20);
    const auto resumed = run.trainer.resume();
    EXPECT_FALSE(resumed) << name;
    const std::string sentence = resumed ? "" : resumed.error().message;
    EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
    return sentence;
  };
  const auto remove = [](const fs::path& path) { ASSERT_TRUE(fs::remove(path)); };
  const auto cut = [](const fs::path& path) { fs::resize_file(path, fs::file_size(path) / 2); };
  const auto flip = [](const fs::path& path) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put('\x7e');
  };
  const auto garbage = [](const fs::path& path) { std::ofstream(path) << "{\"format\": 3}"; };
  for (const std::string name : {"learner-21.safetensors", "trainer-21.safetensors", "replay-0-42.bin"}) {
    EXPECT_THAT(refused(name, remove), HasSubstr(name + ": no such file"));
    EXPECT_THAT(refused(name, cut), HasSubstr("bytes, expected"));
    EXPECT_THAT(refused(name, flip), HasSubstr("is damaged"));
  }
  EXPECT_THAT(refused("latest.json", garbage), HasSubstr("latest.json: is not a list of checkpoint files"));
  EXPECT_THAT(refused("latest.json", cut), HasSubstr("latest.json: is not a list of checkpoint files"));
  EXPECT_THAT(refused("latest.json", [](const fs::path& path) { std::ofstream(path) << ""; }), HasSubstr("latest.json"));
}

TEST_F(TrainerTest, AFolderThatCannotBeWrittenIsOneSentence) {
  std::ofstream(folder_ / "file") << "in the way";
  Training run(folder_ / "file" / "checkpoint", 20);
  const auto ran = run.trainer.run(always);
  ASSERT_FALSE(ran);
  EXPECT_THAT(ran.error().message, HasSubstr("could not be made"));
}

TEST(Algorithms, ListTheNearName) {
  const auto misspelt = named<Algorithm>("madppg");
  ASSERT_FALSE(misspelt);
  EXPECT_EQ(misspelt.error().message,
            "algorithm 'madppg' is not known (did you mean 'maddpg'?), expected one of maddpg, masac, ippo, mappo");
}

// Every learner and every sampler keeps the promise of load(): nothing shows that a run was interrupted.
struct Learning {
  Algorithm algorithm;
  std::string game;
  SamplerSpec sampler;
  Semantics semantics = Semantics::Shared;
};
class ResumedLearner : public TrainerTest, public ::testing::WithParamInterface<Learning> {
 protected:
  struct Parts {
    std::unique_ptr<Environment> game;
    ThreadPool threads;
    Profile profile;
    std::unique_ptr<Learner> learner;
    std::unique_ptr<Trainer> trainer;
    explicit Parts(std::size_t count) : threads(count), profile(count) {}
  };
  std::unique_ptr<Parts> start(const std::string& folder, std::size_t threads) {
    const Learning& learning = GetParam();
    auto parts = std::make_unique<Parts>(threads);
    parts->game = std::move(make_toy_game(learning.game, 2, 2, 11)).value();
    AlgorithmOptions options;
    options.off_policy.semantics = learning.semantics;
    options.off_policy.sampler = learning.sampler;
    options.off_policy.layout = parts->game->spec().table ? ReplayLayout::State : ReplayLayout::Joint;
    options.off_policy.capacity = 100;
    options.off_policy.batch = 16;
    options.off_policy.warm_up = 32;
    options.off_policy.update_every = 4;
    options.off_policy.hidden = {8};
    options.ppo.rollout = 18;
    options.ppo.hidden = {8};
    auto learner = make_learner(learning.algorithm, parts->game->spec(), options, 3, parts->threads, parts->profile);
    if (!learner) throw std::runtime_error(learner.error().message);
    parts->learner = std::move(learner).value();
    parts->trainer = std::make_unique<Trainer>(*parts->game, *parts->learner, parts->profile,
                                               TrainerOptions{150, 7, 0, folder_ / folder});
    return parts;
  }
};

TEST_P(ResumedLearner, GoesOnBitByBit) {
  const auto whole = start("whole", 1);
  ASSERT_TRUE(whole->trainer->run(always));
  EXPECT_GE(whole->learner->update_count(), 8);
  for (const std::int64_t stop : {9, 47, 91, 150}) {  // before the first update, inside rollouts, after the ring is full
    const auto part = start("parts", 2);
    const auto resumed = part->trainer->resume();
    ASSERT_TRUE(resumed) << resumed.error().message;
    EXPECT_EQ(resumed.value(), stop != 9);
    ASSERT_TRUE(part->trainer->run([stop](const TrainState& state) { return state.episodes < stop; }));
    if (stop < 150) continue;
    expect_equal(part->trainer->state(), whole->trainer->state());
    EXPECT_EQ(tensors_of(*part->learner), tensors_of(*whole->learner));
  }
}

INSTANTIATE_TEST_SUITE_P(Learners, ResumedLearner,
                         ::testing::Values(Learning{Algorithm::Maddpg, "toy:line", {}},
                                           Learning{Algorithm::Maddpg, "toy:line", {}, Semantics::OpenAi},
                                           Learning{Algorithm::Maddpg, "toy:climbing", {SamplerKind::Neighbor, 3}},
                                           Learning{Algorithm::Maddpg, "toy:line", {SamplerKind::Prioritized, 3}},
                                           Learning{Algorithm::Masac, "toy:line", {SamplerKind::Reuse, 4}},
                                           Learning{Algorithm::Masac, "toy:matrix", {}},
                                           Learning{Algorithm::Ippo, "toy:masked", {}},
                                           Learning{Algorithm::Mappo, "toy:reach", {}}),
                         [](const auto& instance) {
                           std::string word = std::string(name(instance.param.algorithm)) + "_" +
                                              instance.param.game.substr(4) + "_" + to_string(instance.param.sampler) +
                                              (instance.param.semantics == Semantics::OpenAi ? "_openai" : "");
                           std::replace(word.begin(), word.end(), ':', '_');
                           return word;
                         });

}  // namespace
}  // namespace tilewright
