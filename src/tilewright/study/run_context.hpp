// What a study runs with: threads, a place to keep what it finds, somebody to tell how far it is, and somebody who may stop
// it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tilewright/base/parallel.hpp"

namespace tilewright {

class RunDirectory;

// How far a study is, in the caller's terms.
struct ProgressState {
  std::string title;               // "resnet18 on eyeriss"; may be empty
  std::int64_t done = 0, all = 0;  // of `unit`
  std::string unit;                // "samples"
  std::string words;               // what there is to say besides, on one line
  std::vector<std::string> lines;  // likewise, a line for each part: for a screen that has room
};

// Both may be empty. `due` is asked first, often, because states take time to make.
struct Progress {
  std::function<bool()> due;
  std::function<void(const ProgressState&)> show;

  template <typename MakeState>
  void tell(const MakeState& make) const {
    if (show && (!due || due())) show(make());
  }
};

// A copy of it tells whether the one who gave it wants the work to end, with everything kept that is there.
class StopToken {
 public:
  StopToken() = default;  // nobody ever does
  explicit StopToken(const std::atomic<bool>* asked) : asked_(asked) {}
  bool asked() const { return asked_ != nullptr && asked_->load(std::memory_order_relaxed); }

 private:
  const std::atomic<bool>* asked_ = nullptr;
};

struct RunContext {
  ThreadPool& threads;
  RunDirectory* directory = nullptr;  // already opened; nothing is kept when there is none
  Progress progress = {};
  StopToken stop = {};
};

}  // namespace tilewright
