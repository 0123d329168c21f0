#include "tilewright/study/hierarchy_mapping.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/space/hierarchy_outcome.hpp"
#include "tilewright/study/hierarchy_proof.hpp"

namespace tilewright {
namespace {

HierarchyLayer to_layer(const HierarchyProblem& problem, const Ledger& ledger,
                        const std::optional<optimum::Certificate>& certificate, const HierarchyJob& job) {
  HierarchyLayer layer;
  layer.certificate = certificate;
  record(layer, problem, ledger);
  layer.problem = problem.mappings().problem();
  if (!ledger.best && ledger.limits) {
    HierarchyLayer::Found& nearest = layer.nearest.emplace(HierarchyLayer::Found{});
    nearest.mapping = problem.mappings().mapping(ledger.limits->point);
    nearest.metrics = ledger.limits->outcome.metrics;
  }
  for (const FrontMember& member : ledger.front) {
    layer.front.push_back({problem.mappings().mapping(member.point), member.outcome.metrics, member.sample});
  }
  if (!job.options.no_classics) layer.ledger.classics = std::ssize(problem.classics);
  if (ledger.best) layer.found.emplace(HierarchyLayer::Found{}).mapping = problem.mappings().mapping(ledger.best->point);
  judge(layer, problem.mappings(), problem.classics, job.options.objective);
  if (!layer.found) layer.explain = explain_command(job, problem.name);
  return layer;
}

// What follows from sums over the network.
void finish_totals(Metrics& sums, const HierarchyStudy& study) {
  if (sums.latency > 0) sums.power = sums.energy * 1e3 * study.machine.clock_ghz / sums.latency;
}

}  // namespace

std::optional<std::string> judge(HierarchyLayer& layer, const HierarchySpace& space,
                                 const std::vector<HierarchyClassic>& classics, const Objective& objective) {
  layer.log10_size = space.log10_size();
  const auto evaluator = space.evaluator();
  std::optional<Score> best;
  for (const HierarchyClassic& classic : classics) {
    const Outcome outcome = evaluator->evaluate(classic.point);
    if (!outcome.feasible || broken_limit(objective.limits, outcome.metrics)) continue;
    const Score score = score_of(objective, outcome.metrics);
    layer.dataflows.emplace_back(classic.name, score[0]);
    if (best && *best <= score) continue;
    best = score;
    layer.dataflow_metrics = outcome.metrics;
  }
  std::ranges::stable_sort(layer.dataflows, {}, &std::pair<std::string, double>::second);
  if (!layer.dataflows.empty()) layer.dataflow = layer.dataflows.front().first;
  if (!layer.found) return std::nullopt;
  HierarchyLayer::Found& found = *layer.found;
  if (auto what = violation(space.restriction(), found.mapping, space.problem(), space.machine())) return *what;
  hierarchy::Evaluator all(space.problem(), space.machine(),
                           {.judge = space.judge(), .detail = hierarchy::EvaluateOptions::Detail::All});
  const hierarchy::Evaluation evaluation = all.evaluate(found.mapping);
  if (const auto* infeasible = std::get_if<hierarchy::Infeasible>(&evaluation)) {
    return fmt::format("is infeasible ({}): {}", name_of(infeasible->reason), to_sentence(*infeasible, space.machine()));
  }
  found.analysis = all.analysis();
  found.analysis.cost = std::get<hierarchy::Cost>(evaluation);
  found.metrics = metrics_of(found.analysis.cost, computes(space.problem()), space.machine());
  found.score = score_of(objective, found.metrics);
  set_bound(layer, space, objective);
  if (best) layer.dataflow_factor = (*best)[0] / found.score[0];
  if (const auto limit = broken_limit(objective.limits, found.metrics)) return fmt::format("breaks the limit on {}", *limit);
  return std::nullopt;
}

HierarchyTotals totals_of(const HierarchyStudy& study) {
  HierarchyTotals totals;
  totals.levels.resize(study.machine.levels.size());
  Metrics classic;
  bool all_classic = true;
  for (const HierarchyLayer& layer : study.layers) {
    totals.classics += layer.ledger.classics;
    totals.samples += layer.ledger.samples;
    totals.valid += layer.ledger.valid;
    totals.repeated += layer.ledger.repeated;
    if (!layer.found) {
      ++totals.failed;
      continue;
    }
    const double count = static_cast<double>(layer.count);
    const hierarchy::Analysis& analysis = layer.found->analysis;
    accumulate(totals.metrics, layer.found->metrics, count);
    totals.cycles.value += layer.count * analysis.cost.cycles.value;
    totals.energy += analysis.cost.energy * count;
    totals.mac_energy += analysis.mac_energy * count;
    for (std::size_t level = 0; level < analysis.levels.size(); ++level) {
      totals.levels[level] += (analysis.levels[level].energy + analysis.levels[level].network_energy) * count;
    }
    all_classic = all_classic && layer.dataflow_metrics;
    if (layer.dataflow_metrics) accumulate(classic, *layer.dataflow_metrics, count);
  }
  for (Metrics* sums : {&totals.metrics, &classic}) finish_totals(*sums, study);
  if (all_classic && totals.failed < study.layers.size()) {
    totals.dataflow_factor = score_of(study.objective, classic)[0] / score_of(study.objective, totals.metrics)[0];
  }
  return totals;
}

NetworkFront front_of(const HierarchyStudy& study) {
  std::vector<FrontLayer> layers;
  for (const HierarchyLayer& layer : study.layers) {
    FrontLayer& one = layers.emplace_back();
    one.count = static_cast<double>(layer.count);
    for (const HierarchyLayer::Member& member : layer.front) one.front.push_back(member.metrics);
    if (one.front.empty()) return {};
  }
  return network_front(layers, study.objective, [&](Metrics& sums) { finish_totals(sums, study); });
}

std::vector<EnergyPart> energy_of(const HierarchyStudy& study) {
  std::vector<EnergyPart> sums;
  for (const HierarchyLayer& layer : study.layers) {
    if (!layer.found) continue;
    add_parts(sums, energy_parts(layer.found->analysis, layer.problem, study.machine), static_cast<double>(layer.count));
  }
  return sums;
}

std::vector<std::string> remarks_of(const HierarchyStudy& study) {
  std::vector<LayerAnswer> answers;
  for (const HierarchyLayer& layer : study.layers) {
    answers.push_back({&layer, layer.found.has_value(), layer.nearest ? &layer.nearest->metrics : nullptr});
  }
  std::vector<std::string> remarks = search_remarks(study, answers);
  for (const HierarchyLayer& layer : study.layers) {
    if (!layer.bound || !layer.certificate) continue;
    const double known = layer.certificate->incumbent;
    if (known > layer.bound->value * (1 - optimum::kProvenGap)) continue;
    remarks.push_back(fmt::format("{}: the proof came by a mapping with {:.6g}, {:.1f} % less; {} gives it.", layer.name,
                                  known, 100 * (1 - known / layer.bound->value),
                                  study.search == kOptimal ? "letting the interrupted run go on" : "--search optimal"));
  }
  return remarks;
}

Result<HierarchyStudy> map(const HierarchyJob& job, const SearchOptions& options, RunContext& context) {
  TW_TRY(const SearchStudy found, search(task_of(job), options, context));
  HierarchyStudy study;
  record(study, job, options, found);
  study.machine = job.machine;
  study.judge = *job.options.judge;
  study.restriction = job.restriction;
  std::vector<std::optional<optimum::Certificate>> certificates(job.problems.size());
  if (options.prove && options.search != kOptimal) {
    TW_TRY(certificates, prove(job, found.ledgers, effort_of(options, context), context.threads));
  }
  if (const auto* story = dynamic_cast<const optimum::OptimalStory*>(found.story.get())) certificates = story->problems;
  for (std::size_t i = 0; i < job.problems.size(); ++i) {
    study.layers.push_back(to_layer(job.problems[i], found.ledgers[i], certificates[i], job));
  }
  if (has_front(study)) study.front = front_of(study);
  return study;
}

}  // namespace tilewright
