// What a training run has come to, in one place: the text, the JSON and the report are made of it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/marl/profile.hpp"
#include "tilewright/marl/trainer.hpp"
#include "tilewright/study/train_settings.hpp"

namespace tilewright {

// The phases between two points of the curve, as one process measured them.
struct ProfileInterval {
  std::int64_t first = 0, last = 0;  // episodes done before and after
  double seconds = 0;                // that passed
  std::array<PhaseTotals, kPhaseCount> phases;
};
// What was added between two totals.
std::array<PhaseTotals, kPhaseCount> difference(const ProfileTotals& after, const ProfileTotals& before);

struct TrainSummary {
  TrainSettings settings;
  EnvironmentSpec spec;
  std::vector<std::string> command;
  std::size_t threads = 1;
  std::string processor;  // its name
  TrainState state;
  std::int64_t episodes = 0;       // asked for
  std::int64_t first_episode = 0;  // where this process went on
  std::int64_t updates = 0;
  bool interrupted = false;
  Losses losses;
  std::vector<ProfileInterval> intervals;  // of all processes that worked on the run
  ProfileTotals totals;                    // their sum
  std::int64_t eval_episodes = 0;
  std::vector<double> eval_returns;  // each agent's mean
  std::string animation;             // an SVG; empty when the world cannot be drawn
  std::string directory;             // empty = nothing was written
  std::vector<std::string> files;    // in the directory
};
// Means over the unfinished interval of the curve and as many whole ones as make a tenth of the run, but no more than
// about 1000 episodes.
struct RecentReturns {
  std::int64_t episodes = 0;
  double total = 0;            // sum over agents
  std::vector<double> agents;  // means
};
RecentReturns recent_returns(const TrainState& state, std::int64_t curve_every);

std::string processor_name();
double seconds(const TrainSummary& summary);
double episodes_per_second(const TrainSummary& summary);
ProfileTotals sum_of(const std::vector<ProfileInterval>& intervals);

std::string summary_as_text(const TrainSummary& summary);
std::string summary_as_json(const TrainSummary& summary);

// "simple_spread, maddpg, 3 agents".
std::string title_of(const TrainSummary& summary);
// Why nothing was learnt, when nothing was; empty otherwise.
std::string why_no_updates(const TrainSummary& summary);

}  // namespace tilewright
