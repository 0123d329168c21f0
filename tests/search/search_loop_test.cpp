#include "tilewright/search/search_loop.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "synthetic_space.hpp"
#include "tilewright/search/searchers.hpp"

namespace tilewright {
namespace {

using testing::ElementsAre;
using testing::Pair;

// Proposes a given list, `batch` at a time and problem, and keeps what it is told.
class ScriptedSearcher final : public Searcher {
 public:
  ScriptedSearcher(std::vector<Proposal> script, std::size_t batch) : script_(std::move(script)), batch_(batch) {}

  void ask(std::span<const std::int64_t> room, std::vector<Proposal>& proposals) override {
    rooms.emplace_back(room.begin(), room.end());
    std::vector<std::int64_t> left(room.begin(), room.end());
    for (std::size_t n = 0; n < batch_ && next_ < script_.size(); ++n, ++next_) {
      if (left[script_[next_].problem]-- == 0) break;
      proposals.push_back(script_[next_]);
    }
    asked = proposals;
  }
  void tell(std::span<const Proposal> proposals, std::span<const Verdict> verdicts) override {
    ASSERT_EQ(proposals.size(), asked.size());
    for (std::size_t i = 0; i < proposals.size(); ++i) {
      EXPECT_EQ(proposals[i].problem, asked[i].problem);
      EXPECT_EQ(proposals[i].point, asked[i].point);
      told.push_back(verdicts[i]);
    }
  }

  void notice(std::span<const Proposal> proposals, std::span<const Verdict> verdicts) override {
    noticed.assign(proposals.begin(), proposals.end());
    noticed_verdicts.assign(verdicts.begin(), verdicts.end());
  }

  std::vector<Proposal> noticed;
  std::vector<Verdict> noticed_verdicts;
  std::vector<std::vector<std::int64_t>> rooms;
  std::vector<Proposal> asked;
  std::vector<Verdict> told;

 private:
  std::vector<Proposal> script_;
  std::size_t batch_, next_ = 0;
};

// Points that were drawn with a few repetitions among them.
std::vector<Proposal> script(const std::vector<const DesignSpace*>& spaces, std::size_t count, std::uint64_t seed = 1) {
  Rng rng(seed, "script");
  std::vector<Proposal> proposals;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t problem = i % spaces.size();
    if (i > 10 && rng.below(5) == 0) {
      proposals.push_back(proposals[i - 2 * spaces.size()]);
    } else {
      proposals.push_back({problem, random_point(*spaces[problem], rng)});
    }
  }
  return proposals;
}

void run(SearchLoop& loop, Searcher& searcher) {
  while (loop.round(searcher)) {
  }
}

TEST(SearchLoop, KeepsTheBooksThatACountByHandGives) {
  const SyntheticSpace one({.a = 20, .b = 12, .room = 10}), other({.a = 8, .b = 6, .room = 4});
  const std::vector<const DesignSpace*> spaces = {&one, &other};
  const std::vector<Proposal> proposals = script(spaces, 600);
  ThreadPool threads(2);
  const Objective objective = *objective_named("energy");
  SearchLoop loop(spaces, objective, 1000, threads);
  ScriptedSearcher searcher(proposals, 70);
  run(loop, searcher);

  for (std::size_t problem = 0; problem < 2; ++problem) {
    Ledger expected;
    std::vector<Point> seen;
    const auto evaluator = spaces[problem]->evaluator();
    for (const Proposal& proposal : proposals) {
      if (proposal.problem != problem) continue;
      ++expected.samples;
      if (std::ranges::find(seen, proposal.point) != seen.end()) ++expected.repeated;
      seen.push_back(proposal.point);
      const Outcome outcome = evaluator->evaluate(proposal.point);
      if (!outcome.feasible) {
        ++expected.rejected[outcome.reason];
        continue;
      }
      ++expected.valid;
      if (expected.best && outcome.metrics.energy >= expected.best->score[0]) continue;
      expected.best = Best{proposal.point, outcome, {outcome.metrics.energy, 0, 0}};
      expected.improvements.push_back({expected.samples, expected.best->score});
    }
    const Ledger& ledger = loop.ledgers()[problem];
    EXPECT_EQ(ledger.samples, 300);
    EXPECT_EQ(ledger.samples, expected.samples);
    EXPECT_EQ(ledger.valid, expected.valid);
    EXPECT_EQ(ledger.repeated, expected.repeated);
    EXPECT_GT(ledger.repeated, 20);
    EXPECT_EQ(ledger.rejected, expected.rejected);
    EXPECT_THAT(ledger.rejected, ElementsAre(Pair(1, ledger.samples - ledger.valid)));
    EXPECT_GT(ledger.rejected.at(1), 0);
    EXPECT_EQ(ledger.best->point, expected.best->point);
    EXPECT_EQ(ledger.best->outcome, expected.best->outcome);
    EXPECT_EQ(ledger.best->score, expected.best->score);
    ASSERT_EQ(ledger.improvements.size(), expected.improvements.size());
    for (std::size_t i = 0; i < ledger.improvements.size(); ++i) {
      EXPECT_EQ(ledger.improvements[i].sample, expected.improvements[i].sample);
      EXPECT_EQ(ledger.improvements[i].score, expected.improvements[i].score);
      if (i == 0) continue;
      EXPECT_LT(ledger.improvements[i].score, ledger.improvements[i - 1].score);
      EXPECT_GT(ledger.improvements[i].sample, ledger.improvements[i - 1].sample);
    }
    EXPECT_EQ(ledger.improvements.back().score, ledger.best->score);
  }
}

// What is known before the search is judged, told and kept, and no sample is charged for it.
TEST(SearchLoop, BeginsWithWhatIsKnown) {
  const SyntheticSpace space({.a = 20, .b = 12, .room = 10});
  const auto evaluator = space.evaluator();
  const std::vector<Proposal> proposals = script({&space}, 40);
  std::vector<Proposal> known;
  double best = INFINITY;
  for (const Proposal& proposal : script({&space}, 30, 7)) {
    const Outcome outcome = evaluator->evaluate(proposal.point);
    if (outcome.feasible) best = std::min(best, outcome.metrics.energy);
    known.push_back(proposal);
  }
  ThreadPool threads(2);
  SearchLoop loop({&space}, *objective_named("energy"), 40, threads);
  ScriptedSearcher searcher(proposals, 10);
  loop.begin(searcher, known);
  ASSERT_EQ(searcher.noticed.size(), known.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    EXPECT_EQ(searcher.noticed[i].point, known[i].point);
    EXPECT_EQ(searcher.noticed_verdicts[i].feasible, evaluator->evaluate(known[i].point).feasible);
  }
  EXPECT_EQ(loop.ledgers()[0].samples, 0);
  EXPECT_EQ(loop.ledgers()[0].best->score[0], best);
  EXPECT_EQ(loop.ledgers()[0].improvements.front().sample, 0);
  run(loop, searcher);
  EXPECT_EQ(loop.ledgers()[0].samples, 40);
  EXPECT_LE(loop.ledgers()[0].best->score[0], best);
}

// The finalists are the best points that the referee accepts, by sorting everything that was ever proposed.
TEST(SearchLoop, KeepsTheBestThatTheRefereeAccepts) {
  const SyntheticSpace space({.a = 20, .b = 12, .room = 10});
  const auto evaluator = space.evaluator();
  const std::vector<Proposal> proposals = script({&space}, 900);
  const auto accepts = [](PointView point) { return hash_of(point) % 3 == 0; };
  ThreadPool threads(2);
  SearchLoop loop({&space}, *objective_named("energy"), 1000, threads);
  std::int64_t asked = 0;
  loop.referee = [&](std::size_t, PointView point) -> std::optional<Score> {
    ++asked;
    if (!accepts(point)) return std::nullopt;
    return Score{1, 2, 3};
  };
  ScriptedSearcher searcher(proposals, 70);
  run(loop, searcher);
  std::set<double> scores;
  for (const Proposal& proposal : proposals) {
    const Outcome outcome = evaluator->evaluate(proposal.point);
    if (outcome.feasible && accepts(proposal.point)) scores.insert(outcome.metrics.energy);
  }
  const Ledger& ledger = loop.ledgers()[0];
  ASSERT_EQ(ledger.finalists.size(), kFinalists);
  ASSERT_GT(scores.size(), kFinalists);
  auto expected = scores.begin();
  for (const Finalist& finalist : ledger.finalists) {
    EXPECT_TRUE(accepts(finalist.best.point));
    EXPECT_EQ(finalist.best.score[0], *expected++);
    EXPECT_EQ(finalist.second, (Score{1, 2, 3}));
  }
  EXPECT_LT(asked, 450);  // only what could become one is judged twice
}

TEST(SearchLoop, TheBestIsTheFirstOfEquals) {
  const SyntheticSpace space({.a = 4, .b = 2, .room = 8});
  const auto evaluator = space.evaluator();
  Rng rng(4, "equals");
  // Two different points of equal latency.
  Point first, second;
  for (int tries = 0; first.empty() && tries < 10'000; ++tries) {
    const Point a = random_point(space, rng), b = random_point(space, rng);
    const Outcome of_a = evaluator->evaluate(a), of_b = evaluator->evaluate(b);
    if (a == b || !of_a.feasible || !of_b.feasible || of_a.metrics.latency != of_b.metrics.latency) continue;
    first = a;
    second = b;
  }
  ASSERT_FALSE(first.empty());
  ThreadPool threads(2);
  for (const bool swapped : {false, true}) {
    SearchLoop loop({&space}, *objective_named("latency"), 10, threads);
    if (swapped) std::swap(first, second);
    ScriptedSearcher searcher({{0, first}, {0, second}, {0, first}}, 3);
    run(loop, searcher);
    EXPECT_EQ(loop.ledgers()[0].best->point, first);
    EXPECT_EQ(loop.ledgers()[0].improvements.size(), 1U);
    EXPECT_EQ(loop.ledgers()[0].repeated, 1);
  }
}

TEST(SearchLoop, EndsTheSameForAnyNumberOfThreads) {
  const SyntheticSpace one, other({.a = 30, .b = 18, .room = 20});
  const std::vector<const DesignSpace*> spaces = {&one, &other};
  std::vector<std::vector<Point>> courses;
  std::vector<std::vector<double>> energies;
  for (const std::size_t count : {1U, 2U, 4U}) {
    ThreadPool threads(count);
    SearchLoop loop(spaces, *objective_named("energy"), 700, threads);
    std::vector<Point>& course = courses.emplace_back();
    std::vector<double>& of_run = energies.emplace_back();
    loop.on_sample = [&](const Proposal& proposal, const Outcome& outcome, const Verdict& verdict) {
      course.push_back(proposal.point);
      of_run.push_back(outcome.metrics.energy);
      EXPECT_EQ(verdict.feasible, outcome.feasible);
    };
    std::vector<std::unique_ptr<PointSearcher>> searchers;
    for (const DesignSpace* space : spaces) {
      searchers.push_back(std::move(make_classical_searcher("genetic", *space, 700, 3, {})).value());
    }
    run(loop, *each_alone(std::move(searchers)));
    EXPECT_EQ(course.size(), 1400U);
  }
  EXPECT_EQ(courses[1], courses[0]);
  EXPECT_EQ(courses[2], courses[0]);
  EXPECT_EQ(energies[1], energies[0]);
  EXPECT_EQ(energies[2], energies[0]);
}

class RecordingMemory final : public Memory {
 public:
  std::optional<Outcome> find(std::size_t problem, PointView point) override {
    events.push_back('f');
    const auto found = known.find({problem, Point(point.begin(), point.end())});
    if (found == known.end()) return std::nullopt;
    ++hits;
    return found->second;
  }
  void remember(std::size_t problem, PointView point, const Outcome& outcome) override {
    events.push_back('r');
    known[{problem, Point(point.begin(), point.end())}] = outcome;
  }
  std::map<std::pair<std::size_t, Point>, Outcome> known;
  std::string events;
  int hits = 0;
};

TEST(SearchLoop, AsksItsMemoryFirstAndTellsItLater) {
  const SyntheticSpace space;
  const std::vector<Proposal> proposals = script({&space}, 8);
  ThreadPool threads(2);
  RecordingMemory memory;
  SearchLoop loop({&space}, *objective_named("energy"), 100, threads, &memory);
  ScriptedSearcher searcher(proposals, 4);
  run(loop, searcher);
  EXPECT_EQ(memory.events, "ffffrrrrffffrrrr");
  EXPECT_EQ(memory.known.size(), 8U);

  memory.events.clear();
  SearchLoop again({&space}, *objective_named("energy"), 100, threads, &memory);
  ScriptedSearcher same(proposals, 4);
  run(again, same);
  EXPECT_EQ(memory.events, "ffffffff");
  EXPECT_EQ(memory.hits, 8);
  EXPECT_EQ(again.ledgers()[0].best->score, loop.ledgers()[0].best->score);
}

TEST(SearchLoop, BelievesItsMemory) {
  const SyntheticSpace space;
  const std::vector<Proposal> proposals = script({&space}, 3);
  RecordingMemory memory;
  Outcome known{true, 0, {}};
  known.metrics.energy = 1;
  memory.known[{0, proposals[1].point}] = known;
  memory.known[{0, proposals[2].point}] = {false, 77, {}};
  ThreadPool threads(1);
  SearchLoop loop({&space}, *objective_named("energy"), 3, threads, &memory);
  ScriptedSearcher searcher(proposals, 3);
  run(loop, searcher);
  EXPECT_EQ(loop.ledgers()[0].best->outcome, known);
  EXPECT_EQ(loop.ledgers()[0].best->point, proposals[1].point);
  EXPECT_EQ(loop.ledgers()[0].rejected.at(77), 1);
}

TEST(SearchLoop, OffersOnlyTheRoomThatIsLeft) {
  const SyntheticSpace one, other({.a = 9, .b = 4, .room = 9});
  ThreadPool threads(2);
  SearchLoop loop({&one, &other}, *objective_named("energy"), 25, threads);
  ScriptedSearcher searcher(script({&one, &other}, 1000), 20);
  run(loop, searcher);
  EXPECT_EQ(loop.ledgers()[0].samples, 25);
  EXPECT_EQ(loop.ledgers()[1].samples, 25);
  EXPECT_EQ(searcher.told.size(), 50U);
  EXPECT_THAT(searcher.rooms,
              ElementsAre(ElementsAre(25, 25), ElementsAre(15, 15), ElementsAre(5, 5)));  // never asked when all is spent
}

TEST(SearchLoop, EndsWhenTheSearcherHasNothingLeft) {
  const SyntheticSpace space;
  ThreadPool threads(1);
  SearchLoop loop({&space}, *objective_named("energy"), 1000, threads);
  ScriptedSearcher searcher(script({&space}, 30), 8);
  int rounds = 0;
  while (loop.round(searcher)) ++rounds;
  EXPECT_EQ(rounds, 4);
  EXPECT_EQ(loop.ledgers()[0].samples, 30);
  EXPECT_FALSE(loop.round(searcher));
}

TEST(SearchLoop, AProblemThatIsDoneDoesNotEndTheOthers) {
  const SyntheticSpace tiny({.a = 2, .b = 1, .room = 8}), other;
  ThreadPool threads(1);
  SearchLoop loop({&tiny, &other}, *objective_named("energy"), 500, threads);
  std::vector<std::unique_ptr<PointSearcher>> searchers;
  for (const DesignSpace* space : loop.spaces()) {
    searchers.push_back(std::move(make_classical_searcher("exhaustive", *space, 500, 1, {})).value());
  }
  run(loop, *each_alone(std::move(searchers)));
  EXPECT_EQ(loop.ledgers()[0].samples, 4 * 6 * 3);  // spreads, orders, pairs of tiles
  EXPECT_EQ(loop.ledgers()[0].repeated, 0);
  EXPECT_EQ(loop.ledgers()[0].best->score[0], synthetic_optimum(tiny.sizes()));
  EXPECT_EQ(loop.ledgers()[1].samples, 500);
}

TEST(SearchLoop, WhatBreaksALimitIsNoAnswer) {
  const SyntheticSpace space;
  const std::vector<Proposal> proposals = script({&space}, 200);
  ThreadPool threads(2);
  SearchLoop free({&space}, *objective_named("energy"), 200, threads);
  ScriptedSearcher first(proposals, 50);
  run(free, first);
  Objective limited = *objective_named("energy");
  const double best = free.ledgers()[0].best->score[0];
  limited.limits.energy = 3 * best;
  SearchLoop loop({&space}, limited, 200, threads);
  ScriptedSearcher second(proposals, 50);
  run(loop, second);
  const Ledger& ledger = loop.ledgers()[0];
  EXPECT_EQ(ledger.best->score[0], best);
  EXPECT_GT(ledger.rejected.at(kOverLimit), 0);
  EXPECT_EQ(ledger.rejected.at(1), free.ledgers()[0].rejected.at(1));
  EXPECT_EQ(ledger.valid + ledger.rejected.at(kOverLimit) + ledger.rejected.at(1), 200);
  for (const Verdict& verdict : second.told) EXPECT_TRUE(!verdict.feasible || verdict.score[0] <= 3 * best);

  limited.limits.energy = best / 2;
  SearchLoop hopeless({&space}, limited, 200, threads);
  ScriptedSearcher third(proposals, 50);
  run(hopeless, third);
  EXPECT_FALSE(hopeless.ledgers()[0].best);
  EXPECT_TRUE(hopeless.ledgers()[0].improvements.empty());
}

TEST(SearchLoop, VerdictsTellTheReason) {
  Objective objective = *objective_named("latency");
  Outcome outcome{true, 0, {}};
  outcome.metrics.latency = 5;
  EXPECT_TRUE(verdict_of(objective, outcome).feasible);
  EXPECT_EQ(verdict_of(objective, outcome).score, (Score{5, 0, 0}));
  EXPECT_EQ(verdict_of(objective, {false, 9, {}}).reason, 9);
  objective.limits.latency = 4;
  EXPECT_FALSE(verdict_of(objective, outcome).feasible);
  EXPECT_EQ(verdict_of(objective, outcome).reason, kOverLimit);
  EXPECT_EQ(verdict_of(objective, {false, 9, {}}).reason, 9);
}

// What was evaluated before somebody stopped the threads is remembered, the books are those of whole rounds, and a second
// run that knows it ends as if it had never been stopped.
TEST(SearchLoop, CanBeStoppedWithinARound) {
  class Remembering final : public Memory {
   public:
    std::optional<Outcome> find(std::size_t, PointView point) override {
      const auto found = known.find(Point(point.begin(), point.end()));
      return found == known.end() ? std::nullopt : std::optional(found->second);
    }
    void remember(std::size_t, PointView point, const Outcome& outcome) override {
      known[Point(point.begin(), point.end())] = outcome;
    }
    std::map<Point, Outcome> known;
  };
  const SyntheticSpace space({.a = 20, .b = 12, .room = 10});
  const std::vector<const DesignSpace*> spaces = {&space};
  const std::vector<Proposal> proposals = script(spaces, 2000);
  const Objective objective = *objective_named("energy");
  ThreadPool threads(1);
  Remembering memory;
  int items = 0;
  threads.stop_when([&] { return ++items > 25; });  // within the second round of 500 points, 16 items each
  SearchLoop stopped(spaces, objective, 2000, threads, &memory);
  ScriptedSearcher first(proposals, 500);
  run(stopped, first);
  EXPECT_TRUE(stopped.is_stopped());
  EXPECT_FALSE(stopped.round(first));
  EXPECT_EQ(stopped.ledgers()[0].samples, 500);
  std::set<Point> of_first_round;
  for (std::size_t i = 0; i < 500; ++i) of_first_round.insert(proposals[i].point);
  EXPECT_GT(memory.known.size(), of_first_round.size());

  threads.stop_when(nullptr);
  SearchLoop resumed(spaces, objective, 2000, threads, &memory), whole(spaces, objective, 2000, threads);
  ScriptedSearcher second(proposals, 500), third(proposals, 500);
  run(resumed, second);
  run(whole, third);
  EXPECT_FALSE(resumed.is_stopped());
  EXPECT_EQ(resumed.ledgers()[0].samples, 2000);
  EXPECT_EQ(resumed.ledgers()[0].best->point, whole.ledgers()[0].best->point);
}

}  // namespace
}  // namespace tilewright
