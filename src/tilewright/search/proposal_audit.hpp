// What a searcher really proposes: how many different points, and which parameters it never moves. A searcher whose decoder
// loses half of its actions, or that draws the same point again and again, shows here before its results mislead anybody.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tilewright/search/searcher.hpp"

namespace tilewright {

inline constexpr std::int64_t kAuditedProposals = 1'000;  // the first ones of each problem

struct AuditSummary {
  double proposals = 0;  // looked at, mean over problems
  double distinct = 0;   // different points among them, mean over problems
  double invalid = 0;    // share of them
  // Parameters that can move in some problem and had the same value in all proposals of every such problem, in the order of
  // first appearance.
  std::vector<std::string> never_moved;
  // Problem and parameter pairs: how many had one value only, of how many that can move.
  std::int64_t stuck = 0, movable = 0;
};

class ProposalAudit {
 public:
  // Spaces outlive the audit.
  explicit ProposalAudit(std::vector<const DesignSpace*> spaces);

  // Every proposal in the order it was made.
  void see(const Proposal& proposal, const Verdict& verdict);

  AuditSummary summary() const;

 private:
  struct Problem {
    std::int64_t seen = 0, invalid = 0;
    Point first;
    std::vector<bool> moved;
    std::set<Point> points;
  };
  std::vector<const DesignSpace*> spaces_;
  std::vector<Problem> problems_;
};

// Whether each parameter takes two values or more among random points of the space: masks and canonical spelling may leave
// one no choice, and nobody can be blamed for not moving that.
std::vector<bool> movable_parameters(const DesignSpace& space);

}  // namespace tilewright
