// A design space as Python holds it: what made it stays alive with it.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "tilewright/search/search_loop.hpp"
#include "tilewright/study/any_job.hpp"
#include "tilewright/study/codesign.hpp"

namespace tilewright::python {

namespace nb = nanobind;

using AnyDesign = std::variant<AnyJob, CodesignJob>;

// Nothing in it changes but the evaluators at rest, which have a lock: any number of threads may use it.
struct Space {
  std::shared_ptr<const AnyDesign> design;
  std::size_t problem = 0;  // of the design
  const DesignSpace* space = nullptr;
  Objective objective = {};
  std::vector<Point> known = {};

  Space(std::shared_ptr<const AnyDesign> of, std::size_t which);

  // One for the caller alone, until it is given back.
  std::unique_ptr<PointEvaluator> borrow() const;
  void give_back(std::unique_ptr<PointEvaluator> evaluator) const;

 private:
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<PointEvaluator>> resting_;
};

// Rows of whole numbers of a NumPy array: int32 as they are, int64 where they fit. `place` begins the sentence where `value`
// is anything else, or its rows have another length.
class PointRows {
 public:
  PointRows(nb::handle value, std::size_t parameters, const std::string& place);
  std::size_t size() const { return count_; }
  bool is_single() const { return single_; }  // one point without a row of its own
  Point operator[](std::size_t row) const;
  void copy(std::size_t row, Point& point) const;

 private:
  nb::ndarray<nb::ro, nb::device::cpu> array_;
  std::size_t count_ = 0, parameters_ = 0;
  bool single_ = false, wide_ = false;
  std::int64_t row_stride_ = 0, stride_ = 0;
};

// A new int32 array of the points, one row each.
nb::object points_array(const std::vector<Point>& points, std::size_t parameters);

// One row of what evaluate_batch gives: tilewright.OUTCOME in NumPy. Numbers of a point that does not fit the machine are
// nan.
struct OutcomeRow {
  std::uint8_t feasible, reason;
  double objective, latency, energy, area, power, macs, l1, l2, pes;
};
OutcomeRow row_of(const Outcome& outcome, const Objective& objective);
Outcome outcome_of(const OutcomeRow& row);
// A new array of `count` rows, and where they are.
std::pair<nb::object, OutcomeRow*> outcome_array(std::size_t count);
// Rows that Python hands back.
std::vector<OutcomeRow> outcome_rows(nb::handle array, const std::string& place);

// The sentence of a point that is not legal: which parameter, what is, which values are legal.
std::optional<std::string> illegality(const DesignSpace& space, PointView point);

}  // namespace tilewright::python
