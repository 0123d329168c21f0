#include "tilewright/study/machine_ledger.hpp"

namespace tilewright {

void MachineLedger::consider(std::size_t layer, const Point& point, const Outcome& outcome) {
  ++measurements_;
  if (!outcome.feasible) return;
  Entry& entry = entries_[Point(point.begin(), point.begin() + static_cast<std::ptrdiff_t>(hardware_))];
  entry.layers.resize(counts_.size());
  std::optional<Best>& best = entry.layers[layer];
  if (best && best->outcome.metrics.latency <= outcome.metrics.latency) return;
  if (!best && ++entry.found == counts_.size()) ++complete_;
  best = Best{point, outcome, {outcome.metrics.latency}};
  if (entry.found < counts_.size()) return;
  double cycles = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    cycles += static_cast<double>(counts_[i]) * entry.layers[i]->outcome.metrics.latency;
  }
  const double area = outcome.metrics.area.value_or(0);
  if (answer_ && std::pair(answer_->cycles, answer_->area) <= std::pair(cycles, area)) return;
  answer_ = Answer{cycles, area, {}};
  for (const std::optional<Best>& one : entry.layers) answer_->layers.push_back(*one);
  curve_.emplace_back(measurements_, cycles);
}

}  // namespace tilewright
