// A search as it went: every proposal, and what was found.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/search/search_loop.hpp"

namespace tilewright {

struct Course {
  std::vector<Proposal> proposals;
  std::vector<Ledger> ledgers;
};

inline Course run(Searcher& searcher, const std::vector<const DesignSpace*>& spaces, std::int64_t samples,
                  ThreadPool& threads, const char* objective = "latency") {
  Course course;
  SearchLoop loop(spaces, *objective_named(objective), samples, threads);
  loop.on_sample = [&](const Proposal& proposal, const Outcome&, const Verdict&) { course.proposals.push_back(proposal); };
  while (loop.round(searcher)) {
  }
  course.ledgers = loop.ledgers();
  return course;
}

inline std::vector<Point> points(const Course& course) {
  std::vector<Point> all;
  for (const Proposal& proposal : course.proposals) all.push_back(proposal.point);
  return all;
}

}  // namespace tilewright
