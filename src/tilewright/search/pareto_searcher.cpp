#include "tilewright/search/pareto_searcher.hpp"

#include <algorithm>
#include <cmath>

namespace tilewright {
namespace {

constexpr double kTowardsOthers = 0.02;  // weight of a metric that a direction does not care for: of equals, the better
constexpr double kSum = 0.05;

std::int64_t pilots_of(std::int64_t samples) { return std::clamp<std::int64_t>(samples / 20, 1, 32); }

}  // namespace

std::vector<Score> pareto_directions(std::size_t metrics) {
  std::vector<Score> directions;
  const auto add = [&](std::initializer_list<double> weights) {
    Score& direction = directions.emplace_back();
    std::size_t i = 0;
    for (const double weight : weights) direction[i++] = std::max(weight, kTowardsOthers);
  };
  if (metrics == 2) {
    for (const double weight : {0.5, 0.0, 1.0, 0.25, 0.75}) add({weight, 1 - weight});
    return directions;
  }
  add({1, 1, 1});
  add({1, 0, 0});
  add({0, 1, 0});
  add({0, 0, 1});
  add({1, 1, 0});
  add({1, 0, 1});
  add({0, 1, 1});
  return directions;
}

std::int64_t samples_of_direction(std::int64_t samples, std::size_t metrics) {
  const auto directions = static_cast<std::int64_t>(pareto_directions(metrics).size());
  return std::max<std::int64_t>(1, (samples - pilots_of(samples) + directions - 1) / directions);
}

ParetoSearcher::ParetoSearcher(std::unique_ptr<Searcher> inner, std::vector<const DesignSpace*> spaces, std::size_t metrics,
                               std::int64_t samples, std::uint64_t seed)
    : inner_(std::move(inner)),
      spaces_(std::move(spaces)),
      metrics_(metrics),
      directions_(pareto_directions(metrics)),
      scales_(spaces_.size()),
      pilots_(pilots_of(samples)),
      seed_(seed) {
  const auto count = static_cast<std::int64_t>(directions_.size());
  const std::int64_t rest = samples - pilots_;
  for (std::size_t problem = 0; problem < spaces_.size(); ++problem) {
    for (std::int64_t direction = 0; direction < count; ++direction) {
      left_.push_back(rest / count + (direction < rest % count ? 1 : 0));
    }
  }
}

void ParetoSearcher::ask(std::span<const std::int64_t> room, std::vector<Proposal>& proposals) {
  piloted_ = pilots_ > 0;
  if (piloted_) {
    for (std::size_t problem = 0; problem < spaces_.size(); ++problem) {
      Rng rng = Rng(seed_, "pareto").fork("", problem);
      for (std::int64_t i = 0; i < std::min(pilots_, room[problem]); ++i) {
        proposals.push_back({problem, random_point(*spaces_[problem], rng)});
      }
    }
    pilots_ = 0;
    return;
  }
  asked_.clear();
  inner_->ask(left_, asked_);
  for (const Proposal& one : asked_) {
    --left_[one.problem];
    proposals.push_back({one.problem / directions_.size(), one.point});
  }
}

void ParetoSearcher::set_scales(std::span<const Proposal> proposals, std::span<const Verdict> verdicts) {
  std::vector<Score> least(spaces_.size()), most(spaces_.size());
  std::vector<char> seen(spaces_.size(), 0);
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    const std::size_t problem = proposals[i].problem;
    if (!verdicts[i].feasible || scales_[problem]) continue;
    for (std::size_t m = 0; m < metrics_; ++m) {
      const double value = std::log(verdicts[i].terms[m]);
      least[problem][m] = seen[problem] != 0 ? std::min(least[problem][m], value) : value;
      most[problem][m] = seen[problem] != 0 ? std::max(most[problem][m], value) : value;
    }
    seen[problem] = 1;
  }
  for (std::size_t problem = 0; problem < spaces_.size(); ++problem) {
    if (seen[problem] == 0) continue;
    Scale& scale = scales_[problem].emplace();
    scale.ideal = least[problem];
    for (std::size_t m = 0; m < metrics_; ++m) {
      const double spread = most[problem][m] - least[problem][m];
      scale.spread[m] = spread > 1e-9 ? spread : 1;
    }
  }
}

double ParetoSearcher::value_of(std::size_t problem, std::size_t direction, const Score& terms) const {
  const Scale& scale = *scales_[problem];
  double largest = -INFINITY, sum = 0;
  for (std::size_t m = 0; m < metrics_; ++m) {
    const double part = directions_[direction][m] * (std::log(terms[m]) - scale.ideal[m]) / scale.spread[m];
    largest = std::max(largest, part);
    sum += part;
  }
  return std::exp(largest + kSum * sum);
}

void ParetoSearcher::tell(std::span<const Proposal> proposals, std::span<const Verdict> verdicts) {
  set_scales(proposals, verdicts);
  if (piloted_) return;
  std::vector<Verdict> told(verdicts.begin(), verdicts.end());
  for (std::size_t i = 0; i < told.size(); ++i) {
    if (!told[i].feasible) continue;
    told[i].score = {value_of(proposals[i].problem, asked_[i].problem % directions_.size(), told[i].terms)};
  }
  inner_->tell(asked_, told);
}

void ParetoSearcher::notice(std::span<const Proposal> proposals, std::span<const Verdict> verdicts) {
  set_scales(proposals, verdicts);
  std::vector<Proposal> noticed;
  std::vector<Verdict> told;
  for (std::size_t problem = 0; problem < spaces_.size(); ++problem) {
    for (std::size_t direction = 0; direction < directions_.size(); ++direction) {
      for (std::size_t i = 0; i < proposals.size(); ++i) {
        if (proposals[i].problem != problem) continue;
        noticed.push_back({problem * directions_.size() + direction, proposals[i].point});
        Verdict& verdict = told.emplace_back(verdicts[i]);
        if (verdict.feasible) verdict.score = {value_of(problem, direction, verdict.terms)};
      }
    }
  }
  inner_->notice(noticed, told);
}

}  // namespace tilewright
