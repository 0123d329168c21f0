// The two ways out of the program, and how far long work is.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "tilewright/study/run_context.hpp"

namespace tilewright {

// Neither of the two throws, whatever the stream is connected to.
// Results, to standard output. When not all of it arrives there, main ends the program with a sentence and exit code 2, or
// without one when the reader went away, as `head` does.
void print(std::string_view text);

// Whether whoever read standard output has gone away.
bool has_reader_left();

// Progress and sentences, to standard error, at once. What does not arrive there changes nothing else.
void say(std::string_view text);

// Gives the program the three standard streams where it was started without one, so that no file it opens takes their
// place; and a reader that goes away is seen as a failed write, not as the end of the program.
void hold_standard_streams();

// On a terminal a line that is rewritten in place, with a line for each part below it where there are any; elsewhere a line
// every few seconds. It goes away with the object.
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
