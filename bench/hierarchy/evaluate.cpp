// How long one evaluation of a mapping takes, by machine and judge: random mappings that fit, nothing remembered between
// them.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "tilewright/hierarchy/machine_yaml.hpp"
#include "tilewright/space/hierarchy_space.hpp"

namespace {

using namespace tilewright;
using Clock = std::chrono::steady_clock;

constexpr int kMappings = 2'000;
constexpr int kRounds = 9;  // the best of them counts: the machine may be shared

hierarchy::Problem layer() {
  return hierarchy::problem_of(*hierarchy::shape_named("conv"),
                               {{"R", 3}, {"S", 3}, {"P", 28}, {"Q", 28}, {"C", 128}, {"K", 128}, {"N", 1}}, {}, "layer")
      .value();
}

void measure(const char* name, hierarchy::Judge judge) {
  const hierarchy::Machine machine = hierarchy::read_machine(std::string("zoo:") + name).value();
  const auto space = HierarchySpace::make("layer", layer(), machine, {.judge = judge}).value();
  hierarchy::Evaluator evaluator(space->problem(), machine, {.judge = judge});
  Rng rng(1, "mappings");
  std::vector<hierarchy::Mapping> mappings;
  while (mappings.size() < kMappings) {
    const hierarchy::Mapping mapping = space->mapping(random_point(*space, rng));
    if (std::holds_alternative<hierarchy::Cost>(evaluator.evaluate(mapping))) mappings.push_back(mapping);
  }
  double best = 1e9, sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto begin = Clock::now();
    for (const hierarchy::Mapping& mapping : mappings) sum += std::get<hierarchy::Cost>(evaluator.evaluate(mapping)).edp();
    best = std::min(best, std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / kMappings);
  }
  std::printf("%-14s %zu levels  %-10s %6.2f us per mapping   (mean EDP %.6g)\n", name, machine.levels.size(),
              std::string(tilewright::name(judge)).c_str(), best, sum / kRounds / kMappings);
}

}  // namespace

int main() {
  for (const char* machine : {"simple3", "nvdla-dram", "tpu-like", "eyeriss-like", "simba-like"}) {
    for (const hierarchy::Judge judge : {hierarchy::Judge::Timeloop, hierarchy::Judge::Hierarchy}) measure(machine, judge);
  }
}
