// A training run on its way: what the command line and the run directory make of it, and everything it works with.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tilewright/base/parallel.hpp"
#include "tilewright/marl/learner.hpp"
#include "tilewright/marl/trainer.hpp"
#include "tilewright/study/run_directory.hpp"
#include "tilewright/study/train_command.hpp"
#include "tilewright/study/train_outputs.hpp"
#include "tilewright/study/train_summary.hpp"
#include "tilewright/study/train_world.hpp"

namespace tilewright {

struct TrainRun {
  TrainRun(std::size_t thread_count, bool counters) : threads(thread_count), profile(threads.thread_count(), counters) {}

  ThreadPool threads;
  Profile profile;
  World world;
  std::unique_ptr<Learner> learner;
  std::optional<RunDirectory> directory;
  std::int64_t eval = 0;  // greedy episodes at the end
  std::optional<Trainer> trainer;
  TrainSummary summary;  // with the intervals that earlier processes measured
};

// Ready to train: the settings are those of the run directory if it holds a run, and its checkpoint is loaded. Settings that
// are wrong or differ from the run's are Errors.
Result<std::unique_ptr<TrainRun>> open_run(const TrainArguments& arguments);

}  // namespace tilewright
