#include "tilewright/study/hierarchy_proof.hpp"

#include <cmath>

#include <fmt/format.h>

#include "tilewright/optimum/floor.hpp"
#include "tilewright/search/exhaustive.hpp"
#include "tilewright/space/hierarchy_outcome.hpp"

namespace tilewright {
namespace {

constexpr std::int64_t kFewNodes = 300'000;
constexpr double kSmallSpace = 4.5;  // log10

optimum::Question question_of(const HierarchySpace& space) {
  return {space.problem(), space.machine(), space.judge(), space.restriction()};
}

}  // namespace

Result<std::vector<std::optional<optimum::Certificate>>> prove(const HierarchyJob& job, const std::vector<Ledger>& ledgers,
                                                               const optimum::Effort& effort, ThreadPool& threads) {
  if (!optimum::goal_of(job.options.objective)) {
    return invalid(fmt::format("--prove is for latency, energy or edp with limits of latency and energy, not '{}'",
                               name_of(job.options.objective)));
  }
  if (job.machine.levels.size() < 2) return invalid("--prove needs a machine of two memory levels or more");
  std::vector<std::optional<optimum::Certificate>> certificates(job.problems.size());
  threads.for_each(job.problems.size(), [&](std::size_t i, std::size_t) {
    if (!ledgers[i].best) return;
    const HierarchySpace& space = job.problems[i].mappings();
    certificates[i] =
        optimum::prove(space, job.options.objective, effort, {space.mapping(ledgers[i].best->point)}).certificate;
  });
  return certificates;
}

void set_bound(HierarchyLayer& layer, const HierarchySpace& space, const Objective& objective) {
  const auto goal = optimum::goal_of(objective);
  layer.bound.reset();
  if (!goal || !layer.found) return;
  HierarchyLayer::Bound& bound = layer.bound.emplace();
  bound.value = value_of(*goal, layer.found->analysis.cost);
  bound.lower_bound = optimum::floor_of(question_of(space)).value(*goal);
  if (layer.certificate) bound.lower_bound = std::max(bound.lower_bound, layer.certificate->lower_bound);
  TW_ASSERT(bound.lower_bound <= bound.value * (1 + 1e-9));
}

std::optional<HierarchyLayer::Bound> bound_of(const HierarchyStudy& study) {
  const auto goal = optimum::goal_of(study.objective);
  if (!goal || study.layers.empty()) return std::nullopt;
  HierarchyLayer::Bound sum;
  double energy = 0, cycles = 0;
  for (const HierarchyLayer& layer : study.layers) {
    if (!layer.bound) return std::nullopt;
    const double count = static_cast<double>(layer.count);
    energy += count * layer.found->analysis.cost.energy.value;
    cycles += count * static_cast<double>(layer.found->analysis.cost.cycles.value);
    sum.lower_bound +=
        count * (*goal == optimum::Goal::Edp ? std::sqrt(layer.bound->lower_bound) : layer.bound->lower_bound);
  }
  sum.value = optimum::value_of(*goal, energy, cycles);
  if (*goal == optimum::Goal::Edp) sum.lower_bound *= sum.lower_bound;
  return sum;
}

std::optional<std::string> check_proof(const HierarchyLayer& layer, const HierarchySpace& space,
                                       const Objective& objective) {
  const auto goal = optimum::goal_of(objective);
  if (!goal || !layer.found) return std::nullopt;
  const double value = value_of(*goal, layer.found->analysis.cost);
  const double bound = layer.bound ? layer.bound->lower_bound : 0;
  if (bound > value) return fmt::format("its mapping has {}, the lower bound is {}", value, bound);
  if (layer.certificate && layer.certificate->lower_bound > layer.certificate->incumbent)
    return fmt::format("the certificate's lower bound is above its incumbent");
  if (layer.certificate && layer.certificate->nodes <= kFewNodes) {
    const optimum::Answer again = optimum::prove(
        space, objective, {.nodes = std::max<std::int64_t>(layer.certificate->nodes * 4, 10'000)}, {layer.found->mapping});
    if (again.certificate.incumbent < layer.certificate->lower_bound * (1 - 1e-9)) {
      return fmt::format("the lower bound is {}, but there is a mapping with {}", layer.certificate->lower_bound,
                         again.certificate.incumbent);
    }
    if (layer.certificate->proven() && !again.certificate.proven())
      return fmt::format("its proof could not be made again with {} nodes", layer.certificate->nodes * 4);
  }
  if (space.log10_size() > kSmallSpace) return std::nullopt;
  TW_ASSERT(layer.bound);
  const auto all = make_exhaustive(space, {}, 0, 0);
  if (!all) return std::nullopt;
  const auto evaluator = space.evaluator();
  std::vector<Point> points;
  do {
    points.clear();
    (*all)->ask(4096, points);
    for (const Point& point : points) {
      const Outcome outcome = evaluator->evaluate(point);
      if (!outcome.feasible || broken_limit(objective.limits, outcome.metrics)) continue;
      const double one = optimum::value_of(*goal, outcome.metrics.energy * 1e3, outcome.metrics.latency);
      if (one < bound * (1 - 1e-9)) return fmt::format("the lower bound is {}, but there is a mapping with {}", bound, one);
    }
  } while (!points.empty());
  return std::nullopt;
}

}  // namespace tilewright
