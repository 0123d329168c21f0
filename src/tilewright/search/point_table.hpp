// Every evaluated point of a run as a table with named columns: the layer, the order in which its points became known, the
// parameters of the space, whether the point is an answer, and its numbers.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tilewright/space/design_space.hpp"
#include "tilewright/space/objective.hpp"
#include "tilewright/store/store.hpp"

namespace tilewright {

struct PointCell {
  std::string text;  // empty: the row has no such thing
  bool number = false;
};

class PointTable {
 public:
  struct Problem {
    std::string layer;
    const DesignSpace* space = nullptr;  // outlives the table
  };
  struct MetricColumn {
    std::string name;                                        // with its unit: "energy_nj"
    std::optional<double> (*value)(const Metrics& metrics);  // nothing: not known
  };

  PointTable(std::vector<Problem> problems, Objective objective, std::vector<MetricColumn> metrics);

  const std::vector<std::string>& columns() const { return columns_; }
  // By column: whether its cells are numbers where they are not empty.
  std::vector<bool> are_numbers() const;
  // Row after row, one at a time: a run may have more points than memory. Ends early when `row` returns false.
  Result<Done> each(Store& store, const std::function<bool(std::span<const PointCell>)>& row) const;

 private:
  std::vector<Problem> problems_;
  Objective objective_;
  std::vector<MetricColumn> metrics_;
  std::vector<std::string> columns_;
  std::vector<std::vector<std::size_t>> places_;  // by problem and parameter: its column
};

// What the points of a mapping run and of a codesign run are measured in.
std::vector<PointTable::MetricColumn> mapping_metric_columns();
std::vector<PointTable::MetricColumn> hierarchy_metric_columns();
std::vector<PointTable::MetricColumn> codesign_metric_columns();

}  // namespace tilewright
