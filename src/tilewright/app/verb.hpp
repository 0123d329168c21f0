// A verb of the program: its options as a table, from which come flags, help, completion, the man page and docs/options.md,
// and what it does.
// Each verb's function is in app/VERB.cpp; what is parsed lives as long as the Verb.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tilewright/base/options.hpp"
#include "tilewright/base/result.hpp"
#include "tilewright/study/campaign_command.hpp"
#include "tilewright/study/codesign.hpp"
#include "tilewright/study/comparison_request.hpp"
#include "tilewright/study/training.hpp"

namespace tilewright {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;         // in a way that nobody foresaw
inline constexpr int kExitWrongInput = 2;     // one sentence on stderr
inline constexpr int kExitInfeasible = 3;     // done, but something asked for is infeasible
inline constexpr int kExitDiffers = 3;        // a replay or a number differs
inline constexpr int kExitInterrupted = 130;  // by Ctrl-C or a request to end, with everything saved

// Prints the sentence to stderr; the value is kExitWrongInput.
int report(const Error& error);

struct Verb {
  std::string name;
  std::string summary;  // one line
  OptionTable options;
  std::string footer;        // of the help: what the options do not say, examples
  std::function<int()> run;  // once the options are parsed; the value is the exit code
};

using Command = std::vector<std::string>;  // the command line, word by word

Verb agents_verb(const Command& command);
Verb bound_verb();
Verb campaign_verb(const Command& command);
Verb codesign_verb(const Command& command);
Verb compare_verb(const Command& command);
Verb compile_verb(const Command& command);
Verb evaluate_verb();
Verb explain_verb();
Verb map_verb(const Command& command);
Verb points_verb();
Verb resume_verb(const Command& command);
Verb simulate_verb();
Verb train_verb(const Command& command);
Verb verify_verb();
Verb zoo_verb();

// All of them, in the order of the help.
std::vector<Verb> all_verbs(const Command& command);

// What `resume` calls, too.
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

struct CompareArguments {
  CompareRequest request;
  int threads = 0;     // runs at once; 0 = one per processor
  std::string output;  // a directory; empty = nothing is written
  bool json = false;
};
int run_compare(const CompareArguments& arguments);

struct CampaignArguments {
  CampaignOptions options;
  int threads = 0;  // 0 = all processors
  bool json = false;
};
int run_campaign_verb(const CampaignArguments& arguments);

}  // namespace tilewright
