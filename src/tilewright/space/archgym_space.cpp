#include "tilewright/space/archgym_space.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tilewright/space/mapping_key.hpp"
#include "tilewright/space/mapping_outcome.hpp"

namespace tilewright {
namespace {

constexpr std::size_t kLoops = 6;
constexpr std::int32_t kOrders = 720;
using LoopOrder = std::array<Slot, kLoops>;  // outermost first

constexpr LoopOrder kTileOrder = {Slot::S, Slot::R, Slot::K, Slot::C, Slot::X, Slot::Y};
constexpr std::array<Slot, 4> kSpread = {Slot::K, Slot::C, Slot::X, Slot::Y};

// Where the parameters are: per level (outer, inner) the seed, the spread dimension, and the first of six tiles.
constexpr std::array<std::size_t, 2> kSeed = {0, 15};
constexpr std::array<std::size_t, 2> kParallel = {1, 8};
constexpr std::array<std::size_t, 2> kFirstTile = {2, 9};
constexpr std::size_t kPes = 16;
constexpr std::size_t kParameters = 17;

constexpr std::size_t at(Slot slot) { return static_cast<std::size_t>(slot); }

std::size_t place_of(Slot slot) {
  return static_cast<std::size_t>(std::ranges::find(kTileOrder, slot) - kTileOrder.begin());
}

LoopOrder order_of(std::int32_t seed) {
  std::vector<Slot> left(kTileOrder.begin(), kTileOrder.end());
  LoopOrder order{};
  std::int32_t orders = kOrders;
  for (std::size_t loop = 0; loop < kLoops; ++loop) {
    orders /= static_cast<std::int32_t>(kLoops - loop);
    const auto taken = left.begin() + seed / orders;
    order[loop] = *taken;
    left.erase(taken);
    seed %= orders;
  }
  return order;
}

std::int32_t seed_of(const LoopOrder& order) {
  std::int32_t seed = 0;
  for (std::size_t loop = 0; loop < kLoops; ++loop) {
    const auto smaller = std::count_if(order.begin() + static_cast<std::ptrdiff_t>(loop) + 1, order.end(),
                                       [&](Slot slot) { return place_of(slot) < place_of(order[loop]); });
    seed = seed * static_cast<std::int32_t>(kLoops - loop) + static_cast<std::int32_t>(smaller);
  }
  return seed;
}

// The level of a tile parameter and its slot.
struct TilePlace {
  std::size_t level;
  Slot slot;
};
std::optional<TilePlace> tile_place(std::size_t parameter) {
  for (std::size_t level = 0; level < 2; ++level) {
    if (parameter >= kFirstTile[level] && parameter < kFirstTile[level] + kLoops)
      return TilePlace{level, kTileOrder[parameter - kFirstTile[level]]};
  }
  return std::nullopt;
}

MappingSpaceOptions basis_options(const ArchgymOptions& options) {
  MappingSpaceOptions basis;
  basis.tiles = options.input_tiles ? Tiles::Gamma : Tiles::Any;
  basis.evaluate = options.evaluate;
  basis.gamma_rules = options.gamma_rules;
  basis.search_pes = true;
  return basis;
}

class ArchgymEvaluator final : public PointEvaluator {
 public:
  explicit ArchgymEvaluator(const ArchgymSpace& space)
      : space_(space),
        mappings_(space.basis()),
        accelerator_(mappings_.accelerator()),
        evaluator_(mappings_.nest(), accelerator_, mappings_.options().evaluate),
        true_macs_(macs(mappings_.nest())) {}

  Outcome evaluate(PointView point) override {
    if (accelerator_.pes != space_.pes(point)) {
      accelerator_.pes = space_.pes(point);
      evaluator_.reset(mappings_.nest(), accelerator_, mappings_.options().evaluate);
    }
    return outcome_of(evaluator_.evaluate(space_.mapping(point)), true_macs_, accelerator_, mappings_.options().gamma_rules);
  }

 private:
  const ArchgymSpace& space_;
  const MappingSpace& mappings_;
  Accelerator accelerator_;
  Evaluator evaluator_;
  Macs true_macs_;
};

}  // namespace

ArchgymSpace::ArchgymSpace(std::string name, const Nest& nest, const Accelerator& accelerator, const ArchgymOptions& options)
    : basis_(std::move(name), nest, accelerator, basis_options(options)) {
  const bool product = nest.kind == NestKind::MatrixMultiply;
  const auto set = [&](Slot slot, Dim dim) {
    if (nest.has(dim)) dims_[at(slot)] = dim;
  };
  stride_.fill(1);
  set(Slot::K, product ? Dim::N : Dim::K);
  set(Slot::C, product ? Dim::K : Dim::C);
  set(Slot::Y, product ? Dim::M : Dim::OutY);
  set(Slot::G, Dim::G);
  if (!product) {
    set(Slot::X, Dim::OutX);
    set(Slot::R, Dim::R);
    set(Slot::S, Dim::S);
    set(Slot::N, Dim::N);
    if (!options.input_tiles) {
      for (const auto& [slot, input] : {std::pair(Slot::Y, Dim::Y), std::pair(Slot::X, Dim::X)}) {
        stride_[at(slot)] = std::max(1, nest.stride[static_cast<std::size_t>(input)]);
      }
    }
  }
  for (std::size_t index = 0; index < kSpread.size(); ++index) {
    if (dims_[at(kSpread[index])]) spreadable_.push_back(static_cast<std::int32_t>(index));
  }

  least_tile_.fill(1);
  for (const Slot slot : {Slot::S, Slot::R}) least_tile_[at(slot)] = std::max(basis_.size_of(slot) - 1, 1);
  parameters_.resize(kParameters);
  for (std::size_t level = 0; level < 2; ++level) {
    const char* buffer = level == 0 ? "l2" : "l1";
    parameters_[kSeed[level]] = {fmt::format("seed_{}", buffer), ParameterKind::Categorical, Role::Order, kOrders};
    parameters_[kParallel[level]] = {fmt::format("ckxy_{}", buffer), ParameterKind::Categorical, Role::Parallelism,
                                     static_cast<std::int32_t>(kSpread.size())};
    for (std::size_t loop = 0; loop < kLoops; ++loop) {
      const Slot slot = kTileOrder[loop];
      const std::string letter(1, static_cast<char>(name_of(slot)[0] - 'A' + 'a'));
      parameters_[kFirstTile[level] + loop] = {fmt::format("{}_{}", letter, buffer), ParameterKind::Ordinal, Role::Tile,
                                               basis_.size_of(slot) - least_tile_[at(slot)] + 1};
    }
  }
  parameters_[kPes] = {"num_pe", ParameterKind::Ordinal, Role::Parallelism, static_cast<std::int32_t>(accelerator.pes)};
}

std::int32_t ArchgymSpace::tile_of(PointView point, std::size_t level, Slot slot) const {
  return least_tile_[at(slot)] + point[kFirstTile[level] + place_of(slot)];
}

std::int64_t ArchgymSpace::pes(PointView point) const { return point[kPes] + 1; }

void ArchgymSpace::choices(PointView point, std::size_t parameter, Choices& choices) const {
  if (parameter == kParallel[0] || parameter == kParallel[1]) {
    choices.set_list();
    for (const std::int32_t index : spreadable_) choices.add(index);
    return;
  }
  const auto tile = tile_place(parameter);
  if (tile && tile->level == 1) return choices.set_below(point[kFirstTile[0] + place_of(tile->slot)] + 1);
  choices.set_below(parameters_[parameter].value_count);
}

double ArchgymSpace::value(std::size_t parameter, std::int32_t index) const {
  if (const auto tile = tile_place(parameter)) return least_tile_[at(tile->slot)] + index;
  return parameter == kPes ? index + 1 : index;
}

std::string ArchgymSpace::value_name(std::size_t parameter, std::int32_t index) const {
  if (parameter == kParallel[0] || parameter == kParallel[1])
    return std::string(name_of(kSpread[static_cast<std::size_t>(index)]));
  if (parameter == kSeed[0] || parameter == kSeed[1]) {
    std::string loops;
    for (const Slot slot : order_of(index)) loops += name_of(slot);
    return loops;
  }
  return fmt::format("{}", value(parameter, index));
}

// Whether the loop has one step. Rows and columns move on with a kernel that is cut, so they stand only when it does.
bool ArchgymSpace::stands(PointView point, std::size_t level, Slot slot) const {
  if (slot == Slot::Y && !stands(point, level, Slot::R)) return false;
  if (slot == Slot::X && !stands(point, level, Slot::S)) return false;
  return tile_of(point, level, slot) == (level == 0 ? basis_.size_of(slot) : tile_of(point, 0, slot));
}

// As in MappingSpace: loops of one step go innermost, those of dimensions that could be cut before the others.
void ArchgymSpace::canonicalise(std::span<std::int32_t> point) const {
  for (std::size_t level = 0; level < 2; ++level) {
    LoopOrder order = order_of(point[kSeed[level]]);
    std::ranges::stable_sort(order, {}, [&](Slot slot) {
      if (!stands(point, level, slot)) return std::pair(0, Slot::K);
      const bool can_be_cut = std::ranges::find(basis_.slots(level), slot) != basis_.slots(level).end();
      return std::pair(can_be_cut ? 1 : 2, slot);
    });
    point[kSeed[level]] = seed_of(order);
  }
}

std::unique_ptr<PointEvaluator> ArchgymSpace::evaluator() const { return std::make_unique<ArchgymEvaluator>(*this); }

void ArchgymSpace::append_design(PointView point, std::string& bytes) const {
  append_mapping(mapping(point), pes(point), bytes);
}

std::string ArchgymSpace::design_text(std::string_view bytes) const { return basis_.design_text(bytes); }

std::optional<Point> ArchgymSpace::point_of_design(std::string_view bytes) const {
  const std::optional<MappingDesign> design = mapping_design(bytes);
  if (!design || design->mapping.levels.size() != 2) return std::nullopt;
  Point point(kParameters, 0);
  point[kPes] = static_cast<std::int32_t>(design->pes) - 1;
  for (std::size_t level = 0; level < 2; ++level) {
    std::vector<Slot> order;  // of the loops that are there; the others never move, so they go innermost
    for (const Directive& directive : design->mapping.levels[level].directives) {
      const auto slot = std::ranges::find_if(kTileOrder, [&](Slot one) { return dims_[at(one)] == directive.dim; });
      if (slot == kTileOrder.end()) continue;
      order.push_back(*slot);
      point[kFirstTile[level] + place_of(*slot)] = (directive.size - 1) / stride_[at(*slot)] + 1 - least_tile_[at(*slot)];
      if (directive.kind != Directive::Kind::Spatial) continue;
      point[kParallel[level]] = static_cast<std::int32_t>(std::ranges::find(kSpread, *slot) - kSpread.begin());
    }
    for (const Slot slot : kTileOrder) {
      if (std::ranges::find(order, slot) == order.end()) order.push_back(slot);
    }
    if (order.size() != kLoops) return std::nullopt;
    LoopOrder loops{};
    std::ranges::copy(order, loops.begin());
    point[kSeed[level]] = seed_of(loops);
  }
  if (!is_legal(*this, point)) return std::nullopt;
  canonicalise(point);
  std::string again;  // a mapping of a larger space has tiles or clusters that the gym cannot say
  append_design(point, again);
  return again == bytes ? std::optional(point) : std::nullopt;
}

void ArchgymSpace::add_loop(MappingLevel& level, Slot slot, std::int32_t tile, bool spread) const {
  const auto dim = dims_[at(slot)];
  if (!dim) return;
  const std::int32_t size = (tile - 1) * stride_[at(slot)] + 1;
  level.directives.push_back({spread ? Directive::Kind::Spatial : Directive::Kind::Temporal, *dim, size, size});
}

Mapping ArchgymSpace::mapping(PointView point) const {
  Mapping mapping;
  for (std::size_t number = 0; number < 2; ++number) {
    MappingLevel level;
    const Slot spread = kSpread[static_cast<std::size_t>(point[kParallel[number]])];
    if (number > 0) {
      const std::int32_t inner = tile_of(point, 1, spread);
      const std::int64_t tiles = (tile_of(point, 0, spread) + inner - 1) / inner;
      level.cluster_size = static_cast<std::int32_t>(std::min(tiles, pes(point)));
    }
    const auto walk_alone = [&](bool many) {
      for (const Slot slot : {Slot::N, Slot::G}) {
        if ((number == 0 && basis_.size_of(slot) > 1) == many) add_loop(level, slot, 1, false);
      }
    };
    walk_alone(true);
    for (const Slot slot : order_of(point[kSeed[number]]))
      add_loop(level, slot, tile_of(point, number, slot), slot == spread);
    walk_alone(false);
    mapping.levels.push_back(level);
  }
  return mapping;
}

double ArchgymSpace::log10_size() const {
  double total = 2 * std::log10(kOrders) +
                 2 * std::log10(static_cast<double>(std::max<std::size_t>(spreadable_.size(), 1))) +
                 std::log10(static_cast<double>(parameters_[kPes].value_count));
  for (std::size_t loop = 0; loop < kLoops; ++loop) {
    const double count = parameters_[kFirstTile[0] + loop].value_count;
    total += std::log10(count * (count + 1) / 2);  // pairs of an outer tile and an inner one no larger
  }
  return total;
}

}  // namespace tilewright
