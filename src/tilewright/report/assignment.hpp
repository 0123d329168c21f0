// Agents and what they are made of, as people and tables take it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/report/matrix_plot.hpp"
#include "tilewright/study/assignment.hpp"

namespace tilewright {

std::string to_text(const AssignmentStudy& study);
std::string to_html(const AssignmentStudy& study);
std::string correlation_csv(const AssignmentStudy& study);
std::string stability_csv(const AssignmentStudy& study);

// assignment.yaml (for map --assign), correlation.csv, stability.csv where it was asked for, agents.json, report.html.
Result<Done> write_files(const AssignmentStudy& study, const std::filesystem::path& directory);

// The correlation matrix and its dendrogram as reports draw them.
ClusterMap cluster_map(const ClusteredAgents& found);

// Leaves from top to bottom, distance from left to right in `width` columns, with box-drawing characters. Each line begins
// with its entry of `labels`; `cut` is marked by dots.
std::string dendrogram_text(const Dendrogram& dendrogram, const std::vector<std::string>& labels, double cut,
                            std::size_t width);

}  // namespace tilewright
