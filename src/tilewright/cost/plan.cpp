#include "tilewright/cost/plan.hpp"

#include <algorithm>

namespace tilewright {
namespace {

using Reason = Infeasible::Reason;

constexpr struct { Dim input, output, taps; } kSliding[] = {{Dim::X, Dim::OutX, Dim::S}, {Dim::Y, Dim::OutY, Dim::R}};

using LoopList = InlineVector<Loop, kMaxDirectives>;

Loop* find(LoopList& loops, Dim dim) {
  for (Loop& loop : loops) {
    if (loop.dim == dim) return &loop;
  }
  return nullptr;
}

const Loop* find_last(const LoopList& loops, Dim dim) {
  const Loop* last = nullptr;
  for (const Loop& loop : loops) {
    if (loop.dim == dim) last = &loop;
  }
  return last;
}

// "This many outputs" becomes "the inputs those outputs need": at first only where a level has no loop on the input itself.
std::optional<Infeasible> convert_outputs(LoopList& loops, std::uint8_t level) {
  for (const auto& [input, output, taps] : kSliding) {
    Loop* loop = find(loops, output);
    if (loop == nullptr || find(loops, input) != nullptr) continue;
    const Loop* filter = find_last(loops, taps);
    if (filter == nullptr) return Infeasible{Reason::OutputWithoutFilter, level, output};
    loop->size = find_last(loops, output)->size + filter->size - 1;
    loop->dim = input;
  }
  return std::nullopt;
}

// What then still counts outputs stands beside a loop on the input and becomes a second one.
std::optional<Infeasible> convert_leftovers(LoopList& loops, std::uint8_t level) {
  for (const auto& [input, output, taps] : kSliding) {
    const Loop* filter = find_last(loops, taps);
    for (Loop& loop : loops) {
      if (loop.dim != output) continue;
      if (filter == nullptr) return Infeasible{Reason::OutputWithoutFilter, level, output};
      loop.size += filter->size - 1;
      loop.dim = input;
    }
  }
  return std::nullopt;
}

// Steps over X and Y in whole outputs. A tile shorter than the kernel is left as it is. Where two loops share a dimension,
// MAESTRO writes to the first what it works out for either.
void apply_strides(LoopList& loops, const Plan& plan, std::uint8_t level) {
  for (const auto& [input, output, taps] : kSliding) {
    const std::int64_t stride = plan.stride[index(input)];
    const std::int64_t kernel = plan.sizes[index(taps)];
    if (stride <= 1) continue;
    for (Loop& loop : loops) {
      if (loop.dim != input || loop.size < kernel) continue;
      const std::int64_t outputs = (loop.size + stride - kernel) / stride;
      Loop* first = find(loops, input);
      first->size = outputs * std::min(stride, kernel) + std::max<std::int64_t>(kernel - stride, 0);
      first->offset = outputs * (level > 0 && kernel < stride ? kernel : stride);
    }
  }
}

std::int64_t edge_units(const Loop& loop, std::int64_t size, std::int64_t units) {
  const auto [m, o] = std::pair(loop.size, loop.offset);
  if (size > o * (units - 1) + m) {
    const std::int64_t steps = ((size - m) / o + 1) / units - 1;
    const std::int64_t rest = size - (steps + 1) * o * units;
    return rest < m ? 1 : (rest - m) / o + 1;
  }
  if (size > m) {
    const std::int64_t whole = (size - m) / o + 1;
    return o * (whole - 1) + m < size ? whole + 1 : whole;
  }
  return 1;
}

void set_static_tiles(LevelPlan& level, const DimSizes& sizes, const Plan& plan) {
  const Loop& spread = level.loops[level.spatial];
  level.edge_units = edge_units(spread, sizes[index(spread.dim)], level.units);
  for (const Loop& loop : level.loops) {
    const std::size_t d = index(loop.dim);
    const auto [m, o] = std::pair(loop.size, loop.offset);
    const std::int64_t size = sizes[d];
    const std::int64_t steps = std::max<std::int64_t>(0, (size - m) / o);
    const bool has_edge = steps * o + m < size || m > size;
    std::int64_t rest = size - (steps + 1) * o;
    if (rest < 0) rest = size;
    level.full[d] = m;
    level.fresh[d] = !loop.spatial && size <= m ? 0 : std::min(m, o);
    level.edge[d] = has_edge ? rest : m;
    level.fresh_edge[d] = std::max<std::int64_t>(0, o - (m - rest));
  }
  for (const auto& [input, output, taps] : kSliding) {
    const Loop* loop = find_last(level.loops, input);
    if (loop == nullptr || plan.sizes[index(taps)] == 0) continue;
    const std::size_t in = index(input), out = index(output), tap = index(taps);
    const std::int64_t stride = plan.stride[in];
    level.full[out] = outputs_in(level.full[in], level.full[tap], stride, plan.model);
    level.edge[out] = outputs_in(level.edge[in], level.edge[tap], stride, plan.model);
    const bool counts_strides = plan.model == Model::Sound && stride > 1;
    const std::int64_t moved = counts_strides ? (loop->offset + stride - 1) / stride : loop->offset;
    const std::int64_t held = counts_strides ? level.full[out] : loop->size;
    level.fresh[out] = std::min(moved, held);
    level.fresh_edge[out] = std::min(moved, level.edge[out]);
  }
}

// Row stationary: a single output row spread over the units, each with its own kernel rows and the input rows they meet.
// The input dimension of such a pair of spatial maps.
std::optional<Dim> diagonal_of(const LevelPlan& level, const DimSizes& sizes) {
  for (const auto& [input, output, taps] : kSliding) {
    const Loop* rows = nullptr;
    const Loop* kernel = nullptr;
    for (const Loop& loop : level.loops) {
      if (loop.spatial && loop.dim == input) rows = &loop;
      if (loop.spatial && loop.dim == taps) kernel = &loop;
    }
    if (rows == nullptr || kernel == nullptr || sizes[index(input)] != sizes[index(taps)]) continue;
    if (rows->size == kernel->size && rows->offset == kernel->offset) return input;
  }
  return std::nullopt;
}

// What no count shows: a tile that does not begin where the one before it ended leaves work out or does it twice, and two
// spatial maps that cut anything put each unit on one pair of tiles, never on the other combinations.
std::optional<Infeasible> check_cover(const LevelPlan& level, const DimSizes& sizes, const Plan& plan, std::uint8_t number) {
  if (level.repeats_dim) return Infeasible{Reason::RepeatedDim, number};
  const std::optional<Dim> diagonal = diagonal_of(level, sizes);
  for (const Loop& loop : level.loops) {
    const std::size_t d = index(loop.dim);
    // A shorter last part of the kernel would fit its inputs more often than the parts before it, and do outputs twice.
    if ((loop.dim == Dim::R || loop.dim == Dim::S) && sizes[d] % loop.size != 0) {
      return Infeasible{Reason::PartialFilter, number, loop.dim, loop.size, sizes[d]};
    }
    if (loop.size >= sizes[d] || loop.dim == diagonal) continue;
    if (loop.spatial && level.spatial_count > 1 && !diagonal)
      return Infeasible{Reason::UnpairedSpatialMaps, number, loop.dim};
    std::int64_t reach = loop.size;
    for (const auto& [input, output, taps] : kSliding) {
      if (loop.dim == input) reach = level.full[index(output)] * plan.stride[d];
    }
    if (loop.offset != reach) return Infeasible{Reason::TilesDoNotMeet, number, loop.dim, reach, loop.offset};
  }
  return std::nullopt;
}

std::optional<Infeasible> check_filters(const Mapping& mapping, const Nest& nest) {
  for (std::size_t level = 0; level < mapping.levels.size(); ++level) {
    for (const Directive& directive : mapping.levels[level].directives) {
      if (directive.kind != Directive::Kind::Temporal) continue;
      if ((directive.dim != Dim::R && directive.dim != Dim::S) || !nest.has(directive.dim)) continue;
      if (directive.size == nest[directive.dim] && directive.offset == directive.size) continue;
      return Infeasible{Reason::PartialFilter, static_cast<std::uint8_t>(level), directive.dim, directive.size,
                        nest[directive.dim]};
    }
  }
  return std::nullopt;
}

std::optional<Infeasible> plan_level(Plan& plan, std::uint8_t number, const MappingLevel& mapped, const DimSizes& sizes) {
  LevelPlan& level = plan.levels[number];
  LoopList& loops = level.loops;
  loops.clear();
  if (mapped.directives.size() == kMaxDirectives) return Infeasible{Reason::TooManyDirectives, number};
  for (const Directive& directive : mapped.directives) {
    loops.push_back({directive.kind == Directive::Kind::Spatial, directive.dim, directive.size, directive.offset});
    const bool taps = directive.dim == Dim::R || directive.dim == Dim::S;
    if (taps && plan.model == Model::Exact) {  // outputs reach over the taps that are there, whatever a map asks for
      loops.back().size = std::min<std::int64_t>(directive.size, sizes[index(directive.dim)]);
    }
  }
  if (auto failure = convert_outputs(loops, number)) return failure;

  if (number > 0) {  // each inherited loop goes to the front, so several end up in reverse order
    for (const Loop& parent : plan.levels[number - 1].loops) {
      if (find(loops, parent.dim) != nullptr) continue;
      if (loops.full()) return Infeasible{Reason::TooManyDirectives, number};
      loops.push_front({false, parent.dim, parent.size, parent.offset});
    }
  }
  for (std::size_t d = 0; d < kDimCount; ++d) {
    const Dim dim = static_cast<Dim>(d);
    if ((plan.tensors.loops & bit(dim)) == 0 || sizes[d] == 0 || find(loops, dim) != nullptr) continue;
    if (loops.full()) return Infeasible{Reason::TooManyDirectives, number};
    loops.push_back({false, dim, sizes[d], sizes[d]});
  }
  for (const Loop& loop : loops) {
    const bool output = loop.dim == Dim::OutX || loop.dim == Dim::OutY;  // still in level 0's table, however few there are
    if (sizes[index(loop.dim)] == 0 && !(output && number == 0)) return Infeasible{Reason::UnknownDim, number, loop.dim};
  }
  apply_strides(loops, plan, number);
  if (auto failure = convert_leftovers(loops, number)) return failure;

  level.spatial_count = 0;
  level.repeats_dim = false;
  DimMask seen = 0;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    level.repeats_dim |= (seen & bit(loops[i].dim)) != 0;
    seen |= bit(loops[i].dim);
    if (loops[i].spatial && level.spatial_count++ == 0) level.spatial = i;
  }
  if (level.spatial_count == 0) return Infeasible{Reason::NoSpatialMap, number};
  if (level.spatial_count > 2) {
    return Infeasible{Reason::TooManySpatialMaps, number, Dim::K, static_cast<std::int64_t>(level.spatial_count), 2};
  }
  if (plan.model != Model::Exact) {
    set_static_tiles(level, sizes, plan);
  } else {
    set_tiles(level, sizes, plan);
  }
  return is_maestro(plan.model) ? std::nullopt : check_cover(level, sizes, plan, number);
}

}  // namespace

Tensors tensors_of(const Nest& nest, Model model) {
  Tensors tensors;
  const auto set = [&](Operand operand, std::initializer_list<Dim> dims) {
    for (const Dim dim : dims) {
      tensors.dims[static_cast<std::size_t>(operand)].push_back(dim);
      tensors.mask[static_cast<std::size_t>(operand)] |= bit(dim);
    }
  };
  if (nest.batched && nest.kind != NestKind::MatrixMultiply) {
    set(Operand::Input, {Dim::N});
    set(Operand::Output, {Dim::N});
  }
  switch (nest.kind) {
    case NestKind::Convolution:
      set(Operand::Input, {Dim::C, Dim::Y, Dim::X});
      set(Operand::Weight, {Dim::K, Dim::C, Dim::R, Dim::S});
      set(Operand::Output, {Dim::K, Dim::Y, Dim::X});
      break;
    case NestKind::Depthwise:
      set(Operand::Input, {Dim::C, Dim::Y, Dim::X});
      set(Operand::Weight, {Dim::C, Dim::R, Dim::S});
      set(Operand::Output, {Dim::C, Dim::Y, Dim::X});
      break;
    case NestKind::Grouped:
      set(Operand::Input, {Dim::G, Dim::C, Dim::Y, Dim::X});
      set(Operand::Weight, {Dim::G, Dim::K, Dim::C, Dim::R, Dim::S});
      set(Operand::Output, {Dim::G, Dim::K});
      if (is_maestro(model)) set(Operand::Output, {Dim::C});  // MAESTRO never sums a group's channels
      set(Operand::Output, {Dim::Y, Dim::X});
      break;
    case NestKind::MatrixMultiply:
      if (nest.batched) {
        for (const Operand operand : {Operand::Input, Operand::Weight, Operand::Output}) set(operand, {Dim::G});
      }
      set(Operand::Input, {Dim::M, Dim::K});
      set(Operand::Weight, {Dim::K, Dim::N});
      set(Operand::Output, {Dim::M, Dim::N});
      break;
  }
  tensors.loops = tensors.mask[0] | tensors.mask[1];
  return tensors;
}

std::int64_t outputs_in(std::int64_t inputs, std::int64_t taps, std::int64_t stride, Model model) {
  if (inputs < taps && model == Model::Exact) return 0;
  if (is_maestro(model) || stride <= 1 || inputs < taps) return inputs - taps + 1;
  return (inputs - taps) / stride + 1;
}

LoopTiles tiles_of(const Loop& loop, std::int64_t size) {
  LoopTiles tiles;
  tiles.full = tiles.edge = std::min(loop.size, size);
  tiles.fresh = tiles.fresh_edge = loop.spatial ? std::min(tiles.full, loop.offset) : 0;
  if (size <= loop.size) return tiles;
  tiles.count = 1 + (size - loop.size + loop.offset - 1) / loop.offset;
  tiles.edge = size - (tiles.count - 1) * loop.offset;
  tiles.fresh = std::min(tiles.full, loop.offset);
  tiles.fresh_edge = std::max<std::int64_t>(0, tiles.edge - tiles.full + loop.offset);
  return tiles;
}

void set_output_tiles(LevelPlan& level, const Plan& plan) {
  for (const auto& [input, output, taps] : kSliding) {
    if (plan.sizes[index(taps)] == 0) continue;
    const std::size_t in = index(input), out = index(output), tap = index(taps);
    level.full[out] = outputs_in(level.full[in], level.full[tap], plan.stride[in], plan.model);
    level.edge[out] = outputs_in(level.edge[in], level.edge[tap], plan.stride[in], plan.model);
    level.fresh[out] = level.full[out];  // units share inputs, never outputs
    level.fresh_edge[out] = level.edge[out];
  }
}

void set_tiles(LevelPlan& level, const DimSizes& sizes, const Plan& plan) {
  for (std::size_t i = 0; i < level.loops.size(); ++i) {
    const std::size_t d = index(level.loops[i].dim);
    const LoopTiles tiles = tiles_of(level.loops[i], sizes[d]);
    level.full[d] = tiles.full;
    level.edge[d] = tiles.edge;
    level.fresh[d] = tiles.fresh;
    level.fresh_edge[d] = tiles.fresh_edge;
    if (i == level.spatial) level.edge_units = (tiles.count - 1) % level.units + 1;
  }
  set_output_tiles(level, plan);
}

std::optional<Infeasible> make_plan(Plan& plan, const Nest& nest, const Mapping& mapping, std::int64_t pes, Model model) {
  plan.tensors = tensors_of(nest, model);
  plan.model = model;
  for (std::size_t d = 0; d < kDimCount; ++d) {
    plan.sizes[d] = nest.size[d];
    plan.stride[d] = std::max(1, nest.stride[d]);
  }
  for (const DimMask mask : plan.tensors.mask) {
    for (std::size_t d = 0; d < kDimCount; ++d) {
      if ((mask >> d & 1) != 0 && nest.size[d] == 0) return Infeasible{Reason::MissingDim, 0, static_cast<Dim>(d)};
    }
  }
  if (model == Model::Maestro) {
    if (auto failure = check_filters(mapping, nest)) return failure;
  }

  std::int64_t clustered = 1;
  for (std::size_t i = 1; i < mapping.levels.size(); ++i) {
    clustered = std::min<std::int64_t>(clustered * mapping.levels[i].cluster_size, kUnlimited);
  }
  plan.levels.clear();
  DimSizes sizes = plan.sizes;
  for (std::size_t i = 0; i < mapping.levels.size(); ++i) {
    plan.levels.push_back({});
    plan.levels[i].units = i == 0 ? pes / clustered : mapping.levels[i].cluster_size;
    if (plan.levels[i].units <= 0) return Infeasible{Reason::PeOverflow, 0, Dim::K, clustered, pes};
    if (auto failure = plan_level(plan, static_cast<std::uint8_t>(i), mapping.levels[i], sizes)) return failure;
    DimSizes inner{};
    for (std::size_t d = 0; d < kDimCount; ++d) {
      const Loop* loop = find(plan.levels[i].loops, static_cast<Dim>(d));
      if ((plan.tensors.loops >> d & 1) != 0 && loop != nullptr) inner[d] = std::min(loop->size, sizes[d]);
    }
    sizes = inner;
  }
  return std::nullopt;
}

}  // namespace tilewright
