#include "tilewright/optimum/optimal_searcher.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "tilewright/search/search_loop.hpp"
#include "tilewright/search/searchers.hpp"

namespace tilewright::optimum {

std::optional<Goal> goal_of(const Objective& objective) {
  if (objective.limits.area || objective.limits.power) return std::nullopt;
  if (objective.form != Objective::Form::Single && objective.form != Objective::Form::Lexicographic) return std::nullopt;
  switch (objective.terms.front().metric) {
    case Metric::Latency:
    case Metric::Throughput:
      return Goal::Latency;
    case Metric::Energy:
      return Goal::Energy;
    case Metric::Edp:
      return Goal::Edp;
    default:
      return std::nullopt;
  }
}

Limits limits_of(const Objective& objective) {
  Limits limits;
  if (objective.limits.latency) limits.cycles = *objective.limits.latency;
  if (objective.limits.energy) limits.energy = *objective.limits.energy * 1e3;
  return limits;
}

namespace {

constexpr std::int64_t kScouted = 20'000;

// The best mapping that annealing finds in a fraction of a second, beginning with those that are known.
std::optional<hierarchy::Mapping> scout(const HierarchySpace& space, const Objective& objective,
                                        const std::vector<Point>& known) {
  auto searcher = make_classical_searcher("annealing", space, kScouted, 1, {});
  if (!searcher) return std::nullopt;
  const auto evaluator = space.evaluator();
  std::optional<Point> best;
  Score best_score{};
  std::vector<Verdict> verdicts;
  const auto judge = [&](const std::vector<Point>& points) {
    verdicts.clear();
    for (const Point& point : points) {
      verdicts.push_back(verdict_of(objective, evaluator->evaluate(point)));
      if (!verdicts.back().feasible || (best && best_score <= verdicts.back().score)) continue;
      best = point;
      best_score = verdicts.back().score;
    }
  };
  judge(known);
  (*searcher)->notice(known, verdicts);
  std::vector<Point> points;
  for (std::int64_t left = kScouted; left > 0; left -= std::ssize(points)) {
    points.clear();
    (*searcher)->ask(static_cast<std::size_t>(left), points);
    if (points.empty()) break;
    judge(points);
    (*searcher)->tell(points, verdicts);
  }
  return best ? std::optional(space.mapping(*best)) : std::nullopt;
}

}  // namespace

Answer prove(const HierarchySpace& space, const Objective& objective, const Effort& effort,
             std::vector<hierarchy::Mapping> starts) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(effort.seconds));
  Options options{.goal = *goal_of(objective), .limits = limits_of(objective), .nodes = effort.nodes};
  std::vector<Point> known;
  for (const hierarchy::Mapping& start : starts) {
    if (const auto point = space.point_of(start)) known.push_back(*point);
  }
  options.starts = std::move(starts);
  if (const auto scouted = scout(space, objective, known)) options.starts.push_back(*scouted);
  options.stop = [&] { return (effort.stop && effort.stop()) || (effort.seconds > 0 && Clock::now() >= end); };
  return find_optimum({space.problem(), space.machine(), space.judge(), space.restriction()}, options);
}

namespace {

class OptimalSearcher final : public Searcher {
 public:
  OptimalSearcher(std::vector<const HierarchySpace*> spaces, const Objective& objective, const Effort& effort,
                  std::unique_ptr<Searcher> first, ThreadPool& threads)
      : spaces_(std::move(spaces)),
        objective_(objective),
        effort_(effort),
        first_(std::move(first)),
        threads_(threads),
        best_(spaces_.size()),
        story_(std::make_shared<OptimalStory>()) {
    story_->problems.resize(spaces_.size());
  }

  void ask(std::span<const std::int64_t> room, std::vector<Proposal>& proposals) override {
    if (ended_) return;
    // One sample of each problem is for the optimum.
    std::vector<std::int64_t> less(room.begin(), room.end());
    for (std::int64_t& samples : less) samples = std::max<std::int64_t>(0, samples - 1);
    asked_first_ = true;
    first_->ask(less, proposals);
    if (!proposals.empty()) return;
    asked_first_ = false;
    ended_ = true;
    std::vector<std::optional<Point>> found(spaces_.size());
    threads_.for_each(spaces_.size(), [&](std::size_t problem, std::size_t) {
      std::vector<hierarchy::Mapping> starts;
      if (best_[problem].point) starts.push_back(spaces_[problem]->mapping(*best_[problem].point));
      const Answer answer = prove(*spaces_[problem], objective_, effort_, std::move(starts));
      story_->problems[problem] = answer.certificate;
      if (answer.mapping) found[problem] = spaces_[problem]->point_of(*answer.mapping);
    });
    for (std::size_t problem = 0; problem < spaces_.size(); ++problem) {
      if (found[problem] && room[problem] > 0) proposals.push_back({problem, *found[problem]});
    }
  }

  void tell(std::span<const Proposal> proposals, std::span<const Verdict> verdicts) override {
    consider(proposals, verdicts);
    if (asked_first_) first_->tell(proposals, verdicts);
  }
  void notice(std::span<const Proposal> proposals, std::span<const Verdict> verdicts) override {
    consider(proposals, verdicts);
    first_->notice(proposals, verdicts);
  }
  std::shared_ptr<const Story> story() const override { return story_; }

 private:
  struct Best {
    std::optional<Point> point;
    Score score{};
  };

  void consider(std::span<const Proposal> proposals, std::span<const Verdict> verdicts) {
    for (std::size_t i = 0; i < proposals.size(); ++i) {
      Best& best = best_[proposals[i].problem];
      if (!verdicts[i].feasible || (best.point && best.score <= verdicts[i].score)) continue;
      best = {proposals[i].point, verdicts[i].score};
    }
  }

  std::vector<const HierarchySpace*> spaces_;
  Objective objective_;
  Effort effort_;
  std::unique_ptr<Searcher> first_;
  ThreadPool& threads_;
  std::vector<Best> best_;
  std::shared_ptr<OptimalStory> story_;
  bool asked_first_ = false, ended_ = false;
};

}  // namespace

Result<std::unique_ptr<Searcher>> make_optimal(const std::vector<const DesignSpace*>& spaces, const Objective& objective,
                                               const Effort& effort, std::int64_t samples, std::uint64_t seed,
                                               ThreadPool& threads) {
  std::vector<const HierarchySpace*> levels;
  std::vector<std::unique_ptr<PointSearcher>> first;
  for (const DesignSpace* space : spaces) {
    levels.push_back(dynamic_cast<const HierarchySpace*>(space));
    if (levels.back() == nullptr) {
      return invalid(
          fmt::format("{}: the searcher optimal is for machines with memory levels, expected another searcher, or "
                      "--model hierarchy or timeloop",
                      space->name()));
    }
    if (levels.back()->machine().levels.size() < 2) {
      return invalid(
          fmt::format("{}: the searcher optimal needs two memory levels, expected another searcher", space->name()));
    }
    TW_TRY(first.emplace_back(), make_classical_searcher("annealing", *space, std::max<std::int64_t>(1, samples - 1),
                                                         Rng(seed, "problem").fork("", first.size()).key(), {}));
  }
  if (!goal_of(objective)) {
    return invalid(
        fmt::format("the searcher optimal proves latency, energy or edp with limits of latency and energy, not '{}'; "
                    "expected another searcher",
                    name_of(objective)));
  }
  return std::unique_ptr<Searcher>(
      std::make_unique<OptimalSearcher>(std::move(levels), objective, effort, each_alone(std::move(first)), threads));
}

}  // namespace tilewright::optimum
