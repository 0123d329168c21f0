#include "tilewright/search/variation.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace tilewright {
namespace {

// From this many legal values on, neighbours are nearly the same and factors matter more than differences.
constexpr std::int32_t kMany = 12;

// How large ordinal parameters step: these shares of steps, the rest anywhere. Tried on convolutions of ResNet-18 and
// MobileNet-v2, where searches are about equally good for a wide range of shares around these.
constexpr double kNeighbour = 0.25, kFactor = 0.3, kShare = 0.25, kEnd = 0.1;
constexpr double kFactorWidth = 0.8;     // deviation of the factor's logarithm
constexpr double kSmallNeighbour = 0.7;  // share of steps to a neighbour where there are few values
constexpr double kTrade = 0.4;           // share of tile steps that trade with another tile of the level
constexpr double kSwap = 0.5;  // share of priority steps that trade places: priorities only mean something together

// Marks of stepped(); other numbers are factors.
constexpr double kStays = 0, kSteps = -1;

// 0 … count-1, evenly on the logarithmic scale of place + 1.
std::int32_t log_place(std::int32_t count, Rng& rng) {
  const double top = std::log(static_cast<double>(count) + 1);
  return std::min(count - 1, static_cast<std::int32_t>(std::exp(rng.uniform() * top)) - 1);
}

// Sum of four uniforms: near enough to a normal of deviation 1, and the same bits everywhere.
double bell(Rng& rng) { return (rng.uniform() + rng.uniform() + rng.uniform() + rng.uniform() - 2) * std::sqrt(3.0); }

// The place of the smallest legal index that is not below `index`.
std::int32_t place_of(const Choices& choices, std::int32_t index) {
  std::int32_t low = 0, high = choices.count() - 1;
  while (low < high) {
    const std::int32_t middle = low + (high - low) / 2;
    (choices[middle] < index ? low : high) = choices[middle] < index ? middle + 1 : middle;
  }
  return low;
}

}  // namespace

bool is_better(const Verdict& a, const Verdict& b) {
  if (a.feasible != b.feasible) return a.feasible;
  return a.feasible && a.score < b.score;
}

double log_score(const Verdict& verdict) {
  double sum = 0, weight = 1;
  for (const double part : verdict.score) {
    if (part > 0) sum += weight * std::log(part);
    weight /= 1000;
  }
  return sum;
}

Variation::Variation(const DesignSpace& space) : space_(space), marks_(space.parameters().size()) {
  std::map<std::pair<Role, std::string>, std::size_t> groups;
  std::map<std::string, std::size_t> latest;  // by name without level
  const auto& parameters = space.parameters();
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    // Names of one level end alike: "tile.K@0".
    const auto at = parameters[p].name.find('@');
    const std::string level = at == std::string::npos ? "" : parameters[p].name.substr(at);
    const auto [place, is_new] = latest.try_emplace(parameters[p].name.substr(0, at), p);
    outer_.push_back(is_new ? std::nullopt : std::optional(place->second));
    place->second = p;
    const std::size_t group = groups.try_emplace({parameters[p].role, level}, groups.size()).first->second;
    group_of_.push_back(group);
    members_.resize(groups.size());
    if (parameters[p].value_count < 2) continue;
    free_.push_back(p);
    members_[group].push_back(p);
  }
}

Point Variation::draw(Rng& rng) {
  if (rng.below(2) == 0) return draw_evenly(rng);
  Point point(space_.parameters().size());
  for (std::size_t p = 0; p < point.size(); ++p) {
    space_.choices(point, p, choices_);
    const std::int32_t count = choices_.count();
    const bool many = space_.parameters()[p].kind == ParameterKind::Ordinal && count >= kMany;
    point[p] = choices_[many ? log_place(count, rng) : static_cast<std::int32_t>(rng.below(count))];
  }
  space_.canonicalise(point);
  return point;
}

Point Variation::draw_evenly(Rng& rng) { return random_point(space_, rng); }

std::size_t Variation::companion(std::size_t parameter, Rng& rng) const {
  const std::vector<std::size_t>& group = members_[group_of_[parameter]];
  return group[static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(group.size())))];
}

std::int32_t Variation::scaled(std::int32_t index, double factor) const {
  const double target = (place_of(choices_, index) + 1) * factor;
  return choices_[static_cast<std::int32_t>(std::lround(std::clamp<double>(target, 1, choices_.count()))) - 1];
}

std::int32_t Variation::share(PointView point, std::size_t parameter, Rng& rng) const {
  const auto outer = outer_[parameter];
  const double whole =
      outer ? space_.value(*outer, point[*outer]) : space_.value(parameter, space_.parameters()[parameter].value_count - 1);
  const double largest = space_.value(parameter, choices_.back());
  const double least_parts = largest > 0 ? std::max(1.0, std::ceil(whole / largest)) : 1;
  const double part = whole / (least_parts + log_place(choices_.count(), rng));
  std::int32_t low = 0, high = choices_.count() - 1;
  while (low < high) {
    const std::int32_t middle = low + (high - low) / 2;
    if (space_.value(parameter, choices_[middle]) < part) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return choices_[low];
}

std::int32_t Variation::step(PointView point, std::size_t parameter, Rng& rng) const {
  const std::int32_t count = choices_.count();
  if (count == 1) return choices_[0];
  const std::int32_t place = place_of(choices_, point[parameter]);
  const auto any = [&] { return choices_[static_cast<std::int32_t>(rng.below(count))]; };
  const auto near = [&](std::int32_t reach) {
    const std::int64_t by = rng.between(1, reach);
    const std::int64_t there = rng.below(2) == 0 ? place - by : place + by;
    return choices_[static_cast<std::int32_t>(std::clamp<std::int64_t>(there, 0, count - 1))];
  };
  if (space_.parameters()[parameter].kind == ParameterKind::Categorical) {
    const auto other = static_cast<std::int32_t>(rng.below(count - 1));
    return choices_[other < place ? other : other + 1];
  }
  double kind = rng.uniform();
  if (count < kMany) return kind < kSmallNeighbour ? near(1) : any();
  if ((kind -= kNeighbour) < 0) return near(2);
  if ((kind -= kFactor) < 0) return scaled(point[parameter], std::exp(kFactorWidth * bell(rng)));
  if ((kind -= kShare) < 0) return share(point, parameter, rng);
  if ((kind -= kEnd) < 0) return choices_[rng.below(2) == 0 ? 0 : count - 1];
  return any();
}

void Variation::mark(double changes, Rng& rng) {
  std::fill(marks_.begin(), marks_.end(), kStays);
  const double rate = std::min(1.0, changes / static_cast<double>(free_.size()));
  bool any = false;
  for (const std::size_t p : free_) {
    if (rng.uniform() >= rate) continue;
    marks_[p] = kSteps;
    any = true;
  }
  if (!any) marks_[free_[static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(free_.size())))]] = kSteps;
  for (const std::size_t p : free_) {
    if (marks_[p] != kSteps || space_.parameters()[p].role != Role::Tile || rng.uniform() >= kTrade) continue;
    const std::size_t other = companion(p, rng);
    if (other == p) continue;
    marks_[p] = std::exp(kFactorWidth * bell(rng));
    marks_[other] = 1 / marks_[p];
  }
}

Point Variation::stepped(const Point& point, double changes, Rng& rng) {
  Point result = point;
  if (free_.empty()) return result;
  mark(changes, rng);
  // In order, so that a value is chosen among what is legal after the changes before it.
  bool changed_before = false;
  for (std::size_t p = 0; p < result.size(); ++p) {
    space_.choices(result, p, choices_);
    if (!choices_.contains(result[p])) result[p] = choices_.nearest(result[p]);
    if (marks_[p] == kStays) continue;
    if (marks_[p] != kSteps) {
      result[p] = scaled(result[p], marks_[p]);
    } else if (space_.parameters()[p].role == Role::Order && rng.uniform() < kSwap) {
      std::swap(result[p], result[companion(p, rng)]);
      changed_before = true;  // or this one, to what may not be legal
    } else {
      result[p] = step(result, p, rng);
    }
  }
  if (changed_before) {
    repair(space_, result);
  } else {
    space_.canonicalise(result);
  }
  return result;
}

Point Variation::crossed_by_parameter(const Point& a, const Point& b, Rng& rng) {
  Point result = a;
  for (const std::size_t p : free_) {
    if (rng.below(2) == 0) result[p] = b[p];
  }
  repair(space_, result);
  return result;
}

Point Variation::crossed_by_group(const Point& a, const Point& b, Rng& rng) {
  std::vector<bool> from_b(members_.size());
  for (std::size_t g = 0; g < from_b.size(); ++g) from_b[g] = rng.below(2) == 0;
  Point result = a;
  for (const std::size_t p : free_) {
    if (from_b[group_of_[p]]) result[p] = b[p];
  }
  repair(space_, result);
  return result;
}

}  // namespace tilewright
