// The verbs of the program: each takes its parsed arguments, prints, and returns the exit code.
// 0 done; 1 failed in a way that nobody foresaw; 2 wrong input, one sentence on stderr; 3 done, but something asked for is
// infeasible, or a replay differs; 130 stopped by Ctrl-C or a request to end, with everything saved.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/app/job.hpp"
#include "tilewright/app/mapping_job.hpp"
#include "tilewright/app/train_settings.hpp"

namespace tilewright {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitWrongInput = 2;
inline constexpr int kExitInfeasible = 3;
inline constexpr int kExitDiffers = 3;
inline constexpr int kExitInterrupted = 130;

struct EvaluateArguments {
  JobArguments job;
  std::string cases;  // JSON lines instead of a job; "-" = standard input
  int threads = 0;    // for cases; 0 = all processors
  bool csv = false;
  bool json = false;
  std::string svg;  // a file for the picture; empty = none
};
int run_evaluate(const EvaluateArguments& arguments);

struct ExplainArguments {
  JobArguments job;
  LimitArguments limits;
  bool json = false;
};
int run_explain(const ExplainArguments& arguments);

// Every evaluated point of a run of map or codesign.
struct PointsArguments {
  std::string directory;
  std::string layer;  // empty = all
  bool json = false;
};
int run_points(const PointsArguments& arguments);

struct ZooArguments {
  std::string source;  // empty = list everything
  std::int64_t batch = 1;
  std::vector<std::string> dims;  // "sequence=128": open dimensions of an ONNX model
  bool yaml = false;              // a network as a file of ours
  bool json = false;
};
int run_zoo(const ZooArguments& arguments);

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
int run_train(const TrainArguments& arguments);

// Prints the sentence to stderr; the value is kExitWrongInput.
int report(const Error& error);

}  // namespace tilewright
