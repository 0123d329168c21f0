#include "tilewright/search/autotvm.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "tilewright/search/exhaustive.hpp"
#include "tilewright/search/variation.hpp"

namespace tilewright {
namespace {

constexpr int kDraws = 200;  // for a random point that is new, before the space is walked for one
constexpr double kLeastTemperature = 1e-5;

// The best points that were offered, each once, at most `size`.
class BestPoints {
 public:
  explicit BestPoints(std::size_t size) : size_(size) {}

  // False when the point is no better than all that are kept.
  bool offer(float score, const Point& point) {
    if (kept_.size() == size_ && score <= kept_.front().score) return false;
    const std::uint64_t hash = hash_of(point);
    if (!hashes_.insert(hash).second) return false;
    if (kept_.size() == size_) {
      std::ranges::pop_heap(kept_, is_above);
      hashes_.erase(kept_.back().hash);
      kept_.pop_back();
    }
    kept_.push_back({score, offered_++, hash, point});
    std::ranges::push_heap(kept_, is_above);
    return true;
  }

  // Best first, the earlier of equal ones first.
  std::vector<Point> take() {
    std::ranges::sort(kept_, is_above);
    std::vector<Point> points;
    for (Entry& entry : kept_) points.push_back(std::move(entry.point));
    return points;
  }

 private:
  struct Entry {
    float score = 0;
    std::int64_t order = 0;
    std::uint64_t hash = 0;
    Point point;
  };
  static bool is_above(const Entry& a, const Entry& b) { return a.score != b.score ? a.score > b.score : a.order < b.order; }

  std::size_t size_;
  std::vector<Entry> kept_;  // a heap, the worst in front
  std::unordered_set<std::uint64_t> hashes_;
  std::int64_t offered_ = 0;
};

class AutotvmSearcher final : public PointSearcher {
 public:
  AutotvmSearcher(const DesignSpace& space, const AutotvmOptions& options, std::unique_ptr<PointSearcher> walk,
                  std::uint64_t seed)
      : space_(space), options_(options), trees_(options.trees), walk_(std::move(walk)), rng_(seed, "autotvm") {
    for (std::size_t p = 0; p < space.parameters().size(); ++p) {
      if (space.parameters()[p].value_count > 1) free_.push_back(p);
    }
  }

  void ask(std::size_t most, std::vector<Point>& points) override {
    const std::size_t count = std::min(most, static_cast<std::size_t>(options_.plan));
    const auto drawn = static_cast<std::size_t>(options_.drawn * static_cast<double>(options_.plan));
    for (std::size_t n = 0; n < count; ++n) {
      while (next_ < plan_.size() && visited_.contains(plan_[next_])) ++next_;
      std::optional<Point> point;
      if (next_ + drawn < plan_.size()) {
        point = plan_[next_++];
      } else {
        point = unvisited();
      }
      if (!point) return;
      visited_.add(*point);
      points.push_back(std::move(*point));
    }
  }

  void tell(std::span<const Point> points, std::span<const Verdict> verdicts) override {
    remember(points, verdicts);
    const std::size_t due = noticed_ + static_cast<std::size_t>(options_.plan * (fits_ + 1));
    if (throughputs_.size() < due || best_ <= 0 || free_.empty()) return;
    std::vector<float> targets;
    for (const double throughput : throughputs_) targets.push_back(static_cast<float>(throughput / best_));
    trees_.fit(rows_, targets);
    ++fits_;
    anneal();
  }

  void notice(std::span<const Point> points, std::span<const Verdict> verdicts) override {
    for (const Point& point : points) {
      visited_.add(point);
      chains_.push_back(point);
    }
    remember(points, verdicts);
    noticed_ = points.size();
  }

 private:
  void remember(std::span<const Point> points, std::span<const Verdict> verdicts) {
    for (std::size_t n = 0; n < points.size(); ++n) {
      append_features(space_, points[n], rows_);
      const double cost = std::max(verdicts[n].score[0], 1e-300);
      throughputs_.push_back(verdicts[n].feasible ? 1 / cost : 0);
      best_ = std::max(best_, throughputs_.back());
    }
  }

  std::optional<Point> unvisited() {
    for (int draw = 0; draw < kDraws; ++draw) {
      Point point = random_point(space_, rng_);
      if (!visited_.contains(point)) return point;
    }
    while (true) {
      walked_.clear();
      walk_->ask(1, walked_);
      if (walked_.empty()) return std::nullopt;
      if (!visited_.contains(walked_[0])) return walked_[0];
    }
  }

  // One random parameter becomes another legal value; what that makes illegal is repaired.
  void step(const Point& from, Point& to) {
    to = from;
    for (int tried = 0; tried < kDraws && to == from; ++tried) {
      const std::size_t p = free_[static_cast<std::size_t>(rng_.below(static_cast<std::int64_t>(free_.size())))];
      space_.choices(to, p, choices_);
      to[p] = choices_[static_cast<std::int32_t>(rng_.below(choices_.count()))];
      if (to[p] != from[p]) repair(space_, to);
    }
  }

  void score(const std::vector<Point>& points, std::vector<float>& scores) {
    features_.values.clear();
    for (const Point& point : points) append_features(space_, point, features_);
    trees_.predict(features_, scores);
  }

  void anneal() {
    const auto count = static_cast<std::size_t>(options_.chains);
    if (chains_.size() > count) chains_.resize(count);
    while (chains_.size() < count) chains_.push_back(random_point(space_, rng_));
    score(chains_, scores_);
    BestPoints best(static_cast<std::size_t>(options_.plan));
    const auto offer_all = [&](const std::vector<Point>& points, const std::vector<float>& scores) {
      bool changed = false;
      for (std::size_t c = 0; c < count; ++c) {
        if (!visited_.contains(points[c])) changed = best.offer(scores[c], points[c]) || changed;
      }
      return changed;
    };
    offer_all(chains_, scores_);

    const double cooling = (options_.hottest - options_.coldest) / static_cast<double>(options_.steps + 1);
    double temperature = options_.hottest;
    stepped_.resize(count);
    for (std::int64_t k = 0, last_change = 0; k < options_.steps && k < last_change + options_.patience; ++k) {
      for (std::size_t c = 0; c < count; ++c) step(chains_[c], stepped_[c]);
      score(stepped_, new_scores_);
      if (offer_all(stepped_, new_scores_)) last_change = k;
      for (std::size_t c = 0; c < count; ++c) {
        const double gain = static_cast<double>(new_scores_[c]) - static_cast<double>(scores_[c]);
        if (rng_.uniform() >= std::exp(std::min(gain / (temperature + kLeastTemperature), 1.0))) continue;
        std::swap(chains_[c], stepped_[c]);
        scores_[c] = new_scores_[c];
      }
      temperature -= cooling;
    }
    plan_ = best.take();
    next_ = 0;
  }

  const DesignSpace& space_;
  AutotvmOptions options_;
  BoostedTrees trees_;
  std::unique_ptr<PointSearcher> walk_;
  Rng rng_;
  std::vector<std::size_t> free_;  // parameters with more than one value
  SeenPoints visited_;
  std::vector<Point> plan_;
  std::size_t next_ = 0;
  std::int64_t fits_ = 0;
  std::size_t noticed_ = 0;  // points known before the first ask
  double best_ = 0;
  FeatureRows rows_;
  std::vector<double> throughputs_;
  std::vector<Point> chains_;
  std::vector<float> scores_;
  // Reused from step to step.
  Choices choices_;
  FeatureRows features_;
  std::vector<Point> stepped_, walked_;
  std::vector<float> new_scores_;
};

}  // namespace

std::vector<Setting> settings_of(AutotvmOptions& options) {
  return {
      {"plan", "points per plan; the trees are fitted again when so many new results are there", &options.plan, 1, 1e6},
      {"drawn", "share of a plan that is random", &options.drawn, 0, 1},
      {"chains", "annealing chains; they go on from plan to plan", &options.chains, 1, 1e6},
      {"steps", "steps of each chain per plan, at most", &options.steps, 1, 1e9},
      {"hottest", "temperature of the first step, in units of the best throughput", &options.hottest, 0, 1e6},
      {"coldest", "temperature of the last step", &options.coldest, 0, 1e6},
      {"patience", "annealing ends when the best points have not changed for so many steps", &options.patience, 1, 1e9},
      {"loss", "what the trees are fitted for: squared error or pairwise rank", worded(options.trees.loss)},
      {"depth", "of the trees", &options.trees.depth, 1, 8},
      {"learning_rate", "share of each tree's correction that is taken", &options.trees.learning_rate, 1e-6, 1},
      {"gamma", "least gain of a split", &options.trees.gamma, 0, 1e6},
      {"min_child_weight", "least weight of a leaf", &options.trees.min_child_weight, 0, 1e6},
      {"lambda", "squared penalty of a leaf's value", &options.trees.lambda, 0, 1e6},
      {"rounds", "trees at most", &options.trees.most_rounds, 1, 1e6},
      {"fit_patience", "no more trees when the recall has not improved for so many", &options.trees.patience, 1, 1e6},
  };
}

Result<std::unique_ptr<PointSearcher>> make_autotvm(const DesignSpace& space, const AutotvmOptions& options, std::int64_t,
                                                    std::uint64_t seed) {
  AutotvmOptions chosen = options;
  chosen.trees.recall_size = options.plan;
  ExhaustiveOptions everything;
  everything.largest = 1e9;
  TW_TRY(std::unique_ptr<PointSearcher> walk, make_exhaustive(space, everything, 0, 0));
  return std::unique_ptr<PointSearcher>(std::make_unique<AutotvmSearcher>(space, chosen, std::move(walk), seed));
}

}  // namespace tilewright
