#include "tilewright/agents/dcoc.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../twins.hpp"
#include "target_space.hpp"
#include "tilewright/agents/network_codesign.hpp"
#include "tilewright/search/search_loop.hpp"

namespace tilewright {
namespace {

DcocOptions short_rounds() {
  DcocOptions options;
  options.batch = 32;
  options.worlds = 16;
  options.steps = 16;
  options.learning.hidden = 16;
  return options;
}

Layer small_layer(std::int64_t channels, std::int64_t size) {
  return convolution("small", {.batch = 1,
                               .out_channels = channels,
                               .in_channels = channels,
                               .in_height = size,
                               .in_width = size,
                               .kernel_height = 3,
                               .kernel_width = 3,
                               .stride = 1,
                               .pad = 1,
                               .groups = 1});
}

// Small buffers, so that many tiles do not fit, and few machines.
CodesignSpaceOptions small_options() {
  CodesignSpaceOptions options;
  options.log_batches = {0, 1};
  options.log_blocks_in = {3, 4, 5};
  options.log_blocks_out = {3, 4, 5};
  options.base.log_inp_buffer = 13;
  options.base.log_wgt_buffer = 15;
  options.base.log_acc_buffer = 14;
  options.area_budget = 0.5;
  options.give_up = 0;  // what takes long can only be measured
  return options;
}

// Every legal point.
template <typename Visit>
void for_each_point(const DesignSpace& space, Point& point, std::size_t parameter, const Visit& visit) {
  if (parameter == point.size()) return visit(point);
  Choices choices;
  space.choices(point, parameter, choices);
  for (std::int32_t n = 0; n < choices.count(); ++n) {
    point[parameter] = choices[n];
    for_each_point(space, point, parameter + 1, visit);
  }
}
template <typename Visit>
void for_each_point(const DesignSpace& space, const Visit& visit) {
  Point point(space.parameters().size(), 0);
  for_each_point(space, point, 0, visit);
}

double exhaustive_best(const DesignSpace& space) {
  const auto evaluator = space.evaluator();
  double best = 1e300;
  for_each_point(space, [&](const Point& point) {
    const Outcome outcome = evaluator->evaluate(point);
    if (outcome.feasible) best = std::min(best, outcome.metrics.latency);
  });
  return best;
}

struct Recorded {
  std::vector<Point> points;
  std::vector<Verdict> verdicts;
  double best = 0;
  std::vector<Calibration> calibrations;
};

Recorded run_dcoc(const DesignSpace& space, const DcocOptions& options, std::int64_t samples, std::uint64_t seed = 1,
                  std::size_t thread_count = 1) {
  Recorded run;
  ThreadPool threads(thread_count);
  std::vector<std::unique_ptr<PointSearcher>> searchers;
  searchers.push_back(std::make_unique<DcocSearcher>(space, options, seed, threads));
  const auto searcher = each_alone(std::move(searchers));
  SearchLoop loop({&space}, *objective_named("latency"), samples, threads);
  loop.on_sample = [&](const Proposal& proposal, const Outcome&, const Verdict& verdict) {
    run.points.push_back(proposal.point);
    run.verdicts.push_back(verdict);
  };
  while (loop.round(*searcher)) {
  }
  EXPECT_EQ(loop.ledgers()[0].repeated, 0);
  run.best = loop.ledgers()[0].best ? loop.ledgers()[0].best->score[0] : 0;
  run.calibrations = calibrations_of(searcher->story().get(), 0);
  return run;
}

// The best of as many random draws.
double best_drawn(const DesignSpace& space, std::size_t samples, std::uint64_t seed) {
  Rng rng(seed, "drawn");
  const auto evaluator = space.evaluator();
  double best = 1e300;
  for (std::size_t n = 0; n < samples; ++n) {
    const Outcome outcome = evaluator->evaluate(random_point(space, rng));
    if (outcome.feasible) best = std::min(best, outcome.metrics.latency);
  }
  return best;
}

// What finds optima is the walk on the surrogate and the choice from what it saw. The policies need not learn for that; that
// they do is tested below, on the walk alone.
class DcocWalks : public testing::TestWithParam<double> {
 protected:
  static DcocOptions options() {
    DcocOptions options = short_rounds();
    options.learning.learning_rate = GetParam();
    return options;
  }
};
INSTANTIATE_TEST_SUITE_P(Dcoc, DcocWalks, testing::Values(1e-3, 0.0),
                         [](const auto& tested) { return tested.param > 0 ? "learning" : "still"; });

TEST_P(DcocWalks, ToTheOptimumOfATinyCodesign) {
  const CodesignSpace space("tiny", small_layer(32, 8), small_options());  // 4,608 points, two of them optimal
  const double best = exhaustive_best(space);
  int drawn = 0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    EXPECT_EQ(run_dcoc(space, options(), 160, seed).best, best);
    drawn += best_drawn(space, 160, seed) == best ? 1 : 0;
  }
  EXPECT_LE(drawn, 1);
}

TEST_P(DcocWalks, ToAKnownOptimumOfAQuarterMillionPoints) {
  const TargetSpace space("target", 0.3F);
  for (const std::uint64_t seed : {1, 2}) {
    EXPECT_LT(run_dcoc(space, options(), 400, seed).best, 1.0001);
    EXPECT_GT(best_drawn(space, 400, seed), 1.5);
  }
}

// Limits that can be asked are never measured; those of this space are all of that kind.
TEST(Dcoc, MeasuresNothingThatIsKnownToFail) {
  const CodesignSpace space("tiny", small_layer(64, 14), small_options());
  const Recorded run = run_dcoc(space, short_rounds(), 128);
  EXPECT_EQ(run.points.size(), 128U);
  for (const Verdict& verdict : run.verdicts) EXPECT_TRUE(verdict.feasible);
  EXPECT_EQ(run.calibrations.size(), 3U);
  EXPECT_GT(run.calibrations.back().rank_correlation, 0.2);
}

// Without penalties the agents are drawn beyond the limits, but nothing from there is proposed.
TEST(Dcoc, NeverAnswersWithAnInfeasiblePoint) {
  DcocOptions options = short_rounds();
  options.area_penalty = options.memory_penalty = options.unencodable_reward = 0;
  const CodesignSpace space("tiny", small_layer(64, 14), small_options());
  for (const Verdict& verdict : run_dcoc(space, options, 96).verdicts) EXPECT_TRUE(verdict.feasible);
}

// In a space that tells nothing beforehand, three of four points fail and are measured; the surrogate learns from that.
TEST(Dcoc, MeasuresFewerThatFailAsTheSurrogateLearns) {
  const TargetSpace dark("target", 0.3F, 8, 4);
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Recorded run = run_dcoc(dark, short_rounds(), 200, seed);
    const auto failed = [&](std::size_t first, std::size_t last) {
      const auto infeasible = [](const Verdict& verdict) { return !verdict.feasible; };
      const auto count = std::count_if(run.verdicts.begin() + static_cast<std::ptrdiff_t>(first),
                                       run.verdicts.begin() + static_cast<std::ptrdiff_t>(last), infeasible);
      return static_cast<double>(count) / static_cast<double>(last - first);
    };
    EXPECT_LT(failed(136, 200), 0.5 * failed(0, 32));
    EXPECT_LT(run.best, 1.2);
    EXPECT_GT(best_drawn(dark, 200, seed), 1.5);
  }
}

TEST(Dcoc, RewardsFallWithTheExcess) {
  const CodesignSpace space("tiny", small_layer(64, 14), small_options());
  SurrogateProblem problem(space, problem_options(short_rounds()));
  std::vector<Opinion> opinions;
  std::size_t seen = 0, within = 0;
  const auto evaluator = space.evaluator();
  for_each_point(space, [&](const Point& point) {
    if (seen++ % 7 != 0) return;
    problem.judge({&point, 1}, opinions);
    const CodesignSpace::Excess excess = space.excess(point);
    within += opinions[0].feasible ? 1 : 0;
    EXPECT_EQ(opinions[0].feasible, evaluator->evaluate(point).feasible);
    EXPECT_EQ(opinions[0].reward < 0, !opinions[0].feasible);  // nothing was measured yet
    const double expected = std::max(-2.0, -4 * excess.area - excess.buffers);
    if (excess.area + excess.buffers == 0) return;
    EXPECT_NEAR(opinions[0].reward, expected, 1e-5);
  });
  EXPECT_GT(within, 100U);
}

TEST(Dcoc, RunsWithEveryAblation) {
  const CodesignSpace space("tiny", small_layer(32, 8), small_options());
  std::set<std::vector<Point>> courses;
  std::size_t runs = 0;
  const auto try_with = [&](auto DcocOptions::*field, auto value) {
    DcocOptions options = short_rounds();
    options.steps = 8;
    options.*field = value;
    const Recorded run = run_dcoc(space, options, 96);
    EXPECT_EQ(run.points.size(), 96U) << name(value);
    courses.insert(run.points);
    ++runs;
  };
  for (const auto& [assign, word] : Names<WalkAssignment>::kTable) try_with(&DcocOptions::assign, assign);
  for (const Critic critic : {Critic::Own, Critic::None}) try_with(&DcocOptions::critic, critic);
  for (const auto sampling : {CandidateSampling::Uniform, CandidateSampling::Top, CandidateSampling::KMeans}) {
    try_with(&DcocOptions::sampling, sampling);
  }
  try_with(&DcocOptions::features, SurrogateFeatures::Knobs);
  EXPECT_EQ(courses.size(), runs);  // each makes a difference
}

TEST(Dcoc, AgentsAreRoles) {
  const CodesignSpace space("tiny", small_layer(32, 8), small_options());
  using testing::ElementsAre;
  EXPECT_THAT(dcoc_agents(space.parameters(), WalkAssignment::ByRole),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4), ElementsAre(5, 6, 7, 8, 9)));
  EXPECT_EQ(dcoc_agents(space.parameters(), WalkAssignment::Single).size(), 1U);
  EXPECT_THAT(dcoc_agents(space.parameters(), WalkAssignment::Wrong),
              ElementsAre(ElementsAre(0, 3, 6), ElementsAre(1, 4), ElementsAre(2, 5, 7, 8, 9)));
}

TEST(Dcoc, IsAFunctionOfItsSeedAndNotOfTheThreads) {
  const CodesignSpace space("tiny", small_layer(64, 14), small_options());
  const std::vector<Point> first = run_dcoc(space, short_rounds(), 96, 3).points;
  EXPECT_EQ(run_dcoc(space, short_rounds(), 96, 3, 2).points, first);
  EXPECT_NE(run_dcoc(space, short_rounds(), 96, 4).points, first);
}

TEST(Walk, MovesByOneLegalValueAndKeepsWhatAGroupShares) {
  const CodesignSpaceOptions options = small_options();
  const CodesignSpace one("one", small_layer(32, 8), options), other("other", small_layer(64, 14), options);
  Walk walk({.spaces = {&one, &other},
             .agents = dcoc_agents(one.parameters(), WalkAssignment::ByRole),
             .shared = one.hardware_parameters(),
             .groups = 3,
             .steps = 4});
  Rng rng(1, "walk");
  std::vector<Point> starts;
  for (std::size_t group = 0; group < 3; ++group) {
    starts.push_back(random_point(one, rng));
    Point second = random_point(other, rng);
    std::copy_n(starts.back().begin(), 3, second.begin());
    repair(other, second);
    starts.push_back(second);
  }
  const std::size_t width = walk.spec().action_size();
  for (const bool hold : {false, true}) {
    walk.begin(starts, hold);
    for (int step = 0; step < 20; ++step) {
      const std::vector<Point> before = walk.points();
      const std::vector<float> masks(walk.masks().begin(), walk.masks().end());
      std::vector<float> actions(walk.world_count() * width, 0);
      for (std::size_t head = 0; head < actions.size(); head += 3) {
        std::size_t move = 0;
        do move = static_cast<std::size_t>(rng.below(3));
        while (masks[head + move] == 0);
        actions[head + move] = 1;
      }
      walk.step(actions);
      for (std::size_t world = 0; world < walk.world_count(); ++world) {
        const Point& point = walk.points()[world];
        EXPECT_TRUE(is_legal(*walk.plan().spaces[walk.problem_of(world)], point));
        for (std::size_t p = 0; p < one.hardware_parameters(); ++p) {
          EXPECT_EQ(point[p], walk.points()[world / 2 * 2][p]);
          EXPECT_TRUE(!hold || point[p] == before[world][p]);
        }
        if (!std::equal(point.begin(), point.begin() + 3, before[world].begin())) continue;
        // On the same machine every entry has moved as its action says, to the next legal value.
        for (std::size_t p = 0; p < point.size(); ++p) {
          Choices choices;
          walk.plan().spaces[walk.problem_of(world)]->choices(point, p, choices);
          const float* action = &actions[world * width + 3 * p];  // agents are in order here
          std::int32_t place = 0;
          while (choices[place] != before[world][p]) ++place;
          place += (action[2] > 0 ? 1 : 0) - (action[0] > 0 ? 1 : 0);
          EXPECT_EQ(point[p], choices[place]);
        }
      }
    }
  }
}

// What worlds are worth at the end of the last ten of sixty episodes, from random starts, on average.
double last_worth(Critic critic, double learning_rate, std::uint64_t seed) {
  constexpr std::size_t kWorlds = 32;
  const TargetSpace space("target", 0.3F);
  Walk walk({.spaces = {&space},
             .agents = dcoc_agents(space.parameters(), WalkAssignment::ByRole),
             .shared = 0,
             .groups = kWorlds,
             .steps = 16});
  ThreadPool threads(1);
  WalkLearning learning;
  learning.hidden = 16;
  learning.learning_rate = learning_rate;
  WalkTeam team(walk, ppo_options(learning, critic), seed, threads);
  Rng rng(seed, "starts");
  double sum = 0;
  for (int episode = 0; episode < 60; ++episode) {
    std::vector<Point> starts;
    for (std::size_t world = 0; world < kWorlds; ++world) starts.push_back(random_point(space, rng));
    walk.begin(std::move(starts));
    double worth = 0;  // of the last step
    walk_episode(walk, team, [&](const Walk& at, std::span<float> rewards) {
      worth = 0;
      for (std::size_t world = 0; world < kWorlds; ++world) {
        const double reward = 1 / space.latency(at.points()[world]);
        worth += reward / kWorlds;
        std::fill_n(&rewards[world * at.spec().agent_count()], at.spec().agent_count(), static_cast<float>(reward));
      }
    });
    if (episode >= 50) sum += worth / 10;
  }
  return sum;
}

TEST(Walk, EpisodesEndHigherByLearning) {
  for (const auto& [name, critic] : {std::pair("none", Critic::None), {"own", Critic::Own}, {"central", Critic::Central}}) {
    expect_ahead(
        twins(name, 3, [&](std::uint64_t seed, bool learns) { return last_worth(critic, learns ? 1e-3 : 0, seed); }), 0.15);
  }
}

// Staying at one end of a space is shown to be worth 1, at the other nothing.
TEST(Walk, CriticsLearnWhatMeasuredPointsBring) {
  const TargetSpace space("target", 0.3F);
  Walk walk({.spaces = {&space},
             .agents = dcoc_agents(space.parameters(), WalkAssignment::ByRole),
             .shared = 0,
             .groups = 32,
             .steps = 1});
  const Point low(6, 0), high = {3, 3, 3, 15, 15, 15};
  std::vector<Point> points;
  std::vector<float> rewards;
  for (int n = 0; n < 32; ++n) {
    points.push_back(n % 2 == 0 ? low : high);
    rewards.push_back(n % 2 == 0 ? 0.0F : 1.0F);
  }
  const std::size_t width = walk.spec().observation_size();
  std::vector<float> observations(2 * width);
  walk.observe(0, low, std::span(observations).first(width));
  walk.observe(0, high, std::span(observations).last(width));
  for (const auto& [name, critic] : {std::pair("own", Critic::Own), {"central", Critic::Central}}) {
    const Twins runs = twins(name, 3, [&](std::uint64_t seed, bool learns) {
      ThreadPool threads(1);
      WalkLearning learning;
      learning.gamma = 0;
      learning.learning_rate = learns ? 1e-3 : 0;
      WalkTeam team(walk, ppo_options(learning, critic), seed, threads);
      for (int n = 0; n < 50; ++n) {
        show_measured(walk, team, points, std::vector<std::size_t>(points.size(), 0), rewards);
      }
      std::vector<double> values;
      team.values(observations, values);
      return -std::abs(values[1] - values[0] - 1);
    });
    expect_ahead(runs, 0.3);
    for (const double learned : runs.learning) EXPECT_GT(learned, -0.1);
  }
}

Point machine_of(const CodesignSpace& space, const Point& point) {
  return {point.begin(), point.begin() + static_cast<std::ptrdiff_t>(space.hardware_parameters())};
}

// Best latency of a layer on each machine.
std::map<Point, double> best_by_machine(const CodesignSpace& space) {
  std::map<Point, double> best;
  const auto evaluator = space.evaluator();
  for_each_point(space, [&](const Point& point) {
    const Outcome outcome = evaluator->evaluate(point);
    if (!outcome.feasible) return;
    const Point machine = machine_of(space, point);
    const auto [place, is_first] = best.try_emplace(machine, outcome.metrics.latency);
    place->second = std::min(place->second, outcome.metrics.latency);
  });
  return best;
}

struct NetworkRun {
  std::vector<Proposal> proposals;
  std::map<Point, std::vector<double>> best;  // of every layer, by machine
  std::size_t last_machines = 0;              // that the last round measured
};
NetworkRun run_network(const std::vector<const CodesignSpace*>& spaces, const std::vector<double>& counts,
                       std::int64_t samples, std::uint64_t seed, std::size_t thread_count = 1,
                       FirstSchedules begin = FirstSchedules::Estimate) {
  NetworkRun run;
  ThreadPool threads(thread_count);
  DcocOptions options = short_rounds();
  options.begin = begin;
  NetworkCodesign searcher(spaces, counts, options, samples, seed, threads);
  SearchLoop loop({spaces.begin(), spaces.end()}, *objective_named("latency"), samples, threads);
  std::set<Point> machines;
  loop.on_sample = [&](const Proposal& proposal, const Outcome&, const Verdict& verdict) {
    run.proposals.push_back(proposal);
    const Point machine = machine_of(*spaces[proposal.problem], proposal.point);
    machines.insert(machine);
    std::vector<double>& best = run.best.try_emplace(machine, spaces.size(), 1e300).first->second;
    if (verdict.feasible) best[proposal.problem] = std::min(best[proposal.problem], verdict.score[0]);
  };
  do {
    run.last_machines = machines.size();
    machines.clear();
  } while (loop.round(searcher));
  return run;
}

// The best of the sum among machines on which random draws, as many for each layer, have measured both.
double best_drawn(const CodesignSpace& one, double count, const CodesignSpace& other, int samples, std::uint64_t seed) {
  Rng rng(seed, "drawn");
  const auto drawn = [&](const CodesignSpace& space) {
    std::map<Point, double> best;
    const auto evaluator = space.evaluator();
    for (int n = 0; n < samples; ++n) {
      const Point point = random_point(space, rng);
      const Outcome outcome = evaluator->evaluate(point);
      if (!outcome.feasible) continue;
      const Point machine = machine_of(space, point);
      double& least = best.try_emplace(machine, outcome.metrics.latency).first->second;
      least = std::min(least, outcome.metrics.latency);
    }
    return best;
  };
  const auto of_one = drawn(one), of_other = drawn(other);
  double best = 1e300;
  for (const auto& [machine, latency] : of_one) {
    const auto found = of_other.find(machine);
    if (found != of_other.end()) best = std::min(best, count * latency + found->second);
  }
  return best;
}

TEST(NetworkCodesign, ChoosesTheMachineThatIsBestForTheSum) {
  const CodesignSpaceOptions options = small_options();
  // One layer has few channels and the other many, so they would not choose the same machine.
  const CodesignSpace wide("wide", small_layer(8, 14), options), deep("deep", small_layer(64, 7), options);
  const auto of_wide = best_by_machine(wide), of_deep = best_by_machine(deep);
  std::set<Point> chosen;
  int drawn = 0;
  for (const double count : {1.0, 100.0}) {
    double best = 1e300;
    Point machine;
    for (const auto& [hardware, latency] : of_wide) {
      const auto other = of_deep.find(hardware);
      if (other == of_deep.end() || count * latency + other->second >= best) continue;
      best = count * latency + other->second;
      machine = hardware;
    }
    chosen.insert(machine);
    for (const std::uint64_t seed : {1, 2, 3}) {
      const NetworkRun run = run_network({&wide, &deep}, {count, 1}, 192, seed);
      const auto score = [&](const auto& measured) { return count * measured.second[0] + measured.second[1]; };
      const auto found = std::ranges::min_element(run.best, {}, score);
      EXPECT_EQ(score(*found), best);
      EXPECT_EQ(found->first, machine);
      EXPECT_EQ(run.last_machines, 1U);  // the last measurements are all of the best machine
      drawn += best_drawn(wide, count, deep, 192, seed) == best ? 1 : 0;
    }
  }
  EXPECT_LE(drawn, 2);           // of six
  EXPECT_EQ(chosen.size(), 2U);  // how often the network has a layer decides
}

TEST(NetworkCodesign, BeginsWithWhatTheCompilerWouldChooseOnEveryMachine) {
  const CodesignSpaceOptions options = small_options();
  const CodesignSpace wide("wide", small_layer(8, 14), options), deep("deep", small_layer(64, 7), options);
  const auto begins = [&](FirstSchedules begin) {
    const NetworkRun run = run_network({&wide, &deep}, {1, 1}, 96, 1, 1, begin);
    std::set<std::pair<std::size_t, Point>> seen;
    std::int64_t chosen = 0;
    for (const Proposal& proposal : run.proposals) {
      const Point machine = machine_of(wide, proposal.point);
      if (!seen.emplace(proposal.problem, machine).second) continue;
      const CodesignSpace& space = proposal.problem == 0 ? wide : deep;
      const auto estimated = space.estimated_best(machine);
      chosen += estimated && estimated->point == proposal.point ? 1 : 0;
    }
    return std::pair(chosen, static_cast<std::int64_t>(seen.size()));
  };
  const auto [chosen, machines] = begins(FirstSchedules::Estimate);
  EXPECT_EQ(chosen, machines);
  const auto [by_chance, others] = begins(FirstSchedules::Random);
  EXPECT_LT(2 * by_chance, others);
}

TEST(NetworkCodesign, IsAFunctionOfItsSeedAndNotOfTheThreads) {
  const CodesignSpaceOptions options = small_options();
  const CodesignSpace wide("wide", small_layer(8, 14), options), deep("deep", small_layer(64, 7), options);
  const auto points = [&](std::uint64_t seed, std::size_t threads) {
    std::vector<Point> all;
    for (const Proposal& proposal : run_network({&wide, &deep}, {1, 1}, 96, seed, threads).proposals) {
      all.push_back(proposal.point);
    }
    return all;
  };
  const std::vector<Point> first = points(1, 1);
  EXPECT_EQ(points(1, 2), first);
  EXPECT_NE(points(2, 1), first);
}

}  // namespace
}  // namespace tilewright
