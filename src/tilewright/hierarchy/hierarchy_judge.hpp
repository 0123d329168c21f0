// The judge `hierarchy`: the same quantities as Timeloop's, counted as hardware moves them, at the true widths of the
// elements. Counts of a level are those of all its copies together.
#pragma once

#include "tilewright/hierarchy/analysis.hpp"
#include "tilewright/hierarchy/exact_counts.hpp"
#include "tilewright/hierarchy/mapping.hpp"

namespace tilewright::hierarchy {

class HierarchyJudge {
 public:
  HierarchyJudge(const Problem& problem, const Machine& machine);

  // `loops` are those of `mapping`; levels of `into` are as many as the machine's.
  Evaluation evaluate(const Mapping& mapping, const Loops& loops, Analysis& into);

  // Bits of an element of the tensor in a level. An output is a partial sum as long as loops that add to it are outside.
  std::int64_t bits(std::size_t tensor, std::size_t level, const Loops& loops) const;

 private:
  std::optional<Infeasible> misfit(const Mapping& mapping, const Loops& loops, Analysis& into) const;
  void count(std::size_t tensor, const Mapping& mapping, const Loops& loops, Analysis& into);
  double set_cycles(std::size_t level, const Loops& loops, Analysis& into) const;
  void set_energy(std::size_t level, const Loops& loops, Analysis& into) const;

  const Problem& problem_;
  const Machine& machine_;
  ExactCounter counter_;
  std::vector<std::uint32_t> relevant_;
  PerLevel<PerTensor<double>> drains_{};  // words that leave the tiles of a level
};

}  // namespace tilewright::hierarchy
