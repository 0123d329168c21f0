// How the values of parameters become choices of policies, the same in every problem.
//
// A parameter has one head, of a size that does not depend on the problem, so that a policy that has learned on one layer
// can act on another. A choice of an ordinal parameter is a place between its smallest and its largest value (on the
// logarithmic scale where values are sizes) and stands for the values nearest to that place; a choice of a categorical one
// is a category, or several that follow each other where there are more categories than choices. Choices that stand for
// nothing in a problem are masked.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tilewright/agents/assignment.hpp"
#include "tilewright/marl/environment.hpp"
#include "tilewright/space/design_space.hpp"

namespace tilewright {

inline constexpr std::size_t kFineChoices = 24;   // of sizes
inline constexpr std::size_t kCoarseChoices = 8;  // of orders and categories

class TeamHeads {
 public:
  // Heads for every parameter of the assignment, agent after agent; parameters of the spaces that no agent has get none.
  TeamHeads(const std::vector<const DesignSpace*>& spaces, const std::vector<Parameter>& parameters,
            const AgentAssignment& assignment);

  std::size_t agent_count() const { return spaces_of_agents_.size(); }
  std::size_t head_count() const { return heads_.size(); }
  std::size_t choice_count() const { return choices_; }  // of all heads together
  const ActionSpace& actions(std::size_t agent) const { return spaces_of_agents_[agent]; }
  std::size_t agent_of(std::size_t head) const { return heads_[head].agent; }
  std::size_t offset_of(std::size_t head) const { return heads_[head].offset; }  // in a row of all agents' actions
  std::size_t size_of(std::size_t head) const { return heads_[head].size; }

  // The parameter of `problem` that `head` decides, or -1.
  std::int32_t parameter(std::size_t problem, std::size_t head) const { return places_[problem][head]; }

  // 1 for choices that stand for a value of the problem; where the problem has no such parameter, for the first only.
  std::span<const float> mask(std::size_t problem) const { return masks_[problem]; }

  // Values a choice stands for: indices first … last of the parameter. `choice` must not be masked.
  struct Values {
    std::int32_t first = 0, last = 0;
  };
  Values values(std::size_t problem, std::size_t head, std::size_t choice) const;
  std::size_t choice_of(std::size_t problem, std::size_t head, std::int32_t value) const;

  // A point as numbers between 0 and 1 for a policy to see: its place for ordinal parameters, a 1 among 0s for categorical
  // ones.
  std::size_t code_size() const { return code_size_; }
  void encode(std::size_t problem, PointView point, std::span<float> code) const;

 private:
  struct Head {
    std::size_t agent = 0, offset = 0, size = 0;
    bool ordinal = true;
  };
  std::vector<Head> heads_;
  std::vector<ActionSpace> spaces_of_agents_;
  std::size_t choices_ = 0, code_size_ = 0;
  std::vector<std::vector<std::int32_t>> places_;         // problem, head
  std::vector<std::vector<std::vector<Values>>> values_;  // problem, head, choice
  std::vector<std::vector<float>> masks_;                 // problem
};

}  // namespace tilewright
