// `tilewright evaluate --timeloop-records FILE --machines FILE`: what Timeloop would print of every recorded mapping.
#include <fstream>
#include <iostream>

#include <fmt/format.h>

#include "tilewright/app/commands.hpp"
#include "tilewright/app/print.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/hierarchy/timeloop_records.hpp"

namespace tilewright {

int run_records(const std::string& records, const std::string& machines_file) {
  if (records.empty()) return report(invalid("--machines goes with --timeloop-records FILE.jsonl"));
  if (machines_file.empty()) return report(invalid("--machines is missing, expected a file of machines such as archs.json"));
  const Result<std::string> text = read_file(machines_file);
  if (!text) return report(text.error());
  const Result<hierarchy::Machines> machines = hierarchy::machines_from_json(*text, machines_file);
  if (!machines) return report(machines.error());
  std::ifstream file;
  if (records != "-") {
    file.open(records, std::ios::binary);
    if (!file) return report({ErrorCode::NotFound, fmt::format("{}: no such file, expected JSON lines", records)});
  }
  std::ios::sync_with_stdio(false);
  const hierarchy::RecordCounts counts =
      hierarchy::judge_records(records == "-" ? std::cin : file, std::cout, *machines, records == "-" ? "stdin" : records);
  std::cout.flush();
  if (!std::cout) return report({ErrorCode::Io, "standard output: could not be written"});
  if (std::cin.bad() || file.bad()) return report({ErrorCode::Io, fmt::format("{}: could not be read", records)});
  if (counts.malformed == 0) return kExitDone;
  if (counts.malformed > 1)
    say(fmt::format("{} of {} records are malformed; the first:\n", with_thousands(counts.malformed),
                    with_thousands(counts.records)));
  return report(invalid(counts.first_error));
}

}  // namespace tilewright
