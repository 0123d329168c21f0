#include "tilewright/search/ant_colony.hpp"

#include <algorithm>
#include <cmath>

#include "tilewright/base/bisect.hpp"
#include "tilewright/search/variation.hpp"

namespace tilewright {
namespace {

// Ordinal parameters with more values than this have buckets.
constexpr std::int32_t kMostSingle = 16;
// Walks that end at a point that was proposed before are repeated this often before an elite ant is stepped instead.
constexpr int kWalkTries = 10;

struct Trail {
  std::vector<std::int32_t> first;      // lowest index of each bucket, and the number of values at the end
  std::vector<double> pheromone;        // of each bucket
  std::vector<std::int32_t> favourite;  // index the best elite ant had in each bucket, -1 = none
  std::size_t bucket_of(std::int32_t index) const {
    return static_cast<std::size_t>(std::upper_bound(first.begin(), first.end(), index) - first.begin()) - 1;
  }
};

Trail make_trail(const Parameter& parameter, double per_octave) {
  Trail trail;
  const bool wide = parameter.kind == ParameterKind::Ordinal && parameter.value_count > kMostSingle;
  const auto octave = [&](std::int32_t i) { return std::floor(per_octave * std::log2(i + 1.0) + 1e-9); };
  for (std::int32_t index = 0; index < parameter.value_count;) {
    trail.first.push_back(index);
    const double here = octave(index);
    ++index;
    if (wide) index = first_where(index, parameter.value_count, [&](std::int32_t i) { return octave(i) != here; });
  }
  trail.pheromone.assign(trail.first.size(), 1.0 / static_cast<double>(trail.first.size()));
  trail.favourite.assign(trail.first.size(), -1);
  trail.first.push_back(parameter.value_count);
  return trail;
}

struct Ant {
  Point point;
  Verdict verdict;
};

class AntColonySearcher final : public PointSearcher {
 public:
  AntColonySearcher(const DesignSpace& space, const AntColonyOptions& options, std::uint64_t seed)
      : space_(space), options_(options), variation_(space), rng_(seed, "ant-colony") {
    start();
  }

  void ask(std::size_t most, std::vector<Point>& points) override {
    const std::size_t count = std::min(most, static_cast<std::size_t>(options_.ants));
    for (std::size_t n = 0; n < count; ++n) {
      Point point = !elite_.empty() && rng_.uniform() < options_.local ? step() : walk();
      for (int tried = 1; tried < 2 * kWalkTries && seen_.contains(point); ++tried) {
        point = tried < kWalkTries || elite_.empty() ? walk() : step();
      }
      seen_.add(point);
      points.push_back(std::move(point));
    }
  }

  void tell(std::span<const Point> points, std::span<const Verdict> verdicts) override {
    ++idle_;
    for (std::size_t n = 0; n < points.size(); ++n) {
      if (verdicts[n].feasible) admit({points[n], verdicts[n]});
    }
    if (idle_ > options_.patience) return start();
    if (!elite_.empty()) deposit();
  }

  void notice(std::span<const Point> points, std::span<const Verdict> verdicts) override {
    for (std::size_t n = 0; n < points.size(); ++n) {
      seen_.add(points[n]);
      if (verdicts[n].feasible) admit({points[n], verdicts[n]});
    }
    if (!elite_.empty()) deposit();
  }

 private:
  void start() {
    trails_.clear();
    for (const Parameter& parameter : space_.parameters()) trails_.push_back(make_trail(parameter, options_.per_octave));
    elite_.clear();
    idle_ = 0;
  }

  Point step() {
    const auto size = static_cast<std::int64_t>(elite_.size());
    const auto place = static_cast<std::size_t>(std::min(rng_.below(size), rng_.below(size)));
    return variation_.stepped(elite_[place].point, 1, rng_);
  }

  Point walk() {
    Point point(trails_.size());
    for (std::size_t p = 0; p < point.size(); ++p) {
      space_.choices(point, p, choices_);
      point[p] = choices_.count() == 1 ? choices_[0] : choose(trails_[p]);
    }
    space_.canonicalise(point);
    return point;
  }

  // One of choices_.
  std::int32_t choose(const Trail& trail) {
    stretches_.clear();
    double total = 0;
    std::size_t strongest = 0;
    for (std::int32_t place = 0; place < choices_.count();) {
      const std::size_t bucket = trail.bucket_of(choices_[place]);
      const std::int32_t end = place_from(choices_, place, trail.first[bucket + 1]);
      stretches_.push_back({bucket, place, end});
      total += trail.pheromone[bucket];
      if (trail.pheromone[bucket] > trail.pheromone[stretches_[strongest].bucket]) strongest = stretches_.size() - 1;
      place = end;
    }
    std::size_t taken = strongest;
    if (rng_.uniform() >= options_.greediness) {
      double left = rng_.uniform() * total;
      for (taken = 0; taken + 1 < stretches_.size(); ++taken) {
        left -= trail.pheromone[stretches_[taken].bucket];
        if (left < 0) break;
      }
    }
    const Stretch& stretch = stretches_[taken];
    const std::int32_t favourite = trail.favourite[stretch.bucket];
    if (favourite >= 0 && rng_.uniform() < options_.recall && choices_.contains(favourite)) return favourite;
    return choices_[static_cast<std::int32_t>(rng_.between(stretch.place, stretch.end - 1))];
  }

  // The first place from `place` on whose index is not below `index`.
  static std::int32_t place_from(const Choices& choices, std::int32_t place, std::int32_t index) {
    std::int32_t low = place, high = choices.count();
    while (low < high) {
      const std::int32_t middle = low + (high - low) / 2;
      if (choices[middle] < index)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  // Of ants with the same score only the first is kept, so that one good design does not fill the elite by its spellings.
  void admit(Ant ant) {
    const auto after = std::lower_bound(elite_.begin(), elite_.end(), ant,
                                        [](const Ant& a, const Ant& b) { return is_better(a.verdict, b.verdict); });
    if (after != elite_.end() && after->verdict.score == ant.verdict.score) return;
    if (after == elite_.begin()) idle_ = 0;
    elite_.insert(after, std::move(ant));
    if (elite_.size() > static_cast<std::size_t>(options_.elite)) elite_.pop_back();
  }

  void deposit() {
    double weights = 0;
    for (std::size_t rank = 0; rank < elite_.size(); ++rank) weights += 1 / static_cast<double>(rank + 1);
    for (std::size_t p = 0; p < trails_.size(); ++p) {
      Trail& trail = trails_[p];
      for (double& pheromone : trail.pheromone) pheromone *= 1 - options_.evaporation;
      std::fill(trail.favourite.begin(), trail.favourite.end(), -1);
      for (std::size_t rank = 0; rank < elite_.size(); ++rank) {
        const std::int32_t index = elite_[rank].point[p];
        const std::size_t bucket = trail.bucket_of(index);
        trail.pheromone[bucket] += options_.evaporation / (weights * static_cast<double>(rank + 1));
        if (trail.favourite[bucket] < 0) trail.favourite[bucket] = index;
      }
      const double floor = options_.least / static_cast<double>(trail.pheromone.size());
      for (double& pheromone : trail.pheromone) pheromone = std::max(pheromone, floor);
    }
  }

  struct Stretch {
    std::size_t bucket;
    std::int32_t place, end;
  };

  const DesignSpace& space_;
  AntColonyOptions options_;
  Variation variation_;
  Rng rng_;
  std::vector<Trail> trails_;
  std::vector<Ant> elite_;  // best first
  std::int64_t idle_ = 0;   // rounds without a better best
  SeenPoints seen_;
  Choices choices_;
  std::vector<Stretch> stretches_;
};

}  // namespace

std::vector<Setting> settings_of(AntColonyOptions& options) {
  return {
      {"ants", "points per ask", &options.ants, 1, 1e6},
      {"greediness", "chance of an ant to take the strongest bucket without a draw", &options.greediness, 0, 1},
      {"evaporation", "share of the pheromone that is replaced in a round", &options.evaporation, 0, 1},
      {"elite", "best ants so far that deposit", &options.elite, 1, 1e6},
      {"least", "pheromone of a bucket never falls below this part of an even share", &options.least, 0, 1},
      {"per_octave", "buckets to a factor of two", &options.per_octave, 0.1, 100},
      {"recall", "chance to take, within a bucket, the value of the best ant that was there", &options.recall, 0, 1},
      {"patience", "rounds without a better best after which a new colony starts", &options.patience, 1, 1e9},
      {"local", "share of ants that step from an elite ant instead of walking", &options.local, 0, 1},
  };
}

Result<std::unique_ptr<PointSearcher>> make_ant_colony(const DesignSpace& space, const AntColonyOptions& options,
                                                       std::int64_t, std::uint64_t seed) {
  return std::unique_ptr<PointSearcher>(std::make_unique<AntColonySearcher>(space, options, seed));
}

}  // namespace tilewright
