#include "team_learner.hpp"

#include "interpreter_lock.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/file.hpp"
#include "tilewright/base/json.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/marl/checkpoint.hpp"
#include "tilewright/study/training_parts.hpp"

namespace tilewright::python {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "tilewright-learner-1";
constexpr const char* kFile = "learner.json";

std::size_t checked_threads(std::size_t threads) {
  constexpr std::size_t kMost = 1024;
  if (threads > kMost) raise(fmt::format("threads is {}, expected 0 to {}", threads, kMost));
  return threads;
}

}  // namespace

TeamLearner::TeamLearner(TrainSettings settings, std::unique_ptr<Environment> environment, std::size_t threads)
    : settings_(std::move(settings)),
      environment_(std::move(environment)),
      threads_(checked_threads(threads)),
      profile_(threads_.thread_count()) {
  curve_every_ = settings_.curve_every;
  settings_ = resolve(settings_, kDefaultEpisodes);
  resolve_layout(settings_, environment_->spec());
  options_ = take(algorithm_options(settings_));
  renew();
}

std::unique_ptr<TeamLearner> TeamLearner::in_named_world(TrainSettings settings, std::size_t threads) {
  const TrainSettings resolved = resolve(settings, kDefaultEpisodes);
  take(check(resolved));
  World world = take(make_world(resolved));
  return std::unique_ptr<TeamLearner>(new TeamLearner(std::move(settings), std::move(world.environment), threads));
}

std::unique_ptr<TeamLearner> TeamLearner::in_worlds(TrainSettings settings, std::unique_ptr<Environment> worlds,
                                                    std::size_t threads) {
  if (settings.agents) raise("agents is an option of worlds by name, but these are worlds of one's own");
  settings.world = "toy:" + worlds->spec().name;  // as worlds without options of their own are called
  settings.worlds = static_cast<std::int64_t>(worlds->world_count());
  take(check(resolve(settings, kDefaultEpisodes)));
  return std::unique_ptr<TeamLearner>(new TeamLearner(std::move(settings), std::move(worlds), threads));
}

void TeamLearner::renew() {
  learner_ = take(
      make_learner(*settings_.algorithm, spec(), options_, static_cast<std::uint64_t>(*settings_.seed), threads_, profile_));
  state_ = {};
  state_.interval_returns.resize(spec().agent_count());
  count(state_);
  cut_ = false;
}

void TeamLearner::count(const TrainState& state) {
  episodes_ = state.episodes;
  steps_ = state.steps;
  updates_ = learner_->update_count();
}

void TeamLearner::train(std::int64_t episodes, const std::function<bool(const TrainState&)>& keep_going) {
  if (episodes < 1 || episodes > kMostEpisodes)
    raise(fmt::format("train: episodes is {}, expected 1 to {}", episodes, kMostEpisodes));
  if (cut_ && is_on_policy(*settings_.algorithm)) {
    raise(
        "train: an earlier episode was left in the middle by an exception, expected load() of a checkpoint, or a new "
        "learner");
  }
  if (!curve_every_) {
    TrainSettings plain;
    plain.world = settings_.world;
    curve_every_ = resolve(std::move(plain), episodes).curve_every;
  }
  const std::int64_t target = state_.episodes + episodes;
  Trainer trainer(*environment_, *learner_, profile_,
                  {.episodes = kMostEpisodes, .curve_every = *curve_every_, .checkpoint_every = 0, .checkpoint_dir = {}});
  trainer.go_on(state_);
  cut_ = true;  // unless the lambda below says otherwise, an exception comes out of the worlds
  try {
    const Released released;
    const Result<Done> ran = trainer.run([&](const TrainState& state) {
      cut_ = false;
      count(state);
      const bool asked = keep_going(state);
      cut_ = asked && state.episodes < target;
      return cut_;
    });
    TW_ASSERT(ran);  // nothing is written
  } catch (...) {
    state_ = trainer.state();
    count(state_);
    throw;
  }
  state_ = trainer.state();
}

std::vector<double> TeamLearner::evaluate(std::int64_t episodes, std::uint64_t first_episode) {
  if (episodes < 1 || episodes > kMostEpisodes)
    raise(fmt::format("evaluate: episodes is {}, expected 1 to {}", episodes, kMostEpisodes));
  const Released released;
  return evaluate_greedily(*environment_, *learner_, episodes, first_episode);
}

void TeamLearner::act(std::span<const float> observations, std::span<const float> masks, std::size_t rows, bool explore,
                      std::span<float> actions) {
  const Released released;
  learner_->act(observations, masks, rows, explore ? Acting::Explore : Acting::Greedy, actions);
}

TensorFile TeamLearner::tensors() {
  TensorFile file;
  learner_->save(file);
  return file;
}

void TeamLearner::set_tensors(const TensorFile& file) { take(learner_->load(file)); }

TensorFile TeamLearner::policy() { return policy_of(*learner_, settings_); }

void TeamLearner::save(const std::string& directory) {
  const std::filesystem::path path = directory;
  CheckpointDirectory checkpoints(path);
  take(checkpoints.write(*learner_, state_));
  Json json{{"format", kFormat}, {"settings", to_json(settings_)}, {"agents", to_json(spec()).at("agents")}};
  if (curve_every_) json["curve_every"] = *curve_every_;
  take(write_file(path / kFile, json.dump(2) + "\n"));
}

void TeamLearner::load(const std::string& directory) {
  const std::filesystem::path path = directory;
  const std::string where = (path / kFile).string();
  const Json json = take(parse_json(take(read_file(path / kFile)), where));
  if (!json.is_object() || json.value("format", Json()) != kFormat || !json.contains("settings") ||
      !json.contains("agents")) {
    raise(fmt::format("{}: is no learner, expected format {}", where, kFormat));
  }
  const nlohmann::json mine = to_json(spec()).at("agents");  // without an order of keys
  if (nlohmann::json(json.at("agents")) != mine) {
    raise(fmt::format("{}: is of other agents: {}, expected {}", where, printable(json.at("agents").dump()), mine.dump()));
  }
  const TrainSettings recorded = take(settings_from_json(json.at("settings"), where));
  TrainSettings ours = settings_;
  ours.worlds = recorded.worlds;  // a round may have another number of episodes
  ours.curve_every = recorded.curve_every;
  ours.world = recorded.world;
  if (const auto difference = first_difference(ours, recorded, where)) raise(*difference);
  renew();
  CheckpointDirectory checkpoints(path);
  const Result<Done> read = checkpoints.read(*learner_, state_);
  if (!read) {
    renew();
    raise(read.error());
  }
  count(state_);
  curve_every_ = json.contains("curve_every") && json.at("curve_every").is_number_integer()
                     ? std::optional(json.at("curve_every").get<std::int64_t>())
                     : std::nullopt;
}

}  // namespace tilewright::python
