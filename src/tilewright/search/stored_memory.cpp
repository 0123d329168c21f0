#include "tilewright/search/stored_memory.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

namespace tilewright {
namespace {

constexpr std::size_t kNumberCount = 8;

// An unknown area is NaN there.
std::array<double, kNumberCount> numbers_of(const Metrics& metrics) {
  return {metrics.latency, metrics.energy, metrics.area.value_or(std::numeric_limits<double>::quiet_NaN()),
          metrics.power,   metrics.macs,   metrics.l1,
          metrics.l2,      metrics.pes};
}

Metrics metrics_of(std::span<const double> numbers) {
  return {.latency = numbers[0],
          .energy = numbers[1],
          .area = std::isnan(numbers[2]) ? std::nullopt : std::optional(numbers[2]),
          .power = numbers[3],
          .macs = numbers[4],
          .l1 = numbers[5],
          .l2 = numbers[6],
          .pes = numbers[7]};
}
static_assert(sizeof(Metrics) == (kNumberCount + 1) * sizeof(double),
              "every metric is stored, and whether the area is known");

}  // namespace

Outcome outcome_of(const StoredOutcome& stored) {
  if (!stored.feasible) return {.feasible = false, .reason = stored.reason, .metrics = {}};
  return {.feasible = true, .reason = 0, .metrics = metrics_of(stored.numbers)};
}

bool has_all_metrics(const StoredOutcome& stored) { return !stored.feasible || stored.numbers.size() == kNumberCount; }

StoredMemory::StoredMemory(Store store, std::vector<const DesignSpace*> spaces)
    : store_(std::move(store)), spaces_(std::move(spaces)) {
  for (const DesignSpace* space : spaces_) keys_.push_back(space->problem_key());
}

Result<StoredMemory> StoredMemory::open(Store store, std::vector<const DesignSpace*> spaces) {
  for (const DesignSpace* space : spaces) {
    const std::uint64_t key = space->problem_key();
    TW_TRY([[maybe_unused]] const Done added, store.add_problem(key, space->problem_text()));
    if (const auto count = store.number_count(key); count && *count != kNumberCount) {
      return invalid(fmt::format("{}: the store has outcomes of {} numbers, expected {}; use a new store", space->name(),
                                 *count, kNumberCount));
    }
  }
  return StoredMemory(std::move(store), std::move(spaces));
}

std::string_view StoredMemory::design_of(std::size_t problem, PointView point) {
  design_.clear();
  spaces_[problem]->append_design(point, design_);
  return design_;
}

std::optional<Outcome> StoredMemory::find(std::size_t problem, PointView point) {
  const std::optional<StoredOutcome> found = store_.find(keys_[problem], design_of(problem, point));
  if (!found) return std::nullopt;
  return outcome_of(*found);
}

void StoredMemory::remember(std::size_t problem, PointView point, const Outcome& outcome) {
  const std::array<double, kNumberCount> numbers = numbers_of(outcome.metrics);
  StoredOutcome stored{outcome.feasible, outcome.reason, {}};
  if (outcome.feasible) stored.numbers = numbers;
  store_.put(keys_[problem], design_of(problem, point), stored);
}

Result<Done> StoredMemory::commit() {
  Result<Done> done = store_.commit();
  if (done) {
    error_.reset();
  } else if (!error_) {
    error_ = done.error();
  }
  return done;
}

std::int64_t StoredMemory::known() const {
  std::int64_t sum = 0;
  for (const std::uint64_t key : std::set(keys_.begin(), keys_.end())) sum += store_.count(key);
  return sum;
}

}  // namespace tilewright
