#include "tilewright/space/mapping_space.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/space/mapping_key.hpp"
#include "tilewright/space/mapping_outcome.hpp"

namespace tilewright {
namespace {

class MappingEvaluator final : public PointEvaluator {
 public:
  explicit MappingEvaluator(const MappingSpace& space)
      : space_(space), accelerator_(space.accelerator()), evaluator_(space.nest(), accelerator_, space.options().evaluate) {}

  Outcome evaluate(PointView point) override {
    if (space_.pes_place() && accelerator_.pes != space_.pes(point)) {
      accelerator_.pes = space_.pes(point);
      evaluator_.reset(space_.nest(), accelerator_, space_.options().evaluate);
    }
    return outcome_of(evaluator_.evaluate(space_.mapping(point)), macs(space_.nest()), accelerator_,
                      space_.options().gamma_rules);
  }

 private:
  const MappingSpace& space_;
  Accelerator accelerator_;
  Evaluator evaluator_;
};

}  // namespace

std::int32_t MappingSpace::tile_value(Slot slot, std::int32_t value_index) const {
  const auto& values = tile_values_[index(slot)];
  return values.empty() ? value_index + 1 : values[static_cast<std::size_t>(value_index)];
}

std::int32_t MappingSpace::cluster_value(std::int32_t value_index) const {
  return cluster_values_.empty() ? value_index + 1 : cluster_values_[static_cast<std::size_t>(value_index)];
}

std::int32_t MappingSpace::tile_of(PointView point, std::size_t level, Slot slot) const {
  const auto place = places_[level].tile[index(slot)];
  return place ? tile_value(slot, point[*place]) : sizes_[index(slot)];
}

std::size_t MappingSpace::level_count(PointView point) const {
  return levels_place_ ? options_.least_levels + static_cast<std::size_t>(point[*levels_place_]) : options_.most_levels;
}

std::int64_t MappingSpace::pes(PointView point) const {
  if (!pes_place_) return accelerator_.pes;
  const std::int32_t value_index = point[*pes_place_];
  return pes_values_.empty() ? value_index + 1 : pes_values_[static_cast<std::size_t>(value_index)];
}

std::int32_t MappingSpace::order_of(PointView point, std::size_t level, Slot slot) const {
  const auto place = places_[level].order[index(slot)];
  return place ? point[*place] : 0;
}

InlineVector<Slot, kSlotCount> MappingSpace::loop_order(PointView point, std::size_t level) const {
  InlineVector<Slot, kSlotCount> order;
  for (const Slot slot : slots_[level]) {  // insertion keeps slots of equal priority in their order
    order.push_back(slot);
    for (std::size_t i = order.size() - 1; i > 0 && order_of(point, level, order[i - 1]) < order_of(point, level, slot);
         --i) {
      std::swap(order[i - 1], order[i]);
    }
  }
  return order;
}

bool MappingSpace::has_buffer_masks() const {
  return !is_maestro(options_.evaluate.model) && options_.evaluate.constraints == Constraints::Hard;
}

// Double buffered tiles of all operands.
double MappingSpace::bytes_needed(const SlotTiles& tiles, Buffer buffer) const {
  const auto at = [&](Slot slot) { return static_cast<double>(tiles[index(slot)]); };
  const auto reach = [&](Slot outputs, Slot taps) {
    const std::int64_t step = std::min<std::int64_t>(dims_[index(outputs)].stride, std::max(1, sizes_[index(taps)]));
    return static_cast<double>((tiles[index(outputs)] - 1) * step + tiles[index(taps)]);
  };
  const double rows = reach(Slot::Y, Slot::R), columns = reach(Slot::X, Slot::S);
  // In L1 the sound model holds outputs at the inputs' size.
  const bool outputs_only = buffer == Buffer::L2 || options_.evaluate.model == Model::Exact;
  const double out_rows = outputs_only ? at(Slot::Y) : rows, out_columns = outputs_only ? at(Slot::X) : columns;
  const double channels = nest_.kind == NestKind::Depthwise ? at(Slot::C) : at(Slot::K);
  const double shared = at(Slot::G);
  const double input = shared * at(Slot::N) * at(Slot::C) * rows * columns;
  const double weight = shared * at(Slot::K) * at(Slot::C) * at(Slot::R) * at(Slot::S);
  const double output = shared * at(Slot::N) * channels * out_rows * out_columns;
  return 2 * (input + weight + output);
}

// The largest index up to `most` with which the level can still fit its buffer, tiles that are not decided yet being as
// small as they can be: at the outermost level one unit's tiles must fit L2, at the innermost they must fit L1. -1 when none
// can.
std::int32_t MappingSpace::last_fitting(PointView point, const Meaning& meaning, std::int32_t most) const {
  const bool innermost = meaning.level + 1 == level_count(point);
  if (meaning.level > 0 && !innermost) return most;
  SlotTiles tiles;
  tiles.fill(1);
  for (std::size_t slot = 0; slot < kSlotCount; ++slot) {
    const auto place = places_[meaning.level].tile[slot];
    const auto name = static_cast<Slot>(slot);
    if (!place) {
      tiles[slot] = sizes_[slot];
    } else if (name < meaning.slot) {
      tiles[slot] = tile_value(name, point[*place]);
    } else {
      tiles[slot] = tile_value(name, 0);
    }
  }
  const auto fits = [&](std::int32_t value_index) {
    tiles[index(meaning.slot)] = tile_value(meaning.slot, value_index);
    if (innermost && bytes_needed(tiles, Buffer::L1) > static_cast<double>(accelerator_.l1.value)) return false;
    return bytes_needed(tiles, Buffer::L2) <= static_cast<double>(accelerator_.l2.value);
  };
  if (fits(most)) return most;
  std::int32_t low = -1, high = most;  // `low` fits, `high` does not
  while (high - low > 1) {
    const std::int32_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

bool MappingSpace::is_diagonal(PointView point, std::size_t level) const {
  const auto place = places_[level].diagonal;
  return place && point[*place] == 1;
}

void MappingSpace::tile_choices(PointView point, const Meaning& meaning, Choices& choices) const {
  const auto& values = tile_values_[index(meaning.slot)];
  const std::int32_t upper =
      meaning.level == 0 ? sizes_[index(meaning.slot)] : tile_of(point, meaning.level - 1, meaning.slot);
  if (is_diagonal(point, meaning.level)) {
    choices.set_list();
    return choices.add(values.empty() ? upper - 1
                                      : static_cast<std::int32_t>(std::ranges::lower_bound(values, upper) - values.begin()));
  }
  std::int32_t most =
      values.empty() ? upper - 1 : static_cast<std::int32_t>(std::ranges::upper_bound(values, upper) - values.begin()) - 1;
  if (has_buffer_masks()) most = std::max(0, last_fitting(point, meaning, most));
  if (values.empty()) return choices.set_below(most + 1);
  choices.set_list();
  for (std::int32_t i = 0; i <= most; ++i) {
    const std::int32_t tile = values[static_cast<std::size_t>(i)];
    if (upper % tile == 0 || is_contained(meaning.level, meaning.slot, tile)) choices.add(i);
  }
}

void MappingSpace::cluster_choices(PointView point, const Meaning& meaning, Choices& choices) const {
  std::int64_t room = pes(point);
  for (std::size_t level = 1; level < meaning.level; ++level) {
    if (const auto place = places_[level].cluster) room /= cluster_value(point[*place]);
  }
  if (cluster_values_.empty()) return choices.set_below(static_cast<std::int32_t>(room));
  const auto count = static_cast<std::int32_t>(std::ranges::upper_bound(cluster_values_, room) - cluster_values_.begin());
  choices.set_below(std::max(1, count));
}

void MappingSpace::choices(PointView point, std::size_t parameter, Choices& choices) const {
  const Meaning& meaning = meanings_[parameter];
  using Kind = Meaning::Kind;
  if (meaning.kind != Kind::Levels && meaning.kind != Kind::Pes && meaning.level >= level_count(point)) {
    return choices.set_below(1);  // the level is not there
  }
  switch (meaning.kind) {
    case Kind::Tile:
      return tile_choices(point, meaning, choices);
    case Kind::Cluster:
      return cluster_choices(point, meaning, choices);
    case Kind::Diagonal: {
      const bool one_row = tile_of(point, meaning.level - 1, Slot::Y) == 1;
      return choices.set_below(one_row && meaning.level + 1 == level_count(point) ? 2 : 1);
    }
    case Kind::Parallel:
      return choices.set_below(is_diagonal(point, meaning.level) ? 1 : parameters_[parameter].value_count);
    default:
      return choices.set_below(parameters_[parameter].value_count);
  }
}

double MappingSpace::value(std::size_t parameter, std::int32_t value_index) const {
  const Meaning& meaning = meanings_[parameter];
  switch (meaning.kind) {
    case Meaning::Kind::Levels:
      return static_cast<double>(options_.least_levels) + value_index;
    case Meaning::Kind::Pes:
      return pes_values_.empty() ? value_index + 1 : pes_values_[static_cast<std::size_t>(value_index)];
    case Meaning::Kind::Cluster:
      return cluster_value(value_index);
    case Meaning::Kind::Tile:
      return tile_value(meaning.slot, value_index);
    case Meaning::Kind::Parallel:
      return static_cast<double>(slots_[meanings_[parameter].level][static_cast<std::size_t>(value_index)]);
    default:
      return value_index;
  }
}

std::string MappingSpace::value_name(std::size_t parameter, std::int32_t value_index) const {
  if (meanings_[parameter].kind == Meaning::Kind::Parallel) {
    return std::string(tilewright::name_of(slots_[meanings_[parameter].level][static_cast<std::size_t>(value_index)]));
  }
  return fmt::format("{}", value(parameter, value_index));
}

// Loops of one step never move, so their place does not matter: they go innermost. Priorities become ranks.
void MappingSpace::canonicalise(std::span<std::int32_t> point) const {
  for (std::size_t level = 0; level < level_count(point); ++level) {
    const auto slot_count = static_cast<std::int32_t>(slots_[level].size());
    if (slot_count < 2) continue;
    const auto order = loop_order(point, level);
    const auto is_whole = [&](Slot slot) {
      const std::int32_t upper = level == 0 ? sizes_[index(slot)] : tile_of(point, level - 1, slot);
      return tile_of(point, level, slot) >= upper;
    };
    // All outputs of a cut kernel still slide over their inputs.
    const auto stands = [&](Slot slot) {
      const bool slides = (slot == Slot::Y && !is_whole(Slot::R)) || (slot == Slot::X && !is_whole(Slot::S));
      return is_whole(slot) && !slides;
    };
    std::int32_t priority = slot_count;
    for (const Slot slot : order) {
      if (!stands(slot)) point[*places_[level].order[index(slot)]] = --priority;
    }
    for (const Slot slot : slots_[level]) {
      if (stands(slot)) point[*places_[level].order[index(slot)]] = --priority;
    }
  }
}

std::unique_ptr<PointEvaluator> MappingSpace::evaluator() const { return std::make_unique<MappingEvaluator>(*this); }

std::string MappingSpace::reason_name(std::uint8_t reason) const {
  return std::string(tilewright::name_of(static_cast<Infeasible::Reason>(reason)));
}

void MappingSpace::append_design(PointView point, std::string& bytes) const {
  append_mapping(mapping(point), pes(point), bytes);
}

std::string MappingSpace::problem_text() const {
  nlohmann::ordered_json json;
  json["layer"] = name_;
  for (std::size_t slot = 0; slot < kSlotCount; ++slot) {
    if (dims_[slot].dim) json["sizes"][std::string(tilewright::name_of(*dims_[slot].dim))] = nest_[*dims_[slot].dim];
  }
  json["machine"] = accelerator_.name;
  json["model"] = tilewright::name_of(options_.evaluate.model);
  json["model_version"] = kModelVersion;
  return json.dump();
}

Mapping MappingSpace::mapping(PointView point) const {
  Mapping mapping;
  const std::size_t levels = level_count(point);
  for (std::size_t number = 0; number < levels; ++number) {
    MappingLevel level;
    const LevelPlaces& places = places_[number];
    if (number > 0) level.cluster_size = places.cluster ? cluster_value(point[*places.cluster]) : cluster_value(0);
    if (is_diagonal(point, number)) {
      for (const Dim dim : {Dim::Y, Dim::R}) level.directives.push_back({Directive::Kind::Spatial, dim, 1, 1});
      mapping.levels.push_back(level);
      continue;
    }
    std::optional<Slot> parallel;
    if (places.parallel) {
      parallel = slots_[number][static_cast<std::size_t>(point[*places.parallel])];
    } else if (!slots_[number].empty()) {
      parallel = slots_[number].front();
    }
    const auto add = [&](Slot slot, bool spatial) {
      const SlotDim& dim = dims_[index(slot)];
      const std::int32_t size = (tile_of(point, number, slot) - 1) * dim.stride + 1;
      level.directives.push_back({spatial ? Directive::Kind::Spatial : Directive::Kind::Temporal, *dim.dim, size, size});
    };
    for (const Slot slot : loop_order(point, number)) add(slot, slot == parallel);
    for (std::size_t slot = 0; slot < kSlotCount; ++slot) {
      if (!dims_[slot].dim || places.tile[slot]) continue;
      add(static_cast<Slot>(slot), !parallel);
      if (!parallel) parallel = static_cast<Slot>(slot);
    }
    mapping.levels.push_back(level);
  }
  return mapping;
}

std::optional<Point> MappingSpace::point_of(const Mapping& given) const {
  Mapping mapping = given;
  while (mapping.levels.size() < options_.least_levels) {
    MappingLevel level;  // one unit that takes everything
    level.cluster_size = 1;
    mapping.levels.push_back(level);
  }
  const std::size_t levels = mapping.levels.size();
  if (levels > options_.most_levels) return std::nullopt;
  Point point(parameters_.size(), 0);
  if (levels_place_) point[*levels_place_] = static_cast<std::int32_t>(levels - options_.least_levels);
  if (pes_place_) point[*pes_place_] = parameters_[*pes_place_].value_count - 1;
  for (std::size_t number = 0; number < levels; ++number) {
    if (!set_level(point, number, mapping.levels[number])) return std::nullopt;
  }
  if (!is_legal(*this, point)) return std::nullopt;
  canonicalise(point);
  return point;
}

// Sets the entries of one level to what `level` says; false where the space has no such value.
bool MappingSpace::set_level(Point& point, std::size_t number, const MappingLevel& level) const {
  const LevelPlaces& places = places_[number];
  const auto index_in = [](const std::vector<std::int32_t>& values, std::int32_t value) -> std::optional<std::int32_t> {
    if (values.empty()) return value - 1;
    const auto found = std::ranges::find(values, value);
    if (found == values.end()) return std::nullopt;
    return static_cast<std::int32_t>(found - values.begin());
  };
  if (number > 0) {
    if (places.cluster) {
      const auto found = index_in(cluster_values_, level.cluster_size);
      if (!found) return false;
      point[*places.cluster] = *found;
    } else if (level.cluster_size != cluster_value(0)) {
      return false;
    }
  }
  const bool diagonal = places.diagonal && tilewright::is_diagonal(level);
  std::size_t spatial_count = 0;
  for (std::size_t slot = 0; slot < kSlotCount; ++slot) {
    const SlotDim& dim = dims_[slot];
    if (!dim.dim) continue;
    const std::int32_t upper = number == 0 ? sizes_[slot] : tile_of(point, number - 1, static_cast<Slot>(slot));
    std::int32_t tile = upper, position = static_cast<std::int32_t>(kMaxDirectives);
    bool spatial = false;
    for (std::int32_t place = 0; !diagonal && place < static_cast<std::int32_t>(level.directives.size()); ++place) {
      const Directive& directive = level.directives[static_cast<std::size_t>(place)];
      if (directive.dim != *dim.dim) continue;
      if (position != static_cast<std::int32_t>(kMaxDirectives) || directive.offset != directive.size) return false;
      position = place;
      tile = std::min((directive.size - 1) / dim.stride + 1, upper);
      spatial = directive.kind == Directive::Kind::Spatial;
    }
    spatial_count += spatial ? 1 : 0;
    if (!places.tile[slot]) {
      if (tile < sizes_[slot]) return false;
      continue;
    }
    const auto tile_index = index_in(tile_values_[slot], tile);
    if (!tile_index) return false;
    point[*places.tile[slot]] = *tile_index;
    if (spatial && places.parallel) {
      const auto cut = std::ranges::find(slots_[number], static_cast<Slot>(slot));
      point[*places.parallel] = static_cast<std::int32_t>(cut - slots_[number].begin());
    }
    if (const auto order = places.order[slot]) point[*order] = static_cast<std::int32_t>(kMaxDirectives) - position;
  }
  if (diagonal) point[*places.diagonal] = 1;
  const bool passes = number > 0 && level.directives.empty();  // any loop may be called parallel where none moves
  if (!diagonal && !passes && spatial_count != 1) return false;
  // Positions become priorities within the range of the parameter.
  std::vector<std::size_t> orders;
  for (const auto& order : places.order) {
    if (order) orders.push_back(*order);
  }
  std::vector<std::int32_t> ranks(orders.size());
  for (std::size_t a = 0; a < orders.size(); ++a) {
    for (const std::size_t b : orders) ranks[a] += point[b] < point[orders[a]] ? 1 : 0;
  }
  for (std::size_t a = 0; a < orders.size(); ++a) point[orders[a]] = ranks[a];
  return true;
}

}  // namespace tilewright
