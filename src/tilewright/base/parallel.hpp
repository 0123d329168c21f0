// A small pool of threads for work that is numbered before it is spread: item i always computes the same thing and writes to
// its own place, so the result does not depend on how many threads there are.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tilewright {

class ThreadPool {
 public:
  // `threads` workers including the caller; 0 = one per processor.
  explicit ThreadPool(std::size_t threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::size_t thread_count() const { return workers_.size() + 1; }

  // Calls work(item, thread) once for every item below `count`, and returns when all are done. `thread` is below
  // thread_count() and is what a per-thread workspace is indexed with. The exception of the lowest item that threw, if any,
  // is thrown again here once all have ended.
  void for_each(std::size_t count, const std::function<void(std::size_t item, std::size_t thread)>& work);

 private:
  void serve(std::size_t thread);
  void take_items(std::size_t thread);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable idle_;
  const std::function<void(std::size_t, std::size_t)>* work_ = nullptr;
  std::size_t count_ = 0;
  std::size_t next_ = 0;
  std::size_t busy_ = 0;
  std::uint64_t round_ = 0;
  bool stopping_ = false;
  std::size_t failed_item_ = 0;
  std::exception_ptr failure_;
  std::vector<std::jthread> workers_;
};

}  // namespace tilewright
