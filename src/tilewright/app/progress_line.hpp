// How far long work is, on standard error: on a terminal a line that is rewritten in place, with a line for each part below
// it where there are any; elsewhere a line every few seconds. It goes away with the object.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "tilewright/study/run_context.hpp"

namespace tilewright {

class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { end(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // For a RunContext; the object must outlive it.
  Progress progress();
  // Takes down what is on the terminal.
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  bool is_due() const { return Clock::now() >= next_; }
  void show(const ProgressState& state);

  bool terminal_;
  std::size_t lines_ = 0;  // on the terminal now
  Clock::time_point start_, next_;
  Clock::time_point first_ = {};  // when something was first shown, and how much was done then
  std::int64_t first_done_ = 0;
};

// "resnet18 on eyeriss: 40 % of 24,000 samples, 31.2 k/s, 0:02 left" at so many per second.
std::string progress_text(const ProgressState& state, double rate);

}  // namespace tilewright
