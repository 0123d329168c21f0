// Recorded runs of the real GAMMA, and ours under the same rules.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/space/mapping_space.hpp"
#include "tilewright/space/objective.hpp"

namespace tilewright {

// What a run was given besides its seed.
struct GammaCase {
  std::string network;
  std::int64_t layer = 0;  // 1-based row of GAMMA's table
  std::string objective;   // "latency", "energy", "EDP"
  std::int64_t population = 0, generations = 0;
  std::int64_t pes = 0, l1 = 0, l2 = 0;  // -1 = unlimited
  auto operator<=>(const GammaCase&) const = default;
};
std::string name_of(const GammaCase& one);

// What had happened after so many samples; a best objective is infinite where there is none.
struct GammaState {
  std::int64_t generation = 0;  // of a recorded run
  std::int64_t samples = 0;
  std::int64_t accepted = 0;   // by GAMMA's own test
  std::int64_t mac_exact = 0;  // accepted, and with the true number of MACs
  std::int64_t audited = 0;    // mac_exact, and no MAC is lost on the way to the processing elements
  double best_accepted = 0, best_mac_exact = 0, best_audited = 0;
};

struct RecordedRun {
  GammaCase run_of;
  std::int64_t seed = 0;
  std::vector<GammaState> states;  // after some of the generations, in their order
};
// The runs of one CSV file of tests/data/gamma, in its order.
Result<std::vector<RecordedRun>> read_gamma_runs(const std::string& path);

// The space GAMMA searches: its tiles, its test of what is valid, MAESTRO's numbers.
MappingSpace gamma_space(const GammaCase& one);

// Our run: the state after each sample.
std::vector<GammaState> run_gamma(const GammaCase& one, std::int64_t samples, std::uint64_t seed);

// How often a value of `left` is smaller than one of `right`, ties counted half: 0.5 when they come from the same program.
double chance_of_less(const std::vector<double>& left, const std::vector<double>& right);

}  // namespace tilewright
