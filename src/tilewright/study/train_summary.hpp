// What follows from a training, for its text, its JSON and its page.
#pragma once

#include <string>
#include <vector>

#include "tilewright/study/training.hpp"

namespace tilewright {

// What was added between two totals.
std::array<PhaseTotals, kPhaseCount> difference(const ProfileTotals& after, const ProfileTotals& before);
ProfileTotals sum_of(const std::vector<ProfileInterval>& intervals);

// Means over the unfinished interval of the curve and as many whole ones as make a tenth of the run, but no more than
// about 1000 episodes.
struct RecentReturns {
  std::int64_t episodes = 0;
  double total = 0;            // sum over agents
  std::vector<double> agents;  // means
};
RecentReturns recent_returns(const TrainState& state, std::int64_t curve_every);

std::string processor_name();
double seconds(const TrainingStudy& study);
double episodes_per_second(const TrainingStudy& study);

// "simple_spread, maddpg, 3 agents".
std::string title_of(const TrainingStudy& study);
// Why nothing was learnt, when nothing was; empty otherwise.
std::string why_no_updates(const TrainingStudy& study);

}  // namespace tilewright
