// What a word costs where it is read, filled or updated: energy, and cycles of every port that has a bandwidth.
//
//   costs[0] = pJ of the whole machine        costs[p] = cycles of port p of one copy
//
// Both are sums over words, but for rounding up to whole accesses and whole cycles; what is added here is never more than
// what the judges count.
#pragma once

#include <array>

#include "tilewright/hierarchy/evaluator.hpp"
#include "tilewright/hierarchy/loops.hpp"

namespace tilewright::optimum {

inline constexpr std::size_t kMostCosts = 1 + 3 * hierarchy::kMostLevels;
using Costs = std::array<double, kMostCosts>;

class Prices {
 public:
  Prices(const hierarchy::Problem& problem, const hierarchy::Machine& machine, hierarchy::Judge judge);

  std::size_t count() const { return count_; }  // entries of Costs in use

  // Copies of a level in use, and bits of an element there, which only model hierarchy asks for. `words` are of one copy
  // under model timeloop, of all together under model hierarchy.
  struct Place {
    std::size_t level = 0;
    double used = 1;
    double bits = 0;
  };
  void add_reads(Costs& costs, const Place& at, double words) const;
  void add_fills(Costs& costs, const Place& at, double words) const;
  void add_updates(Costs& costs, const Place& at, double words) const;

  // The longest of all ports.
  double cycles(const Costs& costs) const {
    double most = 0;
    for (std::size_t port = 1; port < count_; ++port) most = std::max(most, costs[port]);
    return most;
  }
  // pJ per cycle, of `used` copies of each level.
  double leakage(const hierarchy::Loops& loops) const;
  // Bits of an element of a tensor in a level; a partial sum or not, of outputs.
  double bits(std::size_t tensor, std::size_t level, bool partial) const;

 private:
  void add(Costs& costs, const Place& at, double words, double energy, std::size_t port) const;
  double share(const Place& at) const;

  const hierarchy::Problem& problem_;
  const hierarchy::Machine& machine_;
  hierarchy::Judge judge_;
  std::size_t count_ = 1;
  hierarchy::PerLevel<std::size_t> read_port_{}, write_port_{}, shared_port_{};  // 0 = no limit
};

}  // namespace tilewright::optimum
