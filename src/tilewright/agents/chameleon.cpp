#include "tilewright/agents/chameleon.hpp"

#include <algorithm>
#include <set>

#include "tilewright/agents/confidence_sampling.hpp"
#include "tilewright/agents/dcoc_problem.hpp"
#include "tilewright/agents/kmeans.hpp"
#include "tilewright/search/variation.hpp"

namespace tilewright {
namespace {

constexpr int kNewTries = 50;  // draws per point that was not measured before

std::vector<std::size_t> all_below(std::size_t count) {
  std::vector<std::size_t> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = i;
  return numbers;
}

// AutoTVM's cost model on knobs, which knows nothing of limits.
ProblemOptions blind_problem() { return {.trees = {}, .knows_limits = false, .features = SurrogateFeatures::Knobs}; }

class Chameleon final : public PointSearcher {
 public:
  Chameleon(const DesignSpace& space, const ChameleonOptions& options, std::uint64_t seed, ThreadPool& threads)
      : options_(options),
        problem_(space, blind_problem()),
        walk_({.spaces = {&space},
               .agents = {all_below(space.parameters().size())},
               .shared = 0,
               .groups = static_cast<std::size_t>(options.worlds),
               .steps = static_cast<std::size_t>(options.update_steps)}),
        team_(walk_, ppo_options(options.learning, Critic::Own), seed, threads),
        rng_(seed, "chameleon") {}

  void ask(std::size_t most, std::vector<Point>& points) override {
    const std::size_t count = std::min(most, static_cast<std::size_t>(options_.batch));
    if (!problem_.can_predict()) return draw_new(count, points);
    explore_surrogate();
    sample(count, points);
    if (points.empty()) draw_new(count, points);
  }

  void tell(std::span<const Point> points, std::span<const Verdict> verdicts) override {
    problem_.tell(points, verdicts);
    problem_.refit();
  }

  void notice(std::span<const Point> points, std::span<const Verdict> verdicts) override { tell(points, verdicts); }

  std::shared_ptr<const Story> story() const override { return std::make_shared<SurrogateStory>(problem_.calibrations()); }

 private:
  struct Visited {
    float performance = 0;
    std::int64_t order = 0;
    Point point;
    // The worst first, of equal ones the latest.
    bool operator<(const Visited& other) const {
      return performance != other.performance ? performance < other.performance : order > other.order;
    }
  };

  void draw_new(std::size_t count, std::vector<Point>& points) {
    SeenPoints taken;
    for (std::size_t n = 0; n < count; ++n) {
      for (int tried = 0; tried < kNewTries; ++tried) {
        Point point = random_point(problem_.space(), rng_);
        if (problem_.is_measured(point) || !taken.add(point)) continue;
        points.push_back(std::move(point));
        break;
      }
    }
  }

  void explore_surrogate() {
    best_.clear();
    SeenPoints visited;
    std::vector<Opinion> opinions;
    std::int64_t order = 0, idle = 0;
    const Judge judge = [&](const Walk& walk, std::span<float> rewards) {
      problem_.judge(walk.points(), opinions);
      ++idle;
      for (std::size_t world = 0; world < opinions.size(); ++world) {
        rewards[world] = opinions[world].reward;
        const Point& point = walk.points()[world];
        if (!visited.add(point)) continue;
        Visited one{opinions[world].performance, order++, point};
        if (best_.size() == static_cast<std::size_t>(options_.candidates)) {
          if (one < *best_.begin()) continue;
          best_.erase(best_.begin());
        }
        best_.insert(std::move(one));
        idle = 0;
      }
    };
    if (worlds_.empty()) {
      for (std::size_t world = 0; world < walk_.world_count(); ++world) {
        worlds_.push_back(random_point(problem_.space(), rng_));
      }
    }
    for (std::int64_t step = 0; step < options_.steps && idle < options_.patience; step += options_.update_steps) {
      walk_.begin(worlds_);
      walk_episode(walk_, team_, judge);
      worlds_ = walk_.points();
    }
  }

  void sample(std::size_t most, std::vector<Point>& points) {
    std::vector<Point> candidates;
    Cloud cloud;
    for (auto one = best_.rbegin(); one != best_.rend(); ++one) {
      candidates.push_back(one->point);
      append_place(problem_.space(), one->point, cloud);
    }
    std::vector<Partition> tried;
    std::vector<double> counts, losses;
    for (auto count = static_cast<std::size_t>(options_.least_clusters); count <= most;
         count += static_cast<std::size_t>(options_.cluster_step)) {
      tried.push_back(k_means(cloud, count, rng_));
      counts.push_back(static_cast<double>(count));
      losses.push_back(tried.back().loss);
    }
    if (tried.empty()) {
      tried.push_back(k_means(cloud, most, rng_));
      counts.push_back(static_cast<double>(most));
      losses.push_back(tried.back().loss);
    }
    SeenPoints taken;
    const auto is_new = [&](const Point& point) { return !problem_.is_measured(point) && !taken.contains(point); };
    for (const std::size_t i : nearest_points(cloud, tried[knee(counts, losses)])) {
      Point point = is_new(candidates[i]) ? candidates[i] : synthesise(problem_.space(), candidates, is_new, rng_);
      if (point.empty() || !taken.add(point)) continue;
      points.push_back(std::move(point));
    }
  }

  ChameleonOptions options_;
  SurrogateProblem problem_;
  Walk walk_;
  WalkTeam team_;
  Rng rng_;
  std::vector<Point> worlds_;  // where they stand: walks go on from round to round
  std::set<Visited> best_;     // of this round
};

}  // namespace

std::vector<Setting> settings_of(ChameleonOptions& options) {
  std::vector<Setting> settings = {
      {"batch", "most measurements per round", &options.batch, 1, 100'000},
      {"worlds", "episodes side by side", &options.worlds, 1, 100'000},
      {"steps", "most steps of them per round", &options.steps, 1, 1e6},
      {"update_steps", "between two updates", &options.update_steps, 1, 1e6},
      {"patience", "steps without a new one among the best that end the exploration", &options.patience, 1, 1e9},
      {"candidates", "best configurations visited that are clustered", &options.candidates, 1, 1e6},
      {"least_clusters", "clusters tried first", &options.least_clusters, 1, 100'000},
      {"cluster_step", "clusters more each time", &options.cluster_step, 1, 100'000},
  };
  std::ranges::move(settings_of(options.learning), std::back_inserter(settings));
  return settings;
}

std::unique_ptr<PointSearcher> make_chameleon(const DesignSpace& space, const ChameleonOptions& options, std::uint64_t seed,
                                              ThreadPool& threads) {
  return std::make_unique<Chameleon>(space, options, seed, threads);
}

}  // namespace tilewright
