#include "synthetic_space.hpp"

#include <algorithm>
#include <cmath>

namespace tilewright {
namespace {

enum Place : std::size_t { kSpread, kOrder, kA0 = kOrder + 3, kB0, kA1, kB1, kPlaces };

std::int32_t steps(std::int32_t whole, std::int32_t tile) { return (whole + tile - 1) / tile; }

class SyntheticEvaluator final : public PointEvaluator {
 public:
  explicit SyntheticEvaluator(const SyntheticSpace& space) : space_(space) {}

  Outcome evaluate(PointView point) override {
    const auto cost = synthetic_cost(space_.sizes(), space_.design(point));
    if (!cost) return {false, 1, {}};
    Outcome outcome{true, 0, {}};
    outcome.metrics.latency = std::ceil(*cost / 1000);  // coarse, so that lexicographic objectives have ties to break
    outcome.metrics.energy = *cost;
    return outcome;
  }

 private:
  const SyntheticSpace& space_;
};

}  // namespace

std::optional<double> synthetic_cost(const SyntheticSizes& sizes, const SyntheticDesign& d) {
  if (d.a1 * d.b1 > sizes.room) return std::nullopt;
  // Work, padded to whole tiles.
  const double work = double(steps(sizes.a, d.a0)) * steps(d.a0, d.a1) * d.a1 * steps(sizes.b, d.b0) * d.b0;
  // Small inner tiles fetch often, large outer ones fill slowly.
  const double fetches = 1.0 / d.a1 + 1.0 / d.b1 + 0.002 * d.a0 * d.b0 / sizes.b;
  // Spread loops like to be outermost, and loop 2 to be right behind.
  const double spread_cost = std::array{1.3, 1.0, 1.1, 1.6}[static_cast<std::size_t>(d.spread)];
  const std::int32_t outermost = d.spread % 3;
  const double order_cost = (d.order[0] == outermost ? 1.0 : 1.4) * (d.order[1] == 2 ? 1.0 : 1.15);
  // The units of a spread dimension are used only as far as its tiles go round.
  const std::int32_t parts = d.spread % 2 == 0 ? steps(d.b0, d.b1) : steps(d.a0, d.a1);
  const double idle = 1.0 + std::abs(parts - 4) / 4.0;
  return 1000 * work * fetches * spread_cost * order_cost * idle;
}

double synthetic_optimum(const SyntheticSizes& sizes) {
  double best = INFINITY;
  for_each_design(
      sizes, [&](const SyntheticDesign& design) { best = std::min(best, synthetic_cost(sizes, design).value_or(best)); });
  return best;
}

SyntheticSpace::SyntheticSpace(const SyntheticSizes& sizes) : sizes_(sizes) {
  for (std::int32_t value = 1; value <= sizes.b; ++value) {
    if (sizes.b % value == 0) b_values_.push_back(value);
  }
  const auto b_count = static_cast<std::int32_t>(b_values_.size());
  parameters_ = {{"parallel@0", ParameterKind::Categorical, Role::Parallelism, 4},
                 {"order.A@0", ParameterKind::Ordinal, Role::Order, 3},
                 {"order.B@0", ParameterKind::Ordinal, Role::Order, 3},
                 {"order.C@0", ParameterKind::Ordinal, Role::Order, 3},
                 {"tile.A@0", ParameterKind::Ordinal, Role::Tile, sizes.a},
                 {"tile.B@0", ParameterKind::Ordinal, Role::Tile, b_count},
                 {"tile.A@1", ParameterKind::Ordinal, Role::Tile, sizes.a},
                 {"tile.B@1", ParameterKind::Ordinal, Role::Tile, b_count}};
}

void SyntheticSpace::choices(PointView point, std::size_t parameter, Choices& choices) const {
  if (parameter == kA1) return choices.set_below(point[kA0] + 1);
  if (parameter != kB1) return choices.set_below(parameters_[parameter].value_count);
  choices.set_list();
  const std::int32_t outer = b_values_[static_cast<std::size_t>(point[kB0])];
  for (std::int32_t index = 0; index <= point[kB0]; ++index) {
    if (outer % b_values_[static_cast<std::size_t>(index)] == 0) choices.add(index);
  }
}

double SyntheticSpace::value(std::size_t parameter, std::int32_t index) const {
  if (parameter == kA0 || parameter == kA1) return index + 1;
  if (parameter == kB0 || parameter == kB1) return b_values_[static_cast<std::size_t>(index)];
  return index;
}

std::string SyntheticSpace::value_name(std::size_t parameter, std::int32_t index) const {
  return std::to_string(value(parameter, index));
}

SyntheticDesign SyntheticSpace::design(PointView point) const {
  SyntheticDesign design;
  design.spread = point[kSpread];
  design.order = {0, 1, 2};
  std::stable_sort(design.order.begin(), design.order.end(), [&](std::int32_t x, std::int32_t y) {
    return point[kOrder + static_cast<std::size_t>(x)] > point[kOrder + static_cast<std::size_t>(y)];
  });
  design.a0 = point[kA0] + 1;
  design.b0 = b_values_[static_cast<std::size_t>(point[kB0])];
  design.a1 = point[kA1] + 1;
  design.b1 = b_values_[static_cast<std::size_t>(point[kB1])];
  return design;
}

void SyntheticSpace::canonicalise(std::span<std::int32_t> point) const {
  const SyntheticDesign meaning = design(point);
  for (std::size_t n = 0; n < 3; ++n)
    point[kOrder + static_cast<std::size_t>(meaning.order[n])] = 2 - static_cast<std::int32_t>(n);
}

std::unique_ptr<PointEvaluator> SyntheticSpace::evaluator() const { return std::make_unique<SyntheticEvaluator>(*this); }

void SyntheticSpace::append_design(PointView point, std::string& bytes) const {
  for (const std::int32_t entry : point) bytes += std::to_string(entry) + ' ';
}

double SyntheticSpace::log10_size() const {
  double pairs = 0;
  for (const std::int32_t outer : b_values_) {
    for (const std::int32_t inner : b_values_) pairs += outer % inner == 0 ? 1 : 0;
  }
  return std::log10(4 * 6 * (sizes_.a * (sizes_.a + 1) / 2.0) * pairs);
}

}  // namespace tilewright
