#include "tilewright/search/proposal_audit.hpp"

#include <algorithm>

namespace tilewright {

std::vector<bool> movable_parameters(const DesignSpace& space) {
  Rng rng(1, "audit");
  std::vector<bool> movable(space.parameters().size(), false);
  const Point first = random_point(space, rng);
  for (std::int64_t draw = 1; draw < kAuditedProposals; ++draw) {
    const Point point = random_point(space, rng);
    for (std::size_t i = 0; i < point.size(); ++i) movable[i] = movable[i] || point[i] != first[i];
  }
  return movable;
}

ProposalAudit::ProposalAudit(std::vector<const DesignSpace*> spaces)
    : spaces_(std::move(spaces)), problems_(spaces_.size()) {
  for (std::size_t i = 0; i < spaces_.size(); ++i) problems_[i].moved.assign(spaces_[i]->parameters().size(), false);
}

void ProposalAudit::see(const Proposal& proposal, const Verdict& verdict) {
  Problem& problem = problems_[proposal.problem];
  if (problem.seen == kAuditedProposals) return;
  if (problem.seen == 0) problem.first = proposal.point;
  ++problem.seen;
  problem.invalid += verdict.feasible ? 0 : 1;
  for (std::size_t i = 0; i < proposal.point.size(); ++i) {
    if (proposal.point[i] != problem.first[i]) problem.moved[i] = true;
  }
  problem.points.insert(proposal.point);
}

AuditSummary ProposalAudit::summary() const {
  AuditSummary summary;
  std::int64_t seen = 0, distinct = 0, invalid = 0;
  struct Name {
    std::string name;
    bool moved = false;
  };
  std::vector<Name> names;
  for (std::size_t p = 0; p < problems_.size(); ++p) {
    const Problem& problem = problems_[p];
    seen += problem.seen;
    distinct += static_cast<std::int64_t>(problem.points.size());
    invalid += problem.invalid;
    const std::vector<bool> movable = movable_parameters(*spaces_[p]);
    const std::vector<Parameter>& parameters = spaces_[p]->parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (!movable[i]) continue;
      ++summary.movable;
      if (!problem.moved[i]) ++summary.stuck;
      auto entry = std::ranges::find(names, parameters[i].name, &Name::name);
      if (entry == names.end()) entry = names.insert(names.end(), {parameters[i].name});
      entry->moved = entry->moved || problem.moved[i];
    }
  }
  const auto count = static_cast<double>(problems_.size());
  summary.proposals = static_cast<double>(seen) / count;
  summary.distinct = static_cast<double>(distinct) / count;
  summary.invalid = seen > 0 ? static_cast<double>(invalid) / static_cast<double>(seen) : 0;
  for (const Name& name : names) {
    if (!name.moved) summary.never_moved.push_back(name.name);
  }
  return summary;
}

}  // namespace tilewright
