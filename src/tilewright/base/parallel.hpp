// A small pool of threads for work that is numbered before it is spread: item i always computes the same thing and writes to
// its own place, so the result does not depend on how many threads there are.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace tilewright {

// What for_each throws when work is given up between two items.
struct Stopped : std::exception {
  const char* what() const noexcept override { return "stopped"; }
};

class ThreadPool {
 public:
  // `threads` workers including the caller; 0 = one per processor. Fewer where the system refuses to give more.
  explicit ThreadPool(std::size_t threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::size_t thread_count() const { return workers_.size() + 1; }

  // Calls work(item, thread) once for every item below `count`, and returns when all are done. `thread` is below
  // thread_count() and is what a per-thread workspace is indexed with. The exception of the lowest item that threw, if any,
  // is thrown again here once all have ended.
  void for_each(std::size_t count, const std::function<void(std::size_t item, std::size_t thread)>& work);

  // From now on all threads ask this before every item, and once it is true, for_each throws Stopped when the items under
  // way have ended. Nothing = never.
  void stop_when(std::function<bool()> stop) { stop_ = std::move(stop); }

 private:
  bool should_stop();
  void serve(std::size_t thread);
  void take_items(std::size_t thread);
  void keep(std::size_t workers);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable idle_;
  const std::function<void(std::size_t, std::size_t)>* work_ = nullptr;
  std::size_t count_ = 0;
  std::size_t next_ = 0;
  std::size_t busy_ = 0;
  std::uint64_t round_ = 0;
  bool stopping_ = false;
  std::size_t last_thread_ = std::numeric_limits<std::size_t>::max();  // those after it end
  std::size_t failed_item_ = 0;
  std::exception_ptr failure_;
  std::function<bool()> stop_;
  std::vector<std::jthread> workers_;
};

}  // namespace tilewright
