// Many evaluations as JSON lines: one case in, one result out, in the same order.
//
// In:  {"id": …, "hw": {"num_pes": 168, "noc_bw": 64, …, "via": "cli"|"file"},
//       "layers": [{"name": …, "type": "CONV", "stride": {"X": 2}, "dims": [["K", 64], …],
//                   "dataflow": [["T"|"S", size, offset, "K"], ["C", size, "P"], …]}, …]}
// Out: {"id": …, "status": "ok", "model": …, "out": [{"num_pes": 168, "runtime": …, …}, …]}
//      {"id": …, "status": "error", "reason": "l1-overflow", "msg": …}
// docs/formats.md has every field. The layers of a case are one MAESTRO file: its energy and batch rules apply across them.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

#include "tilewright/cost/evaluator.hpp"

namespace tilewright {

struct BatchOptions {
  Model model = Model::Sound;
  Constraints constraints = Constraints::Hard;
};

// Evaluates lines one at a time; belongs to one thread.
class BatchEvaluator {
 public:
  explicit BatchEvaluator(const BatchOptions& options);
  ~BatchEvaluator();
  BatchEvaluator(BatchEvaluator&&) noexcept;

  // Appends the result of one input line, line end included. A line that is no case gives an error result.
  void evaluate_line(std::string_view line, std::string& out);

 private:
  struct Workspace;
  std::unique_ptr<Workspace> workspace_;
};

struct BatchCounts {
  std::int64_t lines = 0;
  std::int64_t errors = 0;
};

// Appends the answer to a line, line end included; belongs to one thread.
using LineEvaluator = std::function<void(std::string_view line, std::string& out)>;

// Streams `in` to `out` with `threads` threads (0 = all); the bytes do not depend on how many. Calls `progress` now and
// then.
BatchCounts evaluate_batch(std::istream& in, std::ostream& out, const BatchOptions& options, std::size_t threads,
                           const std::function<void(const BatchCounts&)>& progress = {});
// Likewise with evaluators of one's own, one for each thread.
BatchCounts evaluate_lines(std::istream& in, std::ostream& out, const std::function<LineEvaluator()>& make,
                           std::size_t threads, const std::function<void(const BatchCounts&)>& progress = {});

}  // namespace tilewright
