// How a training run stands, on stderr: one line that is rewritten on a terminal, a line every few seconds elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "tilewright/marl/profile.hpp"
#include "tilewright/marl/trainer.hpp"

namespace tilewright {

class TrainProgress {
 public:
  TrainProgress(const Profile& profile, std::int64_t first_episode, std::int64_t episodes, std::int64_t curve_every);

  void show(const TrainState& state);  // when it is time again
  void end();                          // leaves a fresh line

 private:
  using Clock = std::chrono::steady_clock;
  std::string line(const TrainState& state, Clock::time_point now);

  const Profile& profile_;
  std::int64_t episodes_, curve_every_;
  bool terminal_;
  bool shown_ = false;
  double rate_ = 0;  // episodes per second of late
  // At the previous line:
  Clock::time_point time_, next_;
  std::int64_t done_;
  ProfileTotals totals_;
};

}  // namespace tilewright
