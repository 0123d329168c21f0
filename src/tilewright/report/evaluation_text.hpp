// Results of `evaluate` for people and for programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tilewright/study/job.hpp"

namespace tilewright {

struct LayerResult {
  const LayerJob* layer = nullptr;
  std::optional<Cost> cost;
  std::string failure;  // the sentence, when there is no cost
  std::optional<Infeasible> infeasible;
};

std::string result_as_text(const Job& job, const LayerResult& result);                  // one layer, a full page
std::string results_as_table(const Job& job, const std::vector<LayerResult>& results);  // a line per layer, totals
std::string results_as_csv(const Job& job, const std::vector<LayerResult>& results);    // MAESTRO's 52 columns
std::string results_as_json(const Job& job, const std::vector<LayerResult>& results);

}  // namespace tilewright
