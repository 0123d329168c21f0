// What came of a simulated program, and how it is shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/report/timeline.hpp"
#include "tilewright/vta/cost.hpp"
#include "tilewright/vta/functional.hpp"

namespace tilewright {

struct StreamResult {
  std::vector<vta::Instruction> instructions;
  vta::Timing timing;
  std::vector<vta::Span> spans;
};

struct Simulation {
  std::string program, machine_name;  // as the user called them
  vta::Machine machine;
  vta::TimingOptions timing;
  vta::PhysicalOptions physical;
  std::optional<vta::Fault> fault;          // the program cannot run, and there is nothing else
  std::optional<vta::Execution> execution;  // unless only time was asked for
  std::vector<StreamResult> streams;        // unless only results were asked for
  std::optional<vta::Fault> timing_remark;  // the program runs, but not on this hardware; then no cycles are known
  bool has_cycles() const { return !streams.empty() && !timing_remark; }
};

// Sums over the streams, which run one after the other.
vta::Timing total_of(const std::vector<StreamResult>& streams);

std::string to_text(const Simulation& simulation);
std::string to_json(const Simulation& simulation);

// Loads, computing and stores of all streams, one after the other, with the tokens between them as links. Streams need
// their spans.
Timeline timeline_of(const std::vector<StreamResult>& streams);
// "load and compute work at the same time in 62 % of the cycles".
std::string overlap_sentence(const Timeline& timeline);
std::string timeline_page(const Simulation& simulation);
std::string timeline_svg(const Simulation& simulation);

}  // namespace tilewright
