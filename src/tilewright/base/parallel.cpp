#include "tilewright/base/parallel.hpp"

#include <algorithm>
#include <system_error>

namespace tilewright {

ThreadPool::ThreadPool(std::size_t threads) {
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  for (std::size_t thread = 1; thread < threads; ++thread) {
    try {
      workers_.emplace_back([this, thread] { serve(thread); });
    } catch (const std::system_error&) {
      // No more than these are to be had, and the work itself needs something too: half of them are given back. The answer
      // does not depend on how many there are.
      keep(workers_.size() / 2);
      return;
    }
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
}

void ThreadPool::keep(std::size_t workers) {
  {
    const std::scoped_lock lock(mutex_);
    last_thread_ = workers;
  }
  wake_.notify_all();
  while (workers_.size() > workers) workers_.pop_back();  // which waits for its end
}

void ThreadPool::for_each(std::size_t count, const std::function<void(std::size_t, std::size_t)>& work) {
  if (count == 0) return;
  if (count == 1) {  // not worth waking anybody
    if (stop_ && stop_()) throw Stopped{};
    return work(0, 0);
  }
  {
    const std::scoped_lock lock(mutex_);
    work_ = &work;
    count_ = count;
    next_ = 0;
    busy_ = workers_.size();
    failure_ = nullptr;
    ++round_;
  }
  wake_.notify_all();
  take_items(0);
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return busy_ == 0; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadPool::serve(std::size_t thread) {
  std::uint64_t seen = 0;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stopping_ || thread > last_thread_ || round_ != seen; });
      if (stopping_ || thread > last_thread_) return;
      seen = round_;
    }
    take_items(thread);
    const std::scoped_lock lock(mutex_);
    if (--busy_ == 0) idle_.notify_one();
  }
}

bool ThreadPool::should_stop() {
  if (!stop_ || !stop_()) return false;
  const std::scoped_lock lock(mutex_);
  if (next_ < count_) {
    next_ = count_;
    failed_item_ = 0;
    failure_ = std::make_exception_ptr(Stopped{});
  }
  return true;
}

void ThreadPool::take_items(std::size_t thread) {
  while (!should_stop()) {
    std::size_t item = 0;
    {
      const std::scoped_lock lock(mutex_);
      if (next_ == count_) return;
      item = next_++;
    }
    try {
      (*work_)(item, thread);
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      if (!failure_ || item < failed_item_) {
        failure_ = std::current_exception();
        failed_item_ = item;
      }
    }
  }
}

}  // namespace tilewright
