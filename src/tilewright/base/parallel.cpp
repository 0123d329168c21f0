#include "tilewright/base/parallel.hpp"

#include <algorithm>
#include <utility>

namespace tilewright {

ThreadPool::ThreadPool(std::size_t threads) {
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  for (std::size_t thread = 1; thread < threads; ++thread) {
    workers_.emplace_back([this, thread] { serve(thread); });
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
}

void ThreadPool::for_each(std::size_t count, const std::function<void(std::size_t, std::size_t)>& work) {
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
      wake_.wait(lock, [&] { return stopping_ || round_ != seen; });
      if (stopping_) return;
      seen = round_;
    }
    take_items(thread);
    const std::scoped_lock lock(mutex_);
    if (--busy_ == 0) idle_.notify_one();
  }
}

void ThreadPool::take_items(std::size_t thread) {
  while (true) {
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
