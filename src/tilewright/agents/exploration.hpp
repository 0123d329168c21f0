// Samples of the problems, drawn before there are agents, from which the parameters' correlation is estimated.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/search/search_loop.hpp"

namespace tilewright {

// Samples of any number of problems, as the loop told them.
struct ExplorationData {
  struct Sample {
    std::size_t problem = 0;
    Point point;
    Verdict verdict;
    Outcome outcome = {};  // what `rescored` needs
  };
  std::vector<Sample> samples;
};

struct ExplorationOptions {
  std::string policy = "random";         // "random", "sobol", or any classical searcher: a name, as their list is open
  std::int64_t samples_per_problem = 1;  // all charged
  std::uint64_t seed = 1;
};

// Draws the samples. An Error when there is no such policy or it cannot work on a space.
Result<ExplorationData> explore(const std::vector<const DesignSpace*>& spaces, const Objective& objective,
                                const ExplorationOptions& options, ThreadPool& threads, Memory* memory = nullptr);

// One searcher per problem, for those who run the loop themselves.
Result<std::unique_ptr<Searcher>> make_explorer(const std::vector<const DesignSpace*>& spaces,
                                                const ExplorationOptions& options);

// The same samples judged by another objective; nothing is evaluated.
ExplorationData rescored(ExplorationData data, const Objective& objective);

// The samples as one matrix: a column per name of all_parameters(spaces), in that order. Entries are indices of the values
// within the problem's own parameter, scaled to 0 … 1 for ordinal parameters and as they are for categorical ones; NaN where
// a problem does not have the parameter. `goodness` of a feasible sample is the share of its problem's feasible samples that
// are no better, so 1 = best; of an infeasible one it is 0.
struct ExplorationTable {
  std::vector<Parameter> parameters;
  std::size_t rows = 0;
  std::vector<double> values;  // rows × parameters
  std::vector<double> goodness;
  std::vector<std::size_t> problems;
};
ExplorationTable to_table(const ExplorationData& data, const std::vector<const DesignSpace*>& spaces);

}  // namespace tilewright
