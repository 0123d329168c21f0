// How far a mapping is from the optimum, and the proof of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tilewright/optimum/optimal_searcher.hpp"
#include "tilewright/study/hierarchy_mapping.hpp"

namespace tilewright {

// A certificate for the best mapping of every problem; nothing where a problem has none. An Error when the objective or a
// machine has no proof.
Result<std::vector<std::optional<optimum::Certificate>>> prove(const HierarchyJob& job, const std::vector<Ledger>& ledgers,
                                                               const optimum::Effort& effort, ThreadPool& threads);

// From the layer's certificate and what every mapping costs at least; nothing where the objective has no bound.
void set_bound(HierarchyLayer& layer, const HierarchySpace& space, const Objective& objective);

// What is wrong with the certificate of a layer whose mapping is judged already. One that needed few nodes is made again;
// where the space is small, every mapping in it is held against the bound, without the help of the search.
std::optional<std::string> check_proof(const HierarchyLayer& layer, const HierarchySpace& space, const Objective& objective);

}  // namespace tilewright
