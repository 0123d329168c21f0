#include "tilewright/marl/profile.hpp"

#include <cerrno>
#include <chrono>
#include <ctime>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tilewright/base/parallel.hpp"
#include "tilewright/marl/perf_counters.hpp"

namespace tilewright {
namespace {

using Detail = PhaseClock::Detail;
using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

double seconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double all_wall_seconds(const ProfileTotals& totals) {
  double sum = 0;
  for (const PhaseTotals& phase : totals.phases) sum += phase.wall_seconds;
  return sum;
}

void rest(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

void work(double for_seconds) {
  for (const double end = seconds(CLOCK_THREAD_CPUTIME_ID) + for_seconds; seconds(CLOCK_THREAD_CPUTIME_ID) < end;) {
  }
}

TEST(Profile, CountsCallsAndBytes) {
  Profile profile;
  PhaseClock clock(profile, 0, Detail::Wall);
  clock.lap(Phase::Sampling, 100);
  clock.lap(Phase::Sampling, 23);
  clock.lap(Phase::QLoss);
  const ProfileTotals totals = profile.totals();
  EXPECT_EQ(totals[Phase::Sampling].calls, 2u);
  EXPECT_EQ(totals[Phase::Sampling].bytes, 123u);
  EXPECT_EQ(totals[Phase::QLoss].calls, 1u);
  EXPECT_EQ(totals[Phase::QLoss].bytes, 0u);
  EXPECT_EQ(totals[Phase::PLoss].calls, 0u);
}

TEST(Profile, LapsAddUpToWhatPassed) {
  Profile profile;
  const double begin = seconds(CLOCK_MONOTONIC);
  PhaseClock clock(profile, 0, Detail::Wall);
  rest(3);
  clock.lap(Phase::Environment);
  rest(7);
  clock.lap(Phase::Acting);
  clock.lap(Phase::Other);
  const double passed = seconds(CLOCK_MONOTONIC) - begin;
  const ProfileTotals totals = profile.totals();
  EXPECT_GE(totals[Phase::Environment].wall_seconds, 0.0029);
  EXPECT_GE(totals[Phase::Acting].wall_seconds, 0.0069);
  // The time-stamp counter and the kernel's clock agree to well under a percent.
  EXPECT_LE(all_wall_seconds(totals), passed * 1.01);
  EXPECT_EQ(totals[Phase::Acting].cpu_seconds, totals[Phase::Acting].wall_seconds);  // as Detail::Wall takes it
}

TEST(Profile, ProcessorTimeIsNotThatOfSleeping) {
  Profile profile;
  PhaseClock clock(profile, 0, Detail::Cpu);
  rest(20);
  clock.lap(Phase::Environment);
  work(0.004);
  clock.lap(Phase::QLoss);
  const ProfileTotals totals = profile.totals();
  EXPECT_LT(totals[Phase::Environment].cpu_seconds, 0.01);
  EXPECT_GE(totals[Phase::Environment].wall_seconds, 0.0199);
  EXPECT_GE(totals[Phase::QLoss].cpu_seconds, 0.0039);
  EXPECT_GE(totals[Phase::QLoss].wall_seconds, totals[Phase::QLoss].cpu_seconds * 0.99);
}

TEST(Profile, RestartForgets) {
  Profile profile;
  PhaseClock clock(profile, 0, Detail::Cpu);
  rest(10);
  clock.restart();
  clock.lap(Phase::QLoss);
  EXPECT_LT(profile.totals()[Phase::QLoss].cpu_seconds, 0.01);
  EXPECT_EQ(profile.totals()[Phase::QLoss].calls, 1u);
}

TEST(Profile, NestedClocksCountNothingTwice) {
  Profile profile;
  const double begin = seconds(CLOCK_MONOTONIC);
  {
    PhaseClock outer(profile, 0, Detail::Wall);
    rest(2);
    {
      PhaseClock inner(profile, 0, Detail::Cpu);
      rest(5);
      inner.lap(Phase::QLoss);
    }
    rest(2);
    outer.lap(Phase::Other);
  }
  const double passed = seconds(CLOCK_MONOTONIC) - begin;
  const ProfileTotals totals = profile.totals();
  EXPECT_GE(totals[Phase::QLoss].wall_seconds, 0.0069);  // with what passed since the outer clock's last lap
  EXPECT_GE(totals[Phase::Other].wall_seconds, 0.0019);
  EXPECT_LE(all_wall_seconds(totals), passed * 1.01);
  EXPECT_GE(all_wall_seconds(totals), 0.0089);
}

TEST(Profile, ANewClockBeginsWithItself) {
  Profile profile;
  { PhaseClock(profile, 0, Detail::Wall).lap(Phase::Acting); }
  rest(20);
  const double begin = seconds(CLOCK_MONOTONIC);
  PhaseClock clock(profile, 0, Detail::Wall);
  clock.lap(Phase::QLoss);
  const double passed = seconds(CLOCK_MONOTONIC) - begin;
  EXPECT_LE(profile.totals()[Phase::QLoss].wall_seconds, passed * 1.01);
}

// The first phase and the last.
TEST(ParallelSection, SharesOutTheTimeThatPassed) {
  constexpr std::size_t kThreads = 4;
  Profile profile(kThreads);
  ThreadPool pool(kThreads);
  const double begin = seconds(CLOCK_MONOTONIC);
  double in_section = 0;
  {
    PhaseClock clock(profile, 0, Detail::Wall);
    clock.lap(Phase::Acting);
    {
      const ParallelSection section(profile);
      const double section_begin = seconds(CLOCK_MONOTONIC);
      pool.for_each(16, [&](std::size_t item, std::size_t thread) {
        PhaseClock inner(profile, thread, Detail::Wall);
        rest(1);
        inner.lap(Phase::Environment, item);
        rest(2);
        inner.lap(Phase::Other);
      });
      in_section = seconds(CLOCK_MONOTONIC) - section_begin;
    }
    clock.lap(Phase::Acting);
  }
  const double passed = seconds(CLOCK_MONOTONIC) - begin;
  const ProfileTotals totals = profile.totals();
  EXPECT_EQ(totals[Phase::Environment].calls, 16u);
  EXPECT_EQ(totals[Phase::Environment].bytes, 120u);
  const PhaseTotals &first = totals[Phase::Environment], &last = totals[Phase::Other];
  EXPECT_GE(first.wall_seconds + last.wall_seconds, in_section * 0.99);
  EXPECT_LE(all_wall_seconds(totals), passed * 1.01);
  // What the threads measured, with Detail::Wall taken as processor time, is more, in the same proportion.
  EXPECT_GE(first.cpu_seconds, 0.0159);
  EXPECT_GE(last.cpu_seconds, 0.0319);
  EXPECT_NEAR(first.wall_seconds / last.wall_seconds, first.cpu_seconds / last.cpu_seconds, 1e-9);
}

TEST(ParallelSection, KeepsProcessorTimeOfAllThreads) {
  Profile profile(3);
  ThreadPool pool(3);
  {
    const ParallelSection section(profile);
    pool.for_each(9, [&](std::size_t, std::size_t thread) {
      PhaseClock clock(profile, thread, Detail::Cpu);
      work(0.001);
      clock.lap(Phase::QLoss);
    });
  }
  EXPECT_GE(profile.totals()[Phase::QLoss].cpu_seconds, 0.0089);
}

TEST(ParallelSection, WithoutLapsAddsNothing) {
  Profile profile(2);
  { const ParallelSection section(profile); }
  EXPECT_EQ(all_wall_seconds(profile.totals()), 0);
}

TEST(ProfileCounters, AreThereOrSayWhyNot) {
  EXPECT_EQ(Profile(1, false).totals().why_no_counters, "counting misses was not asked for");
  Profile profile(1, true);
  EXPECT_EQ(profile.totals().why_no_counters, "no clock has asked for them yet");
  PhaseClock clock(profile, 0, Detail::Cpu);
  std::vector<std::uint8_t> memory(16 << 20);
  for (std::size_t at = 0; at < memory.size(); at += 64) memory[at * 4099 % memory.size()] = 1;
  clock.lap(Phase::Sampling);
  const ProfileTotals totals = profile.totals();
  if (totals.has_counters) {
    EXPECT_EQ(totals.why_no_counters, "");
    EXPECT_GT(totals[Phase::Sampling].cache_misses, 0u);
    EXPECT_GT(totals[Phase::Sampling].dtlb_misses, 0u);
  } else {
    EXPECT_THAT(totals.why_no_counters, StartsWith("perf_event_open: "));
  }
}

TEST(ProfileCounters, EveryRefusalIsOneSentence) {
  EXPECT_THAT(why_no_counters(EACCES),
              AnyOf("perf_event_open: the kernel refuses",
                    StartsWith("perf_event_open: the kernel refuses (kernel.perf_event_paranoid is ")));
  EXPECT_EQ(why_no_counters(ENOENT), "perf_event_open: this (virtual) machine has no counters of cache and dTLB misses");
  EXPECT_EQ(why_no_counters(EOPNOTSUPP), why_no_counters(ENOENT));
  EXPECT_EQ(why_no_counters(ENOSYS), "perf_event_open: this kernel was built without it");
  EXPECT_EQ(why_no_counters(EMFILE), "perf_event_open: Too many open files");
}

ProfileTotals example() {
  ProfileTotals totals;
  const auto set = [&](Phase phase, PhaseTotals value) { totals.phases[static_cast<std::size_t>(phase)] = value; };
  set(Phase::Environment, {1000, 1, 1, 0, 10, 1});
  set(Phase::Acting, {1000, 2, 2, 0, 20, 2});
  set(Phase::Sampling, {10, 0.5, 1, 123'456'789, 30, 3});
  set(Phase::TargetQ, {20, 1, 2, 0, 40, 4});
  set(Phase::QLoss, {30, 1.5, 3, 0, 50, 5});
  set(Phase::PLoss, {40, 1.75, 3.5, 0, 60, 6});
  set(Phase::TargetUpdate, {50, 0.25, 0.5, 0, 70, 7});
  set(Phase::Other, {1'234'567, 2, 2, 0, 80, 8});
  return totals;
}

TEST(ProfileTable, GroupsTheUpdateAndSharesAddUp) {
  EXPECT_EQ(profile_table(example()),
            "phase                    share  wall s   CPU s      calls  gathered\n"
            "environment             10.0 %   1.000   1.000      1,000\n"
            "action selection        20.0 %   2.000   2.000      1,000\n"
            "update-all-trainers     50.0 %   5.000  10.000             123.5 MB\n"
            "  mini-batch sampling    5.0 %   0.500   1.000         10  123.5 MB\n"
            "  target Q              10.0 %   1.000   2.000         20\n"
            "  Q loss                15.0 %   1.500   3.000         30\n"
            "  P loss                17.5 %   1.750   3.500         40\n"
            "  target update          2.5 %   0.250   0.500         50\n"
            "other                   20.0 %   2.000   2.000  1,234,567\n"
            "total                  100.0 %  10.000  15.000             123.5 MB\n");
}

TEST(ProfileTable, ShowsMissesWhenCounted) {
  ProfileTotals totals = example();
  totals.has_counters = true;
  const std::string table = profile_table(totals);
  EXPECT_THAT(table, HasSubstr("gathered  cache misses  dTLB misses\n"));
  EXPECT_THAT(table, HasSubstr(" 123.5 MB           360           36\n"));  // the total
}

TEST(ProfileTable, OfNothingIsAllZero) { EXPECT_THAT(profile_table({}), HasSubstr("total                  0.0 %")); }

}  // namespace
}  // namespace tilewright
