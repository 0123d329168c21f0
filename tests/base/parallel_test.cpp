#include "tilewright/base/parallel.hpp"

#include <atomic>
#include <fstream>
#include <numeric>
#include <optional>
#include <stdexcept>

#include <sys/resource.h>
#include <unistd.h>

namespace tilewright {
namespace {

TEST(ThreadPool, SameResultForAnyNumberOfThreads) {
  std::vector<std::vector<std::uint64_t>> results;
  for (const std::size_t threads : {1u, 2u, 8u}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.thread_count(), threads);
    std::vector<std::uint64_t> result(1000);
    for (int round = 0; round < 20; ++round) {
      pool.for_each(result.size(), [&](std::size_t item, std::size_t thread) {
        EXPECT_LT(thread, threads);
        result[item] = result[item] * 31 + item;
      });
    }
    results.push_back(result);
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(ThreadPool, NoItemsIsNoWork) {
  ThreadPool pool(4);
  pool.for_each(0, [](std::size_t, std::size_t) { FAIL(); });
}

TEST(ThreadPool, OneItemWakesNobody) {
  ThreadPool pool(4);
  int done = 0;
  pool.for_each(1, [&](std::size_t item, std::size_t thread) { done += item == 0 && thread == 0 ? 1 : 100; });
  EXPECT_EQ(done, 1);
  EXPECT_THROW(pool.for_each(1, [](std::size_t, std::size_t) { throw std::runtime_error("one"); }), std::runtime_error);
}

TEST(ThreadPool, TheLowestFailureIsTheOneReported) {
  ThreadPool pool(4);
  for (int round = 0; round < 50; ++round) {
    try {
      pool.for_each(64, [](std::size_t item, std::size_t) {
        if (item % 2 == 1) throw std::runtime_error(std::to_string(item));
      });
      FAIL();
    } catch (const std::runtime_error& failure) {
      EXPECT_STREQ(failure.what(), "1");
    }
  }
}

TEST(ThreadPool, IsStoppedBetweenItems) {
  for (const std::size_t threads : {1u, 4u}) {
    ThreadPool pool(threads);
    std::atomic<int> done = 0;
    pool.stop_when([&] { return done >= 10; });
    EXPECT_THROW(pool.for_each(1'000'000, [&](std::size_t, std::size_t) { ++done; }), Stopped);
    EXPECT_GE(done, 10);
    EXPECT_LT(done, 20);
    EXPECT_THROW(pool.for_each(5, [&](std::size_t, std::size_t) { FAIL(); }), Stopped);
    EXPECT_THROW(pool.for_each(1, [&](std::size_t, std::size_t) { FAIL(); }), Stopped);
    pool.stop_when(nullptr);
    done = 0;
    pool.for_each(100, [&](std::size_t, std::size_t) { ++done; });
    EXPECT_EQ(done, 100);
  }
}

// A stack is eight megabytes, so there is no room for more than a few of them.
TEST(ThreadPool, TakesAsManyThreadsAsThereAre) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer needs the memory that is taken away here";
#endif
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  ASSERT_TRUE(statm >> pages);
  const rlimit tight{pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (rlim_t{512} << 20), before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
  std::optional<ThreadPool> pool(std::in_place, 1000);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_LT(pool->thread_count(), 1000u);
  std::vector<std::size_t> result(100);
  pool->for_each(result.size(), [&](std::size_t item, std::size_t thread) {
    EXPECT_LT(thread, pool->thread_count());
    result[item] = item * item;
  });
  for (std::size_t item = 0; item < result.size(); ++item) EXPECT_EQ(result[item], item * item);
}

}  // namespace
}  // namespace tilewright
