#include "tilewright/search/annealing.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "tilewright/search/variation.hpp"

namespace tilewright {
namespace {

// Neighbours that were proposed before are made again this often before one is taken nevertheless.
constexpr int kAnnealingTries = 20;

struct State {
  Point point;
  Verdict verdict;
};

// How much worse b is than a, in units of the logarithm of the first entry in which the scores differ.
double loss(const Score& a, const Score& b) {
  for (std::size_t n = 0; n < a.size(); ++n) {
    if (a[n] != b[n]) return std::log(b[n] / a[n]);
  }
  return 0;
}

class AnnealingSearcher final : public PointSearcher {
 public:
  AnnealingSearcher(const DesignSpace& space, const AnnealingOptions& options, std::int64_t samples, std::uint64_t seed)
      : options_(options),
        samples_(std::max<std::int64_t>(1, samples)),
        initial_(std::max<std::int64_t>(options.chains, std::llround(options.initial * static_cast<double>(samples)))),
        variation_(space),
        rng_(seed, "annealing") {}

  void ask(std::size_t most, std::vector<Point>& points) override {
    const auto wide = static_cast<std::size_t>(options_.chains);
    if (told_ < initial_) {
      const std::size_t count = std::min({most, 4 * wide, static_cast<std::size_t>(initial_ - told_)});
      for (std::size_t n = 0; n < count; ++n) points.push_back(fresh([&] { return variation_.draw(rng_); }));
      return;
    }
    // With less room than chains, those whose turn it is go on.
    for (std::size_t n = 0; n < std::min(most, wide); ++n) {
      const State& chain = chains_[(turn_ + n) % wide];
      points.push_back(fresh([&] { return variation_.stepped(chain.point, options_.changes, rng_); }));
    }
  }

  void tell(std::span<const Point> points, std::span<const Verdict> verdicts) override {
    for (std::size_t n = 0; n < points.size(); ++n) {
      if (!best_ || is_better(verdicts[n], best_->verdict)) best_ = State{points[n], verdicts[n]};
      if (told_ < initial_) {
        start_with({points[n], verdicts[n]});
      } else {
        State& chain = chains_[turn_];
        if (accepts(chain, verdicts[n])) chain = {points[n], verdicts[n]};
        turn_ = (turn_ + 1) % chains_.size();
      }
      ++told_;
      restart_when_due();
    }
  }

  void notice(std::span<const Point> points, std::span<const Verdict> verdicts) override {
    for (std::size_t n = 0; n < points.size(); ++n) {
      seen_.add(points[n]);
      if (!best_ || is_better(verdicts[n], best_->verdict)) best_ = State{points[n], verdicts[n]};
      start_with({points[n], verdicts[n]});
    }
  }

 private:
  template <typename Make>
  Point fresh(Make make) {
    Point point = make();
    for (int tried = 1; tried < kAnnealingTries && seen_.contains(point); ++tried) point = make();
    seen_.add(point);
    return point;
  }

  // The chains are the best of the initial points, best first.
  void start_with(State state) {
    const auto after = std::upper_bound(chains_.begin(), chains_.end(), state,
                                        [](const State& a, const State& b) { return is_better(a.verdict, b.verdict); });
    chains_.insert(after, std::move(state));
    if (chains_.size() > static_cast<std::size_t>(options_.chains)) chains_.pop_back();
  }

  double temperature() const {
    const double share =
        static_cast<double>(told_ - initial_) / static_cast<double>(std::max<std::int64_t>(1, samples_ - initial_));
    return options_.hottest * std::pow(options_.coldest / options_.hottest, std::min(1.0, share));
  }

  bool accepts(const State& chain, const Verdict& verdict) {
    const double chance = rng_.uniform();  // drawn always, so that the stream does not depend on verdicts
    if (!verdict.feasible || !chain.verdict.feasible) return verdict.feasible || !chain.verdict.feasible;
    return chance < std::exp(-loss(chain.verdict.score, verdict.score) / temperature());
  }

  void restart_when_due() {
    if (told_ <= initial_ || options_.restarts == 0) return;
    const double period = static_cast<double>(samples_ - initial_) / options_.restarts;
    const auto due = static_cast<std::int64_t>(static_cast<double>(told_ - initial_) / period);
    if (due == restarts_) return;
    restarts_ = due;
    const auto worst = std::max_element(chains_.begin(), chains_.end(),
                                        [](const State& a, const State& b) { return is_better(a.verdict, b.verdict); });
    *worst = *best_;
  }

  AnnealingOptions options_;
  std::int64_t samples_, initial_;
  Variation variation_;
  Rng rng_;
  std::vector<State> chains_;
  std::optional<State> best_;
  std::size_t turn_ = 0;
  std::int64_t told_ = 0, restarts_ = 0;
  SeenPoints seen_;
};

}  // namespace

std::vector<Setting> settings_of(AnnealingOptions& options) {
  return {
      {"chains", "chains side by side; 0 = by the budget: one per 250 samples, 2 to 8", &options.chains, 0, 1e6},
      {"initial", "share of the budget that is drawn at random before the chains start", &options.initial, 0, 1},
      {"hottest", "temperature at the start, in units of the score's logarithm", &options.hottest, 1e-12, 1e6},
      {"coldest", "temperature at the end of the budget", &options.coldest, 1e-12, 1e6},
      {"changes", "entries stepped in a neighbour, on average", &options.changes, 0, 1e6},
      {"restarts", "how often the worst chain goes on from the best point", &options.restarts, 0, 1e9},
  };
}

Result<std::unique_ptr<PointSearcher>> make_annealing(const DesignSpace& space, const AnnealingOptions& options,
                                                      std::int64_t samples, std::uint64_t seed) {
  AnnealingOptions chosen = options;
  if (chosen.chains == 0) chosen.chains = std::clamp<std::int64_t>(samples / 250, 2, 8);
  return std::unique_ptr<PointSearcher>(std::make_unique<AnnealingSearcher>(space, chosen, samples, seed));
}

}  // namespace tilewright
