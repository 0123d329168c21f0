// What `tilewright train` is asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/study/train_settings.hpp"

namespace tilewright {

inline constexpr std::int64_t kDefaultCheckpointEvery = 5'000;

struct TrainArguments {
  TrainSettings settings;
  std::optional<std::int64_t> episodes;
  std::string output;  // a directory; empty = nothing is written
  bool resume = false;
  int threads = 0;                               // 0 = all processors
  std::optional<std::int64_t> checkpoint_every;  // nothing = as the run began, or kDefaultCheckpointEvery
  std::optional<std::int64_t> eval;              // greedy episodes at the end; nothing = as the run began, or none
  std::string render;                            // a file for an episode as SVG
  std::string replay;                            // a recorded trajectory to step again instead of training
  bool counters = false;
  bool list = false;
  bool json = false;
  std::vector<std::string> command;  // the command line
};

}  // namespace tilewright
