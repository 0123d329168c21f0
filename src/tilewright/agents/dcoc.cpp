#include "tilewright/agents/dcoc.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "tilewright/agents/confidence_sampling.hpp"
#include "tilewright/agents/kmeans.hpp"

namespace tilewright {
namespace {

constexpr std::size_t kGoodStarts = 64;    // points that episodes begin at
constexpr std::size_t kClustered = 2'048;  // candidates that k-means looks at, the best by value

std::vector<std::size_t> best_first(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>{}, [&](std::size_t i) { return values[i]; });
  return order;
}

}  // namespace

std::vector<Setting> settings_of(DcocOptions& options) {
  std::vector<Setting> settings = {
      {"batch", "measurements per round", &options.batch, 1, 100'000},
      {"worlds", "walks side by side", &options.worlds, 1, 100'000},
      {"steps", "of an episode", &options.steps, 1, 100'000},
      {"episodes", "of every world, per round", &options.episodes, 1, 100'000},
      {"restart", "share of episodes that begin at random points", &options.restart, 0, 1},
      {"random", "share of measurements drawn at random", &options.random, 0, 1},
      {"temperature", "of Confidence Sampling, in standard deviations of the values", &options.temperature, 1e-6, 1e6},
      {"assign", "parameters of the agents", worded(options.assign)},
      {"critic", "what the critics see", one_of(options.critic, {Critic::Central, Critic::Own, Critic::None})},
      {"sampling", "what is measured", worded(options.sampling)},
      {"begin", "of a network, the first schedules on every machine", worded(options.begin)},
      {"features", "what the surrogate sees", worded(options.features)},
      {"area_penalty", "per area budget exceeded", &options.area_penalty, 0, 1e6},
      {"memory_penalty", "per buffer capacity exceeded", &options.memory_penalty, 0, 1e6},
      {"unencodable_reward", "of what cannot be encoded, and the least there is", &options.unencodable_reward, -1e6, 0},
      {"trees", "of the surrogate", &options.trees, 1, 100'000},
      {"depth", "of the trees", &options.depth, 1, 16},
  };
  std::ranges::move(settings_of(options.learning), std::back_inserter(settings));
  return settings;
}

ProblemOptions problem_options(const DcocOptions& options) {
  ProblemOptions problem;
  problem.trees.most_rounds = options.trees;
  problem.trees.depth = options.depth;
  problem.features = options.features;
  problem.area_penalty = options.area_penalty;
  problem.memory_penalty = options.memory_penalty;
  problem.unencodable_reward = options.unencodable_reward;
  return problem;
}

std::vector<std::vector<std::size_t>> dcoc_agents(const std::vector<Parameter>& parameters, WalkAssignment assign) {
  std::vector<Role> roles;
  std::vector<std::vector<std::size_t>> agents;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    auto place = static_cast<std::size_t>(std::ranges::find(roles, parameters[p].role) - roles.begin());
    if (assign == WalkAssignment::Single) place = 0;
    if (place == agents.size()) {
      roles.push_back(parameters[p].role);
      agents.emplace_back();
    }
    agents[place].push_back(p);
  }
  if (assign != WalkAssignment::Wrong) return agents;
  // As many parameters for each as by role, but dealt out in turn, so that no agent has what belongs together.
  std::vector<std::vector<std::size_t>> wrong(agents.size());
  std::size_t turn = 0;
  for (std::size_t p = 0; p < parameters.size(); ++p, ++turn) {
    while (wrong[turn % wrong.size()].size() == agents[turn % wrong.size()].size()) ++turn;
    wrong[turn % wrong.size()].push_back(p);
  }
  return wrong;
}

std::vector<Point> sampled(const DesignSpace& space, std::span<const Point> candidates, std::span<const double> values,
                           std::span<const double> rewards, std::size_t count, const DcocOptions& options,
                           const std::function<bool(const Point&)>& is_new, Rng& rng) {
  std::vector<Point> points;
  SeenPoints taken;
  const auto add = [&](const Point& point) {
    if (points.size() < count && is_new(point) && taken.add(point)) points.push_back(point);
  };
  if (candidates.empty()) return points;
  if (options.sampling == CandidateSampling::Confidence) {
    double mean = 0, squares = 0;
    for (const double value : values) mean += value / static_cast<double>(values.size());
    for (const double value : values) squares += (value - mean) * (value - mean) / static_cast<double>(values.size());
    const double temperature = options.temperature * std::sqrt(squares);
    for (const Point& point : confidence_sample(space, candidates, values, count, temperature, is_new, rng)) add(point);
  } else if (options.sampling == CandidateSampling::Uniform) {
    const std::vector<double> alike(candidates.size(), 1);
    for (const std::size_t i : draw_without_replacement(alike, count, rng)) add(candidates[i]);
  } else if (options.sampling == CandidateSampling::KMeans) {
    std::vector<std::size_t> order = best_first(values);
    order.resize(std::min(order.size(), kClustered));
    Cloud cloud;
    for (const std::size_t i : order) append_place(space, candidates[i], cloud);
    for (const std::size_t i : nearest_points(cloud, k_means(cloud, count, rng))) add(candidates[order[i]]);
  }
  // All of Top; for the others what they left open.
  for (const std::size_t i : best_first(rewards)) add(candidates[i]);
  return points;
}

DcocSearcher::DcocSearcher(const DesignSpace& space, const DcocOptions& options, std::uint64_t seed, ThreadPool& threads)
    : options_(options),
      problem_(space, problem_options(options)),
      walk_({.spaces = {&space},
             .agents = dcoc_agents(space.parameters(), options.assign),
             .shared = 0,
             .groups = static_cast<std::size_t>(options.worlds),
             .steps = static_cast<std::size_t>(options.steps)}),
      team_(walk_, ppo_options(options.learning, options.critic), seed, threads),
      rng_(seed, "dcoc") {}

// Random points; or good ones, the better the more often: of all that were measured, or the best of each machine, because
// the best of all are soon of one machine.
std::vector<Point> DcocSearcher::starts() {
  std::vector<std::size_t> heads;
  std::set<Point> machines;
  const std::size_t hardware = problem_.codesign() != nullptr ? problem_.codesign()->hardware_parameters() : 0;
  for (const std::size_t place : problem_.by_score()) {
    const Point& point = problem_.measured()[place].point;
    if (machines.insert(Point(point.begin(), point.begin() + static_cast<std::ptrdiff_t>(hardware))).second) {
      heads.push_back(place);
    }
  }
  std::vector<Point> points;
  while (points.size() < walk_.world_count()) {
    std::optional<Point> point;
    if (rng_.uniform() < options_.restart) point = problem_.draw(rng_);
    if (!point) {
      const std::vector<std::size_t>& good = points.size() % 2 == 0 ? heads : problem_.by_score();
      const double u = rng_.uniform();
      const auto place = static_cast<std::size_t>(u * u * static_cast<double>(std::min(good.size(), kGoodStarts)));
      point = problem_.measured()[good[place]].point;
    }
    points.push_back(std::move(*point));
  }
  return points;
}

void DcocSearcher::walk_worlds() {
  visited_ = {};
  candidates_.clear();
  rewards_.clear();
  std::vector<Opinion> opinions;
  const std::size_t agents = walk_.spec().agent_count();
  const Judge judge = [&](const Walk& walk, std::span<float> rewards) {
    problem_.judge(walk.points(), opinions);
    for (std::size_t world = 0; world < opinions.size(); ++world) {
      const Opinion& opinion = opinions[world];
      std::fill_n(&rewards[world * agents], agents, opinion.reward);
      if (opinion.measured || !opinion.feasible || !visited_.add(walk.points()[world])) continue;
      candidates_.push_back(walk.points()[world]);
      rewards_.push_back(static_cast<double>(opinion.reward));
    }
  };
  for (std::int64_t episode = 0; episode < options_.episodes; ++episode) {
    walk_.begin(starts());
    walk_episode(walk_, team_, judge);
  }
  const std::size_t width = walk_.spec().observation_size();
  std::vector<float> observations(candidates_.size() * width);
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    walk_.observe(0, candidates_[i], std::span(observations).subspan(i * width, width));
  }
  team_.values(observations, values_);
  const double per_step = options_.learning.gamma * (1 - options_.learning.gamma);
  for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = rewards_[i] + per_step * values_[i];
}

void DcocSearcher::add(const Point& point, std::vector<Point>& points) {
  if (problem_.is_open(point) && taken_.add(point)) points.push_back(point);
}

void DcocSearcher::ask(std::size_t most, std::vector<Point>& points) {
  const std::size_t before = points.size(), count = std::min(most, static_cast<std::size_t>(options_.batch));
  taken_ = {};
  if (problem_.can_predict()) {
    walk_worlds();
    const auto random = static_cast<std::size_t>(options_.random * static_cast<double>(count));
    const auto is_new = [&](const Point& point) { return problem_.is_open(point); };
    for (const Point& point :
         sampled(problem_.space(), candidates_, values_, rewards_, count - random, options_, is_new, rng_)) {
      add(point, points);
    }
  }
  for (std::size_t tried = 0; tried < 10 * count && points.size() - before < count; ++tried) {
    if (const auto point = problem_.draw(rng_)) add(*point, points);
  }
}

void DcocSearcher::notice(std::span<const Point> points, std::span<const Verdict> verdicts) {
  problem_.tell(points, verdicts);
  problem_.refit();
}

void DcocSearcher::tell(std::span<const Point> points, std::span<const Verdict> verdicts) {
  problem_.tell(points, verdicts);
  problem_.refit();
  if (!problem_.can_predict()) return;
  std::vector<Opinion> opinions;
  problem_.judge(points, opinions);
  std::vector<float> rewards;
  for (const Opinion& opinion : opinions) rewards.push_back(opinion.reward);
  show_measured(walk_, team_, points, std::vector<std::size_t>(points.size(), 0), rewards);
}

}  // namespace tilewright
