#include "tilewright/search/stored_memory.hpp"

#include <array>
#include <atomic>

#include "../scratch.hpp"
#include "synthetic_space.hpp"
#include "tilewright/search/random_search.hpp"
#include "tilewright/store/database.hpp"

namespace tilewright {
namespace {

// A synthetic space under a key of choice that counts its evaluations and fills in all metrics.
class CountedSpace final : public DesignSpace {
 public:
  explicit CountedSpace(std::uint64_t key, std::string name = "counted") : key_(key), name_(std::move(name)) {}

  const std::string& name() const override { return name_; }
  const std::vector<Parameter>& parameters() const override { return inner_.parameters(); }
  void choices(PointView point, std::size_t parameter, Choices& choices) const override {
    inner_.choices(point, parameter, choices);
  }
  double value(std::size_t parameter, std::int32_t index) const override { return inner_.value(parameter, index); }
  std::string value_name(std::size_t parameter, std::int32_t index) const override {
    return inner_.value_name(parameter, index);
  }
  void canonicalise(std::span<std::int32_t> point) const override { inner_.canonicalise(point); }
  std::unique_ptr<PointEvaluator> evaluator() const override {
    return std::make_unique<Evaluator>(inner_.evaluator(), evaluations_, static_cast<double>(key_));
  }
  std::string reason_name(std::uint8_t reason) const override { return inner_.reason_name(reason); }
  const std::vector<float>& features() const override { return inner_.features(); }
  void append_design(PointView point, std::string& bytes) const override { inner_.append_design(point, bytes); }
  std::uint64_t problem_key() const override { return key_; }
  std::string problem_text() const override { return "{\"name\":\"" + name_ + "\"}"; }
  double log10_size() const override { return inner_.log10_size(); }

  std::int64_t evaluations() const { return evaluations_; }

 private:
  class Evaluator final : public PointEvaluator {
   public:
    Evaluator(std::unique_ptr<PointEvaluator> inner, std::atomic<std::int64_t>& count, double factor)
        : inner_(std::move(inner)), count_(count), factor_(factor) {}
    Outcome evaluate(PointView point) override {
      ++count_;
      Outcome outcome = inner_->evaluate(point);
      if (!outcome.feasible) return {.feasible = false, .reason = static_cast<std::uint8_t>(40 + point[0]), .metrics = {}};
      const double latency = factor_ * outcome.metrics.latency;
      const std::optional<double> area = point[0] % 2 == 0 ? std::nullopt : std::optional(3 * latency);  // unknown to some
      outcome.metrics = {latency, 2 * latency, area, 4 * latency, 5 * latency, 6 * latency, 7 * latency, 8 * latency};
      return outcome;
    }

   private:
    std::unique_ptr<PointEvaluator> inner_;
    std::atomic<std::int64_t>& count_;
    double factor_;
  };

  SyntheticSpace inner_;
  std::uint64_t key_;
  std::string name_;
  mutable std::atomic<std::int64_t> evaluations_ = 0;
};

class StoredMemoryTest : public ::testing::Test {
 protected:
  Store store() const { return std::move(Store::open(folder_ / "store.sqlite")).value(); }
  StoredMemory memory(std::vector<const DesignSpace*> spaces) const {
    Result<StoredMemory> opened = StoredMemory::open(store(), std::move(spaces));
    EXPECT_TRUE(opened) << opened.error().message;
    return std::move(opened).value();
  }

  const Scratch folder_;
};

std::vector<Ledger> search(const std::vector<const DesignSpace*>& spaces, Memory* memory) {
  ThreadPool threads(2);
  SearchLoop loop(spaces, Objective{}, 500, threads, memory);
  std::vector<std::unique_ptr<PointSearcher>> searchers;
  for (const DesignSpace* space : spaces) {
    searchers.push_back(std::move(make_random(*space, RandomOptions{}, 500, 11)).value());
  }
  const std::unique_ptr<Searcher> searcher = each_alone(std::move(searchers));
  while (loop.round(*searcher)) {
  }
  return loop.ledgers();
}

TEST_F(StoredMemoryTest, GivesBackWhatWasRemembered) {
  const CountedSpace one(5), other(6);
  const std::vector<const DesignSpace*> spaces{&one, &other};
  Rng rng(1, "points");
  const Point point = random_point(one, rng), second = random_point(one, rng);
  const Outcome good{.feasible = true, .reason = 0, .metrics = {1, 2, 3, 4, 5, 6, 7, 8}};
  const Outcome bad{.feasible = false, .reason = 9, .metrics = {}};
  {
    StoredMemory first = memory(spaces);
    EXPECT_FALSE(first.find(0, point));
    first.remember(0, point, good);
    first.remember(1, second, bad);
    EXPECT_EQ(first.find(0, point), good);
    ASSERT_TRUE(first.commit());
  }
  StoredMemory again = memory(spaces);
  EXPECT_EQ(again.find(0, point), good);
  EXPECT_EQ(again.find(1, second), bad);
  EXPECT_FALSE(again.find(1, point));
  EXPECT_FALSE(again.find(0, second));
  EXPECT_EQ(again.known(), 2);
}

TEST_F(StoredMemoryTest, ARepeatedRunEvaluatesNothingAndEndsTheSame) {
  const CountedSpace one(5), other(6);
  const std::vector<const DesignSpace*> spaces{&one, &other};
  const std::vector<Ledger> without = search(spaces, nullptr);
  const std::int64_t evaluations = one.evaluations();
  EXPECT_EQ(evaluations, 500);
  {
    StoredMemory first = memory(spaces);
    search(spaces, &first);
    ASSERT_TRUE(first.commit());
    EXPECT_EQ(first.known(), 1'000);
  }
  EXPECT_EQ(one.evaluations(), 2 * evaluations);
  StoredMemory second = memory(spaces);
  const std::vector<Ledger> with = search(spaces, &second);
  EXPECT_EQ(one.evaluations(), 2 * evaluations);
  EXPECT_EQ(other.evaluations(), 2 * evaluations);
  for (std::size_t problem = 0; problem < 2; ++problem) {
    EXPECT_EQ(with[problem].best->point, without[problem].best->point);
    EXPECT_EQ(with[problem].best->outcome, without[problem].best->outcome);
    EXPECT_EQ(with[problem].rejected, without[problem].rejected);
    EXPECT_EQ(with[problem].valid, without[problem].valid);
  }
}

TEST_F(StoredMemoryTest, LayersOfOneKeyShareTheirOutcomes) {
  const CountedSpace one(5, "conv2"), same(5, "conv3");
  StoredMemory shared = memory({&one, &same});
  Rng rng(1, "points");
  const Point point = random_point(one, rng);
  shared.remember(0, point, {.feasible = false, .reason = 3, .metrics = {}});
  EXPECT_EQ(shared.find(1, point)->reason, 3);
  EXPECT_EQ(shared.known(), 1);
}

TEST_F(StoredMemoryTest, RefusesOutcomesOfAnotherForm) {
  const CountedSpace space(5);
  {
    Store old = store();
    ASSERT_TRUE(old.add_problem(5, "{}"));
    const std::array<double, 3> numbers{1, 2, 3};
    old.put(5, "x", {true, 0, numbers});
    ASSERT_TRUE(old.commit());
  }
  const Result<StoredMemory> refused = StoredMemory::open(store(), {&space});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("counted: the store has outcomes of 3 numbers, expected 8"));
}

TEST_F(StoredMemoryTest, KeepsTheFirstErrorUntilAllIsWritten) {
  const CountedSpace space(5);
  Store impatient = std::move(Store::open(folder_ / "store.sqlite", std::chrono::milliseconds(5))).value();
  StoredMemory kept = std::move(StoredMemory::open(std::move(impatient), {&space})).value();
  Rng rng(1, "points");
  kept.remember(0, random_point(space, rng), {.feasible = false, .reason = 3, .metrics = {}});
  {
    Result<Database> other = Database::open(folder_ / "store.sqlite", std::chrono::seconds(1));
    ASSERT_TRUE(other.value().run("BEGIN IMMEDIATE"));
    EXPECT_FALSE(kept.commit());
    ASSERT_TRUE(kept.error());
    EXPECT_THAT(kept.error()->message, ::testing::HasSubstr("another process kept the store locked"));
  }
  EXPECT_TRUE(kept.commit());
  EXPECT_FALSE(kept.error());
  EXPECT_EQ(memory({&space}).known(), 1);
}

}  // namespace
}  // namespace tilewright
