// DCOC (Fayyazi et al., ASP-DAC 2025): three agents, for the machine, the threads and the tiles, walk through the joint
// space of machine and schedule on a surrogate; what they think worth it is measured.
//
// A round: MAPPO (decentralised actors, central critic) walks many worlds at once, rewarded with the predicted performance
// relative to the best measured so far, minus penalties for area and buffers beyond their limits. Confidence Sampling draws
// from what was visited, by the value of arriving there: predicted reward plus the critic's value per step. What the
// measurements say refits the surrogate and is shown to the critic as rewards. Points that are known to be beyond a limit
// are never measured.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tilewright/agents/dcoc_problem.hpp"
#include "tilewright/agents/dcoc_walk.hpp"
#include "tilewright/search/searcher.hpp"
#include "tilewright/search/settings.hpp"
#include "tilewright/search/variation.hpp"

namespace tilewright {

// Which parameters an agent decides: those of its role, all of them, or, to compare with, each with the next agent.
enum class WalkAssignment : std::uint8_t { ByRole, Single, Wrong };
template <>
struct Names<WalkAssignment> {
  static constexpr std::string_view kWhat = "assignment";
  static constexpr NameTable<WalkAssignment, 3> kTable = {
      {{WalkAssignment::ByRole, "by-role"}, {WalkAssignment::Single, "single"}, {WalkAssignment::Wrong, "wrong"}}};
};

// Which candidates are measured.
enum class CandidateSampling : std::uint8_t { Confidence, Uniform, Top, KMeans };
template <>
struct Names<CandidateSampling> {
  static constexpr std::string_view kWhat = "sampling";
  static constexpr NameTable<CandidateSampling, 4> kTable = {{{CandidateSampling::Confidence, "confidence"},
                                                              {CandidateSampling::Uniform, "uniform"},
                                                              {CandidateSampling::Top, "top"},
                                                              {CandidateSampling::KMeans, "kmeans"}}};
};

// Of a network, on every machine: those that the compiler's estimate likes best, or random ones.
enum class FirstSchedules : std::uint8_t { Estimate, Random };
template <>
struct Names<FirstSchedules> {
  static constexpr std::string_view kWhat = "begin";
  static constexpr NameTable<FirstSchedules, 2> kTable = {
      {{FirstSchedules::Estimate, "estimate"}, {FirstSchedules::Random, "random"}}};
};

// Worlds, steps and episodes are a quarter of CHAMELEON's 128 × 500 steps per round: fewer (4 episodes) missed the best
// machine of a layer more often, when the buffers were searched too.
struct DcocOptions {
  std::int64_t batch = 64;    // measurements per round
  std::int64_t worlds = 64;   // walks side by side
  std::int64_t steps = 32;    // of an episode
  std::int64_t episodes = 8;  // of every world, per round
  double restart = 0.5;       // share of episodes that begin at random points instead of good ones
  double random = 0.1;        // share of measurements that are drawn at random
  double temperature = 0.1;   // of Confidence Sampling, in standard deviations of the values
  WalkAssignment assign = WalkAssignment::ByRole;
  Critic critic = Critic::Central;
  CandidateSampling sampling = CandidateSampling::Confidence;
  FirstSchedules begin = FirstSchedules::Estimate;
  SurrogateFeatures features = SurrogateFeatures::Program;
  double area_penalty = 4;
  double memory_penalty = 1;
  double unencodable_reward = -2;
  std::int64_t trees = 200;  // of the surrogate
  std::int64_t depth = 3;
  WalkLearning learning;
};
std::vector<Setting> settings_of(DcocOptions& options);

ProblemOptions problem_options(const DcocOptions& options);

// The parameters of each agent. Roles are agents in the order of their first parameters.
std::vector<std::vector<std::size_t>> dcoc_agents(const std::vector<Parameter>& parameters, WalkAssignment assign);

// At most `count` of the candidates (and of what Confidence Sampling makes of them) that are new, as options.sampling says.
// `values` are those of arriving there, `rewards` the predicted ones.
std::vector<Point> sampled(const DesignSpace& space, std::span<const Point> candidates, std::span<const double> values,
                           std::span<const double> rewards, std::size_t count, const DcocOptions& options,
                           const std::function<bool(const Point&)>& is_new, Rng& rng);

class DcocSearcher final : public PointSearcher {
 public:
  DcocSearcher(const DesignSpace& space, const DcocOptions& options, std::uint64_t seed, ThreadPool& threads);

  void ask(std::size_t most, std::vector<Point>& points) override;
  void tell(std::span<const Point> points, std::span<const Verdict> verdicts) override;
  void notice(std::span<const Point> points, std::span<const Verdict> verdicts) override;
  std::shared_ptr<const Story> story() const override {  // of the surrogate
    return std::make_shared<SurrogateStory>(problem_.calibrations());
  }

 private:
  void walk_worlds();
  std::vector<Point> starts();
  void add(const Point& point, std::vector<Point>& points);

  DcocOptions options_;
  SurrogateProblem problem_;
  Walk walk_;
  WalkTeam team_;
  Rng rng_;
  SeenPoints visited_;             // in this round
  std::vector<Point> candidates_;  // of them those never measured and within the limits
  std::vector<double> rewards_;    // predicted, of the candidates
  std::vector<double> values_;     // of arriving at the candidates
  SeenPoints taken_;               // in this ask
};

}  // namespace tilewright
