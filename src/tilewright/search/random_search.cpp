#include "tilewright/search/random_search.hpp"

#include <algorithm>

#include "tilewright/search/seen_points.hpp"

namespace tilewright {
namespace {

class RandomSearcher final : public PointSearcher {
 public:
  RandomSearcher(const DesignSpace& space, const RandomOptions& options, std::uint64_t seed)
      : space_(space), options_(options), rng_(seed, "random") {}

  void ask(std::size_t most, std::vector<Point>& points) override {
    const std::size_t count = std::min(most, static_cast<std::size_t>(options_.batch));
    for (std::size_t n = 0; n < count; ++n) {
      Point point = random_point(space_, rng_);
      for (std::int64_t tried = 1; !seen_.add(point) && tried < options_.tries; ++tried) point = random_point(space_, rng_);
      points.push_back(std::move(point));
    }
  }

  void tell(std::span<const Point>, std::span<const Verdict>) override {}
  void notice(std::span<const Point> points, std::span<const Verdict>) override {
    for (const Point& point : points) seen_.add(point);
  }

 private:
  const DesignSpace& space_;
  RandomOptions options_;
  Rng rng_;
  SeenPoints seen_;
};

}  // namespace

std::vector<Setting> settings_of(RandomOptions& options) {
  return {{"batch", "points per ask", &options.batch, 1, 1e6},
          {"tries", "draws for a point that is new before a repeated one is taken", &options.tries, 1, 1e6}};
}

Result<std::unique_ptr<PointSearcher>> make_random(const DesignSpace& space, const RandomOptions& options, std::int64_t,
                                                   std::uint64_t seed) {
  return std::unique_ptr<PointSearcher>(std::make_unique<RandomSearcher>(space, options, seed));
}

}  // namespace tilewright
