// The verbs of the program: each takes its parsed arguments, prints, and returns the exit code.
// 0 done; 2 wrong input, one sentence on stderr; 3 done, but something asked for is infeasible.
#pragma once

#include <string>

#include "tilewright/app/job.hpp"

namespace tilewright {

inline constexpr int kExitDone = 0;
inline constexpr int kExitWrongInput = 2;
inline constexpr int kExitInfeasible = 3;

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
  bool json = false;
};
int run_explain(const ExplainArguments& arguments);

struct ZooArguments {
  std::string source;  // empty = list everything
  std::int64_t batch = 1;
  bool json = false;
};
int run_zoo(const ZooArguments& arguments);

// Prints the sentence to stderr; the value is kExitWrongInput.
int report(const Error& error);

}  // namespace tilewright
