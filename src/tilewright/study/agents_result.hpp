// What `tilewright agents` has found, and its forms: text, JSON, CSV, HTML.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/agents/clustering.hpp"
#include "tilewright/agents/stability.hpp"
#include "tilewright/workload/coverage.hpp"

namespace tilewright {

struct AgentsResult {
  std::string network, hardware, model, tiles;
  std::string levels;
  AgentsQuestion question;
  std::vector<Parameter> parameters;
  std::int64_t samples = 0;            // of the exploration, all charged
  std::int64_t feasible = 0;           // of them
  std::int64_t stability_samples = 0;  // of the explorations that only the stability needed
  ClusteredAgents found;
  std::vector<StabilityRow> stability;  // empty when it was not asked for
  std::vector<std::string> command;
  Coverage coverage;
};

// "mobilenet_v2 on eyeriss, edp".
std::string title_of(const AgentsResult& result);

// What the numbers mean where they are easily misread: each a sentence.
std::vector<std::string> remarks_of(const AgentsResult& result);

// The halfway distance between the last merge inside an agent and the first between two.
double cut_height(const ClusteredAgents& found);

std::string to_text(const AgentsResult& result);
std::string to_json(const AgentsResult& result);
std::string correlation_csv(const AgentsResult& result);
std::string stability_csv(const AgentsResult& result);
std::string to_html(const AgentsResult& result);

// Leaves from top to bottom, distance from left to right in `width` columns, with box-drawing characters. Each line begins
// with its entry of `labels`; `cut` is marked by dots.
std::string dendrogram_text(const Dendrogram& dendrogram, const std::vector<std::string>& labels, double cut,
                            std::size_t width);

}  // namespace tilewright
