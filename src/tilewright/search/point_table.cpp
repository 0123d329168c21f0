#include "tilewright/search/point_table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/search/stored_memory.hpp"

namespace tilewright {
namespace {

PointCell number_cell(double number) { return {fmt::format("{}", number), true}; }

// Values of categories have names, all others are numbers.
PointCell value_cell(const DesignSpace& space, std::size_t parameter, std::int32_t index) {
  return {space.value_name(parameter, index), space.parameters()[parameter].kind == ParameterKind::Ordinal};
}

}  // namespace

PointTable::PointTable(std::vector<Problem> problems, Objective objective, std::vector<MetricColumn> metrics)
    : problems_(std::move(problems)), objective_(std::move(objective)), metrics_(std::move(metrics)) {
  columns_ = {"layer", "number"};
  for (const Problem& problem : problems_) {
    std::vector<std::size_t>& places = places_.emplace_back();
    for (const Parameter& parameter : problem.space->parameters()) {
      auto found = std::ranges::find(columns_, parameter.name);
      if (found == columns_.end()) found = columns_.insert(columns_.end(), parameter.name);
      places.push_back(static_cast<std::size_t>(found - columns_.begin()));
    }
  }
  columns_.emplace_back("status");
  columns_.emplace_back("objective");
  for (const MetricColumn& metric : metrics_) columns_.push_back(metric.name);
  columns_.emplace_back("design");
}

std::vector<bool> PointTable::are_numbers() const {
  std::vector<bool> numbers(columns_.size(), true);
  numbers.front() = numbers.back() = false;                // layer, design
  numbers[columns_.size() - metrics_.size() - 3] = false;  // status
  for (std::size_t p = 0; p < problems_.size(); ++p) {
    const std::vector<Parameter>& parameters = problems_[p].space->parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i)
      numbers[places_[p][i]] = parameters[i].kind == ParameterKind::Ordinal;
  }
  return numbers;
}

Result<Done> PointTable::each(Store& store, const std::function<bool(std::span<const PointCell>)>& row) const {
  std::vector<PointCell> cells;
  bool going = true;
  for (std::size_t p = 0; going && p < problems_.size(); ++p) {
    const DesignSpace& space = *problems_[p].space;
    std::int64_t number = 0;
    std::optional<Error> wrong;
    const Result<Done> read = store.each(space.problem_key(), [&](std::string_view design, const StoredOutcome& stored) {
      if (!has_all_metrics(stored)) {
        wrong = invalid(fmt::format("{}: the store has outcomes of {} numbers; expected a store of this version",
                                    space.name(), stored.numbers.size()));
        return false;
      }
      const Outcome outcome = outcome_of(stored);
      cells.assign(columns_.size(), {});
      cells[0] = {problems_[p].layer, false};
      cells[1] = {fmt::format("{}", ++number), true};
      if (const auto point = space.point_of_design(design)) {
        for (std::size_t i = 0; i < point->size(); ++i) cells[places_[p][i]] = value_cell(space, i, (*point)[i]);
      }
      std::size_t at = columns_.size() - metrics_.size() - 3;
      const Verdict verdict = verdict_of(objective_, outcome);
      cells[at++].text = verdict.feasible ? "ok" : outcome.feasible ? "over-limit" : space.reason_name(outcome.reason);
      if (verdict.feasible) cells[at] = number_cell(verdict.score[0]);
      ++at;
      for (const MetricColumn& metric : metrics_) {
        if (const auto value = outcome.feasible ? metric.value(outcome.metrics) : std::nullopt)
          cells[at] = number_cell(*value);
        ++at;
      }
      cells[at].text = space.design_text(design);
      return going = row(cells);
    });
    if (wrong) return *wrong;
    if (!read) return read;
  }
  return Done{};
}

std::vector<PointTable::MetricColumn> mapping_metric_columns() {
  return {{"latency_cycles", [](const Metrics& m) -> std::optional<double> { return m.latency; }},
          {"energy_nj", [](const Metrics& m) -> std::optional<double> { return m.energy; }},
          {"edp", [](const Metrics& m) -> std::optional<double> { return m.edp(); }},
          {"area_um2", [](const Metrics& m) -> std::optional<double> { return m.area; }},
          {"power_mw", [](const Metrics& m) -> std::optional<double> { return m.power; }},
          {"l1_bytes", [](const Metrics& m) -> std::optional<double> { return m.l1; }},
          {"l2_bytes", [](const Metrics& m) -> std::optional<double> { return m.l2; }},
          {"pes", [](const Metrics& m) -> std::optional<double> { return m.pes; }}};
}

std::vector<PointTable::MetricColumn> hierarchy_metric_columns() {
  return {{"latency_cycles", [](const Metrics& m) -> std::optional<double> { return m.latency; }},
          {"energy_nj", [](const Metrics& m) -> std::optional<double> { return m.energy; }},
          {"edp", [](const Metrics& m) -> std::optional<double> { return m.edp(); }},
          {"area_um2", [](const Metrics& m) -> std::optional<double> { return m.area; }},
          {"power_mw", [](const Metrics& m) -> std::optional<double> { return m.power; }}};
}

std::vector<PointTable::MetricColumn> codesign_metric_columns() {
  return {{"latency_cycles", [](const Metrics& m) -> std::optional<double> { return m.latency; }},
          {"energy_nj", [](const Metrics& m) -> std::optional<double> { return m.energy; }},
          {"edp", [](const Metrics& m) -> std::optional<double> { return m.edp(); }},
          {"area_of_default", [](const Metrics& m) -> std::optional<double> { return m.area; }},
          {"power_mw", [](const Metrics& m) -> std::optional<double> { return m.power; }}};
}

}  // namespace tilewright
