#include "tilewright/cost/relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilewright {
namespace {

using Reason = Infeasible::Reason;

constexpr std::int32_t kMostTried = 4096;  // sizes tried per tile, nearest first
constexpr int kMostChanges = 32;           // steps of the search over several tiles
constexpr double kMostEffort = 200'000;    // evaluations of ordinary mappings; many loops in a level count for more

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
    std::int32_t around = std::max(1, most_of(knob, mapping, nest, accelerator));
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
      // At equal distance the larger size is the nearer one in proportion.
      for (std::int32_t distance = 1; distance <= kMostTried; ++distance) {
        const std::int32_t down = from - distance;
        const std::int64_t up = std::int64_t{from} + distance;
        if (down < 1 && up > most) break;
        if (up <= most && std::log(double(up) / from) < best &&
            fits(mapping, knob, static_cast<std::int32_t>(up), relaxation)) {
          best = std::log(double(up) / from);
          break;
        }
        if (down >= 1 && std::log(double(from) / down) < best && fits(mapping, knob, down, relaxation)) {
          best = std::log(double(from) / down);
        }
        if (std::log(double(up) / from) >= best) break;  // whatever follows is farther
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
    for (int step = 0; step < kMostChanges && violation.value() > 0; ++step) {
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
  // False once the search has worked enough. Levels of many loops have up to three states per loop, so many stances to walk.
  bool may_evaluate(const Mapping& mapping) {
    std::size_t loops = 0;
    for (const MappingLevel& level : mapping.levels) loops = std::max(loops, level.directives.size());
    effort_ += std::max(1.0, std::pow(3.0, static_cast<double>(loops) - 8));
    return effort_ <= kMostEffort;
  }

  bool fits(const Mapping& mapping, const Knob& knob, std::int32_t value, Relaxation& relaxation) {
    if (!may_evaluate(mapping)) return false;
    const Mapping changed = with(mapping, knob, value);
    const Evaluation evaluation = hard_.evaluate(changed);
    if (!std::holds_alternative<Cost>(evaluation)) return false;
    relaxation.tiles = {to_change(mapping, knob, value)};
    relaxation.changed = changed;
    relaxation.with_changed_tiles = std::get<Cost>(evaluation);
    return true;
  }

  std::optional<double> violation_of(const Mapping& mapping) {
    if (!may_evaluate(mapping)) return std::nullopt;
    const Evaluation evaluation = soft_.evaluate(mapping);
    if (const auto* cost = std::get_if<Cost>(&evaluation)) return cost->violation;
    return std::nullopt;
  }

  const Nest& nest_;
  const Accelerator& accelerator_;
  Evaluator hard_;
  Evaluator soft_;
  double effort_ = 0;
};

std::int64_t& limit_of(Accelerator& accelerator, Reason reason) {
  switch (reason) {
    case Reason::PeOverflow:
      return accelerator.pes;
    case Reason::L1Overflow:
      return accelerator.l1.value;
    case Reason::L2Overflow:
      return accelerator.l2.value;
    case Reason::NocBandwidth:
      return accelerator.noc.bandwidth;
    default:
      return accelerator.offchip_bandwidth;
  }
}

// Raises what is broken to what is needed, again and again: a faster network makes steps shorter, and shorter steps need
// more.
void raise_limits(const Mapping& mapping, const Nest& nest, const Accelerator& accelerator, Model model,
                  Relaxation& relaxation) {
  constexpr int kMostRounds = 64;
  Accelerator raised = accelerator;
  for (int round = 0; round < kMostRounds; ++round) {
    const Evaluation evaluation = evaluate(mapping, nest, raised, model);
    if (const auto* cost = std::get_if<Cost>(&evaluation)) {
      relaxation.with_raised_limits = *cost;
      for (const Reason reason :
           {Reason::PeOverflow, Reason::L1Overflow, Reason::L2Overflow, Reason::NocBandwidth, Reason::OffchipBandwidth}) {
        Accelerator before = accelerator;
        const std::int64_t need = limit_of(raised, reason), limit = limit_of(before, reason);
        if (need > limit) relaxation.raised_limits.push_back({reason, need, limit});
      }
      return;
    }
    const Infeasible& broken = std::get<Infeasible>(evaluation);
    const bool is_limit = broken.reason == Reason::PeOverflow || broken.reason >= Reason::L1Overflow;
    if (!is_limit) return;
    limit_of(raised, broken.reason) = broken.need;
  }
}

}  // namespace

std::optional<Relaxation> relax(const Mapping& mapping, const Nest& nest, const Accelerator& accelerator, Model model) {
  const Evaluation strict = evaluate(mapping, nest, accelerator, model);
  if (std::holds_alternative<Cost>(strict)) return std::nullopt;
  Relaxation relaxation{std::get<Infeasible>(strict), {}, std::nullopt, {}, std::nullopt, std::nullopt};

  raise_limits(mapping, nest, accelerator, model, relaxation);

  Search search(nest, accelerator, model);
  if (search.one_tile(mapping, relaxation)) return relaxation;
  for (const Mapping& start : {mapping, clipped(mapping, nest, accelerator), divided(mapping, nest, accelerator)}) {
    if (search.several_tiles(mapping, start, relaxation)) break;
  }
  return relaxation;
}

}  // namespace tilewright
