// Games small enough to know their best play: what learners are tested on.
//
// Actions may be soft (probabilities); payoffs are then expectations, so that relaxed policies see the same game.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/marl/environment.hpp"

namespace tilewright {

struct ToyGame {
  std::string_view name;     // "toy:climbing"
  std::string_view summary;  // one line for the list of worlds
  double best_return;        // per episode, summed over the usual number of agents; the mean over episodes that differ
};
const std::vector<ToyGame>& toy_games();

// "toy:matrix"    two agents, 3×3 common payoff with one clear optimum; one step
// "toy:climbing"  Claus and Boutilier's climbing game: the best joint action lies beside heavy penalties; one step
// "toy:line"      N agents on a line, each to reach its own mark; moves left, stay, right; ends when all stand on their
//                 marks, or after 10 steps
// "toy:reach"     the same with continuous speed, always 10 steps
// "toy:masked"    matrix game in which a mask forbids the otherwise best choice in half of the episodes; one step
// "toy:heads"     one agent with two categorical heads that must agree with a shown pair of numbers; one step
//
// Games of one step end by termination: nothing comes after them. `agents` counts for toy:line and toy:reach; 0 = the usual
// number. Wrong names and numbers are Errors.
Result<std::unique_ptr<Environment>> make_toy_game(std::string_view name, std::size_t agents, std::size_t worlds,
                                                   std::uint64_t seed);

}  // namespace tilewright
