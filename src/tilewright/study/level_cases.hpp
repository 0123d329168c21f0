// Cases of `evaluate --cases` on machines with memory levels, one JSON object per line:
//
//   {"id": …, "hw": "zoo:eyeriss-dram" or {"mac": {…}, "levels": […]}, "layers": [{"name": …, "problem": {"shape": "conv",
//    "dims": {"R": 3, …}, "coefficients": {}}, "mapping": [{"level": "dram", "time": ["K64", …]}, …]}, …]}
//
// `hw` and `mapping` have the fields of tilewright-accelerator-2 and tilewright-mapping-2 (docs/hierarchy.md), `problem`
// those of Timeloop's records. The answer is {"id", "status": "ok", "model", "out": [cost, …]} or {"id", "status": "error",
// "reason", "msg"} with level, need and limit of a mapping that does not fit.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tilewright/cost/batch.hpp"
#include "tilewright/hierarchy/evaluator.hpp"
#include "tilewright/study/mapping_options.hpp"

namespace tilewright {

// Answers lines one at a time; belongs to one thread.
class LevelCases {
 public:
  explicit LevelCases(hierarchy::Judge judge);
  ~LevelCases();

  // Whether the line is about a machine with memory levels. A line that is no JSON is not.
  static bool has_levels(std::string_view line);
  // Appends the answer, line end included. A line that is no case gives an error answer.
  void answer(std::string_view line, std::string& out);

 private:
  struct Workspace;
  std::unique_ptr<Workspace> workspace_;
};

// Cases of both kinds of machine, each under its model. Where a judge of memory levels is asked for, other cases are errors.
BatchCounts evaluate_cases(std::istream& in, std::ostream& out, const BatchOptions& options, const LevelOptions& levels,
                           std::size_t threads, const std::function<void(const BatchCounts&)>& progress = {});

}  // namespace tilewright
