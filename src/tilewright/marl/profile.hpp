// Where the time goes, always on. A thread holds a PhaseClock and says `lap(phase)` when a phase has ended: the time since
// its previous lap belongs to that phase. One clock read per boundary keeps the cost far below one percent.
//
// The phases are those of arXiv 2305.13411; on-policy learners use the same names for the same roles.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

enum class Phase {
  Environment,   // stepping and resetting worlds
  Acting,        // action selection
  Sampling,      // mini-batch sampling: drawing indices, gathering transitions
  TargetQ,       // target actions and values; advantages
  QLoss,         // critic loss, gradient and step
  PLoss,         // actor loss, gradient and step
  TargetUpdate,  // moving target networks
  Other,         // remembering transitions, bookkeeping, checkpoints
};
inline constexpr std::size_t kPhaseCount = 8;
std::string_view to_string(Phase phase);

struct PhaseTotals {
  std::uint64_t calls = 0;
  double wall_seconds = 0;  // of the run; parallel parts are shared out by the time the threads spent in each phase
  double cpu_seconds = 0;   // of all threads together
  std::uint64_t bytes = 0;  // gathered from the replay memory
  std::uint64_t cache_misses = 0;
  std::uint64_t dtlb_misses = 0;
};
struct ProfileTotals {
  std::array<PhaseTotals, kPhaseCount> phases;
  bool has_counters = false;    // cache and dTLB misses were counted
  std::string why_no_counters;  // otherwise, one sentence
  const PhaseTotals& operator[](Phase phase) const { return phases[static_cast<std::size_t>(phase)]; }
};

class Profile {
 public:
  // `threads` as many as clocks will run at once; counters: try the processor's (perf_event_open), for clocks with
  // Detail::Cpu.
  explicit Profile(std::size_t threads = 1, bool counters = false);
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  ProfileTotals totals() const;  // since construction; call it while no parallel section runs

 private:
  friend class PhaseClock;
  friend class ParallelSection;
  struct Slot;
  void drain(double share);

  std::vector<Slot> slots_;                       // one per thread, on cache lines of their own
  std::array<double, kPhaseCount> wall_ticks_{};  // taken out of the slots, shared out
  std::uint64_t first_tick_ = 0;                  // the same moment on both clocks
  std::uint64_t first_nanosecond_ = 0;
  bool counters_wanted_;
};

// Laps of one thread. Detail::Cpu also reads processor time and counters at each lap (system calls: for phases of tens of
// microseconds and more); with Detail::Wall processor time is taken to be wall time. To be made, lapped and destroyed by the
// thread it measures. Clocks of one thread nest: they share the moment of the latest lap, so no time is counted twice, and
// what passed before the first lap of the inner one belongs to that lap.
class PhaseClock {
 public:
  enum class Detail { Wall, Cpu };
  PhaseClock(Profile& profile, std::size_t thread, Detail detail);
  ~PhaseClock();
  PhaseClock(const PhaseClock&) = delete;
  PhaseClock& operator=(const PhaseClock&) = delete;

  void lap(Phase phase, std::uint64_t bytes = 0);
  void restart();  // what passed since the last lap belongs to nobody

 private:
  void read_cpu();

  Profile::Slot& slot_;
  Detail detail_;
};

// Around work that several clocks measure at once: what they measured is scaled so that wall times add up to what passed.
// Its end counts as a lap of every thread.
class ParallelSection {
 public:
  explicit ParallelSection(Profile& profile);
  ~ParallelSection();
  ParallelSection(const ParallelSection&) = delete;
  ParallelSection& operator=(const ParallelSection&) = delete;

 private:
  Profile& profile_;
  std::uint64_t begin_ = 0;
};

// The phase table of a run, for people: shares, seconds, calls, bytes, misses.
std::string profile_table(const ProfileTotals& totals);

}  // namespace tilewright
