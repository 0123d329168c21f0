// What the files of study/training.hpp share.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "tilewright/study/train_world.hpp"
#include "tilewright/study/training.hpp"

namespace tilewright {

// Of resolved settings. The layout is the only one that the environment decides: state where it has a table.
void resolve_layout(TrainSettings& settings, const EnvironmentSpec& spec);
Result<AlgorithmOptions> algorithm_options(const TrainSettings& settings);

// As run.json keeps them, and back. Unknown names and other types are Errors that begin with `where`.
nlohmann::ordered_json to_json(const TrainSettings& settings);
Result<TrainSettings> settings_from_json(const nlohmann::ordered_json& json, const std::string& where);

// "--gamma is 0.9, but 0.95 in DIR/run.json": the first setting that was given and differs from the recorded one.
std::optional<Error> first_difference(const TrainSettings& given, const TrainSettings& recorded, const std::string& where);

// What run.json says about settings and what they read.
struct TrainRecord {
  TrainSettings settings;
  std::int64_t episodes = 0;
  std::int64_t checkpoint_every = kDefaultCheckpointEvery;
  std::int64_t eval = 0;  // greedy episodes at the end
  std::string inputs;     // files with their checksums, as JSON
};
std::string train_record_json(const TrainingStudy& study, const TrainRecord& record);
Result<TrainRecord> train_record_from(const std::string& text, const std::string& where);
// The files that settings name, with their checksums.
Result<std::string> read_inputs(const TrainSettings& settings);

std::string curve_csv(const EnvironmentSpec& spec, const std::vector<CurvePoint>& curve);
std::string profile_csv(const std::vector<ProfileInterval>& intervals);
// The intervals until `episodes`; those of another form are left out, for they only tell what earlier processes measured.
std::vector<ProfileInterval> read_profile_csv(const std::string& text, std::int64_t episodes);

// The actors of a learner, as AGENT.actor.weight0, AGENT.actor.bias0, …, and what one has to know to run them.
TensorFile policy_of(const Learner& learner, const TrainSettings& settings);

}  // namespace tilewright
