#include "tilewright/store/store.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <thread>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../scratch.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/rng.hpp"
#include "tilewright/store/database.hpp"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

class StoreTest : public ::testing::Test {
 protected:
  Store opened(std::chrono::milliseconds patience = std::chrono::seconds(20)) const {
    Result<Store> store = Store::open(path_, patience);
    EXPECT_TRUE(store) << store.error().message;
    return std::move(store).value();
  }
  Store opened_with(std::uint64_t problem) const {
    Store store = opened();
    EXPECT_TRUE(store.add_problem(problem, "{}"));
    return store;
  }
  std::string refusal() const {
    const Result<Store> store = Store::open(path_);
    return store ? "opened" : store.error().message;
  }
  std::int64_t rows() const {
    Result<Database> database = Database::open(path_, std::chrono::seconds(1));
    return database.value().number("SELECT count(*) FROM outcome").value();
  }

  const Scratch folder_;
  std::filesystem::path path_ = folder_ / "store.sqlite";
};

StoredOutcome feasible(std::span<const double> numbers) { return {true, 0, numbers}; }
StoredOutcome infeasible(std::uint8_t reason) { return {false, reason, {}}; }

TEST_F(StoreTest, KeepsEveryBitOfWhatWasCommitted) {
  const std::array<double, 4> odd{-0.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                                  5e-324};
  const std::string design("a\0b", 3);
  {
    Store store = opened_with(~std::uint64_t{0});
    store.put(~std::uint64_t{0}, design, feasible(odd));
    store.put(~std::uint64_t{0}, "", infeasible(200));
    ASSERT_TRUE(store.commit());
  }
  const Store store = opened_with(~std::uint64_t{0});
  EXPECT_EQ(store.count(~std::uint64_t{0}), 2);
  const auto found = store.find(~std::uint64_t{0}, design);
  ASSERT_TRUE(found && found->feasible);
  ASSERT_EQ(found->numbers.size(), 4u);
  EXPECT_EQ(std::memcmp(found->numbers.data(), odd.data(), sizeof odd), 0);
  const auto empty = store.find(~std::uint64_t{0}, "");
  ASSERT_TRUE(empty);
  EXPECT_FALSE(empty->feasible);
  EXPECT_EQ(empty->reason, 200);
  EXPECT_FALSE(store.find(~std::uint64_t{0}, "a"));
  EXPECT_FALSE(store.find(1, design)) << "another problem";
}

TEST_F(StoreTest, EachVisitsEveryRowOfAProblemInOrder) {
  Store store = opened_with(7);
  ASSERT_TRUE(store.add_problem(8, "{}"));
  const double one[] = {1, 2};
  store.put(7, "first", feasible(one));
  store.put(8, "other", infeasible(1));
  store.put(7, "second", infeasible(3));
  std::vector<std::string> seen;
  const auto visit = [&](std::string_view design, const StoredOutcome& outcome) {
    seen.push_back(std::string(design) + (outcome.feasible ? " of " + std::to_string(outcome.numbers[1])
                                                           : " because " + std::to_string(outcome.reason)));
    return true;
  };
  ASSERT_TRUE(store.each(7, visit));
  EXPECT_TRUE(seen.empty()) << "nothing is in the file yet";
  ASSERT_TRUE(store.commit());
  Store reader = opened();  // knows no problem
  ASSERT_TRUE(reader.each(7, visit));
  EXPECT_THAT(seen, ::testing::ElementsAre("first of 2.000000", "second because 3"));
  ASSERT_TRUE(reader.each(9, visit));
  EXPECT_EQ(seen.size(), 2U);
  int visits = 0;
  ASSERT_TRUE(reader.each(7, [&](std::string_view, const StoredOutcome&) { return ++visits < 1; }));
  EXPECT_EQ(visits, 1) << "it ends early";
}

TEST_F(StoreTest, WhatIsKnownStays) {
  Store store = opened_with(1);
  const std::array<double, 1> first{1}, second{2};
  store.put(1, "x", feasible(first));
  store.put(1, "x", feasible(second));
  ASSERT_TRUE(store.commit());
  store.put(1, "x", infeasible(3));
  ASSERT_TRUE(store.commit());
  EXPECT_EQ(store.find(1, "x")->numbers[0], 1);
  EXPECT_EQ(store.count(1), 1);
  EXPECT_EQ(rows(), 1);
}

TEST_F(StoreTest, WhatWasNotCommittedIsGone) {
  {
    Store store = opened_with(1);
    store.put(1, "x", infeasible(1));
    EXPECT_EQ(store.count(1), 1);
  }
  EXPECT_EQ(opened_with(1).count(1), 0);
}

TEST_F(StoreTest, AgreesWithAMapOverManySessions) {
  using Key = std::pair<std::uint64_t, std::string>;
  std::map<Key, std::pair<int, std::array<double, 2>>> model;  // reason, or -1 for feasible
  Rng rng(7, "store");
  for (int session = 0; session < 5; ++session) {
    Store store = opened();
    for (std::uint64_t problem = 0; problem < 3; ++problem) ASSERT_TRUE(store.add_problem(problem, "{}"));
    for (int i = 0; i < 2'000; ++i) {
      const Key key{static_cast<std::uint64_t>(rng.below(3)), std::to_string(rng.below(5'000))};
      const int reason = rng.below(3) == 0 ? static_cast<int>(rng.below(256)) : -1;
      const std::array<double, 2> numbers{rng.uniform(), rng.uniform()};
      model.try_emplace(key, reason, numbers);
      store.put(key.first, key.second, reason < 0 ? feasible(numbers) : infeasible(static_cast<std::uint8_t>(reason)));
      if (rng.below(300) == 0) {
        ASSERT_TRUE(store.commit());
      }
    }
    ASSERT_TRUE(store.commit());
    for (const auto& [key, value] : model) {
      const auto found = store.find(key.first, key.second);
      ASSERT_TRUE(found);
      ASSERT_EQ(found->feasible, value.first < 0);
      if (found->feasible) {
        ASSERT_TRUE(std::ranges::equal(found->numbers, value.second));
      } else {
        ASSERT_EQ(found->reason, value.first);
      }
    }
  }
  EXPECT_EQ(rows(), static_cast<std::int64_t>(model.size()));
}

TEST_F(StoreTest, SurvivesBeingKilled) {
  constexpr int kBatch = 50;
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(::pipe(pipe_ends.data()), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Result<Store> store = Store::open(path_);
    if (!store || !store.value().add_problem(1, "{}")) ::_exit(1);
    for (int batch = 0;; ++batch) {
      for (int i = 0; i < kBatch; ++i) {
        const std::array<double, 1> number{static_cast<double>(kBatch * batch + i)};
        store.value().put(1, std::to_string(kBatch * batch + i), feasible(number));
      }
      if (!store.value().commit()) ::_exit(1);
      const char done = 'c';
      if (::write(pipe_ends[1], &done, 1) != 1) ::_exit(1);
    }
  }
  ::close(pipe_ends[1]);
  int batches = 0;
  char done = 0;
  while (batches < 20 && ::read(pipe_ends[0], &done, 1) == 1) ++batches;
  ::kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
  while (::read(pipe_ends[0], &done, 1) == 1) ++batches;
  ::close(pipe_ends[0]);

  const Store store = opened_with(1);
  EXPECT_GE(store.count(1), kBatch * batches);
  EXPECT_EQ(store.count(1) % kBatch, 0) << "half a commit";
  for (int i = 0; i < store.count(1); ++i) {
    const auto found = store.find(1, std::to_string(i));
    ASSERT_TRUE(found);
    ASSERT_EQ(found->numbers[0], i);
  }
}

TEST_F(StoreTest, TwoWritersShareOneFile) {
  Store a = opened_with(1), b = opened_with(1);
  ASSERT_TRUE(b.add_problem(2, "{}"));
  const std::array<double, 1> number{4};
  a.put(1, "of both", feasible(number));
  a.put(1, "of a", infeasible(1));
  b.put(1, "of b", infeasible(2));
  b.put(1, "of both", feasible(number));
  b.put(2, "of both", infeasible(9));  // the same bytes, but another problem
  ASSERT_TRUE(a.commit());
  ASSERT_TRUE(b.commit());
  EXPECT_EQ(rows(), 4);
  EXPECT_EQ(b.count(1), 3) << "committing reads what others wrote";
  a.put(1, "of a, later", infeasible(3));
  ASSERT_TRUE(a.commit());
  EXPECT_EQ(a.count(1), 4);
  EXPECT_EQ(a.find(1, "of b")->reason, 2);
  EXPECT_EQ(rows(), 5);
  Store c = opened_with(1);
  ASSERT_TRUE(c.add_problem(2, "{}"));
  EXPECT_EQ(c.count(1), 4);
  EXPECT_EQ(c.count(2), 1);
}

TEST_F(StoreTest, ManyMayMakeItAtOnce) {
  std::vector<std::string> errors(6);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    threads.emplace_back([this, i, &errors] {
      Result<Store> store = Store::open(path_);
      if (!store) {
        errors[i] = store.error().message;
        return;
      }
      if (const Result<Done> added = store.value().add_problem(1, "{}"); !added) errors[i] = added.error().message;
      for (int k = 0; k < 20; ++k) {
        store.value().put(1, std::to_string(k), infeasible(7));
        if (const Result<Done> done = store.value().commit(); !done) errors[i] = done.error().message;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& error : errors) EXPECT_EQ(error, "");
  EXPECT_EQ(rows(), 20);
}

TEST_F(StoreTest, ALockedStoreIsWaitedForAndThenASentence) {
  Store store = opened(std::chrono::milliseconds(20));
  ASSERT_TRUE(store.add_problem(1, "{}"));
  store.put(1, "x", infeasible(1));
  {
    Result<Database> other = Database::open(path_, std::chrono::seconds(1));
    ASSERT_TRUE(other.value().run("BEGIN IMMEDIATE"));
    const Result<Done> refused = store.commit();
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("another process kept the store locked for 0.02 s"));
    EXPECT_EQ(rows(), 0);
    ASSERT_TRUE(other.value().run("ROLLBACK"));
  }
  ASSERT_TRUE(store.commit()) << "nothing is lost";
  EXPECT_EQ(rows(), 1);
}

TEST_F(StoreTest, RefusesWhatIsNoStore) {
  ASSERT_TRUE(write_file(path_, "layer,latency\nconv1,12\n"));
  EXPECT_THAT(refusal(), HasSubstr("store.sqlite: the file is no database, expected a store made by tilewright"));
  EXPECT_EQ(read_file(path_).value(), "layer,latency\nconv1,12\n") << "left as it was";
  std::filesystem::remove(path_);
  ASSERT_TRUE(Database::open(path_, std::chrono::seconds(1)).value().run("CREATE TABLE recipe (name TEXT)"));
  const std::string before = read_file(path_).value();
  EXPECT_THAT(refusal(), HasSubstr("a database of another program"));
  EXPECT_EQ(read_file(path_).value(), before);
  path_ = folder_.path();
  EXPECT_THAT(refusal(), HasSubstr("is a folder, expected a file"));
  path_ = folder_ / "no" / "store.sqlite";
  EXPECT_THAT(refusal(), HasSubstr("there is no folder"));
}

TEST_F(StoreTest, RefusesNewerVersionsAndMissingTables) {
  { const Store store = opened(); }
  ASSERT_TRUE(Database::open(path_, std::chrono::seconds(1)).value().run("PRAGMA user_version=2"));
  EXPECT_THAT(refusal(), HasSubstr("the store has version 2, expected at most 1"));
  ASSERT_TRUE(Database::open(path_, std::chrono::seconds(1)).value().run("PRAGMA user_version=1; DROP TABLE outcome"));
  EXPECT_THAT(refusal(), HasSubstr("the store is damaged (no such table: outcome)"));
}

// Any byte may be wrong: then there is an Error, or what is found is true all the same.
TEST_F(StoreTest, NeverTellsWhatWasNotStored) {
  constexpr int kRows = 300;
  {
    Store store = opened_with(1);
    for (int i = 0; i < kRows; ++i) {
      const std::array<double, 2> numbers{i + 0.5, -i / 3.0};
      store.put(1, "design " + std::to_string(i),
                i % 3 == 0 ? infeasible(static_cast<std::uint8_t>(i % 200)) : feasible(numbers));
    }
    ASSERT_TRUE(store.commit());
  }
  const std::string whole = read_file(path_).value();
  Rng rng(3, "damage");
  int refused = 0;
  for (int trial = 0; trial < 200; ++trial) {
    std::string bytes = whole;
    if (trial % 10 == 0) {
      bytes.resize(static_cast<std::size_t>(rng.between(1, static_cast<std::int64_t>(whole.size()) - 1)));
    } else {
      const auto place = static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(whole.size())));
      bytes[place] = static_cast<char>(bytes[place] ^ (1 << rng.below(8)));
    }
    for (const char* suffix : {"-wal", "-shm"}) std::filesystem::remove(path_.string() + suffix);
    std::ofstream(path_, std::ios::binary) << bytes;
    Result<Store> store = Store::open(path_);
    if (!store || !store.value().add_problem(1, "{}")) {
      ++refused;
      continue;
    }
    for (int i = 0; i < kRows; ++i) {
      const auto found = store.value().find(1, "design " + std::to_string(i));
      if (!found) continue;
      ASSERT_EQ(found->feasible, i % 3 != 0);
      if (found->feasible) {
        ASSERT_EQ(found->numbers[0], i + 0.5);
        ASSERT_EQ(found->numbers[1], -i / 3.0);
      } else {
        ASSERT_EQ(found->reason, i % 200);
      }
    }
  }
  EXPECT_GT(refused, 50);
}

}  // namespace
}  // namespace tilewright
