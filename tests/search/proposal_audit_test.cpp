#include "tilewright/search/proposal_audit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "synthetic_space.hpp"
#include "tilewright/search/random_search.hpp"
#include "tilewright/search/search_loop.hpp"

namespace tilewright {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Proposes random points whose chosen parameters are always what they were first, and each point `times` times.
class LameSearcher final : public Searcher {
 public:
  LameSearcher(const DesignSpace& space, std::vector<std::size_t> held, int times)
      : space_(space), held_(std::move(held)), times_(times), rng_(1, "lame"), first_(random_point(space, rng_)) {}

  void ask(std::span<const std::int64_t> room, std::vector<Proposal>& proposals) override {
    Point point = random_point(space_, rng_);
    for (const std::size_t parameter : held_) point[parameter] = first_[parameter];
    EXPECT_TRUE(is_legal(space_, point));
    for (std::int64_t i = 0; i < std::min<std::int64_t>(times_, room[0]); ++i) proposals.push_back({0, point});
  }
  void tell(std::span<const Proposal>, std::span<const Verdict>) override {}
  void notice(std::span<const Proposal>, std::span<const Verdict>) override {}

 private:
  const DesignSpace& space_;
  std::vector<std::size_t> held_;
  int times_;
  Rng rng_;
  Point first_;
};

struct Audited {
  AuditSummary summary;
  Ledger ledger;
};

Audited audited(Searcher& searcher, const DesignSpace& space, std::int64_t samples) {
  ThreadPool threads(1);
  SearchLoop loop({&space}, Objective{}, samples, threads);
  ProposalAudit audit({&space});
  loop.on_sample = [&](const Proposal& proposal, const Outcome&, const Verdict& verdict) { audit.see(proposal, verdict); };
  while (loop.round(searcher)) continue;
  return {audit.summary(), loop.ledgers()[0]};
}

std::vector<std::string> names_of(const DesignSpace& space, const std::vector<std::size_t>& parameters) {
  std::vector<std::string> names;
  for (const std::size_t parameter : parameters) names.push_back(space.parameters()[parameter].name);
  return names;
}

TEST(ProposalAudit, NamesTheParametersThatNeverMove) {
  const SyntheticSpace space;
  LameSearcher lame(space, {0}, 1);  // always spreads the same loop
  const AuditSummary summary = audited(lame, space, 400).summary;
  EXPECT_EQ(summary.never_moved, names_of(space, {0}));
  EXPECT_EQ(summary.stuck, 1);
  EXPECT_EQ(summary.movable, static_cast<std::int64_t>(space.parameters().size()));

  LameSearcher healthy(space, {}, 1);
  EXPECT_THAT(audited(healthy, space, 400).summary.never_moved, IsEmpty());
}

TEST(ProposalAudit, CountsDistinctPointsAsTheLedgerDoes) {
  const SyntheticSpace space;
  for (const int times : {1, 4}) {
    LameSearcher lame(space, {}, times);
    const Audited result = audited(lame, space, 400);
    EXPECT_EQ(result.summary.proposals, 400);
    EXPECT_EQ(result.summary.distinct, static_cast<double>(400 - result.ledger.repeated));
    EXPECT_LE(result.summary.distinct, 400.0 / times);
    EXPECT_DOUBLE_EQ(result.summary.invalid, 1 - static_cast<double>(result.ledger.valid) / 400);
  }
}

TEST(ProposalAudit, LooksAtTheFirstThousandOnly) {
  const SyntheticSpace space;
  const Point first(space.parameters().size(), 0);
  Point other = first;
  other[4] = 1;
  ProposalAudit audit({&space});
  for (int i = 0; i < 1'000; ++i) audit.see({0, first}, {});
  audit.see({0, other}, {});
  const AuditSummary summary = audit.summary();
  EXPECT_EQ(summary.proposals, 1'000);
  EXPECT_EQ(summary.distinct, 1);
  EXPECT_EQ(summary.invalid, 1);
  EXPECT_EQ(summary.never_moved.size(), space.parameters().size());
}

TEST(ProposalAudit, AParameterThatMovesOnSomeProblemHasMoved) {
  const SyntheticSpace space;
  const std::size_t count = space.parameters().size();
  Point moved(count, 0);
  moved[1] = 1;
  ProposalAudit audit({&space, &space});
  audit.see({0, Point(count, 0)}, {true, 0, {}});
  audit.see({0, moved}, {true, 0, {}});
  audit.see({1, Point(count, 0)}, {false, 0, {}});
  const AuditSummary summary = audit.summary();
  EXPECT_EQ(summary.never_moved.size(), count - 1);
  EXPECT_EQ(summary.stuck, static_cast<std::int64_t>(2 * count - 1));
  EXPECT_EQ(summary.distinct, 1.5);
  EXPECT_DOUBLE_EQ(summary.invalid, 1.0 / 3);
}

TEST(ProposalAudit, BlamesNobodyForParametersWithoutAChoice) {
  const SyntheticSpace space({.a = 1, .b = 1, .room = 48});  // every tile is 1
  const std::vector<bool> movable = movable_parameters(space);
  EXPECT_THAT(movable, ElementsAre(true, true, true, true, false, false, false, false));
  LameSearcher healthy(space, {}, 1);
  EXPECT_THAT(audited(healthy, space, 400).summary.never_moved, IsEmpty());
}

}  // namespace
}  // namespace tilewright
