#include "tilewright/marl/profile.hpp"

#include <ctime>

#include <fmt/format.h>

#include "tilewright/base/result.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/marl/perf_counters.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace tilewright {
namespace {

std::uint64_t nanoseconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_nsec);
}

#if defined(__x86_64__)
// Whether the time-stamp counter runs evenly in every power state.
bool has_steady_counter() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & 1u << 8) != 0;
}
const bool kSteadyCounter = has_steady_counter();
std::uint64_t ticks() { return kSteadyCounter ? __rdtsc() : nanoseconds(CLOCK_MONOTONIC); }
#else
std::uint64_t ticks() { return nanoseconds(CLOCK_MONOTONIC); }
#endif

// The same moment on both clocks. Of several readings the one with the shortest way between them is taken, because the
// kernel may halt us anywhere.
struct Moment {
  std::uint64_t tick = 0, nanosecond = 0;
};
Moment read_both() {
  Moment best;
  std::uint64_t shortest = ~std::uint64_t{0};
  for (int attempt = 0; attempt < 5; ++attempt) {
    const std::uint64_t before = ticks(), now = nanoseconds(CLOCK_MONOTONIC), after = ticks();
    if (after - before >= shortest) continue;
    shortest = after - before;
    best = {before + (after - before) / 2, now};
  }
  return best;
}

std::uint64_t difference(std::uint64_t later, std::uint64_t earlier) { return later > earlier ? later - earlier : 0; }

}  // namespace

std::string_view to_string(Phase phase) {
  constexpr std::string_view kNames[kPhaseCount] = {"environment", "action selection", "mini-batch sampling", "target Q",
                                                    "Q loss",      "P loss",           "target update",       "other"};
  return kNames[static_cast<std::size_t>(phase)];
}

// What one thread has measured. Only its thread writes; the owner of the profile reads between parallel sections.
struct alignas(128) Profile::Slot {
  struct Entry {
    std::uint64_t calls = 0, bytes = 0;
    std::uint64_t undrained_ticks = 0;  // wall time that is not in Profile::wall_ticks_ yet
    std::uint64_t busy_ticks = 0;       // processor time of clocks that read wall time only
    std::uint64_t cpu_nanoseconds = 0;  // of the others
    std::array<std::uint64_t, 2> misses{};
  };
  std::array<Entry, kPhaseCount> entries;
  std::uint64_t wall = 0, cpu = 0;  // at the latest lap
  std::array<std::uint64_t, 2> misses{};
  std::size_t clock_count = 0;
  PerfCounters counters;
  std::string why_no_counters;
};

Profile::Profile(std::size_t threads, bool counters) : slots_(threads == 0 ? 1 : threads), counters_wanted_(counters) {
  const Moment now = read_both();
  first_tick_ = now.tick;
  first_nanosecond_ = now.nanosecond;
}

Profile::~Profile() = default;

void Profile::drain(double share) {
  for (Slot& slot : slots_) {
    for (std::size_t phase = 0; phase < kPhaseCount; ++phase) {
      wall_ticks_[phase] += share * static_cast<double>(slot.entries[phase].undrained_ticks);
      slot.entries[phase].undrained_ticks = 0;
    }
  }
}

ProfileTotals Profile::totals() const {
  // A millisecond says well enough how long a tick is.
  Moment now = read_both();
  while (now.nanosecond - first_nanosecond_ < 1'000'000) now = read_both();
  const double tick_seconds =
      static_cast<double>(now.nanosecond - first_nanosecond_) * 1e-9 / static_cast<double>(now.tick - first_tick_);

  ProfileTotals totals;
  bool counting = false;
  for (std::size_t phase = 0; phase < kPhaseCount; ++phase) {
    PhaseTotals& total = totals.phases[phase];
    total.wall_seconds = wall_ticks_[phase] * tick_seconds;
    for (const Slot& slot : slots_) {
      const Slot::Entry& entry = slot.entries[phase];
      total.calls += entry.calls;
      total.bytes += entry.bytes;
      total.wall_seconds += static_cast<double>(entry.undrained_ticks) * tick_seconds;
      total.cpu_seconds +=
          static_cast<double>(entry.busy_ticks) * tick_seconds + static_cast<double>(entry.cpu_nanoseconds) * 1e-9;
      total.cache_misses += entry.misses[0];
      total.dtlb_misses += entry.misses[1];
    }
  }
  for (const Slot& slot : slots_) {
    counting = counting || slot.counters.counting();
    if (totals.why_no_counters.empty()) totals.why_no_counters = slot.why_no_counters;
  }
  totals.has_counters = counting && totals.why_no_counters.empty();
  if (!totals.has_counters && totals.why_no_counters.empty()) {
    totals.why_no_counters = counters_wanted_ ? "no clock has asked for them yet" : "counting misses was not asked for";
  }
  return totals;
}

PhaseClock::PhaseClock(Profile& profile, std::size_t thread, Detail detail)
    : slot_(profile.slots_[thread]), detail_(detail) {
  TW_ASSERT(thread < profile.slots_.size());
  if (detail_ == Detail::Cpu && profile.counters_wanted_) {
    const std::string& why_not = slot_.counters.open();
    if (!why_not.empty()) slot_.why_no_counters = why_not;
  }
  if (slot_.clock_count++ == 0) {
    restart();
  } else {
    read_cpu();  // the outer clock may not have
  }
}

PhaseClock::~PhaseClock() { --slot_.clock_count; }

void PhaseClock::read_cpu() {
  if (detail_ == Detail::Wall) return;
  slot_.cpu = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  if (slot_.counters.counting()) slot_.misses = slot_.counters.read();
}

void PhaseClock::restart() {
  read_cpu();
  slot_.wall = ticks();
}

void PhaseClock::lap(Phase phase, std::uint64_t bytes) {
  Profile::Slot::Entry& entry = slot_.entries[static_cast<std::size_t>(phase)];
  const std::uint64_t now = ticks();
  // Counters of two processors may differ by a few ticks when the kernel moves the thread.
  const std::uint64_t passed = difference(now, slot_.wall);
  slot_.wall = now;
  ++entry.calls;
  entry.bytes += bytes;
  entry.undrained_ticks += passed;
  if (detail_ == Detail::Wall) {
    entry.busy_ticks += passed;
    return;
  }
  const std::uint64_t cpu_before = slot_.cpu;
  const auto misses_before = slot_.misses;
  read_cpu();
  entry.cpu_nanoseconds += difference(slot_.cpu, cpu_before);
  for (std::size_t i = 0; i < misses_before.size(); ++i) entry.misses[i] += difference(slot_.misses[i], misses_before[i]);
}

ParallelSection::ParallelSection(Profile& profile) : profile_(profile) {
  profile_.drain(1);
  begin_ = ticks();
}

ParallelSection::~ParallelSection() {
  const std::uint64_t now = ticks();
  const double passed = static_cast<double>(difference(now, begin_));
  double measured = 0;
  for (Profile::Slot& slot : profile_.slots_) {
    for (const auto& entry : slot.entries) measured += static_cast<double>(entry.undrained_ticks);
    slot.wall = now;
  }
  profile_.drain(measured > 0 ? passed / measured : 0);
}

}  // namespace tilewright
