// The slow and obvious second way to an optimum: every placement of every prime factor, every order, every axis, every
// choice of what levels keep, judged one after the other. It shares nothing with the search but the judge.
#pragma once

#include <functional>

#include "tilewright/hierarchy/evaluator.hpp"
#include "tilewright/hierarchy/restriction.hpp"

namespace tilewright::optimum {

struct BruteForce {
  std::int64_t mappings = 0;  // that fit and are allowed
  double latency = 0, energy = 0, edp = 0;
};

// Calls `visit` with every mapping; false ends it. Factors lie along an axis only where a level has more than one copy
// inside.
void for_all_mappings(const hierarchy::Problem& problem, const hierarchy::Machine& machine,
                      const hierarchy::Restriction& restriction,
                      const std::function<bool(const hierarchy::Mapping&)>& visit);

// Nothing when there are more than `most` mappings.
std::optional<BruteForce> brute_force(const hierarchy::Problem& problem, const hierarchy::Machine& machine,
                                      hierarchy::Judge judge, const hierarchy::Restriction& restriction, std::int64_t most);

}  // namespace tilewright::optimum
