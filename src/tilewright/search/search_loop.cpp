#include "tilewright/search/search_loop.hpp"

#include <algorithm>

namespace tilewright {

Verdict verdict_of(const Objective& objective, const Outcome& outcome) {
  if (!outcome.feasible) return {false, outcome.reason, {}, {}};
  if (broken_limit(objective.limits, outcome.metrics)) return {false, kOverLimit, {}, {}};
  const bool front = objective.form == Objective::Form::Pareto;
  return {true, 0, score_of(objective, outcome.metrics), front ? terms_of(objective, outcome.metrics) : Score{}};
}

namespace {

void tell_limits(Ledger& ledger, const Limits& limits, const Point& point, const Outcome& outcome) {
  const auto all = limits_of(limits);
  if (!outcome.feasible || all.empty()) return;
  const double excess = excess_of(limits, outcome.metrics);
  const bool first = !ledger.limits;
  LimitStory& story = first ? ledger.limits.emplace() : *ledger.limits;
  story.least.resize(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double value = value_of(all[i].first, outcome.metrics);
    story.least[i] = first ? value : std::min(story.least[i], value);
  }
  if (!first && story.excess <= excess) return;
  story.point = point;
  story.outcome = outcome;
  story.excess = excess;
}

}  // namespace

SearchLoop::SearchLoop(std::vector<const DesignSpace*> spaces, Objective objective, std::int64_t samples_per_problem,
                       ThreadPool& threads, Memory* memory)
    : spaces_(std::move(spaces)),
      objective_(std::move(objective)),
      samples_(samples_per_problem),
      threads_(threads),
      memory_(memory),
      ledgers_(spaces_.size()),
      seen_(spaces_.size()),
      evaluators_(threads.thread_count()) {
  for (auto& of_thread : evaluators_) of_thread.resize(spaces_.size());
}

SearchLoop::~SearchLoop() = default;

void SearchLoop::evaluate(std::span<const Proposal> proposals) {
  outcomes_.resize(proposals.size());
  unknown_.clear();
  known_.assign(proposals.size(), 0);
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    if (memory_ != nullptr) {
      if (const auto known = memory_->find(proposals[i].problem, proposals[i].point)) {
        outcomes_[i] = *known;
        continue;
      }
    }
    unknown_.push_back(i);
  }
  constexpr std::size_t kPiece = 32;  // evaluations that are worth a thread's while
  const std::size_t pieces = (unknown_.size() + kPiece - 1) / kPiece;
  const auto evaluate_piece = [&](std::size_t piece, std::size_t thread) {
    const std::size_t last = std::min(unknown_.size(), (piece + 1) * kPiece);
    for (std::size_t n = piece * kPiece; n < last; ++n) {
      const Proposal& proposal = proposals[unknown_[n]];
      auto& evaluator = evaluators_[thread][proposal.problem];
      if (!evaluator) evaluator = spaces_[proposal.problem]->evaluator();
      outcomes_[unknown_[n]] = evaluator->evaluate(proposal.point);
      known_[unknown_[n]] = 1;
    }
  };
  const auto remember = [&] {
    if (memory_ == nullptr) return;
    for (const std::size_t i : unknown_) {
      if (known_[i] != 0) memory_->remember(proposals[i].problem, proposals[i].point, outcomes_[i]);
    }
  };
  try {
    threads_.for_each(pieces, evaluate_piece);
  } catch (const Stopped&) {
    remember();
    throw;
  }
  remember();
}

void SearchLoop::consider(const Proposal& proposal, const Outcome& outcome, const Verdict& verdict) {
  Ledger& ledger = ledgers_[proposal.problem];
  if (objective_.form == Objective::Form::Pareto) {
    add_to_front(ledger.front, {proposal.point, outcome, verdict.terms, ledger.samples});
  }
  if (!ledger.best || verdict.score < ledger.best->score) {
    ledger.best = Best{proposal.point, outcome, verdict.score};
    ledger.improvements.push_back({ledger.samples, verdict.score});
  }
  if (!referee) return;
  auto& finalists = ledger.finalists;
  const auto place = std::ranges::lower_bound(finalists, verdict.score, {},
                                              [](const Finalist& finalist) -> const Score& { return finalist.best.score; });
  if (place == finalists.end() && finalists.size() == kFinalists) return;
  if (place != finalists.end() && place->best.score == verdict.score) return;
  const auto second = referee(proposal.problem, proposal.point);
  if (!second) return;
  finalists.insert(place, {{proposal.point, outcome, verdict.score}, *second});
  if (finalists.size() > kFinalists) finalists.pop_back();
}

void SearchLoop::begin(Searcher& searcher, const std::vector<Proposal>& known) {
  if (known.empty()) return;
  evaluate(known);
  verdicts_.clear();
  for (std::size_t i = 0; i < known.size(); ++i) {
    TW_ASSERT(is_legal(*spaces_[known[i].problem], known[i].point));
    const Verdict& verdict = verdicts_.emplace_back(verdict_of(objective_, outcomes_[i]));
    tell_limits(ledgers_[known[i].problem], objective_.limits, known[i].point, outcomes_[i]);
    if (verdict.feasible) consider(known[i], outcomes_[i], verdict);
  }
  searcher.notice(known, verdicts_);
}

bool SearchLoop::round(Searcher& searcher) {
  if (is_stopped_) return false;  // the searcher may have been left in the middle of something
  try {
    return take_round(searcher);
  } catch (const Stopped&) {
    is_stopped_ = true;
    return false;
  }
}

bool SearchLoop::take_round(Searcher& searcher) {
  std::vector<std::int64_t> room;
  std::int64_t left = 0;
  for (const Ledger& ledger : ledgers_) left += room.emplace_back(samples_ - ledger.samples);
  if (left == 0) return false;

  proposals_.clear();
  searcher.ask(room, proposals_);
  if (proposals_.empty()) return false;
  evaluate(proposals_);

  verdicts_.clear();
  for (std::size_t i = 0; i < proposals_.size(); ++i) {
    const Proposal& proposal = proposals_[i];
    TW_ASSERT(is_legal(*spaces_[proposal.problem], proposal.point));
    const Verdict& verdict = verdicts_.emplace_back(verdict_of(objective_, outcomes_[i]));
    Ledger& ledger = ledgers_[proposal.problem];
    TW_ASSERT(ledger.samples < samples_);
    ++ledger.samples;
    if (!seen_[proposal.problem].add(proposal.point)) ++ledger.repeated;
    tell_limits(ledger, objective_.limits, proposal.point, outcomes_[i]);
    if (verdict.feasible) {
      ++ledger.valid;
      consider(proposal, outcomes_[i], verdict);
    } else {
      ++ledger.rejected[verdict.reason];
    }
    if (on_sample) on_sample(proposal, outcomes_[i], verdict);
  }
  searcher.tell(proposals_, verdicts_);
  return true;
}

}  // namespace tilewright
