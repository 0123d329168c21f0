// The verbs of the program: each takes its parsed arguments, prints, and returns the exit code.
// 0 done; 1 failed in a way that nobody foresaw; 2 wrong input, one sentence on stderr; 3 done, but something asked for is
// infeasible, or a replay differs; 130 stopped by Ctrl-C or a request to end, with everything saved.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/study/codesign.hpp"
#include "tilewright/study/training.hpp"

namespace tilewright {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitWrongInput = 2;
inline constexpr int kExitInfeasible = 3;
inline constexpr int kExitDiffers = 3;
inline constexpr int kExitInterrupted = 130;

// Recorded mappings of Timeloop, one JSON object per line ("-" = standard input), on the machines of a file. Exit code 2
// when one of them is malformed.
int run_records(const std::string& records, const std::string& machines_file);

struct ZooArguments {
  std::string source;  // empty = list everything
  std::int64_t batch = 1;
  std::vector<std::string> dims;  // "sequence=128": open dimensions of an ONNX model
  bool yaml = false;              // a network as a file of ours
  bool json = false;
};
int run_zoo(const ZooArguments& arguments);

// Continues the run in a directory, whatever its verb.
struct ResumeArguments {
  std::string directory;
  int threads = 0;
  bool json = false;
  std::vector<std::string> command;
};

struct TrainArguments {
  TrainOptions options;
  std::string output;  // a directory; empty = nothing is written
  int threads = 0;     // 0 = all processors
  std::string render;  // a file for an episode as SVG
  std::string replay;  // a recorded trajectory to step again instead of training
  bool list = false;
  bool json = false;
};
int run_train(const TrainArguments& arguments);

// Exit code 3 when no machine has a schedule for every layer, or a program computes other numbers than the reference.
struct CodesignArguments {
  CodesignOptions options;
  bool show_settings = false;  // list the hyper-parameters instead of searching
  std::string output;          // a directory; empty = nothing is written
  int threads = 0;             // 0 = all processors
  bool json = false;
};
int run_codesign(const CodesignArguments& arguments);
int run_resume(const ResumeArguments& arguments);

// Prints the sentence to stderr; the value is kExitWrongInput.
int report(const Error& error);

}  // namespace tilewright
