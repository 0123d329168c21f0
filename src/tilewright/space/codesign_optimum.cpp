#include "tilewright/space/codesign_optimum.hpp"

#include <algorithm>

namespace tilewright {

std::optional<CodesignOptimum> codesign_optimum(const CodesignSpace& space) {
  struct Candidate {
    double least = 0;
    std::size_t number = 0;
  };
  const std::size_t width = space.parameters().size();
  CodesignOptimum optimum;
  std::vector<Candidate> candidates;
  Point points;  // all candidates', one after the other
  for_each_point(space, [&](const Point& point) {
    ++optimum.points;
    const CodesignSpace::Excess excess = space.excess(point);
    if (!excess.encodable || excess.area > 0 || excess.buffers > 0) return;
    candidates.push_back({space.least_cycles(point), candidates.size()});
    points.insert(points.end(), point.begin(), point.end());
  });
  std::ranges::sort(candidates, {}, [](const Candidate& one) { return std::pair(one.least, one.number); });

  const auto evaluator = space.evaluator();
  for (const Candidate& one : candidates) {
    if (optimum.outcome.feasible && one.least >= optimum.outcome.metrics.latency) break;
    const PointView point = PointView(points).subspan(one.number * width, width);
    const Outcome outcome = evaluator->evaluate(point);
    ++optimum.measured;
    if (!outcome.feasible) continue;
    if (optimum.outcome.feasible && outcome.metrics.latency >= optimum.outcome.metrics.latency) continue;
    optimum.point.assign(point.begin(), point.end());
    optimum.outcome = outcome;
  }
  if (!optimum.outcome.feasible) return std::nullopt;
  return optimum;
}

}  // namespace tilewright
