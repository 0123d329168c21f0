#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/study/agents_result.hpp"
#include "tilewright/study/dim_legend.hpp"

namespace tilewright {
namespace {

constexpr std::size_t kDendrogramWidth = 60;
constexpr double kFirm = 0.9;   // an index that deserves to be called the same assignment
constexpr double kLoose = 0.6;  // one below which resamples disagree about more than details

std::string head_text(const AgentsResult& result) {
  const AgentsQuestion& question = result.question;
  return fmt::format(
      "{}: {} layers, {} parameters (tiles {}, levels {}), {} model\n{} samples ({}, seed {}, {:.1f} % feasible)\n\n",
      title_of(result), question.spaces.size(), result.parameters.size(), result.tiles, result.levels, result.model,
      with_thousands(result.samples), question.exploration.policy, question.exploration.seed,
      100 * static_cast<double>(result.feasible) / static_cast<double>(std::max<std::int64_t>(result.samples, 1)));
}

// The lower triangle in hundredths, in the order of the dendrogram, a dot below 5.
std::string matrix_text(const AgentsResult& result) {
  const CorrelationMatrix& matrix = result.found.matrix;
  const std::vector<std::size_t>& order = result.found.dendrogram.order;
  const CorrelationOptions& options = result.question.correlation;
  const std::string of = options.quantile < 1
                             ? fmt::format("the best {:.3g} % of each layer's samples", 100 * options.quantile)
                             : "all samples, weighted by rank";
  std::string text = fmt::format("correlation in hundredths ({}{}, {}; · below 5)\n", name_of(options.dependence),
                                 options.contrast ? ", less that of all samples alike" : "", of);
  std::size_t width = 0;
  for (const std::string& name : matrix.names) width = std::max(width, name.size());
  for (std::size_t line = 0; line < order.size(); ++line) {
    text += fmt::format("{:>3} {:<{}}", line + 1, matrix.names[order[line]], line == 0 ? 0 : width);
    for (std::size_t column = 0; column < line; ++column) {
      const long hundredths = std::lround(100 * matrix(order[line], order[column]));
      text += hundredths < 5 ? "  ·" : fmt::format("{:>3}", std::min(hundredths, 99L));
    }
    text += "\n";
  }
  text += fmt::format("{:>{}}", "", width + 4);
  for (std::size_t column = 0; column + 1 < order.size(); ++column) text += fmt::format("{:>3}", column + 1);
  return text + "\n\n";
}

std::string tree_text(const AgentsResult& result) {
  const ClusteredAgents& found = result.found;
  std::vector<std::string> labels;
  std::size_t width = 0;
  for (const std::string& name : found.matrix.names) width = std::max(width, name.size());
  for (std::size_t i = 0; i < found.matrix.names.size(); ++i) {
    labels.push_back(fmt::format("{:<{}} {:>2}", found.matrix.names[i], width, found.clusters[i] + 1));
  }
  return fmt::format("dendrogram ({} linkage), with each parameter's agent\n{}\n",
                     name_of(result.question.clustering.linkage),
                     dendrogram_text(found.dendrogram, labels, cut_height(found), kDendrogramWidth));
}

std::string assignment_text(const AgentsResult& result) {
  const AgentAssignment& assignment = result.found.assignment;
  std::string text = fmt::format("{} agents, {}, silhouette {:.3f}\n", assignment.agents.size(), assignment.origin,
                                 result.found.silhouette);
  for (std::size_t agent = 0; agent < assignment.agents.size(); ++agent) {
    text += fmt::format("{:>3} {}\n", agent + 1, join(assignment.agents[agent], " "));
  }
  return fmt::format("{}({})\n\n", text, kParameterLegend);
}

std::string stability_text(const AgentsResult& result) {
  if (result.stability.empty()) return "";
  std::string text = fmt::format("stability: adjusted Rand index with these agents (1 = the same, 0 = as chance has it){}\n",
                                 result.stability_samples > 0 ? fmt::format("; {} samples more for other explorations",
                                                                            with_thousands(result.stability_samples))
                                                              : "");
  text += fmt::format("{:<12} {:<20} {:>6} {:>15} {:>5} {:>7}\n", "changed", "to", "mean", "5 % … 95 %", "n", "agents");
  for (const StabilityRow& row : result.stability) {
    const std::string range = row.count > 1 ? fmt::format("{:.2f} … {:.2f}", row.low, row.high) : "";
    text += fmt::format("{:<12} {:<20} {:>6.2f} {:>15} {:>5} {:>7.1f}\n", row.varied, row.to, row.mean, range, row.count,
                        row.agents);
  }
  return text + "\n";
}

const StabilityRow* find_row(const AgentsResult& result, std::string_view varied, std::string_view to) {
  for (const StabilityRow& row : result.stability) {
    if (row.varied == varied && row.to == to) return &row;
  }
  return nullptr;
}

}  // namespace

std::string title_of(const AgentsResult& result) {
  return fmt::format("{} on {}, {}", result.network, result.hardware, name_of(result.question.objective));
}

double cut_height(const ClusteredAgents& found) {
  const std::vector<Merge>& merges = found.dendrogram.merges;
  const std::size_t inside = found.dendrogram.leaves - found.assignment.agents.size();  // merges within agents
  const double below = inside > 0 ? merges[inside - 1].height : 0;
  const double above = inside < merges.size() ? merges[inside].height : 1;
  return (below + above) / 2;
}

std::vector<std::string> remarks_of(const AgentsResult& result) {
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

std::string to_text(const AgentsResult& result) {
  std::string text =
      head_text(result) + matrix_text(result) + tree_text(result) + assignment_text(result) + stability_text(result);
  text += to_text(result.coverage) + "\n";
  for (const std::string& remark : remarks_of(result)) text += remark + "\n";
  return text;
}

}  // namespace tilewright
