// What an optimum is sought for, and what a proof of it says.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "tilewright/base/names.hpp"
#include "tilewright/hierarchy/cost.hpp"

namespace tilewright::optimum {

enum class Goal : std::uint8_t { Latency, Energy, Edp };

// What a mapping has to keep besides fitting; infinite = no limit.
struct Limits {
  double cycles = std::numeric_limits<double>::infinity();
  double energy = std::numeric_limits<double>::infinity();  // pJ
  bool keeps(const hierarchy::Cost& cost) const {
    return static_cast<double>(cost.cycles.value) <= cycles && cost.energy.value <= energy;
  }
};

// cycles, pJ or J·cycles.
inline double value_of(Goal goal, double energy_pj, double cycles) {
  if (goal == Goal::Latency) return cycles;
  return goal == Goal::Energy ? energy_pj : energy_pj * cycles * 1e-12;
}
inline double value_of(Goal goal, const hierarchy::Cost& cost) {
  return value_of(goal, cost.energy.value, static_cast<double>(cost.cycles.value));
}

// Two values this close are one: a proof leaves out what is better by less.
inline constexpr double kTolerance = 1e-7;
inline constexpr double kProvenGap = 1e-6;

// What the lower bound of a certificate rests on.
enum class Closed : std::uint8_t {
  Traffic,    // words that move whatever the mapping
  Insides,    // what the best tiles of the inner levels cost at least
  Exhausted,  // every mapping was looked at, or cut off by a bound
};

struct Certificate {
  double incumbent = std::numeric_limits<double>::infinity();  // of the best mapping known
  double lower_bound = 0;                                      // of every mapping that the restriction allows
  std::int64_t nodes = 0;                                      // inner tiles that were paired with outer ones, and orders
  std::int64_t evaluations = 0;                                // mappings that were judged
  Closed closed = Closed::Traffic;

  double gap() const { return lower_bound > 0 ? incumbent / lower_bound - 1 : std::numeric_limits<double>::infinity(); }
  bool proven() const { return gap() <= kProvenGap; }
};

}  // namespace tilewright::optimum

template <>
struct tilewright::Names<tilewright::optimum::Goal> {
  static constexpr std::string_view kWhat = "objective";
  static constexpr NameTable<optimum::Goal, 3> kTable = {
      {{optimum::Goal::Latency, "latency"}, {optimum::Goal::Energy, "energy"}, {optimum::Goal::Edp, "edp"}}};
};
template <>
struct tilewright::Names<tilewright::optimum::Closed> {
  static constexpr std::string_view kWhat = "bound";
  static constexpr NameTable<optimum::Closed, 3> kTable = {{{optimum::Closed::Traffic, "traffic"},
                                                            {optimum::Closed::Insides, "insides"},
                                                            {optimum::Closed::Exhausted, "exhausted"}}};
};
