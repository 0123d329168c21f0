#include "tilewright/cost/relaxation.hpp"

#include <algorithm>
#include <cmath>

namespace tilewright {
namespace {

using Reason = Infeasible::Reason;

constexpr std::int32_t kMostTried = 4096;  // sizes tried per tile, nearest first
constexpr int kMostChanges = 32;           // steps of the search over several tiles

struct Knob {
  std::size_t level = 0;
  std::optional<std::size_t> directive;  // nothing: the cluster size
};

std::vector<Knob> knobs_of(const Mapping& mapping) {
  std::vector<Knob> knobs;
  for (std::size_t level = 0; level < mapping.levels.size(); ++level) {
    if (level > 0) knobs.push_back({level, std::nullopt});
    for (std::size_t i = 0; i < mapping.levels[level].directives.size(); ++i) knobs.push_back({level, i});
  }
  return knobs;
}

std::int32_t value_of(const Mapping& mapping, const Knob& knob) {
  const MappingLevel& level = mapping.levels[knob.level];
  return knob.directive ? level.directives[*knob.directive].size : level.cluster_size;
}

void resize(Directive& directive, std::int32_t size) {
  const bool disjoint = directive.offset == directive.size;
  directive.size = size;
  directive.offset = disjoint ? size : std::min(directive.offset, size);
}

Mapping with(const Mapping& mapping, const Knob& knob, std::int32_t value) {
  Mapping changed = mapping;
  if (!knob.directive) {
    changed.levels[knob.level].cluster_size = value;
    return changed;
  }
  Directive& target = changed.levels[knob.level].directives[*knob.directive];
  resize(target, value);
  for (std::size_t level = knob.level + 1; level < changed.levels.size(); ++level) {
    for (Directive& inner : changed.levels[level].directives) {
      if (inner.dim == target.dim && inner.size > value) resize(inner, value);
    }
  }
  return changed;
}

TileChange to_change(const Mapping& mapping, const Knob& knob, std::int32_t to) {
  TileChange change{knob.level, std::nullopt, value_of(mapping, knob), to};
  if (knob.directive) change.dim = mapping.levels[knob.level].directives[*knob.directive].dim;
  return change;
}

std::int32_t most_of(const Knob& knob, const Mapping& mapping, const Nest& nest, const Accelerator& accelerator) {
  if (!knob.directive) return static_cast<std::int32_t>(std::min<std::int64_t>(accelerator.pes, kUnlimited));
  const Dim dim = mapping.levels[knob.level].directives[*knob.directive].dim;
  if (dim == Dim::OutY) return static_cast<std::int32_t>(outputs_along(nest, Dim::Y));
  if (dim == Dim::OutX) return static_cast<std::int32_t>(outputs_along(nest, Dim::X));
  return nest[dim];
}

// No tile larger than its dimension or than the tile around it.
Mapping clipped(const Mapping& mapping, const Nest& nest, const Accelerator& accelerator) {
  Mapping result = mapping;
  for (const Knob& knob : knobs_of(mapping)) {
    const std::int32_t most = std::max(1, most_of(knob, mapping, nest, accelerator));
    if (value_of(result, knob) > most) result = with(result, knob, most);
  }
  return result;
}

// Every tile divides its dimension or the tile around it: the counts of such a mapping are exact.
Mapping divided(const Mapping& mapping, const Nest& nest, const Accelerator& accelerator) {
  Mapping result = clipped(mapping, nest, accelerator);
  for (const Knob& knob : knobs_of(mapping)) {
    if (!knob.directive) continue;
    const Dim dim = result.levels[knob.level].directives[*knob.directive].dim;
    std::int32_t around = most_of(knob, mapping, nest, accelerator);
    for (std::size_t level = 0; level < knob.level; ++level) {
      for (const Directive& outer : result.levels[level].directives) {
        if (outer.dim == dim) around = outer.size;
      }
    }
    std::int32_t size = std::min(value_of(result, knob), around);
    while (around % size != 0) --size;
    resize(result.levels[knob.level].directives[*knob.directive], size);
  }
  return result;
}

class Search {
 public:
  Search(const Nest& nest, const Accelerator& accelerator, Model model)
      : nest_(nest),
        accelerator_(accelerator),
        hard_(nest, accelerator, {.model = model}),
        soft_(nest, accelerator, {.model = model, .constraints = Constraints::Soft}) {}

  // The single change to the nearest size, in proportion, that fits.
  bool one_tile(const Mapping& mapping, Relaxation& relaxation) {
    double best = std::numeric_limits<double>::infinity();
    for (const Knob& knob : knobs_of(mapping)) {
      const std::int32_t from = value_of(mapping, knob);
      const std::int32_t most = most_of(knob, mapping, nest_, accelerator_);
      for (std::int32_t distance = 1; distance <= kMostTried; ++distance) {
        const std::int32_t down = from - distance;
        const std::int64_t up = std::int64_t{from} + distance;
        if (down < 1 && up > most) break;
        if (down >= 1 && std::log(double(from) / down) < best && fits(mapping, knob, down, relaxation)) {
          best = std::log(double(from) / down);
          break;
        }
        if (up <= most && std::log(double(up) / from) < best &&
            fits(mapping, knob, static_cast<std::int32_t>(up), relaxation)) {
          best = std::log(double(up) / from);
          break;
        }
      }
    }
    return relaxation.changed.has_value();
  }

  // From `start`, a mapping near the original whose counts are right: halves tile after tile, always the one that leaves the
  // least violation, until everything fits.
  bool several_tiles(const Mapping& mapping, const Mapping& start, Relaxation& relaxation) {
    Mapping current = start;
    std::optional<double> violation = violation_of(current);
    if (!violation) return false;
    for (int step = 0; step<kMostChanges&& * violation> 0; ++step) {
      std::optional<Knob> chosen;
      double least = *violation;
      for (const Knob& knob : knobs_of(current)) {
        const std::int32_t value = value_of(current, knob);
        if (value < 2) continue;
        const auto after = violation_of(with(current, knob, (value + 1) / 2));
        if (!after || *after >= least) continue;
        least = *after;
        chosen = knob;
      }
      if (!chosen) return false;
      current = with(current, *chosen, (value_of(current, *chosen) + 1) / 2);
      violation = least;
    }
    const Evaluation evaluation = hard_.evaluate(current);
    if (!std::holds_alternative<Cost>(evaluation)) return false;
    for (const Knob& knob : knobs_of(mapping)) {
      if (value_of(mapping, knob) != value_of(current, knob))
        relaxation.tiles.push_back(to_change(mapping, knob, value_of(current, knob)));
    }
    relaxation.changed = current;
    relaxation.with_changed_tiles = std::get<Cost>(evaluation);
    return true;
  }

 private:
  bool fits(const Mapping& mapping, const Knob& knob, std::int32_t value, Relaxation& relaxation) {
    const Mapping changed = with(mapping, knob, value);
    const Evaluation evaluation = hard_.evaluate(changed);
    if (!std::holds_alternative<Cost>(evaluation)) return false;
    relaxation.tiles = {to_change(mapping, knob, value)};
    relaxation.changed = changed;
    relaxation.with_changed_tiles = std::get<Cost>(evaluation);
    return true;
  }

  std::optional<double> violation_of(const Mapping& mapping) {
    const Evaluation evaluation = soft_.evaluate(mapping);
    if (const auto* cost = std::get_if<Cost>(&evaluation)) return cost->violation;
    return std::nullopt;
  }

  const Nest& nest_;
  const Accelerator& accelerator_;
  Evaluator hard_;
  Evaluator soft_;
};

}  // namespace

std::optional<Relaxation> relax(const Mapping& mapping, const Nest& nest, const Accelerator& accelerator, Model model) {
  const Evaluation strict = evaluate(mapping, nest, accelerator, model);
  if (std::holds_alternative<Cost>(strict)) return std::nullopt;
  Relaxation relaxation{std::get<Infeasible>(strict), {}, std::nullopt, {}, std::nullopt, std::nullopt};

  Accelerator raised = accelerator;
  if (relaxation.why.reason == Reason::PeOverflow) {
    raised.pes = relaxation.why.need;
    relaxation.raised_limits.push_back({Reason::PeOverflow, relaxation.why.need, relaxation.why.limit});
  }
  const Evaluation free = evaluate(mapping, nest, raised, model, Constraints::Report);
  if (const auto* cost = std::get_if<Cost>(&free)) {
    for (const Limit& limit : limits(*cost, raised)) {
      if (limit.broken()) relaxation.raised_limits.push_back(limit);
    }
    relaxation.with_raised_limits = *cost;
  } else {
    relaxation.raised_limits.clear();
  }

  Search search(nest, accelerator, model);
  if (search.one_tile(mapping, relaxation)) return relaxation;
  for (const Mapping& start : {mapping, clipped(mapping, nest, accelerator), divided(mapping, nest, accelerator)}) {
    if (search.several_tiles(mapping, start, relaxation)) break;
  }
  return relaxation;
}

}  // namespace tilewright
