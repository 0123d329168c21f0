// Threads that give up between two items of work once the one who asked for it wants it to end: for_each then throws
// Stopped.
#pragma once

#include "tilewright/study/run_context.hpp"

namespace tilewright {

// For as long as the object lives.
class StopHeard {
 public:
  explicit StopHeard(RunContext& context) : threads_(context.threads) {
    threads_.stop_when([stop = context.stop] { return stop.asked(); });
  }
  ~StopHeard() { threads_.stop_when(nullptr); }
  StopHeard(const StopHeard&) = delete;
  StopHeard& operator=(const StopHeard&) = delete;

 private:
  ThreadPool& threads_;
};

}  // namespace tilewright
