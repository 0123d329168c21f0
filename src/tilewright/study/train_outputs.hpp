// The run directory of `tilewright train -o DIR`:
//
//   run.json             how the run was started: command line, settings, world, inputs, version; checksums of the rest
//   checkpoint/          see marl/checkpoint.hpp
//   curve.csv            the learning curve; the same bytes for any number of threads and interruptions
//   profile.csv          the phases of every interval of the curve
//   summary.json         what `--json` prints
//   policy.safetensors   the actors; the same bytes likewise
//   report.html          all of it for people
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/study/train_command.hpp"
#include "tilewright/study/train_summary.hpp"

namespace tilewright {

// What run.json says about settings and what they read.
struct RunRecord {
  TrainSettings settings;
  std::int64_t episodes = 0;
  std::int64_t checkpoint_every = kDefaultCheckpointEvery;
  std::int64_t eval = 0;  // greedy episodes at the end
  std::string inputs;     // files with their checksums, as JSON
  std::string text;       // of run.json, as it was read
};
std::string run_json(const TrainSummary& summary, const RunRecord& record);
// Nothing when the directory holds no run.
Result<std::optional<RunRecord>> read_run_json(const std::filesystem::path& directory);
// The files that settings name, with their checksums.
Result<std::string> read_inputs(const TrainSettings& settings);

std::string curve_csv(const EnvironmentSpec& spec, const std::vector<CurvePoint>& curve);

std::string profile_csv(const std::vector<ProfileInterval>& intervals);
// The intervals until `episodes`; those of another form are left out, for they only tell what earlier processes measured.
std::vector<ProfileInterval> read_profile_csv(const std::string& text, std::int64_t episodes);

// The actors of a learner, as AGENT.actor.weight0, AGENT.actor.bias0, …, and what one has to know to run them.
TensorFile policy_of(const Learner& learner, const TrainSettings& settings);

}  // namespace tilewright
