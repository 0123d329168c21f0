// The proof as a searcher: annealing for the samples there are, then the search for the optimum of every problem with the
// best of them to begin with. Its story is the certificates.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "tilewright/base/parallel.hpp"
#include "tilewright/optimum/optimum.hpp"
#include "tilewright/search/searcher.hpp"
#include "tilewright/space/hierarchy_space.hpp"

namespace tilewright::optimum {

// What an objective asks for, when a proof can be had of it: latency (or throughput), energy, edp, or the first of a
// lexicographic one, with no limits but those of latency and energy.
std::optional<Goal> goal_of(const Objective& objective);
Limits limits_of(const Objective& objective);

// How long to look for a proof.
struct Effort {
  std::int64_t nodes = 2'000'000;   // of every problem: the same answer everywhere
  double seconds = 0;               // of every problem; 0 = as long as it takes
  std::function<bool()> stop = {};  // asked now and then
};

// The optimum of one space; `starts` are mappings known before.
Answer prove(const HierarchySpace& space, const Objective& objective, const Effort& effort,
             std::vector<hierarchy::Mapping> starts);

struct OptimalStory final : Story {
  std::vector<std::optional<Certificate>> problems;
};

// All spaces are of machines with memory levels; an Error when one is not, or when the objective has no proof.
Result<std::unique_ptr<Searcher>> make_optimal(const std::vector<const DesignSpace*>& spaces, const Objective& objective,
                                               const Effort& effort, std::int64_t samples, std::uint64_t seed,
                                               ThreadPool& threads);

}  // namespace tilewright::optimum
