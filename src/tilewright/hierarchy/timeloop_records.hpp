// Records of Timeloop runs, one JSON object per line: a machine, a problem, a mapping, and what the real program printed.
//
//   {"id": "f4ef…", "arch": "simple3", "problem": {"shape": "gemm", "dims": {"M": 64, …}, "coefficients": {}},
//    "mapping": {"levels": [{"target": "Local", "type": "temporal", "factors": {"M": 2, …}, "permutation": "KMN"}, …],
//                "keep": {"Local": ["A", "B", "Z"], …}}}
//
// The answer has the form of the record's own: {"id": …, "valid": true, "out": {…}}, or "fail" where the mapping does not
// fit.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>

#include "tilewright/base/result.hpp"
#include "tilewright/hierarchy/machine.hpp"

namespace tilewright::hierarchy {

using Machines = std::map<std::string, Machine, std::less<>>;

// Machines by name with all numbers derived: {"simple3": {"levels": [{"name": "Local", "instances": 64, …}, …], "mac":
// {…}}}.
Result<Machines> machines_from_json(const std::string& text, const std::string& where);

class RecordJudge {
 public:
  explicit RecordJudge(Machines machines);
  ~RecordJudge();

  // The answer to one record without the end of line; an Error when it is malformed.
  Result<std::string> judge(const std::string& line, const std::string& where);

 private:
  struct Workspace;
  std::unique_ptr<Workspace> workspace_;
};

struct RecordCounts {
  std::int64_t records = 0;
  std::int64_t malformed = 0;
  std::string first_error;  // a sentence, when one is malformed
};

// Judges every line. A malformed record is answered with {"error": "…"} in its place.
RecordCounts judge_records(std::istream& in, std::ostream& out, Machines machines, const std::string& where);

}  // namespace tilewright::hierarchy
