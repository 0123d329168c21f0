// Every searcher minimises one number; this lets any of them search a front.
//
// A problem is given to the searcher several times, once for each of a few directions, with its share of the samples. In
// direction w the number is that of Wierzbicki's achievement function on the logarithmic scale,
//
//   exp(max over i of w_i u_i + 0.05 sum over i of w_i u_i),   u_i = (ln m_i - ln ideal_i) / spread_i,
//
// which has its minimum on the front, and, unlike a weighted sum, on its hollow parts too. `ideal` and `spread` are of the
// problem's first feasible outcomes (what is known before, else a few random points) and stay as they are: a searcher that
// remembers what it was told can compare it with what it is told later.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tilewright/search/searcher.hpp"

namespace tilewright {

// Towards each metric alone, towards pairs of them and towards all: five directions for two metrics, seven for three.
std::vector<Score> pareto_directions(std::size_t metrics);

// How many samples of each problem the searcher of a direction may need at most.
std::int64_t samples_of_direction(std::int64_t samples, std::size_t metrics);

class ParetoSearcher final : public Searcher {
 public:
  // `inner` searches every space once per direction: problem p in direction d is its problem p * directions + d. Spaces
  // outlive the searcher.
  ParetoSearcher(std::unique_ptr<Searcher> inner, std::vector<const DesignSpace*> spaces, std::size_t metrics,
                 std::int64_t samples, std::uint64_t seed);

  void ask(std::span<const std::int64_t> room, std::vector<Proposal>& proposals) override;
  void tell(std::span<const Proposal> proposals, std::span<const Verdict> verdicts) override;
  void notice(std::span<const Proposal> proposals, std::span<const Verdict> verdicts) override;
  std::shared_ptr<const Story> story() const override { return inner_->story(); }

 private:
  struct Scale {
    Score ideal{}, spread{};
  };
  void set_scales(std::span<const Proposal> proposals, std::span<const Verdict> verdicts);
  double value_of(std::size_t problem, std::size_t direction, const Score& terms) const;

  std::unique_ptr<Searcher> inner_;
  std::vector<const DesignSpace*> spaces_;
  std::size_t metrics_;
  std::vector<Score> directions_;
  std::vector<std::optional<Scale>> scales_;  // by problem
  std::vector<std::int64_t> left_;            // samples, by problem and direction
  std::int64_t pilots_;                       // random points of each problem; 0 once they were asked for
  bool piloted_ = false;                      // the last ask was for them
  std::uint64_t seed_;
  std::vector<Proposal> asked_;  // of the inner searcher
};

}  // namespace tilewright
