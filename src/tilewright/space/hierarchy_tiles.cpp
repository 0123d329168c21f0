#include "tilewright/space/hierarchy_tiles.hpp"

#include <algorithm>
#include <utility>

namespace tilewright {
namespace {

using Prime = HierarchySpace::Prime;

constexpr int kThrown = 3;  // factors that are thrown elsewhere when nothing helps any more

// Smaller is better: what fits and keeps the limits by its score, then what breaks them by how much, then the rest.
struct Rank {
  int fault = 2;
  Score score{};
  auto operator<=>(const Rank&) const = default;
};

bool has(const std::vector<std::uint8_t>& dims, std::uint8_t dim) { return std::ranges::find(dims, dim) != dims.end(); }

class TileSearch {
 public:
  TileSearch(const HierarchySpace& space, const HierarchyRule& rule, const Objective& objective, Point outline)
      : space_(space),
        objective_(objective),
        evaluator_(space.evaluator()),
        primes_(space.primes()),
        outline_(std::move(outline)) {
    space.set_ranks(outline_, rule.inside);
    for (const Prime& prime : primes_) {
      std::vector<std::int32_t>& places = places_.emplace_back();
      const auto axis_of = [&](std::int32_t place) { return space.places()[static_cast<std::size_t>(place)].axis; };
      const std::int32_t started = outline_[prime.parameter];
      if (has(rule.always, prime.dim) && axis_of(started) != HierarchySpace::Axis::Time) {
        places.push_back(started);
        continue;
      }
      for (const std::int32_t place : space.allowed_places(prime.dim)) {
        const HierarchySpace::Axis axis = axis_of(place);
        const bool spread = axis == HierarchySpace::Axis::X ? has(rule.x, prime.dim) : has(rule.y, prime.dim);
        if (axis == HierarchySpace::Axis::Time || spread) places.push_back(place);
      }
    }
  }

  bool is_small() const {
    double count = 1;
    for (std::size_t n = 0; n < primes_.size();) {
      std::size_t end = n;
      for (; end < primes_.size() && is_alike(n, end); ++end) {
        // Multisets of places: one more factor of the kind.
        count *= static_cast<double>(places_[n].size() + (end - n)) / static_cast<double>(end - n + 1);
      }
      n = end;
    }
    return count <= static_cast<double>(kMostTilesTried);
  }

  void try_all(std::size_t n = 0) {
    if (n == primes_.size()) {
      consider(outline_);
      return;
    }
    std::int32_t& entry = outline_[primes_[n].parameter];
    for (const std::int32_t place : places_[n]) {
      if (n > 0 && is_alike(n - 1, n) && place < outline_[primes_[n - 1].parameter]) continue;  // tried in the other order
      entry = place;
      try_all(n + 1);
    }
  }

  // Then from the best with a few factors thrown elsewhere, until as many were tried as may be.
  void descend_from(const std::vector<Point>& starts) {
    for (const Point& start : starts) {
      Point point = outline_;
      for (const Prime& prime : primes_) point[prime.parameter] = start[prime.parameter];
      descend(std::move(point));
    }
    Rng rng(1, "tiles");
    const auto any = [&](const auto& list) { return static_cast<std::size_t>(rng.below(std::ssize(list))); };
    while (tried_ < kMostTilesTried) {
      Point point = outline_;
      for (const Prime& prime : primes_) point[prime.parameter] = best_[prime.parameter];
      for (int thrown = 0; thrown < kThrown; ++thrown) {
        const std::size_t n = any(primes_);
        point[primes_[n].parameter] = places_[n][any(places_[n])];
      }
      descend(std::move(point));
    }
  }

  const Point& best() const { return best_; }
  bool fits() const { return best_rank_.fault < 2; }  // limits or not

 private:
  bool is_alike(std::size_t a, std::size_t b) const {
    return primes_[a].dim == primes_[b].dim && primes_[a].prime == primes_[b].prime && places_[a] == places_[b];
  }

  void descend(Point point) {
    Rank rank = consider(point);
    const auto better = [&] {
      const Rank now = consider(point);
      if (!(now < rank)) return false;
      rank = now;
      return true;
    };
    // One round after the other, until nothing has helped for a whole round.
    for (bool helped = true; helped && tried_ < kMostTilesTried;) {
      helped = false;
      for (std::size_t a = 0; a < primes_.size(); ++a) helped |= move(point, a, better);
      for (std::size_t a = 0; a < primes_.size(); ++a) {
        for (std::size_t b = a + 1; b < primes_.size(); ++b) helped |= exchange(point, a, b, better);
      }
    }
  }

  Rank consider(const Point& point) {
    ++tried_;
    const Outcome outcome = evaluator_->evaluate(point);
    Rank rank;
    if (outcome.feasible) {
      const bool over = broken_limit(objective_.limits, outcome.metrics).has_value();
      rank = {over ? 1 : 0,
              over ? Score{excess_of(objective_.limits, outcome.metrics)} : score_of(objective_, outcome.metrics)};
    }
    if (best_.empty() || rank < best_rank_) {
      Point canonical = point;
      space_.canonicalise(canonical);
      if (is_legal(space_, canonical)) {
        best_ = std::move(canonical);
        best_rank_ = rank;
      }
    }
    return rank;
  }

  template <typename Better>
  bool move(Point& point, std::size_t a, const Better& better) {
    if (a > 0 && is_alike(a - 1, a) && point[primes_[a].parameter] == point[primes_[a - 1].parameter]) return false;
    bool helped = false;
    for (const std::int32_t place : places_[a]) {
      std::int32_t& entry = point[primes_[a].parameter];
      if (place == entry || tried_ >= kMostTilesTried) continue;
      const std::int32_t before = std::exchange(entry, place);
      if (better()) {
        helped = true;
      } else {
        entry = before;
      }
    }
    return helped;
  }

  template <typename Better>
  bool exchange(Point& point, std::size_t a, std::size_t b, const Better& better) {
    std::int32_t& one = point[primes_[a].parameter];
    std::int32_t& other = point[primes_[b].parameter];
    const bool may = one != other && !is_alike(a, b) && tried_ < kMostTilesTried &&
                     std::ranges::find(places_[a], other) != places_[a].end() &&
                     std::ranges::find(places_[b], one) != places_[b].end();
    if (!may) return false;
    std::swap(one, other);
    if (better()) return true;
    std::swap(one, other);
    return false;
  }

  const HierarchySpace& space_;
  const Objective& objective_;
  std::unique_ptr<PointEvaluator> evaluator_;
  std::vector<Prime> primes_;
  std::vector<std::vector<std::int32_t>> places_;  // that the rule allows, by prime
  Point outline_;                                  // what the rule fixes
  Point best_;
  Rank best_rank_;
  std::int64_t tried_ = 0;
};

}  // namespace

Point best_tiles(const HierarchySpace& space, const HierarchyRule& rule, const Objective& objective,
                 const std::vector<Point>& starts) {
  TileSearch search(space, rule, objective, starts.front());
  if (search.is_small()) {
    search.try_all();
  } else {
    search.descend_from(starts);
  }
  return search.fits() ? search.best() : starts.front();
}

}  // namespace tilewright
