#include "tilewright/optimum/choices.hpp"

#include <algorithm>
#include <bit>
#include <set>

namespace tilewright::optimum {

using hierarchy::Block;
using hierarchy::BlockRestriction;
using hierarchy::Extents;
using hierarchy::Judge;
using hierarchy::Machine;
using hierarchy::Mapping;
using hierarchy::StorageLevel;
using hierarchy::TensorMask;
using hierarchy::TileNeeds;

std::vector<std::int64_t> divisors_of(std::int64_t number) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t d = 1; d * d <= number; ++d) {
    if (number % d != 0) continue;
    divisors.push_back(d);
    if (d != number / d) divisors.push_back(number / d);
  }
  std::ranges::sort(divisors);
  return divisors;
}

Choices::Choices(const Model& model) : model_(model), needs_(model.problem, model.machine, model.judge) {
  slides_ = std::ranges::any_of(model.flows, &Flow::slides);
  for (const std::int64_t bound : model.problem.bounds) divisors_.push_back(divisors_of(bound));
}

bool Choices::fits(std::size_t level, TensorMask keeps, const Extents& extents) const {
  if (!needs_.is_limited(level)) return true;
  hierarchy::PerTensor<std::int64_t> words{};
  for (std::size_t tensor = 0; tensor < model_.flows.size(); ++tensor) words[tensor] = needs_.words(tensor, extents);
  return needs_.fits(level, keeps, words, TileNeeds::Outputs::Narrowest);
}

std::vector<std::vector<TensorMask>> Choices::keeps() const {
  const std::size_t tensors = model_.flows.size(), outermost = model_.level_count - 1;
  const auto all = static_cast<TensorMask>((1u << tensors) - 1);
  std::vector<std::vector<TensorMask>> made(1);
  for (std::size_t level = 0; level <= outermost; ++level) {
    const hierarchy::LevelRestriction& rule = model_.restriction.levels[level];
    std::vector<std::vector<TensorMask>> longer;
    for (const auto& before : made) {
      for (std::uint32_t mask = 0; mask <= all; ++mask) {
        if (level == outermost ? mask != all
                               : (mask & rule.bypasses) != 0 || (rule.keeps & all & ~rule.bypasses & ~mask) != 0) {
          continue;
        }
        longer.push_back(before);
        longer.back().push_back(static_cast<TensorMask>(mask));
      }
    }
    made = std::move(longer);
  }
  return made;
}

std::int64_t Choices::left_of(const Mapping& mapping, std::size_t dim) const {
  std::int64_t left = model_.problem.bounds[dim];
  for (const hierarchy::LevelMapping& level : mapping.levels)
    left /= level.spatial.factors[dim] * level.temporal.factors[dim];
  return left;
}

// Whether it matters which copies lie side by side.
bool Choices::order_matters(std::size_t level) const {
  const StorageLevel& storage = model_.machine.levels[level];
  if (storage.energy_per_hop.value > 0 || storage.router_energy.value > 0) return true;
  return model_.judge == Judge::Timeloop && storage.links && (slides_ || level == 0);
}

bool in_order(const Block& block, const BlockRestriction& rule, const std::vector<std::uint8_t>& dims) {
  std::vector<std::uint8_t> first, last;
  for (const std::uint8_t dim : rule.innermost) {
    if (block.factors[dim] > 1) first.push_back(dim);
  }
  for (const std::uint8_t dim : rule.outermost) {
    if (block.factors[dim] > 1) last.push_back(dim);
  }
  return first.size() <= dims.size() && last.size() <= dims.size() && std::equal(first.begin(), first.end(), dims.begin()) &&
         std::equal(last.rbegin(), last.rend(), dims.rbegin());
}

// The order begins with these; dimensions without a loop follow.
void set_order(Block& block, const std::vector<std::uint8_t>& dims, std::size_t dim_count) {
  std::size_t at = 0;
  for (const std::uint8_t dim : dims) block.order[at++] = dim;
  for (std::uint8_t dim = 0; dim < dim_count; ++dim) {
    if (std::ranges::find(dims, dim) == dims.end()) block.order[at++] = dim;
  }
}

bool Choices::tilings(Mapping& mapping, std::size_t end, const Extents* totals, const Visit& visit) const {
  Extents extents;
  extents.fill(1);
  for (std::size_t dim = 0; dim < model_.dim_count && end > 0; ++dim) extents[dim] *= mapping.levels[0].spatial.factors[dim];
  return tile_from(mapping, 0, 0, end, extents, totals, visit);
}

bool Choices::tile_from(Mapping& mapping, std::size_t level, std::size_t dim, std::size_t end, Extents& extents,
                        const Extents* totals, const Visit& visit) const {
  if (level == end) return order_from(mapping, 0, end, visit);
  hierarchy::LevelMapping& here = mapping.levels[level];
  if (dim == model_.dim_count) {
    Extents next = extents;
    for (std::size_t d = 0; d < model_.dim_count && level + 1 < end; ++d)
      next[d] *= mapping.levels[level + 1].spatial.factors[d];
    return tile_from(mapping, level + 1, 0, end, next, totals, visit);
  }
  const std::int64_t before = extents[dim];
  bool goes_on = true;
  std::int64_t left = left_of(mapping, dim);
  if (totals != nullptr) {
    left = (*totals)[dim];
    for (std::size_t inner = 0; inner < level; ++inner) left /= mapping.levels[inner].temporal.factors[dim];
  }
  for (const std::int64_t divisor : divisors_[dim]) {
    if (left % divisor != 0 || (totals != nullptr && level + 1 == end && divisor != left)) continue;
    if (!allows(model_.restriction.levels[level].temporal, dim, divisor)) continue;
    extents[dim] = before * divisor;
    if (!fits(level, here.keeps, extents)) break;
    here.temporal.factors[dim] = divisor;
    goes_on = tile_from(mapping, level, dim + 1, end, extents, totals, visit);
    here.temporal.factors[dim] = 1;
    if (!goes_on) break;
  }
  extents[dim] = before;
  return goes_on;
}

bool Choices::totals(Mapping& mapping, std::size_t end, const Visit& visit) const {
  Extents extents;
  extents.fill(1);
  for (std::size_t level = 0; level < end; ++level) {
    for (std::size_t dim = 0; dim < model_.dim_count; ++dim) extents[dim] *= mapping.levels[level].spatial.factors[dim];
  }
  const auto possible = [&](std::size_t dim, std::int64_t total) {
    double most = 1;
    for (std::size_t level = 0; level < end; ++level) {
      const BlockRestriction& rule = model_.restriction.levels[level].temporal;
      if (rule.exactly[dim] != 0) {
        if (total % rule.exactly[dim] != 0) return false;
        total /= rule.exactly[dim];
      } else {
        most *= rule.at_most[dim] != 0 ? static_cast<double>(rule.at_most[dim]) : 1e18;
      }
    }
    return static_cast<double>(total) <= most;
  };
  const std::function<bool(std::size_t)> choose = [&](std::size_t dim) {
    if (dim == model_.dim_count) return visit();
    const std::int64_t left = left_of(mapping, dim), before = extents[dim];
    bool goes_on = true;
    for (const std::int64_t divisor : divisors_[dim]) {
      if (left % divisor != 0 || !possible(dim, divisor)) continue;
      extents[dim] = before * divisor;
      if (!fits(end - 1, mapping.levels[end - 1].keeps, extents)) break;
      mapping.levels[0].temporal.factors[dim] = divisor;
      goes_on = choose(dim + 1);
      mapping.levels[0].temporal.factors[dim] = 1;
      if (!goes_on) break;
    }
    extents[dim] = before;
    return goes_on;
  };
  return choose(0);
}

// Two orders of a block are the same for a tensor that does not slide when the same loops lie inside the innermost one that
// moves it; all are the same where no tile lies below.
bool Choices::order_from(Mapping& mapping, std::size_t level, std::size_t end, const Visit& visit) const {
  if (level == end) return visit();
  Block& block = mapping.levels[level].temporal;
  std::vector<std::uint8_t> order;
  for (std::uint8_t dim = 0; dim < model_.dim_count; ++dim) {
    if (block.factors[dim] > 1) order.push_back(dim);
  }
  TensorMask below = 0;
  bool each_matters = false;
  for (std::size_t inner = 0; inner <= level; ++inner) {
    bool spreads = false;
    for (std::size_t dim = 0; dim < model_.dim_count; ++dim)
      spreads = spreads || mapping.levels[inner].spatial.factors[dim] > 1;
    if (inner < level) below = static_cast<TensorMask>(below | mapping.levels[inner].keeps);
    if (!spreads || !order_matters(inner)) continue;
    if (inner == 0) each_matters = true;
    below = hierarchy::kAllTensors;
  }
  const auto key_of = [&] {
    std::vector<std::uint32_t> key;
    for (std::size_t tensor = 0; tensor < model_.flows.size(); ++tensor) {
      if ((below >> tensor & 1) == 0 && !each_matters) continue;
      const Flow& flow = model_.flows[tensor];
      if (flow.slides() || each_matters) {
        key.insert(key.end(), order.begin(), order.end());
        continue;
      }
      std::uint32_t inside = 0;
      for (std::size_t at = 0; at < order.size() && !flow.is_relevant(order[at]); ++at)
        inside |= std::uint32_t{1} << order[at];
      key.push_back(inside);
    }
    return key;
  };
  const Block saved = block;
  std::set<std::vector<std::uint32_t>> seen;
  bool goes_on = true;
  do {
    if (!in_order(block, model_.restriction.levels[level].temporal, order) || !seen.insert(key_of()).second) continue;
    set_order(block, order, model_.dim_count);
    goes_on = order_from(mapping, level + 1, end, visit);
    if (below == 0 && !each_matters) break;
  } while (goes_on && std::next_permutation(order.begin(), order.end()));
  block.order = saved.order;
  return goes_on;
}

}  // namespace tilewright::optimum
