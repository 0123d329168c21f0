#include "tilewright/search/bayesian.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>

#include "tilewright/search/gaussian_process.hpp"
#include "tilewright/search/variation.hpp"

namespace tilewright {
namespace {

constexpr int kCandidateTries = 10;  // for a candidate that was not proposed before

// Where each parameter's numbers stand in a row of features.
struct Feature {
  std::size_t parameter = 0;
  bool one_hot = false;
  bool logarithmic = false;
  double low = 0, high = 1;          // of an ordinal one, after taking the logarithm
  std::optional<std::size_t> outer;  // the ratio to this parameter's value is a feature too
};

class Features {
 public:
  Features(const DesignSpace& space, const Variation& variation) : space_(space) {
    for (std::size_t p = 0; p < space.parameters().size(); ++p) {
      const Parameter& parameter = space.parameters()[p];
      if (parameter.value_count < 2) continue;
      Feature feature;
      feature.parameter = p;
      feature.one_hot = parameter.kind == ParameterKind::Categorical;
      feature.low = space.value(p, 0);
      feature.high = space.value(p, parameter.value_count - 1);
      feature.logarithmic = feature.low > 0;
      if (feature.logarithmic) {
        feature.low = std::log(feature.low);
        feature.high = std::log(feature.high);
      }
      // How often an inner tile steps through the outer one matters as much as how large it is.
      if (feature.logarithmic && !feature.one_hot) feature.outer = variation.outer(p);
      width_ += feature.one_hot ? static_cast<std::size_t>(parameter.value_count) : feature.outer ? 2 : 1;
      features_.push_back(feature);
    }
  }

  std::size_t width() const { return width_; }

  void append(PointView point, std::vector<double>& row) const {
    for (const Feature& feature : features_) {
      const std::int32_t index = point[feature.parameter];
      if (feature.one_hot) {
        const std::size_t first = row.size();
        row.resize(first + static_cast<std::size_t>(space_.parameters()[feature.parameter].value_count), 0.0);
        row[first + static_cast<std::size_t>(index)] = 1;
        continue;
      }
      const double value = space_.value(feature.parameter, index);
      row.push_back(((feature.logarithmic ? std::log(value) : value) - feature.low) / (feature.high - feature.low));
      if (!feature.outer) continue;
      const double whole = space_.value(*feature.outer, point[*feature.outer]);
      row.push_back(std::log(std::max(whole, 1.0) / value) / (feature.high - feature.low));
    }
  }

 private:
  const DesignSpace& space_;
  std::vector<Feature> features_;
  std::size_t width_ = 0;
};

struct Sample {
  Point point;
  bool feasible = false;
  double log_score = 0;
};

// Of a minimum below `best` for a normal variable.
double expected_improvement(double best, double mean, double variance) {
  const double deviation = std::sqrt(variance);
  if (deviation < 1e-12) return std::max(0.0, best - mean);
  const double z = (best - mean) / deviation;
  const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
  return deviation * (z * 0.5 * std::erfc(-z / std::numbers::sqrt2) + density);
}

class BayesianSearcher final : public PointSearcher {
 public:
  BayesianSearcher(const DesignSpace& space, const BayesianOptions& options, std::uint64_t seed)
      : options_(options), variation_(space), features_(space, variation_), rng_(seed, "bayesian") {
    // With d dimensions points are about sqrt(d/6) apart; lengths of that order make neighbours tell something.
    centre_.lengths.assign(features_.width(),
                           0.5 * std::sqrt(static_cast<double>(std::max<std::size_t>(1, features_.width()))));
    centre_.noise = 1e-2;
    kernel_ = centre_;
  }

  void ask(std::size_t most, std::vector<Point>& points) override {
    const std::size_t count = std::min(most, static_cast<std::size_t>(options_.batch));
    if (samples_.size() < noticed_ + static_cast<std::size_t>(options_.initial) || best_.empty() || features_.width() == 0) {
      for (std::size_t n = 0; n < count; ++n) points.push_back(fresh([&] { return variation_.draw(rng_); }));
      return;
    }
    learn();
    choose(count, points);
  }

  void tell(std::span<const Point> points, std::span<const Verdict> verdicts) override {
    for (std::size_t n = 0; n < points.size(); ++n) {
      const bool feasible = verdicts[n].feasible;
      samples_.push_back({points[n], feasible, feasible ? log_score(verdicts[n]) : 0.0});
      if (!feasible) continue;
      // First asked stays first among equals.
      const auto after =
          std::upper_bound(best_.begin(), best_.end(), samples_.size() - 1,
                           [&](std::size_t a, std::size_t b) { return samples_[a].log_score < samples_[b].log_score; });
      best_.insert(after, samples_.size() - 1);
    }
  }

  void notice(std::span<const Point> points, std::span<const Verdict> verdicts) override {
    for (const Point& point : points) seen_.add(point);
    tell(points, verdicts);
    noticed_ = points.size();
  }

 private:
  template <typename Make>
  Point fresh(Make make) {
    Point point = make();
    for (int tried = 1; tried < kCandidateTries && seen_.contains(point); ++tried) point = make();
    seen_.add(point);
    return point;
  }

  // The samples that the process is to hold: the best, the latest, and others at random.
  std::vector<std::size_t> subset(std::size_t most) {
    std::vector<std::size_t> chosen;
    if (samples_.size() <= most) {
      chosen.resize(samples_.size());
      std::iota(chosen.begin(), chosen.end(), std::size_t{0});
      return chosen;
    }
    std::vector<bool> taken(samples_.size());
    const auto take = [&](std::size_t sample) {
      if (taken[sample]) return;
      taken[sample] = true;
      chosen.push_back(sample);
    };
    for (std::size_t n = 0; n < best_.size() && chosen.size() < most / 2; ++n) take(best_[n]);
    for (std::size_t n = samples_.size(); n-- > 0 && chosen.size() < 3 * most / 4;) take(n);
    while (chosen.size() < most) take(static_cast<std::size_t>(rng_.below(static_cast<std::int64_t>(samples_.size()))));
    return chosen;
  }

  std::vector<double> rows_of(std::span<const std::size_t> samples) const {
    std::vector<double> rows;
    rows.reserve(samples.size() * features_.width());
    for (const std::size_t sample : samples) features_.append(samples_[sample].point, rows);
    return rows;
  }

  // Standardised, the worse half of the feasible ones and all infeasible ones at the median.
  std::vector<double> targets_of(std::span<const std::size_t> samples) {
    const double worst = samples_[best_[best_.size() / 2]].log_score;
    std::vector<double> targets;
    double sum = 0, squares = 0;
    for (const std::size_t sample : samples) {
      const Sample& s = samples_[sample];
      targets.push_back(s.feasible ? std::min(s.log_score, worst) : worst);
      sum += targets.back();
      squares += targets.back() * targets.back();
    }
    const auto count = static_cast<double>(targets.size());
    shift_ = sum / count;
    scale_ = std::sqrt(std::max(1e-12, squares / count - shift_ * shift_));
    for (double& target : targets) target = (target - shift_) / scale_;
    return targets;
  }

  void learn() {
    if (static_cast<double>(samples_.size()) >= 1.5 * static_cast<double>(fitted_at_)) {
      const std::vector<std::size_t> some = subset(static_cast<std::size_t>(options_.fit_points));
      const std::vector<double> targets = targets_of(some);
      kernel_ = fitted(kernel_, centre_, rows_of(some), targets, static_cast<int>(options_.fit_steps));
      fitted_at_ = samples_.size();
      process_.reset();
    }
    const auto most = static_cast<std::size_t>(options_.points);
    if (!process_ || held_.size() + samples_.size() - next_ > most + most / 4) {
      process_.emplace(kernel_);
      held_ = subset(most);
      process_->add(rows_of(held_));
    } else {
      std::vector<std::size_t> latest(samples_.size() - next_);
      std::iota(latest.begin(), latest.end(), next_);
      process_->add(rows_of(latest));
      held_.insert(held_.end(), latest.begin(), latest.end());
    }
    next_ = samples_.size();
    process_->set_targets(targets_of(held_));
  }

  Point candidate() {
    if (rng_.uniform() < options_.drawn) return variation_.draw(rng_);
    const auto size = std::min<std::int64_t>(options_.incumbents, static_cast<std::int64_t>(best_.size()));
    const auto pick = [&]() -> const Point& {
      return samples_[best_[static_cast<std::size_t>(std::min(rng_.below(size), rng_.below(size)))]].point;
    };
    const Point& first = pick();
    if (rng_.below(4) != 0) return variation_.stepped(first, options_.changes, rng_);
    return variation_.stepped(variation_.crossed_by_parameter(first, pick(), rng_), 1, rng_);
  }

  // Candidates that were not proposed before; those with the best mean when there are more than `refined`.
  std::vector<Point> candidates(std::size_t at_least) {
    std::vector<Point> made;
    std::vector<double> rows;
    SeenPoints mine;
    const auto wanted = std::max(static_cast<std::size_t>(options_.candidates), at_least);
    for (std::size_t tried = 0; tried < 2 * wanted && made.size() < wanted; ++tried) {
      Point point = candidate();
      if (seen_.contains(point) || !mine.add(point)) continue;
      features_.append(point, rows);
      made.push_back(std::move(point));
    }
    const auto kept = std::max(static_cast<std::size_t>(options_.refined), at_least);
    if (made.size() <= kept) return made;
    const std::vector<double> means = process_->means(rows);
    std::vector<std::size_t> order(made.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return means[a] < means[b]; });
    std::vector<Point> refined;
    for (std::size_t n = 0; n < kept; ++n) refined.push_back(std::move(made[order[n]]));
    return refined;
  }

  void choose(std::size_t count, std::vector<Point>& points) {
    const std::vector<Point> among = candidates(count);
    if (among.empty()) {  // the neighbourhood is used up
      points.push_back(fresh([&] { return variation_.draw(rng_); }));
      return;
    }
    std::vector<double> rows;
    for (const Point& point : among) features_.append(point, rows);
    auto predictions = process_->predict(rows);
    double best = (samples_[best_.front()].log_score - shift_) / scale_;
    std::vector<bool> taken(among.size());
    for (std::size_t n = 0; n < std::min(count, among.size()); ++n) {
      std::optional<std::size_t> chosen;
      double most = 0;
      for (std::size_t c = 0; c < among.size(); ++c) {
        if (taken[c]) continue;
        const double improvement = expected_improvement(best, predictions.mean(c), predictions.variance(c));
        if (chosen && improvement <= most) continue;
        chosen = c;
        most = improvement;
      }
      taken[*chosen] = true;
      predictions.believe(*chosen);
      best = std::min(best, predictions.mean(*chosen));
      seen_.add(among[*chosen]);
      points.push_back(among[*chosen]);
    }
  }

  BayesianOptions options_;
  Variation variation_;
  Features features_;
  Rng rng_;
  std::vector<Sample> samples_;
  std::size_t noticed_ = 0;        // of them, known before the first ask
  std::vector<std::size_t> best_;  // feasible samples, best first
  KernelParameters kernel_, centre_;
  std::optional<GaussianProcess> process_;
  std::vector<std::size_t> held_;  // samples in the process, in its order
  std::size_t next_ = 0;           // samples from here on are not known to the process
  std::size_t fitted_at_ = 0;
  double shift_ = 0, scale_ = 1;  // of the targets
  SeenPoints seen_;
};

}  // namespace

std::vector<Setting> settings_of(BayesianOptions& options) {
  return {
      {"initial", "points drawn at first; 0 = by the budget: a twentieth of it, 20 to 100", &options.initial, 0, 1e6},
      {"batch", "points per ask; 0 = by the budget: one per 500 samples, 4 to 16", &options.batch, 0, 1e4},
      {"candidates", "points whose mean is looked at", &options.candidates, 1, 1e5},
      {"refined", "of those, the ones whose expected improvement is looked at", &options.refined, 1, 1e5},
      {"points", "points in the process", &options.points, 10, 1e4},
      {"incumbents", "best points from which candidates are made", &options.incumbents, 1, 1e6},
      {"drawn", "share of candidates that are drawn anew", &options.drawn, 0, 1},
      {"changes", "entries stepped in a candidate, on average", &options.changes, 0, 1e6},
      {"fit_points", "points on which the kernel's parameters are fitted", &options.fit_points, 10, 1e4},
      {"fit_steps", "steps of gradient ascent in a fit", &options.fit_steps, 0, 1e4},
  };
}

Result<std::unique_ptr<PointSearcher>> make_bayesian(const DesignSpace& space, const BayesianOptions& options,
                                                     std::int64_t samples, std::uint64_t seed) {
  BayesianOptions chosen = options;
  if (chosen.initial == 0) chosen.initial = std::clamp<std::int64_t>(samples / 20, 20, 100);
  if (chosen.batch == 0) chosen.batch = std::clamp<std::int64_t>(samples / 500, 4, 16);
  return std::unique_ptr<PointSearcher>(std::make_unique<BayesianSearcher>(space, chosen, seed));
}

}  // namespace tilewright
