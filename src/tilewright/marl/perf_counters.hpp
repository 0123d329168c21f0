// Cache and dTLB misses of the calling thread, counted by the processor where kernel and machine allow it (Linux
// perf_event_open). Only what user code missed is counted, so that unprivileged users may.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>

namespace tilewright {

class PerfCounters {
 public:
  PerfCounters() = default;  // counts nothing
  ~PerfCounters();
  PerfCounters(const PerfCounters&) = delete;
  PerfCounters& operator=(const PerfCounters&) = delete;

  // Begins to count the calling thread, once; later calls from the same thread do nothing. "" or why it cannot be.
  const std::string& open();
  bool counting() const { return leader_ >= 0; }
  std::array<std::uint64_t, 2> read() const;  // cache misses, dTLB load misses so far; zeros when not counting

 private:
  void close();

  long thread_ = 0;  // the kernel's number of the thread that opened it; 0 before
  int leader_ = -1;
  int member_ = -1;
  std::string why_not_;
};

// The sentence for an errno of perf_event_open.
std::string why_no_counters(int error_number);

}  // namespace tilewright
