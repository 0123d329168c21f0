// The loop that owns budget, evaluation and what is remembered: written once, for every searcher.
//
// Every proposal is charged as one sample, whether it is valid, invalid, or was proposed before. Proposals of a round are
// evaluated on all threads and folded in their order, so the result does not depend on how many there are.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "tilewright/base/parallel.hpp"
#include "tilewright/search/pareto.hpp"
#include "tilewright/search/searcher.hpp"
#include "tilewright/search/seen_points.hpp"

namespace tilewright {

struct Improvement {
  std::int64_t sample = 0;  // how many samples of the problem had been charged, this one included
  Score score{};
};

struct Best {
  Point point;
  Outcome outcome;
  Score score{};
};

// A point that may become the answer, with a second opinion on it.
struct Finalist {
  Best best;
  Score second{};
};
inline constexpr std::size_t kFinalists = 16;

// How near the search came to limits of the objective, among points that fit the machine.
struct LimitStory {
  std::vector<double> least;  // of each limited metric by itself, as limits_of has them
  Point point;                // the one whose largest excess is the least; the first of equal ones
  Outcome outcome;
  double excess = 0;  // its value by its limit
};

// What has happened to one problem.
struct Ledger {
  std::int64_t classics = 0;  // evaluations spent on what was known before the search; they are no samples
  std::int64_t samples = 0;
  std::int64_t valid = 0;
  std::int64_t repeated = 0;                      // points of this run that had been proposed before
  std::map<std::uint8_t, std::int64_t> rejected;  // by reason
  std::optional<Best> best;                       // the first of equal ones
  std::vector<FrontMember> front;                 // where the objective is one; the first of equal ones
  std::optional<LimitStory> limits;               // where the objective has some
  std::vector<Improvement> improvements;          // the convergence curve: one entry per new best; sample 0 = known before
  std::vector<Finalist> finalists;                // the best that the referee accepts, of different scores, best first
};

// Remembers outcomes beyond the loop. Called from the loop's thread only.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual std::optional<Outcome> find(std::size_t problem, PointView point) = 0;
  virtual void remember(std::size_t problem, PointView point, const Outcome& outcome) = 0;
};

// More samples of a problem are refused: nobody waits for them, and sums over problems stay within 64 bits.
inline constexpr std::int64_t kMostSamples = 1'000'000'000;

class SearchLoop {
 public:
  // `memory` may be null. Spaces outlive the loop.
  SearchLoop(std::vector<const DesignSpace*> spaces, Objective objective, std::int64_t samples_per_problem,
             ThreadPool& threads, Memory* memory = nullptr);
  ~SearchLoop();

  // What is known before the search, the classic dataflows, say: judged, kept as the best so far, noticed by the searcher,
  // and not charged.
  void begin(Searcher& searcher, const std::vector<Proposal>& known);

  // One ask, its evaluations, one tell. False when all samples are spent, when the searcher has nothing left to try, or when
  // the threads were stopped: the memory then has what was evaluated, and the ledgers are those of the rounds before.
  bool round(Searcher& searcher);
  bool is_stopped() const { return is_stopped_; }

  // Judges points that are good enough to become the answer once more, by another model; nothing = it refuses them. Without
  // one there are no finalists.
  std::function<std::optional<Score>(std::size_t problem, PointView point)> referee;

  // Called for every sample in order, after it was folded.
  std::function<void(const Proposal&, const Outcome&, const Verdict&)> on_sample;

  const std::vector<Ledger>& ledgers() const { return ledgers_; }
  const std::vector<const DesignSpace*>& spaces() const { return spaces_; }
  const Objective& objective() const { return objective_; }

 private:
  bool take_round(Searcher& searcher);
  void evaluate(std::span<const Proposal> proposals);
  void consider(const Proposal& proposal, const Outcome& outcome, const Verdict& verdict);

  std::vector<const DesignSpace*> spaces_;
  Objective objective_;
  std::int64_t samples_;
  ThreadPool& threads_;
  Memory* memory_;
  std::vector<Ledger> ledgers_;
  std::vector<SeenPoints> seen_;
  std::vector<std::vector<std::unique_ptr<PointEvaluator>>> evaluators_;  // thread × problem, made when first needed
  std::vector<Proposal> proposals_;
  std::vector<Outcome> outcomes_;
  std::vector<Verdict> verdicts_;
  std::vector<std::size_t> unknown_;
  std::vector<char> known_;  // by proposal
  bool is_stopped_ = false;
};

Verdict verdict_of(const Objective& objective, const Outcome& outcome);

}  // namespace tilewright
