#include "tilewright/optimum/prices.hpp"

#include <algorithm>

namespace tilewright::optimum {

using hierarchy::Judge;
using hierarchy::StorageLevel;
using hierarchy::TensorKind;

Prices::Prices(const hierarchy::Problem& problem, const hierarchy::Machine& machine, Judge judge)
    : problem_(problem), machine_(machine), judge_(judge) {
  for (std::size_t level = 0; level < machine.levels.size(); ++level) {
    const StorageLevel& storage = machine.levels[level];
    if (storage.read_bandwidth) read_port_[level] = count_++;
    if (storage.write_bandwidth) write_port_[level] = count_++;
    if (storage.shared_bandwidth) shared_port_[level] = count_++;
  }
}

// Accesses of one word, in all copies, that cost energy.
double Prices::share(const Place& at) const {
  const StorageLevel& storage = machine_.levels[at.level];
  const double clusters = std::min(at.used, static_cast<double>(storage.instances / storage.cluster_size));
  const double per_block = clusters / static_cast<double>(storage.block_size);
  if (judge_ == Judge::Timeloop) return per_block;
  return per_block * at.bits / static_cast<double>(storage.word_bits) / at.used;
}

void Prices::add(Costs& costs, const Place& at, double words, double energy, std::size_t port) const {
  const StorageLevel& storage = machine_.levels[at.level];
  costs[0] += words * share(at) * energy;
  const double in_words =
      judge_ == Judge::Timeloop ? words : words * at.bits / (static_cast<double>(storage.word_bits) * at.used);
  if (port != 0)
    costs[port] += in_words / (port == read_port_[at.level] ? *storage.read_bandwidth : *storage.write_bandwidth);
  if (shared_port_[at.level] != 0) costs[shared_port_[at.level]] += in_words / *storage.shared_bandwidth;
}

void Prices::add_reads(Costs& costs, const Place& at, double words) const {
  add(costs, at, words, machine_.levels[at.level].energy.read.value, read_port_[at.level]);
}
void Prices::add_fills(Costs& costs, const Place& at, double words) const {
  add(costs, at, words, machine_.levels[at.level].energy.fill.value, write_port_[at.level]);
}
void Prices::add_updates(Costs& costs, const Place& at, double words) const {
  add(costs, at, words, machine_.levels[at.level].energy.update.value, write_port_[at.level]);
}

double Prices::leakage(const hierarchy::Loops& loops) const {
  double sum = 0;
  for (std::size_t level = 0; level < machine_.levels.size(); ++level) {
    const StorageLevel& storage = machine_.levels[level];
    const double copies =
        judge_ == Judge::Timeloop ? static_cast<double>(loops.used(level)) : static_cast<double>(storage.instances);
    sum += storage.leakage.value * copies;
  }
  return sum;
}

double Prices::bits(std::size_t tensor, std::size_t level, bool partial) const {
  const hierarchy::ElementBits& bits = machine_.bits;
  const TensorKind kind = problem_.tensors[tensor].kind;
  const std::int64_t given = kind == TensorKind::Weight  ? bits.weights
                             : kind == TensorKind::Input ? bits.inputs
                             : partial                   ? bits.partial_sums
                                                         : bits.outputs;
  return static_cast<double>(given == 0 ? machine_.levels[level].word_bits : given);
}

}  // namespace tilewright::optimum
