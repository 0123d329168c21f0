// Fronts: outcomes of which none is better than another in everything that is minimised.
//
// A network's front is made of its layers' fronts. Latency and energy of a network are sums over its layers and its area is
// the largest of theirs, so a choice for some layers that another choice beats in all of these is beaten whatever the other
// layers choose, and can be left out: layer by layer that gives the front exactly. Where it grows beyond what anybody reads,
// neighbours within a small factor are merged, and the bound says how much that can have cost.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tilewright/space/design_space.hpp"
#include "tilewright/space/objective.hpp"

namespace tilewright {

// At least as good in everything and better in something.
bool dominates(const Score& one, const Score& other);

struct FrontMember {
  Point point;
  Outcome outcome;
  Score terms{};            // terms_of the objective
  std::int64_t sample = 0;  // how many samples of the problem had been charged, this one included
};

// Adds a member unless one that is there is as good in everything; drops what it dominates. In ascending order of terms.
void add_to_front(std::vector<FrontMember>& front, FrontMember member);

struct FrontLayer {
  double count = 1;            // how often the network has it
  std::vector<Metrics> front;  // of one
};
struct NetworkMember {
  Metrics metrics;
  Score terms{};
  std::vector<std::size_t> choice;  // of each layer, an index into its front
};
struct NetworkFront {
  std::vector<NetworkMember> members;  // in ascending order of terms
  // For every combination there is a member that needs at most so many times its latency, energy and area; 1 = exact.
  double bound = 1;
};
// `finish` adds to sums of latency, energy and MACs and the largest area, l1, l2 and pes what follows from them: power.
// Empty when a layer has no front.
NetworkFront network_front(std::span<const FrontLayer> layers, const Objective& objective,
                           const std::function<void(Metrics& sums)>& finish, std::size_t most = 1'000);

}  // namespace tilewright
