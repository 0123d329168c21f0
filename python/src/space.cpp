#include "space.hpp"

#include <cmath>
#include <cstddef>
#include <limits>

#include <fmt/format.h>

#include "convert.hpp"

#include "tilewright/base/text.hpp"

namespace tilewright::python {

Space::Space(std::shared_ptr<const AnyDesign> of, std::size_t which) : design(std::move(of)), problem(which) {
  if (const auto* job = std::get_if<AnyJob>(design.get())) {
    const DesignProblem& its = *common(*job).design_problems()[which];
    space = its.space.get();
    known = its.known;
    objective = common(*job).options.objective;
  } else {
    space = std::get<CodesignJob>(*design).layers[which].space.get();
    objective = take(objective_named("latency"));
  }
}

std::unique_ptr<PointEvaluator> Space::borrow() const {
  {
    const std::lock_guard lock(mutex_);
    if (!resting_.empty()) {
      std::unique_ptr<PointEvaluator> evaluator = std::move(resting_.back());
      resting_.pop_back();
      return evaluator;
    }
  }
  return space->evaluator();
}

void Space::give_back(std::unique_ptr<PointEvaluator> evaluator) const {
  const std::lock_guard lock(mutex_);
  resting_.push_back(std::move(evaluator));
}

PointRows::PointRows(nb::handle value, std::size_t parameters, const std::string& place) : parameters_(parameters) {
  if (!nb::try_cast(value, array_, false)) raise_type(place, value, "a NumPy array of int32");
  wide_ = array_.dtype() == nb::dtype<std::int64_t>();
  if (!wide_ && array_.dtype() != nb::dtype<std::int32_t>()) {
    raise_builtin(PyExc_TypeError, fmt::format("{} has the dtype {}, expected int32", place, str_of(value.attr("dtype"))));
  }
  single_ = array_.ndim() == 1;
  const std::size_t columns = array_.ndim() == 0 ? 0 : array_.shape(array_.ndim() - 1);
  if ((array_.ndim() != 1 && array_.ndim() != 2) || columns != parameters) {
    raise(
        fmt::format("{} has the shape {}, expected rows of {} parameters", place, str_of(value.attr("shape")), parameters));
  }
  count_ = single_ ? 1 : array_.shape(0);
  row_stride_ = single_ ? 0 : array_.stride(0);
  stride_ = array_.stride(array_.ndim() - 1);
  for (std::size_t row = 0; wide_ && row < count_; ++row) {
    const auto* at = static_cast<const std::int64_t*>(array_.data()) + static_cast<std::int64_t>(row) * row_stride_;
    for (std::size_t i = 0; i < parameters; ++i) {
      const std::int64_t entry = at[static_cast<std::int64_t>(i) * stride_];
      if (!std::in_range<std::int32_t>(entry))
        raise(fmt::format("{} has {} in row {}, expected an index", place, entry, row));
    }
  }
}

Point PointRows::operator[](std::size_t row) const {
  Point point(parameters_);
  copy(row, point);
  return point;
}

void PointRows::copy(std::size_t row, Point& point) const {
  const std::int64_t begin = static_cast<std::int64_t>(row) * row_stride_;
  for (std::size_t i = 0; i < parameters_; ++i) {
    const std::int64_t at = begin + static_cast<std::int64_t>(i) * stride_;
    point[i] = wide_ ? static_cast<std::int32_t>(static_cast<const std::int64_t*>(array_.data())[at])
                     : static_cast<const std::int32_t*>(array_.data())[at];
  }
}

nb::object points_array(const std::vector<Point>& points, std::size_t parameters) {
  auto rows = std::make_unique<std::int32_t[]>(std::max<std::size_t>(1, points.size() * parameters));
  for (std::size_t row = 0; row < points.size(); ++row)
    std::copy(points[row].begin(), points[row].end(), &rows[row * parameters]);
  std::int32_t* data = rows.release();
  const nb::capsule owner(data, [](void* memory) noexcept { delete[] static_cast<std::int32_t*>(memory); });
  return nb::cast(nb::ndarray<nb::numpy, std::int32_t, nb::ndim<2>>(data, {points.size(), parameters}, owner));
}

OutcomeRow row_of(const Outcome& outcome, const Objective& objective) {
  constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
  const Verdict verdict = verdict_of(objective, outcome);
  OutcomeRow row{
      verdict.feasible, verdict.reason, verdict.feasible ? verdict.score[0] : std::numeric_limits<double>::infinity(),
      kNothing,         kNothing,       kNothing,
      kNothing,         kNothing,       kNothing,
      kNothing,         kNothing};
  if (!outcome.feasible) return row;
  const Metrics& metrics = outcome.metrics;
  row.latency = metrics.latency;
  row.energy = metrics.energy;
  row.area = metrics.area.value_or(kNothing);
  row.power = metrics.power;
  row.macs = metrics.macs;
  row.l1 = metrics.l1;
  row.l2 = metrics.l2;
  row.pes = metrics.pes;
  return row;
}

Outcome outcome_of(const OutcomeRow& row) {
  if (std::isnan(row.latency)) return {false, row.reason, {}};
  return {true,
          0,
          {.latency = row.latency,
           .energy = row.energy,
           .area = std::isnan(row.area) ? std::nullopt : std::optional(row.area),
           .power = row.power,
           .macs = row.macs,
           .l1 = row.l1,
           .l2 = row.l2,
           .pes = row.pes}};
}

std::pair<nb::object, OutcomeRow*> outcome_array(std::size_t count) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  const nb::object array = numpy.attr("empty")(count, nb::module_::import_("tilewright.points").attr("OUTCOME"));
  if (nb::cast<std::size_t>(array.attr("itemsize")) != sizeof(OutcomeRow))
    raise("tilewright.OUTCOME is not that of this version");
  const auto bytes = nb::cast<nb::ndarray<std::uint8_t, nb::device::cpu>>(array.attr("view")(numpy.attr("uint8")));
  return {array, reinterpret_cast<OutcomeRow*>(bytes.data())};
}

std::vector<OutcomeRow> outcome_rows(nb::handle array, const std::string& place) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  const nb::object dtype = nb::module_::import_("tilewright.points").attr("OUTCOME");
  if (!nb::hasattr(array, "dtype") || !array.attr("dtype").equal(dtype) || nb::cast<int>(array.attr("ndim")) != 1) {
    raise_type(place, array, "an array of tilewright.OUTCOME, as evaluate_batch gives");
  }
  const nb::object rows = numpy.attr("ascontiguousarray")(array);
  std::vector<OutcomeRow> copied(nb::len(rows));
  if (copied.empty()) return copied;
  const auto bytes = nb::cast<nb::ndarray<nb::ro, nb::device::cpu>>(rows.attr("view")(numpy.attr("uint8")));
  std::memcpy(static_cast<void*>(copied.data()), bytes.data(), copied.size() * sizeof(OutcomeRow));
  return copied;
}

std::optional<std::string> illegality(const DesignSpace& space, PointView point) {
  thread_local Choices choices;
  for (std::size_t parameter = 0; parameter < point.size(); ++parameter) {
    space.choices(point, parameter, choices);
    if (choices.contains(point[parameter])) continue;
    std::string legal;
    for (std::int32_t i = 0; i < std::min(choices.count(), 8); ++i)
      legal += fmt::format("{}{}", i > 0 ? ", " : "", choices[i]);
    return fmt::format("{} is {} after the entries before it, expected one of {}{}", space.parameters()[parameter].name,
                       point[parameter], legal, choices.count() > 8 ? fmt::format(", … (of {})", choices.count()) : "");
  }
  return std::nullopt;
}

}  // namespace tilewright::python
