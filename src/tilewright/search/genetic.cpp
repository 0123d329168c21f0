#include "tilewright/search/genetic.hpp"

#include <algorithm>
#include <cmath>

#include "tilewright/search/variation.hpp"

namespace tilewright {
namespace {

// Children that were proposed before are made again this often before a point is drawn instead.
constexpr int kChildTries = 20;

struct Member {
  Point point;
  Verdict verdict;
};

class GeneticSearcher final : public PointSearcher {
 public:
  GeneticSearcher(const DesignSpace& space, const GeneticOptions& options, std::uint64_t seed)
      : options_(options), variation_(space), rng_(seed, "genetic"), to_draw_(options.initial) {}

  void ask(std::size_t most, std::vector<Point>& points) override {
    std::size_t count = std::min(most, static_cast<std::size_t>(options_.batch));
    if (to_draw_ > 0) count = std::min(count, static_cast<std::size_t>(to_draw_));  // children need parents
    for (std::size_t n = 0; n < count; ++n) points.push_back(to_draw_ > 0 ? drawn() : child());
  }

  void tell(std::span<const Point> points, std::span<const Verdict> verdicts) override {
    for (std::size_t n = 0; n < points.size(); ++n) {
      const bool best = members_.empty() || is_better(verdicts[n], members_.front().verdict);
      idle_ = best ? 0 : idle_ + 1;
      join({points[n], verdicts[n]});
    }
    const auto size = static_cast<std::size_t>(options_.population);
    if (members_.size() > size) members_.resize(size);
    if (static_cast<double>(idle_) > options_.patience * static_cast<double>(options_.population)) {
      members_.clear();
      to_draw_ = options_.initial;
      idle_ = 0;
    }
  }

  void notice(std::span<const Point> points, std::span<const Verdict> verdicts) override {
    for (std::size_t n = 0; n < points.size(); ++n) {
      seen_.add(points[n]);
      join({points[n], verdicts[n]});
    }
  }

 private:
  Point drawn() {
    --to_draw_;
    Point point = variation_.draw(rng_);
    for (int tried = 1; tried < kChildTries && seen_.contains(point); ++tried) point = variation_.draw(rng_);
    seen_.add(point);
    return point;
  }

  Point child() {
    for (int tried = 0; tried < kChildTries; ++tried) {
      const Member& first = parent();
      Point point = first.point;
      const bool crossed = rng_.uniform() < options_.crossover;
      if (crossed) {
        const Member& second = parent();
        point = rng_.uniform() < options_.by_group ? variation_.crossed_by_group(first.point, second.point, rng_)
                                                   : variation_.crossed_by_parameter(first.point, second.point, rng_);
      }
      point = variation_.stepped(point, options_.changes, rng_);
      if (seen_.add(point)) return point;
    }
    ++to_draw_;
    return drawn();
  }

  const Member& parent() {
    // Members are sorted, so the best of a tournament is the one that stands first.
    auto place = static_cast<std::int64_t>(members_.size());
    for (std::int64_t n = 0; n < options_.tournament; ++n) {
      place = std::min(place, rng_.below(static_cast<std::int64_t>(members_.size())));
    }
    return members_[static_cast<std::size_t>(place)];
  }

  void join(Member member) {
    const auto after = std::lower_bound(members_.begin(), members_.end(), member,
                                        [](const Member& a, const Member& b) { return is_better(a.verdict, b.verdict); });
    if (member.verdict.feasible && after != members_.end() && after->verdict.feasible &&
        after->verdict.score == member.verdict.score) {
      *after = std::move(member);
    } else {
      members_.insert(after, std::move(member));
    }
  }

  GeneticOptions options_;
  Variation variation_;
  Rng rng_;
  std::int64_t to_draw_;
  std::int64_t idle_ = 0;
  std::vector<Member> members_;  // best first
  SeenPoints seen_;
};

}  // namespace

std::vector<Setting> settings_of(GeneticOptions& options) {
  return {
      {"population", "members; 0 = by the budget: its square root, 20 to 60", &options.population, 0, 1e6},
      {"initial", "points drawn before the first children; 0 = twice the population", &options.initial, 0, 1e6},
      {"batch", "children per ask", &options.batch, 1, 1e6},
      {"tournament", "members from which each parent is the best", &options.tournament, 1, 1e6},
      {"crossover", "share of children with two parents", &options.crossover, 0, 1},
      {"by_group", "share of those that are crossed by group instead of by parameter", &options.by_group, 0, 1},
      {"changes", "entries stepped in a child, on average", &options.changes, 0, 1e6},
      {"patience", "populations of children without a better best after which a new one is drawn", &options.patience, 1,
       1e9},
  };
}

Result<std::unique_ptr<PointSearcher>> make_genetic(const DesignSpace& space, const GeneticOptions& options,
                                                    std::int64_t samples, std::uint64_t seed) {
  GeneticOptions chosen = options;
  if (chosen.population == 0) {
    chosen.population = std::clamp<std::int64_t>(std::llround(std::sqrt(static_cast<double>(samples))), 20, 60);
  }
  if (chosen.initial == 0) chosen.initial = 2 * chosen.population;
  return std::unique_ptr<PointSearcher>(std::make_unique<GeneticSearcher>(space, chosen, seed));
}

}  // namespace tilewright
