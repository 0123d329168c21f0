// Co-design of a whole network, `dcoc-network`: one machine for all layers, a schedule for each.
//
// The agents are those of DCOC. A group of worlds has one world per layer; the hardware agent moves the machine of the whole
// group and is rewarded with the network's predicted performance on it: the sum over layers of count × the best time known
// or predicted there. The software agents move each layer's schedule and are rewarded with that layer's performance.
//
// Every layer has the same number of measurements, spent by successive halving over machines: in each round the machines in
// play get equally many measurements of every layer, and fewer machines are in play from round to round, the best ones by
// what they would take for the whole network. The last quarter of the rounds goes to the best machine only. Within the share
// of a machine, Confidence Sampling chooses.
//
// A machine is judged by few schedules, so the first must be good ones: of every machine the schedules that the compiler
// would choose by its own estimate, and the machines in the order of what these promise for the network.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/agents/dcoc.hpp"

namespace tilewright {

class NetworkCodesign final : public Searcher {
 public:
  // Spaces with the same options, one per different layer, which occurs `counts` times in the network. `samples` is the
  // number of measurements of each layer that the halving is planned for.
  NetworkCodesign(std::vector<const CodesignSpace*> spaces, std::vector<double> counts, const DcocOptions& options,
                  std::int64_t samples, std::uint64_t seed, ThreadPool& threads);

  void ask(std::span<const std::int64_t> room, std::vector<Proposal>& proposals) override;
  void tell(std::span<const Proposal> proposals, std::span<const Verdict> verdicts) override;
  void notice(std::span<const Proposal>, std::span<const Verdict>) override {}  // machines have no classics
  std::shared_ptr<const Story> story() const override;                          // of each layer's surrogate

 private:
  // What is known of one machine, by layer: natural logarithms of scores, infinite where nothing is.
  struct Site {
    Point hardware;  // the first entries of its points
    std::vector<double> measured, predicted;
    std::vector<Point> best;       // measured; empty where nothing was
    std::vector<Point> estimated;  // the compiler's choices; empty when there are none
    double promise = 0;            // their cycles for the network, as estimated; infinite where a layer has none
  };
  struct Candidate {
    Point point;
    float reward = 0;
    double value = 0;
    std::size_t site = 0;
  };

  void find_machines();
  void estimate_machines();
  std::optional<std::size_t> site_of(PointView point) const;
  bool is_base(const Site& site) const;   // the machine that is there when nothing is searched
  bool is_known(const Site& site) const;  // of every layer something
  double network_score(const Site& site) const;
  std::vector<std::size_t> choose_in_play();
  Point begin_on(std::size_t layer, const Site& site);
  std::optional<Point> draw_on(std::size_t layer, const Site& site);
  void walk_worlds();
  void judge(const Walk& walk, std::span<float> rewards);
  void value_candidates(std::size_t layer);
  void sample(std::size_t layer, std::size_t site, std::size_t count, SeenPoints& taken, std::vector<Point>& points);

  std::vector<const CodesignSpace*> spaces_;
  std::vector<double> counts_;
  DcocOptions options_;
  std::size_t hardware_;  // parameters of the machine
  std::int64_t rounds_;   // planned
  std::int64_t round_ = 0;
  ThreadPool& threads_;
  std::vector<SurrogateProblem> problems_;
  Walk walk_;
  WalkTeam team_;
  Rng rng_;
  std::vector<Site> machines_;
  std::map<Point, std::size_t> places_;  // of machines_, by hardware entries
  std::vector<std::size_t> in_play_;     // of machines_, best first
  bool measured_once_ = false;
  double best_network_ = 0;  // logarithm of the best network score, measured or predicted, while worlds walk

  // Of the worlds of one layer, in this round.
  std::vector<SeenPoints> visited_;
  std::vector<std::vector<Candidate>> candidates_;
  std::vector<std::vector<Point>> layer_points_;
  std::vector<std::vector<Opinion>> opinions_;
};

}  // namespace tilewright
