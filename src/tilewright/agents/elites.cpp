#include "tilewright/agents/elites.hpp"

#include <algorithm>

namespace tilewright {
namespace {

std::uint64_t kind_of(const DesignSpace& space, const Point& point) {
  std::uint64_t kind = 0;
  for (std::size_t i = 0; i < point.size(); ++i) {
    const Parameter& parameter = space.parameters()[i];
    if (parameter.kind != ParameterKind::Categorical) continue;
    kind = kind * static_cast<std::uint64_t>(parameter.value_count) + static_cast<std::uint64_t>(point[i]);
  }
  return kind;
}

}  // namespace

void Elites::add(const Point& point, double score) {
  if (elites_.size() == most_ && (most_ == 0 || score >= elites_.back().score)) return;
  const std::uint64_t kind = kind_of(*space_, point);
  std::size_t of_kind = 0;
  auto worst = elites_.end();
  for (auto elite = elites_.begin(); elite != elites_.end(); ++elite) {
    if (elite->kind != kind) continue;
    ++of_kind;
    worst = elite;
  }
  if (of_kind >= most_of_kind_) {
    if (score >= worst->score) return;
    elites_.erase(worst);
  }
  const auto place = std::ranges::upper_bound(elites_, score, {}, &Elite::score);
  elites_.insert(place, {point, score, kind});
  if (elites_.size() > most_) elites_.pop_back();
}

const Elite& Elites::draw(double decay, Rng& rng) const {
  std::size_t place = 0;
  while (place + 1 < elites_.size() && rng.uniform() < decay) ++place;
  return elites_[place];
}

}  // namespace tilewright
