#include "tilewright/base/parallel.hpp"

#include <numeric>
#include <stdexcept>

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

}  // namespace
}  // namespace tilewright
