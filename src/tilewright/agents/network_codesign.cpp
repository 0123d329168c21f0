#include "tilewright/agents/network_codesign.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tilewright/agents/confidence_sampling.hpp"
#include "tilewright/base/result.hpp"

namespace tilewright {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kLastShare = 0.25;  // of the rounds, for the best machine only
constexpr int kScheduleDraws = 200;  // at a schedule that fits a machine

std::vector<const DesignSpace*> as_designs(const std::vector<const CodesignSpace*>& spaces) {
  return {spaces.begin(), spaces.end()};
}

// As many worlds as asked for, in whole groups.
std::size_t group_count(const DcocOptions& options, std::size_t layers) {
  return std::max<std::size_t>(4, (static_cast<std::size_t>(options.worlds) + layers - 1) / layers);
}

// Machines in play in a round: all in the first, then fewer by the same factor each time, at least two; at last one.
std::size_t play_size(std::size_t machines, std::int64_t round, std::int64_t rounds) {
  const auto last = static_cast<std::int64_t>(std::ceil(kLastShare * static_cast<double>(rounds)));
  const std::int64_t halving = rounds - last;
  if (round >= halving) return 1;
  const double left = 1 - static_cast<double>(round) / static_cast<double>(halving);
  const double size = std::ceil(std::pow(static_cast<double>(machines), left) - 1e-9);
  return std::min(machines, std::max<std::size_t>(2, static_cast<std::size_t>(size)));
}

}  // namespace

NetworkCodesign::NetworkCodesign(std::vector<const CodesignSpace*> spaces, std::vector<double> counts,
                                 const DcocOptions& options, std::int64_t samples, std::uint64_t seed, ThreadPool& threads)
    : spaces_(std::move(spaces)),
      counts_(std::move(counts)),
      options_(options),
      hardware_(spaces_.front()->hardware_parameters()),
      rounds_(std::max<std::int64_t>(1, (samples + options.batch - 1) / options.batch)),
      threads_(threads),
      walk_({.spaces = as_designs(spaces_),
             .agents = dcoc_agents(spaces_.front()->parameters(), options.assign),
             .shared = hardware_,
             .groups = group_count(options, spaces_.size()),
             .steps = static_cast<std::size_t>(options.steps)}),
      team_(walk_, ppo_options(options.learning, options.critic), seed, threads),
      rng_(seed, "network-codesign"),
      visited_(spaces_.size()),
      candidates_(spaces_.size()),
      layer_points_(spaces_.size()),
      opinions_(spaces_.size()) {
  TW_ASSERT(spaces_.size() == counts_.size());
  for (const CodesignSpace* space : spaces_) problems_.emplace_back(*space, problem_options(options));
  find_machines();
  if (options_.begin == FirstSchedules::Estimate) estimate_machines();
}

// Every machine within the area, in order of its entries.
void NetworkCodesign::find_machines() {
  const CodesignSpace& space = *spaces_.front();
  Point point(space.parameters().size(), 0);
  std::vector<Point> prefixes = {{}};
  for (std::size_t parameter = 0; parameter < hardware_; ++parameter) {
    std::vector<Point> longer;
    Choices choices;
    for (const Point& prefix : prefixes) {
      std::ranges::copy(prefix, point.begin());
      space.choices(point, parameter, choices);
      for (std::int32_t n = 0; n < choices.count(); ++n) {
        longer.push_back(prefix);
        longer.back().push_back(choices[n]);
      }
    }
    prefixes = std::move(longer);
  }
  for (const Point& prefix : prefixes) {
    std::ranges::copy(prefix, point.begin());
    if (vta::relative_area(space.machine(point)) > space.options().area_budget) continue;
    places_[prefix] = machines_.size();
    machines_.push_back({.hardware = prefix,
                         .measured = std::vector<double>(spaces_.size(), kNever),
                         .predicted = std::vector<double>(spaces_.size(), kNever),
                         .best = std::vector<Point>(spaces_.size()),
                         .estimated = std::vector<Point>(spaces_.size())});
  }
}

void NetworkCodesign::estimate_machines() {
  threads_.for_each(machines_.size(), [&](std::size_t machine, std::size_t) {
    Site& site = machines_[machine];
    for (std::size_t layer = 0; layer < spaces_.size(); ++layer) {
      auto best = spaces_[layer]->estimated_best(site.hardware);
      site.promise += best ? counts_[layer] * best->cycles : kNever;
      if (best) site.estimated[layer] = std::move(best->point);
    }
  });
}

std::optional<std::size_t> NetworkCodesign::site_of(PointView point) const {
  const auto found = places_.find(Point(point.begin(), point.begin() + static_cast<std::ptrdiff_t>(hardware_)));
  if (found == places_.end()) return std::nullopt;
  return found->second;
}

bool NetworkCodesign::is_base(const Site& site) const {
  Point point(spaces_.front()->parameters().size(), 0);
  std::ranges::copy(site.hardware, point.begin());
  return spaces_.front()->machine(point) == spaces_.front()->options().base;
}

bool NetworkCodesign::is_known(const Site& site) const {
  for (std::size_t layer = 0; layer < spaces_.size(); ++layer) {
    if (std::min(site.measured[layer], site.predicted[layer]) == kNever) return false;
  }
  return true;
}

// Measured where it was: predictions of what was never tried are the more hopeful the less is known.
double NetworkCodesign::network_score(const Site& site) const {
  double sum = 0;
  for (std::size_t layer = 0; layer < spaces_.size(); ++layer) {
    sum += counts_[layer] *
           std::exp(std::min(site.measured[layer] < kNever ? site.measured[layer] : site.predicted[layer], 700.0));
  }
  return sum;
}

std::vector<std::size_t> NetworkCodesign::choose_in_play() {
  std::vector<std::size_t> order(machines_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (!measured_once_) {
    for (std::size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[static_cast<std::size_t>(rng_.below(static_cast<std::int64_t>(i)))]);
    }
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return machines_[i].promise; });
    // What the user has is always tried, however few measurements there are.
    const auto base = std::ranges::find_if(order, [&](std::size_t i) { return is_base(machines_[i]); });
    if (base != order.end()) std::rotate(order.begin(), base, base + 1);
  } else {
    std::vector<double> scores;
    for (const Site& site : machines_) scores.push_back(network_score(site));
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return scores[i]; });
  }
  // More machines than measurements of a layer cannot all be tried.
  const std::size_t size = std::min(play_size(order.size(), round_, rounds_), static_cast<std::size_t>(options_.batch));
  order.resize(size);
  return order;
}

std::optional<Point> NetworkCodesign::draw_on(std::size_t layer, const Site& site) {
  const CodesignSpace& space = *spaces_[layer];
  Choices choices;
  Point point(space.parameters().size(), 0);
  std::ranges::copy(site.hardware, point.begin());
  for (int tried = 0; tried < kScheduleDraws; ++tried) {
    for (std::size_t parameter = hardware_; parameter < point.size(); ++parameter) {
      space.choices(point, parameter, choices);
      point[parameter] = choices[static_cast<std::int32_t>(rng_.below(choices.count()))];
    }
    if (problems_[layer].is_open(point)) return point;
  }
  return std::nullopt;
}

// Where a layer begins to walk on a machine: its best schedule there, else the estimated one, else the nearest to its best
// elsewhere.
Point NetworkCodesign::begin_on(std::size_t layer, const Site& site) {
  if (rng_.uniform() < options_.restart) {
    if (const auto drawn = draw_on(layer, site)) return *drawn;
  }
  if (!site.best[layer].empty()) return site.best[layer];
  if (!site.estimated[layer].empty()) return site.estimated[layer];
  const SurrogateProblem& problem = problems_[layer];
  Point point(spaces_[layer]->parameters().size(), 0);
  if (!problem.by_score().empty()) point = problem.measured()[problem.by_score().front()].point;
  std::ranges::copy(site.hardware, point.begin());
  repair(*spaces_[layer], point);
  return point;
}

void NetworkCodesign::judge(const Walk& walk, std::span<float> rewards) {
  const std::size_t layers = spaces_.size(), groups = walk.plan().groups, agents = walk.spec().agent_count();
  threads_.for_each(layers, [&](std::size_t layer, std::size_t) {
    std::vector<Point>& points = layer_points_[layer];
    points.clear();
    for (std::size_t group = 0; group < groups; ++group) points.push_back(walk.points()[group * layers + layer]);
    problems_[layer].judge(points, opinions_[layer]);
  });
  for (std::size_t group = 0; group < groups; ++group) {
    const auto site = site_of(walk.points()[group * layers]);
    double mean = 0;
    for (std::size_t layer = 0; layer < layers; ++layer) {
      const Opinion& opinion = opinions_[layer][group];
      const std::size_t world = group * layers + layer;
      std::fill_n(&rewards[world * agents], agents, opinion.reward);
      mean += static_cast<double>(opinion.reward) / static_cast<double>(layers);
      if (!site || !opinion.feasible) continue;
      double& predicted = machines_[*site].predicted[layer];
      predicted = std::min(predicted, problems_[layer].log_score_of(opinion.performance));
      if (opinion.measured || !visited_[layer].add(walk.points()[world])) continue;
      candidates_[layer].push_back({walk.points()[world], opinion.reward, 0, *site});
    }
    // Until every layer has found a place on the machine, how they fare now stands for it, penalties included.
    auto of_network = static_cast<float>(mean);
    if (site && is_known(machines_[*site])) {
      const double score = std::log(network_score(machines_[*site]));
      best_network_ = std::min(best_network_, score);
      of_network = static_cast<float>(std::exp(best_network_ - score));
    }
    for (std::size_t world = group * layers; world < (group + 1) * layers; ++world) {
      for (std::size_t agent = 0; agent < agents; ++agent) {
        if (walk.plan().agents[agent].front() < hardware_) rewards[world * agents + agent] = of_network;
      }
    }
  }
}

void NetworkCodesign::walk_worlds() {
  const std::size_t layers = spaces_.size();
  best_network_ = kNever;
  for (Site& site : machines_) {
    site.predicted.assign(layers, kNever);
    best_network_ = std::min(best_network_, std::log(network_score(site)));
  }
  for (std::size_t layer = 0; layer < layers; ++layer) {
    visited_[layer] = {};
    candidates_[layer].clear();
  }
  const Judge judges = [this](const Walk& walk, std::span<float> rewards) { judge(walk, rewards); };
  for (std::int64_t episode = 0; episode < options_.episodes; ++episode) {
    std::vector<Point> starts;
    for (std::size_t group = 0; group < walk_.plan().groups; ++group) {
      // The machines in play in turn, so that each is walked on.
      const std::size_t turn = static_cast<std::size_t>(episode) * walk_.plan().groups + group;
      const Site& site = machines_[in_play_[turn % in_play_.size()]];
      for (std::size_t layer = 0; layer < layers; ++layer) starts.push_back(begin_on(layer, site));
    }
    // The hardware agent moves in every second episode, as long as there is more than one machine to choose from.
    walk_.begin(std::move(starts), in_play_.size() == 1 || episode % 2 == 1);
    walk_episode(walk_, team_, judges);
  }
}

void NetworkCodesign::value_candidates(std::size_t layer) {
  const std::size_t width = walk_.spec().observation_size();
  std::vector<Candidate>& candidates = candidates_[layer];
  std::vector<float> observations(candidates.size() * width);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    walk_.observe(layer, candidates[i].point, std::span(observations).subspan(i * width, width));
  }
  std::vector<double> values;
  team_.values(observations, values);
  const double per_step = options_.learning.gamma * (1 - options_.learning.gamma);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    candidates[i].value = static_cast<double>(candidates[i].reward) + per_step * values[i];
  }
}

void NetworkCodesign::sample(std::size_t layer, std::size_t site, std::size_t count, SeenPoints& taken,
                             std::vector<Point>& points) {
  SurrogateProblem& problem = problems_[layer];
  const std::size_t end = points.size() + count;
  const auto is_new = [&](const Point& point) {
    return problem.is_open(point) && !taken.contains(point) && site_of(point) == site;
  };
  const auto add = [&](const Point& point) {
    if (points.size() < end && is_new(point) && taken.add(point)) points.push_back(point);
  };
  if (!machines_[site].estimated[layer].empty()) add(machines_[site].estimated[layer]);
  std::vector<const Candidate*> here;
  for (const Candidate& candidate : candidates_[layer]) {
    if (candidate.site == site) here.push_back(&candidate);
  }
  std::vector<Point> candidates;
  std::vector<double> values, rewards;
  for (const Candidate* candidate : here) {
    candidates.push_back(candidate->point);
    values.push_back(candidate->value);
    rewards.push_back(static_cast<double>(candidate->reward));
  }
  const std::vector<Point> chosen =
      sampled(*spaces_[layer], candidates, values, rewards, end - points.size(), options_, is_new, rng_);
  for (const Point& point : chosen) add(point);
  for (std::size_t tried = 0; tried < 2 * count && points.size() < end; ++tried) {
    const auto drawn = draw_on(layer, machines_[site]);
    if (!drawn) break;
    add(*drawn);
  }
}

void NetworkCodesign::ask(std::span<const std::int64_t> room, std::vector<Proposal>& proposals) {
  const std::size_t layers = spaces_.size();
  if (machines_.empty()) return;
  in_play_ = choose_in_play();
  if (measured_once_) {
    walk_worlds();
    in_play_ = choose_in_play();  // with what the walk found out
    for (std::size_t layer = 0; layer < layers; ++layer) value_candidates(layer);
  }
  std::vector<std::vector<Point>> chosen(layers);
  std::size_t most = 0;
  for (std::size_t layer = 0; layer < layers; ++layer) {
    const auto count = static_cast<std::size_t>(std::clamp<std::int64_t>(room[layer], 0, options_.batch));
    std::vector<Point>& points = chosen[layer];
    SeenPoints taken;
    // Equal shares, what is left over to the best; then what a machine had no use for to those after it, and once again.
    for (int turn = 0; turn < 2 && points.size() < count; ++turn) {
      for (std::size_t place = 0; place < in_play_.size() && points.size() < count; ++place) {
        const std::size_t machines_left = in_play_.size() - place;
        sample(layer, in_play_[place], (count - points.size() + machines_left - 1) / machines_left, taken, points);
      }
    }
    most = std::max(most, points.size());
  }
  // The layers in turn, so that machines are complete one after the other.
  for (std::size_t turn = 0; turn < most; ++turn) {
    for (std::size_t layer = 0; layer < layers; ++layer) {
      if (turn < chosen[layer].size()) proposals.push_back({layer, std::move(chosen[layer][turn])});
    }
  }
  ++round_;
}

void NetworkCodesign::tell(std::span<const Proposal> proposals, std::span<const Verdict> verdicts) {
  const std::size_t layers = spaces_.size();
  std::vector<std::vector<Point>> points(layers);
  std::vector<std::vector<Verdict>> told(layers);
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    const auto& [layer, point] = proposals[i];
    points[layer].push_back(point);
    told[layer].push_back(verdicts[i]);
    const auto site = site_of(point);
    if (!site || !verdicts[i].feasible) continue;
    measured_once_ = true;
    const double score = log_score(verdicts[i]);
    if (score >= machines_[*site].measured[layer]) continue;
    machines_[*site].measured[layer] = score;
    machines_[*site].best[layer] = point;
  }
  threads_.for_each(layers, [&](std::size_t layer, std::size_t) {
    if (points[layer].empty()) return;
    problems_[layer].tell(points[layer], told[layer]);
    problems_[layer].refit();
  });
  std::vector<Point> shown;
  std::vector<std::size_t> of;
  std::vector<float> rewards;
  std::vector<Opinion> opinions;
  for (std::size_t layer = 0; layer < layers; ++layer) {
    if (problems_[layer].by_score().empty()) continue;
    problems_[layer].judge(points[layer], opinions);
    for (std::size_t i = 0; i < points[layer].size(); ++i) {
      shown.push_back(points[layer][i]);
      of.push_back(layer);
      rewards.push_back(opinions[i].reward);
    }
  }
  show_measured(walk_, team_, shown, of, rewards);
}

std::shared_ptr<const Story> NetworkCodesign::story() const {
  auto stories = std::make_shared<StoriesApart>();
  for (const SurrogateProblem& problem : problems_) {
    stories->problems.push_back(std::make_shared<SurrogateStory>(problem.calibrations()));
  }
  return stories;
}

}  // namespace tilewright
