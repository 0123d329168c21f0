#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/report/assignment.hpp"
#include "tilewright/study/dim_legend.hpp"

namespace tilewright {
namespace {

constexpr std::size_t kDendrogramWidth = 60;

std::string head_text(const AssignmentStudy& result) {
  const AgentsQuestion& question = result.question;
  std::vector<std::string> space;
  for (const auto& [fact, value] : space_facts(result.options)) space.push_back(fact + " " + value);
  return fmt::format(
      "{}: {} layers, {} parameters ({}), {} model\n{} samples ({}, seed {}, {:.1f} % feasible)\n\n", title_of(result),
      question.spaces.size(), result.parameters.size(), join(space, ", "), model_text(result.options.model, result.options),
      with_thousands(result.samples), question.exploration.policy, question.exploration.seed,
      100 * static_cast<double>(result.feasible) / static_cast<double>(std::max<std::int64_t>(result.samples, 1)));
}

// The lower triangle in hundredths, in the order of the dendrogram, a dot below 5.
std::string matrix_text(const AssignmentStudy& result) {
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

std::string tree_text(const AssignmentStudy& result) {
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

std::string assignment_text(const AssignmentStudy& result) {
  const AgentAssignment& assignment = result.found.assignment;
  std::string text = fmt::format("{} agents, {}, silhouette {:.3f}\n", assignment.agents.size(), assignment.origin,
                                 result.found.silhouette);
  for (std::size_t agent = 0; agent < assignment.agents.size(); ++agent) {
    text += fmt::format("{:>3} {}\n", agent + 1, join(assignment.agents[agent], " "));
  }
  return fmt::format("{}({})\n\n", text, result.options.judge ? kLevelParameterLegend : kParameterLegend);
}

std::string stability_text(const AssignmentStudy& result) {
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

}  // namespace

std::string to_text(const AssignmentStudy& result) {
  std::string text =
      head_text(result) + matrix_text(result) + tree_text(result) + assignment_text(result) + stability_text(result);
  text += to_text(result.coverage) + "\n";
  for (const std::string& remark : remarks_of(result)) text += remark + "\n";
  return text;
}

}  // namespace tilewright
