#include "tilewright/agents/exploration.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "tilewright/agents/assignment.hpp"
#include "tilewright/agents/sobol.hpp"
#include "tilewright/base/rng.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/search/searchers.hpp"

namespace tilewright {
namespace {

// The place of each column's parameter in each space, if it is there.
using Places = std::vector<std::vector<std::optional<std::size_t>>>;

Places places_of(const std::vector<Parameter>& columns, const std::vector<const DesignSpace*>& spaces) {
  std::map<std::string_view, std::size_t> by_name;
  for (std::size_t column = 0; column < columns.size(); ++column) by_name.emplace(columns[column].name, column);
  Places places(spaces.size(), std::vector<std::optional<std::size_t>>(columns.size()));
  for (std::size_t space = 0; space < spaces.size(); ++space) {
    const std::vector<Parameter>& parameters = spaces[space]->parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) places[space][by_name.at(parameters[i].name)] = i;
  }
  return places;
}

Error no_such_policy(const std::string& policy) {
  std::vector<std::string> names = {"sobol"};
  for (const SearcherInfo& info : classical_searchers()) names.emplace_back(info.name);
  return Error{ErrorCode::NotFound, fmt::format("exploration is '{}', expected {}{}", printable(policy), join(names, ", "),
                                                did_you_mean(policy, names))};
}

void fill_goodness(const ExplorationData& data, std::size_t problems, std::vector<double>& goodness) {
  std::vector<std::vector<std::size_t>> feasible(problems);
  for (std::size_t row = 0; row < data.samples.size(); ++row) {
    if (data.samples[row].verdict.feasible) feasible[data.samples[row].problem].push_back(row);
  }
  goodness.assign(data.samples.size(), 0.0);
  const auto score = [&](std::size_t row) -> const Score& { return data.samples[row].verdict.score; };
  for (std::vector<std::size_t>& rows : feasible) {
    std::ranges::stable_sort(rows, {}, score);
    for (std::size_t first = 0; first < rows.size();) {
      std::size_t end = first + 1;
      while (end < rows.size() && score(rows[end]) == score(rows[first])) ++end;
      const double share = static_cast<double>(rows.size() - first) / static_cast<double>(rows.size());
      for (; first < end; ++first) goodness[rows[first]] = share;
    }
  }
}

}  // namespace

Result<std::unique_ptr<Searcher>> make_explorer(const std::vector<const DesignSpace*>& spaces,
                                                const ExplorationOptions& options) {
  const Rng root(options.seed, "explore/" + options.policy);
  std::vector<std::unique_ptr<PointSearcher>> searchers;
  for (std::size_t problem = 0; problem < spaces.size(); ++problem) {
    const std::uint64_t seed = root.fork("problem", problem).bits();
    if (options.policy == "sobol") {
      searchers.push_back(make_sobol(*spaces[problem], seed));
      continue;
    }
    auto searcher = make_classical_searcher(options.policy, *spaces[problem], options.samples_per_problem, seed, {});
    if (!searcher) {
      // Its sentence lists the classical searchers only.
      if (searcher.error().code == ErrorCode::NotFound) return no_such_policy(options.policy);
      return searcher.error();
    }
    searchers.push_back(std::move(searcher).value());
  }
  return each_alone(std::move(searchers));
}

Result<ExplorationData> explore(const std::vector<const DesignSpace*>& spaces, const Objective& objective,
                                const ExplorationOptions& options, ThreadPool& threads, Memory* memory) {
  TW_TRY(const std::unique_ptr<Searcher> searcher, make_explorer(spaces, options));
  SearchLoop loop(spaces, objective, options.samples_per_problem, threads, memory);
  ExplorationData data;
  loop.on_sample = [&](const Proposal& proposal, const Outcome& outcome, const Verdict& verdict) {
    data.samples.push_back({proposal.problem, proposal.point, verdict, outcome});
  };
  while (loop.round(*searcher)) {
  }
  if (loop.is_stopped()) throw Stopped{};  // whoever explores wants all of it
  return data;
}

ExplorationData rescored(ExplorationData data, const Objective& objective) {
  for (ExplorationData::Sample& sample : data.samples) sample.verdict = verdict_of(objective, sample.outcome);
  return data;
}

ExplorationTable to_table(const ExplorationData& data, const std::vector<const DesignSpace*>& spaces) {
  ExplorationTable table;
  table.parameters = all_parameters(spaces);
  table.rows = data.samples.size();
  const std::size_t columns = table.parameters.size();
  table.values.assign(table.rows * columns, std::numeric_limits<double>::quiet_NaN());
  table.problems.reserve(table.rows);
  const Places places = places_of(table.parameters, spaces);
  for (std::size_t row = 0; row < table.rows; ++row) {
    const ExplorationData::Sample& sample = data.samples[row];
    const std::vector<Parameter>& parameters = spaces[sample.problem]->parameters();
    table.problems.push_back(sample.problem);
    for (std::size_t column = 0; column < columns; ++column) {
      const std::optional<std::size_t> place = places[sample.problem][column];
      if (!place) continue;
      const double index = sample.point[*place];
      const bool ordinal = table.parameters[column].kind == ParameterKind::Ordinal;
      table.values[row * columns + column] = ordinal ? index / std::max(parameters[*place].value_count - 1, 1) : index;
    }
  }
  fill_goodness(data, spaces.size(), table.goodness);
  return table;
}

}  // namespace tilewright
