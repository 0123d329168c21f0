#include "tilewright/study/assignment.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/study/stop_heard.hpp"

namespace tilewright {
namespace {

constexpr double kFirm = 0.9;   // an index that deserves to be called the same assignment
constexpr double kLoose = 0.6;  // one below which resamples disagree about more than details

Result<AgentsQuestion> read_question(const AssignmentOptions& options, const DesignJob& job) {
  AgentsQuestion question;
  question.spaces = job.spaces();
  question.objective = job.options.objective;
  const auto layers = static_cast<std::int64_t>(question.spaces.size());
  if (options.samples < 2 * layers) {
    return invalid(
        fmt::format("--samples is {}, expected at least 2 for each of {} layers: {}", options.samples, layers, 2 * layers));
  }
  if (options.samples > kMostSamples) {
    return invalid(fmt::format("--samples is {}, expected at most {}", options.samples, kMostSamples));
  }
  question.exploration = {options.explore, options.samples / layers, options.seed};
  question.correlation.dependence = options.correlation;
  if (!(options.quantile > 0 && options.quantile <= 1)) {
    return invalid(fmt::format("--quantile is {}, expected more than 0 and at most 1", options.quantile));
  }
  question.correlation.quantile = options.quantile;
  question.correlation.contrast = options.contrast;
  question.clustering.linkage = options.linkage;
  if (options.threshold && options.agents) {
    return invalid("--threshold and --agents are both given, expected one of them");
  }
  if (options.threshold && !(*options.threshold >= 0)) {
    return invalid(fmt::format("--threshold is {}, expected a distance from 0 on", *options.threshold));
  }
  question.clustering.threshold = options.threshold;
  if (options.agents) {
    const auto most = static_cast<std::int64_t>(all_parameters(question.spaces).size());
    if (*options.agents < 1 || *options.agents > most) {
      return invalid(fmt::format("--agents is {}, expected 1 to {}, the number of parameters", *options.agents, most));
    }
    question.clustering.agents = static_cast<std::size_t>(*options.agents);
  }
  return question;
}

const StabilityRow* find_row(const AssignmentStudy& result, std::string_view varied, std::string_view to) {
  for (const StabilityRow& row : result.stability) {
    if (row.varied == varied && row.to == to) return &row;
  }
  return nullptr;
}

}  // namespace

OptionTable options_of(AssignmentOptions& options) {
  constexpr std::string_view kExploration = "Exploration", kClusters = "Correlation and clusters", kStability = "Stability";
  return {
      {"samples", &options.samples, "of the whole network, shared equally by its distinct layers", {.group = kExploration}},
      {"explore", &options.explore, "random, sobol, genetic, or any other searcher", {.group = kExploration}},
      {"seed", &options.seed, "the same seed gives the same bits for any number of threads", {.group = kExploration}},
      {"correlation", worded(options.correlation), "pearson, spearman, distance, mutual-information", {.group = kClusters}},
      {"quantile", &options.quantile, "best share of each layer's samples; 1 = all, weighted by rank", {.group = kClusters}},
      {"contrast",
       &options.contrast,
       "take off the correlation that all samples have alike: what the objective adds",
       {.group = kClusters}},
      {"linkage", worded(options.linkage), "average, complete, ward", {.group = kClusters}},
      {"threshold", &options.threshold, "cut the dendrogram at this distance (1 - correlation)", {.group = kClusters}},
      {"agents",
       &options.agents,
       "or into this many; with neither, the number with the best silhouette",
       {.group = kClusters}},
      {"resamples",
       &options.resamples,
       "bootstrap resamples, and subsets of the samples; 0 = none",
       {.group = kStability, .least = 0, .most = 1e6}},
      {"seeds", &options.seeds, "explorations with other seeds; 0 = none", {.group = kStability, .least = 0, .most = 1000}},
      {"no_stability", &options.no_stability, "only the assignment", {.group = kStability}}};
}

Result<AssignmentStudy> assign(const DesignJob& job, const AssignmentOptions& options, RunContext& context) {
  AssignmentStudy study;
  study.network = job.network_name;
  study.hardware = job.machine_name;
  study.options = job.options;
  study.coverage = job.coverage;
  TW_TRY(study.question, read_question(options, job));
  const AgentsQuestion& question = study.question;
  const StopHeard heard(context);
  TW_TRY(const ExplorationData data, explore(question.spaces, question.objective, question.exploration, context.threads));
  if (context.stop.asked()) throw Stopped{};  // what half of the samples say is not what was asked
  const ExplorationTable table = to_table(data, question.spaces);
  study.parameters = table.parameters;
  study.samples = static_cast<std::int64_t>(table.rows);
  for (const double goodness : table.goodness) study.feasible += goodness > 0 ? 1 : 0;
  if (study.feasible == 0) {
    return invalid(
        fmt::format("{}: none of {} samples is feasible, so there is nothing to correlate; expected more --samples "
                    "or a machine with larger buffers",
                    title_of(study), with_thousands(study.samples)));
  }
  study.found = cluster_agents(table, question.correlation, question.clustering);
  if (options.no_stability) return study;
  StabilityOptions asked;
  asked.resamples = static_cast<std::size_t>(std::max<std::int64_t>(options.resamples, 0));
  asked.seeds = static_cast<std::size_t>(std::max<std::int64_t>(options.seeds, 0));
  TW_TRY(study.stability, stability(question, data, asked, context.threads, study.stability_samples));
  if (context.stop.asked()) throw Stopped{};
  return study;
}

std::string title_of(const AssignmentStudy& result) {
  return fmt::format("{} on {}, {}", result.network, result.hardware, name_of(result.question.objective));
}

double cut_height(const ClusteredAgents& found) {
  const std::vector<Merge>& merges = found.dendrogram.merges;
  const std::size_t inside = found.dendrogram.leaves - found.assignment.agents.size();  // merges within agents
  const double below = inside > 0 ? merges[inside - 1].height : 0;
  const double above = inside < merges.size() ? merges[inside].height : 1;
  return (below + above) / 2;
}

std::vector<std::string> remarks_of(const AssignmentStudy& result) {
  std::vector<std::string> remarks;
  if (result.feasible < result.samples / 100) {
    remarks.push_back(fmt::format("Only {} of {} samples are feasible: the correlations rest on few.",
                                  with_thousands(result.feasible), with_thousands(result.samples)));
  }
  const StabilityRow* none = find_row(result, "objective", "none");
  if (none != nullptr && none->mean >= kFirm && !result.question.correlation.contrast) {
    remarks.push_back(fmt::format(
        "All samples alike, whatever their score, give almost the same agents (index {:.2f}): what ties these parameters "
        "together is the space, not the objective. --contrast takes that off.",
        none->mean));
  }
  const StabilityRow* bootstrap = find_row(result, "bootstrap", "");
  if (bootstrap != nullptr && bootstrap->mean < kLoose) {
    remarks.push_back(fmt::format(
        "Resamples of the same data give other agents (mean index {:.2f}): more --samples, or fewer agents by --agents.",
        bootstrap->mean));
  }
  return remarks;
}

}  // namespace tilewright
