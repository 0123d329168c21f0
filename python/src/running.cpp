#include "running.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <list>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "convert.hpp"

#include "tilewright/study/common_options.hpp"

namespace tilewright::python {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kLookEvery = std::chrono::milliseconds(30);
constexpr auto kTellEvery = std::chrono::milliseconds(100);

// What all studies of the process share.
struct Underway {
  std::mutex mutex;
  std::condition_variable ended;
  std::list<std::atomic<bool>*> stops;
};
Underway& underway() {
  static auto* const all = new Underway;  // outlives every thread
  return *all;
}

class Study {
 public:
  Study(int threads, const std::function<void(RunContext&)>& work) {
    {
      const std::lock_guard lock(underway().mutex);
      underway().stops.push_back(&stop_);
    }
    worker_ = std::thread([this, threads, &work] { run(threads, work); });
  }

  // Also where the interpreter ends the calling thread.
  ~Study() {
    stop_ = true;
    if (worker_.joinable()) worker_.join();
    {
      const std::lock_guard lock(underway().mutex);
      underway().stops.remove(&stop_);
    }
    underway().ended.notify_all();
  }
  Study(const Study&) = delete;
  Study& operator=(const Study&) = delete;

  void stop() { stop_ = true; }

  // What is new within a moment; `done` when the work has ended.
  std::optional<ProgressState> wait(bool& done) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kLookEvery, [this] { return done_; });
    done = done_;
    return std::exchange(latest_, std::nullopt);
  }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void run(int threads, const std::function<void(RunContext&)>& work) {
    try {
      ThreadPool pool(static_cast<std::size_t>(threads));
      RunContext context{.threads = pool, .progress = {}, .stop = StopToken(&stop_)};
      context.progress.due = [this] {
        const std::lock_guard lock(mutex_);
        return Clock::now() >= next_;
      };
      context.progress.show = [this](const ProgressState& state) {
        const std::lock_guard lock(mutex_);
        latest_ = state;
        next_ = Clock::now() + kTellEvery;
      };
      work(context);
    } catch (...) {
      failure_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    done_ = true;
    changed_.notify_all();
  }

  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::optional<ProgressState> latest_;
  Clock::time_point next_{};
  std::exception_ptr failure_;
  std::thread worker_;
};

}  // namespace

bool run_beside(const nb::object& progress, int threads, const std::function<void(RunContext&)>& work) {
  if (!progress.is_none() && PyCallable_Check(progress.ptr()) == 0) raise_type("progress", progress, "a function or None");
  if (threads < 0 || threads > kMostThreads) raise(fmt::format("threads is {}, expected 0 to {}", threads, kMostThreads));
  const nb::object told = progress.is_none() ? nb::none() : nb::module_::import_("tilewright.studies").attr("Progress");
  std::optional<nb::python_error> wrong;  // of the function, or of a handler of signals
  bool interrupted = false;
  Study study(threads, work);
  for (bool done = false; !done;) {
    std::optional<ProgressState> state;
    {
      const nb::gil_scoped_release released;
      state = study.wait(done);
    }
    try {
      if (state && !progress.is_none() && !wrong && !interrupted) {
        progress(told(state->title, state->done, state->all, state->unit, state->words));
      }
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    } catch (nb::python_error& error) {
      study.stop();
      if (error.matches(PyExc_KeyboardInterrupt)) {
        interrupted = true;
      } else if (!wrong) {
        wrong.emplace(error);
      }
    }
  }
  if (wrong) throw nb::python_error(*wrong);
  try {
    study.rethrow();
  } catch (const Stopped&) {
    if (!interrupted) raise({ErrorCode::InvalidInput, "stopped before there was anything to keep"});
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw nb::python_error();
  }
  return interrupted;
}

void stop_everything() {
  const nb::gil_scoped_release released;
  std::unique_lock lock(underway().mutex);
  for (std::atomic<bool>* stop : underway().stops) *stop = true;
  underway().ended.wait_for(lock, std::chrono::seconds(20), [] { return underway().stops.empty(); });
}

}  // namespace tilewright::python
