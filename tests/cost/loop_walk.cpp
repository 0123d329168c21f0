#include "loop_walk.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace tilewright {
namespace {

struct Interval {
  std::int64_t low = 0, high = 0;
  std::int64_t length() const { return std::max<std::int64_t>(0, high - low); }
};

Interval overlap(Interval a, Interval b) { return {std::max(a.low, b.low), std::min(a.high, b.high)}; }

constexpr std::size_t at(Dim dim) { return static_cast<std::size_t>(dim); }

// A part of the nest. X' and Y' count true outputs; the other dimensions of a nest their indices.
using Region = std::array<Interval, kDimCount>;
using Units = std::vector<std::optional<Region>>;  // what each unit of an array works on; nothing when it rests

constexpr struct { Dim input, output, taps; } kSliding[] = {{Dim::X, Dim::OutX, Dim::S}, {Dim::Y, Dim::OutY, Dim::R}};

std::int64_t stride_of(const Nest& nest, Dim input) { return std::max(1, nest.stride[at(input)]); }

Region whole(const Nest& nest) {
  Region region;
  for (std::size_t d = 0; d < kDimCount; ++d) region[d] = {0, nest.size[d]};
  for (const auto& [input, output, taps] : kSliding) {
    if (nest.has(input)) region[at(output)] = {0, outputs_along(nest, input)};
  }
  return region;
}

// A directive in terms of the indices it cuts.
struct Cut {
  bool spatial = false;
  Dim dim = Dim::K;
  std::int64_t size = 1;
  std::int64_t offset = 1;

  Interval tile(Interval region, std::int64_t number) const {
    return overlap(region, {region.low + number * offset, region.low + number * offset + size});
  }
  std::int64_t tiles(Interval region) const {
    const std::int64_t rest = region.length() - size;
    return rest <= 0 ? 1 : 1 + (rest + offset - 1) / offset;
  }
};

// `taps_left`: by kernel dimension, the largest part of the kernel the levels above hand down; cut further here.
std::vector<Cut> cuts_of(const Nest& nest, const MappingLevel& level, std::array<std::int64_t, kDimCount>& taps_left) {
  for (const Directive& directive : level.directives) {
    auto& left = taps_left[at(directive.dim)];
    left = std::min<std::int64_t>(left, directive.size);
  }
  std::vector<Cut> cuts;
  for (const Directive& directive : level.directives) {
    Cut cut{directive.kind == Directive::Kind::Spatial, directive.dim, directive.size, directive.offset};
    for (const auto& [input, output, taps] : kSliding) {
      if (directive.dim != input && directive.dim != output) continue;
      cut.dim = input;
      const std::int64_t stride = stride_of(nest, input), kernel = nest[taps];
      if (directive.dim == output) cut.size = directive.size + taps_left[at(taps)] - 1;
      if (stride == 1 || cut.size < kernel) continue;
      const std::int64_t outputs =
          directive.dim == output ? (cut.size - kernel + stride) / stride : (cut.size - kernel) / stride + 1;
      cut.size = (outputs - 1) * stride + kernel;
      cut.offset = outputs * stride;
    }
    cuts.push_back(cut);
  }
  return cuts;
}

std::vector<Dim> present(const Nest& nest, std::initializer_list<Dim> dims) {
  std::vector<Dim> found;
  for (const Dim dim : dims) {
    if (nest.has(dim)) found.push_back(dim);
  }
  return found;
}

std::vector<Dim> dims_of_macs(const Nest& nest) {
  if (nest.kind == NestKind::MatrixMultiply) return present(nest, {Dim::G, Dim::M, Dim::K, Dim::N});
  return present(nest, {Dim::N, Dim::G, Dim::K, Dim::C, Dim::OutY, Dim::OutX, Dim::R, Dim::S});
}

PerOperand<std::vector<Dim>> dims_of_operands(const Nest& nest) {
  if (nest.kind == NestKind::MatrixMultiply) {
    return {present(nest, {Dim::G, Dim::M, Dim::K}), present(nest, {Dim::G, Dim::K, Dim::N}),
            present(nest, {Dim::G, Dim::M, Dim::N})};
  }
  const Dim filter = nest.kind == NestKind::Depthwise ? Dim::C : Dim::K;
  return {present(nest, {Dim::N, Dim::G, Dim::C, Dim::Y, Dim::X}), present(nest, {Dim::G, Dim::K, Dim::C, Dim::R, Dim::S}),
          present(nest, {Dim::N, Dim::G, filter, Dim::OutY, Dim::OutX})};
}

// Numbers the points of a space from 0, and visits those within a region.
struct Space {
  std::vector<Dim> dims;
  Region bounds;

  std::int64_t size() const {
    std::int64_t points = 1;
    for (const Dim dim : dims) points *= bounds[at(dim)].length();
    return points;
  }
  template <typename Visit>
  void visit(const Region& region, const Visit& each, std::size_t depth = 0, std::int64_t number = 0) const {
    if (depth == dims.size()) {
      each(static_cast<std::size_t>(number));
      return;
    }
    const Interval range = region[at(dims[depth])];
    const std::int64_t length = bounds[at(dims[depth])].length();
    for (std::int64_t i = range.low; i < range.high; ++i) visit(region, each, depth + 1, number * length + i);
  }
};

class Walk {
 public:
  Walk(const Nest& nest, const Mapping& mapping, std::int64_t pes, std::int64_t macs_per_cycle)
      : nest_(nest), macs_per_cycle_(macs_per_cycle), macs_{dims_of_macs(nest), whole(nest)} {
    std::int64_t clustered = 1;
    for (std::size_t i = 1; i < mapping.levels.size(); ++i) clustered *= mapping.levels[i].cluster_size;
    std::array<std::int64_t, kDimCount> taps_left;
    for (std::size_t d = 0; d < kDimCount; ++d) taps_left[d] = nest.size[d];
    for (std::size_t i = 0; i < mapping.levels.size(); ++i) {
      levels_.push_back(
          {cuts_of(nest, mapping.levels[i], taps_left), i == 0 ? pes / clustered : mapping.levels[i].cluster_size});
    }
    done_.assign(static_cast<std::size_t>(macs_.size()), 0);
    const auto operand_dims = dims_of_operands(nest);
    for (std::size_t operand = 0; operand < kOperandCount; ++operand) {
      Memory& memory = memories_[operand];
      memory.space = {operand_dims[operand], whole(nest)};
      memory.given.assign(static_cast<std::size_t>(levels_[0].units), 0);
      memory.held.assign(memory.given.size(), std::vector<int>(static_cast<std::size_t>(memory.space.size()), 0));
      memory.wanted_fresh.assign(static_cast<std::size_t>(memory.space.size()), 0);
      memory.wanted.assign(static_cast<std::size_t>(memory.space.size()), 0);
    }
  }

  LoopWalk run() {
    const Progress progress = walk_level(0, whole(nest_));
    result_.cycles = progress.cycles;
    result_.busy_pes = progress.busy / static_cast<double>(progress.steps);
    for (const int times : done_) {
      result_.executed += times;
      result_.distinct += times > 0 ? 1 : 0;
      result_.missing += times == 0 ? 1 : 0;
    }
    return result_;
  }

 private:
  struct Level {
    std::vector<Cut> cuts;
    std::int64_t units = 1;
  };
  struct Progress {
    std::int64_t cycles = 0;
    std::int64_t steps = 0;
    double busy = 0;  // processing elements, summed over steps
  };
  // What the units of level 0 hold of one operand.
  struct Memory {
    Space space;
    std::vector<int> given;                 // tiles given to each unit so far
    std::vector<std::vector<int>> held;     // by unit and element: number of the latest tile with that element
    std::vector<int> wanted, wanted_fresh;  // by element: the latest step some unit wanted it
  };

  Progress walk_level(std::size_t number, const Region& region) {
    Progress progress;
    std::vector<std::int64_t> position(levels_[number].cuts.size(), 0);
    std::vector<std::int64_t> previous;
    walk_cut(number, 0, Units(static_cast<std::size_t>(levels_[number].units), region), position, previous, progress);
    return progress;
  }

  void walk_cut(std::size_t number, std::size_t depth, const Units& units, std::vector<std::int64_t>& position,
                std::vector<std::int64_t>& previous, Progress& progress) {
    const Level& level = levels_[number];
    if (depth == level.cuts.size()) {
      step(number, units, position, previous, progress);
      previous = position;
      return;
    }
    const Cut& cut = level.cuts[depth];
    std::int64_t tiles = 0;
    for (const auto& unit : units) {
      if (unit) tiles = std::max(tiles, cut.tiles((*unit)[at(cut.dim)]));
    }
    const std::int64_t tiles_per_step = cut.spatial ? level.units : 1;
    for (std::int64_t t = 0; t * tiles_per_step < tiles; ++t) {
      Units narrowed = units;
      for (std::size_t u = 0; u < units.size(); ++u) {
        if (!units[u]) continue;
        const Interval range = (*units[u])[at(cut.dim)];
        const std::int64_t tile = cut.spatial ? t * tiles_per_step + static_cast<std::int64_t>(u) : t;
        if (tile < cut.tiles(range)) {
          (*narrowed[u])[at(cut.dim)] = cut.tile(range, tile);
        } else {
          narrowed[u].reset();
        }
      }
      position[depth] = t;
      walk_cut(number, depth + 1, narrowed, position, previous, progress);
    }
    position[depth] = 0;
  }

  void step(std::size_t number, Units units, const std::vector<std::int64_t>& position,
            const std::vector<std::int64_t>& previous, Progress& progress) {
    for (auto& unit : units) {
      if (unit) keep_whole_windows(*unit);
    }
    if (number == 0) record(units, position, previous);
    Progress slowest;
    for (const auto& unit : units) {
      if (!unit) continue;
      if (number + 1 < levels_.size()) {
        const Progress inner = walk_level(number + 1, *unit);
        slowest.cycles = std::max(slowest.cycles, inner.cycles);
        slowest.busy += inner.busy / static_cast<double>(inner.steps);
      } else {
        slowest.cycles = std::max(slowest.cycles, multiply(*unit));
        slowest.busy += 1;
      }
    }
    progress.cycles += slowest.cycles;
    progress.busy += slowest.busy;
    ++progress.steps;
  }

  void keep_whole_windows(Region& region) const {
    for (const auto& [input, output, taps] : kSliding) {
      if (!nest_.has(input)) continue;
      const std::int64_t stride = stride_of(nest_, input);
      Interval& outputs = region[at(output)];
      while (outputs.length() > 0 && outputs.low * stride + region[at(taps)].low < region[at(input)].low) ++outputs.low;
      while (outputs.length() > 0 && (outputs.high - 1) * stride + region[at(taps)].high > region[at(input)].high)
        --outputs.high;
    }
  }

  std::int64_t multiply(const Region& region) {
    std::int64_t count = 0;
    macs_.visit(region, [&](std::size_t mac) {
      ++done_[mac];
      ++count;
    });
    for (std::size_t operand = 0; operand < kOperandCount; ++operand) {
      std::int64_t tile = 1;
      for (const Dim dim : memories_[operand].space.dims) tile *= region[at(dim)].length();
      result_.largest_tile[operand] = std::max(result_.largest_tile[operand], tile);
    }
    return (count + macs_per_cycle_ - 1) / macs_per_cycle_;
  }

  void record(const Units& units, const std::vector<std::int64_t>& position, const std::vector<std::int64_t>& previous) {
    WalkedStep walked;
    for (std::size_t i = 0; i < previous.size(); ++i) {
      if (position[i] > previous[i]) walked.moved = static_cast<int>(i);
      if (position[i] < previous[i]) walked.began_again |= 1u << i;
    }
    const int now = static_cast<int>(result_.steps.size()) + 1;
    for (std::size_t operand = 0; operand < kOperandCount; ++operand) {
      Memory& memory = memories_[operand];
      StepElements& elements = walked.elements[operand];
      for (std::size_t u = 0; u < units.size(); ++u) {
        if (!units[u]) continue;
        const int tile = ++memory.given[u];
        memory.space.visit(*units[u], [&](std::size_t element) {
          const bool fresh = memory.held[u][element] != tile - 1 || tile == 1;
          memory.held[u][element] = tile;
          ++elements.each_whole;
          elements.each_fresh += fresh ? 1 : 0;
          if (memory.wanted[element] != now) ++elements.once_whole;
          memory.wanted[element] = now;
          if (!fresh) return;
          if (memory.wanted_fresh[element] != now) ++elements.once_fresh;
          memory.wanted_fresh[element] = now;
        });
      }
    }
    for (const auto& unit : units) walked.busy_units += unit ? 1 : 0;
    result_.steps.push_back(walked);
  }

  const Nest& nest_;
  std::int64_t macs_per_cycle_;
  Space macs_;
  std::vector<Level> levels_;
  std::vector<int> done_;  // by multiplication: how often
  PerOperand<Memory> memories_;
  LoopWalk result_;
};

}  // namespace

LoopWalk walk_loops(const Nest& nest, const Mapping& mapping, std::int64_t pes, std::int64_t macs_per_cycle) {
  return Walk(nest, mapping, pes, macs_per_cycle).run();
}

}  // namespace tilewright
