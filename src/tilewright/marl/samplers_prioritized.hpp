// Draws by priority, as tf2multiagentrl has them after Schaul et al. (arXiv 1511.05952):
//
//   P(k) = p_k^α / Σ p^α          p_k = squared error of k + 1e-6, as of the last time k was drawn; α = 0.6
//   weight(k) = (size·P(k))^-β / max_j (size·P(j))^-β     β from 0.5 to 1, linear over the first 15,000 draws
//
// A transition that has never been drawn has the largest p seen so far, at first 1.
//
// Reuse (after AccMER, arXiv 2306.00187, which says that high-priority transitions are reused for a window of n updates, so
// that they are still in the caches): a window of n draws begins with a draw as above. Of its transitions the half with the
// highest priority, as of that draw, begins each of the other n-1 batches; only the rest of those is drawn anew. A kept
// transition keeps its weight, because the chance it was drawn with is that of the first draw; one that leaves the memory
// meanwhile is replaced by a new draw. The half is our choice: the paper's abstract leaves it open. n = 1 keeps nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tilewright/marl/priority_tree.hpp"
#include "tilewright/marl/samplers.hpp"

namespace tilewright {

inline constexpr double kPriorityExponent = 0.6;     // α
inline constexpr double kLeastPriority = 1e-6;       // added to every squared error
inline constexpr double kFirstBeta = 0.5;            // β of the first draw
inline constexpr std::uint64_t kBetaDraws = 15'000;  // until β is 1: the updates of 60,000 episodes of 25 steps

class PrioritizedSampler : public Sampler {
 public:
  PrioritizedSampler(std::size_t capacity, std::size_t window);

  void draw(const ReplayPosition& position, std::size_t count, Rng& rng, std::vector<std::uint32_t>& indices,
            std::vector<float>& weights) override;
  void feedback(const ReplayPosition& position, std::span<const std::uint32_t> indices,
                std::span<const float> squared_errors) override;
  bool wants_feedback() const override { return true; }
  void save(const std::string& name, TensorFile& file) const override;
  Result<Done> load(const std::string& name, const TensorFile& file) override;

 private:
  struct Kept {
    std::uint64_t number = 0;  // of the transition, counted from the first ever added
    float weight = 0;
  };
  void follow(const ReplayPosition& position);
  void keep_best(std::uint64_t oldest, std::span<const std::uint32_t> indices, std::span<const float> weights);
  std::size_t slot_of(std::uint64_t number) const { return static_cast<std::size_t>(number % capacity_); }

  std::size_t capacity_;
  std::size_t window_;
  PriorityTree tree_;                  // of p^α, by slot of the ring
  std::uint64_t first_ = 0, end_ = 0;  // numbers of the transitions that the tree knows
  double max_priority_ = 1;
  std::uint64_t draws_ = 0;
  std::size_t draws_left_ = 0;  // of the window, after the one just made
  std::vector<Kept> kept_;
  std::vector<std::size_t> slots_;  // to be set in the tree
  std::vector<float> weights_;
};

}  // namespace tilewright
