// The fronts of a network and of its layers for people and for tables, whatever the kind of machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/search/pareto.hpp"
#include "tilewright/space/objective.hpp"

namespace tilewright {

struct Fronts {
  struct Member {
    Metrics metrics;
    double pes = 0;
    std::int64_t sample = 0;
    std::string mapping;  // on one line
  };
  struct Layer {
    std::string name;
    std::int64_t count = 1;
    std::vector<Member> front;
  };
  Objective objective;
  NetworkFront network;  // empty unless every layer has a front
  std::vector<Layer> layers;
};

// The network's front, of which a terminal shows a dozen members, evenly.
std::string front_text(const Fronts& fronts);
// A section of a page; empty where there is nothing to draw.
std::string front_section(const Fronts& fronts);
// First the network's, then every layer's.
std::string pareto_csv(const Fronts& fronts);

}  // namespace tilewright
