// What a level does, following MAESTRO's reading of directives: Y' and X' become the input rows and columns they need,
// strides stretch tiles and steps, and each level works on the tile of the level above, loops it does not name included.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/mapping/mapping.hpp"

namespace tilewright {
namespace {

using Sizes = std::array<std::int64_t, kDimCount>;
constexpr std::size_t at(Dim dim) { return static_cast<std::size_t>(dim); }

// Rows (Y, Y', R) and columns (X, X', S).
Dim input_of(Dim dim) { return dim == Dim::OutY ? Dim::Y : dim == Dim::OutX ? Dim::X : dim; }
Dim output_of(Dim dim) { return dim == Dim::Y ? Dim::OutY : dim == Dim::X ? Dim::OutX : dim; }
Dim taps_of(Dim input) { return input == Dim::Y ? Dim::R : Dim::S; }

// Products of any sizes a file may hold; beyond 63 bits the largest number stands for all.
std::int64_t product(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return b > 0 && a > kMost / b ? kMost : a * b;
}

std::vector<Dim> loops_of(const Nest& nest) {
  std::vector<Dim> dims;
  const auto add = [&](std::initializer_list<Dim> more) { dims.insert(dims.end(), more); };
  switch (nest.kind) {
    case NestKind::MatrixMultiply:
      if (nest.batched) add({Dim::G});
      add({Dim::M, Dim::N, Dim::K});
      return dims;
    case NestKind::Grouped:
      add({Dim::G, Dim::K, Dim::C});
      break;
    case NestKind::Depthwise:
      add({Dim::C});
      break;
    default:
      add({Dim::K, Dim::C});
      break;
  }
  add({Dim::Y, Dim::X, Dim::R, Dim::S});
  if (nest.batched) dims.insert(dims.begin(), Dim::N);
  return dims;
}

// A directive with numbers: `extent` indices in tiles of `tile`, a new one every `step`, the last of `last`.
struct View {
  bool parallel = false;
  Dim dim = Dim::K;
  std::int64_t extent = 0, step = 1, tile = 1, count = 1, last = 1;
};

class Printer {
 public:
  Printer(const Mapping& mapping, const Nest& nest, std::int64_t pes) : mapping_(mapping), nest_(nest), pes_(pes) {
    for (const MappingLevel& level : mapping.levels)
      pes_per_cluster_ = product(pes_per_cluster_, std::max(1, level.cluster_size));
    for (std::size_t index = 0; index < kDimCount; ++index) sizes_[index] = std::max(0, nest.size[index]);
  }

  std::string text() {
    std::string text;
    for (level_ = 0; level_ < mapping_.levels.size(); ++level_) text += level_text();
    return text;
  }

 private:
  const MappingLevel& level() const { return mapping_.levels[level_]; }
  bool innermost() const { return level_ + 1 == mapping_.levels.size(); }
  std::string unit() const { return innermost() ? "processing element" : "cluster"; }
  std::int64_t units() const { return level_ > 0 ? level().cluster_size : pes_ / pes_per_cluster_; }

  std::int64_t stride(Dim input) const { return std::max(1, nest_.stride[at(input)]); }
  bool slides(Dim dim) const {
    return nest_.kind != NestKind::MatrixMultiply && (input_of(dim) == Dim::Y || input_of(dim) == Dim::X);
  }

  std::int64_t taps_in_level(Dim input) const {
    for (const Directive& directive : level().directives) {
      if (directive.dim == taps_of(input)) return std::min<std::int64_t>(directive.size, sizes_[at(taps_of(input))]);
    }
    return sizes_[at(taps_of(input))];
  }

  // Outputs in `inputs` rows or columns. Tiles leave out the inputs between filters shorter than their stride; a whole layer
  // has them.
  std::int64_t outputs_in(Dim input, std::int64_t inputs, bool whole_layer) const {
    const std::int64_t taps = taps_in_level(input);
    const std::int64_t step = taps < stride(input) && !whole_layer ? taps : stride(input);
    return inputs < taps ? 0 : (inputs - taps) / std::max<std::int64_t>(1, step) + 1;
  }

  // Size and offset of a directive in input indices, its dimension turned into Y or X.
  struct Window {
    Dim dim = Dim::K;
    std::int64_t size = 1, offset = 1;
  };
  Window in_inputs(const Directive& directive) const {
    const Dim input = input_of(directive.dim);
    if (!slides(directive.dim)) return {directive.dim, directive.size, directive.offset};
    std::int64_t size = directive.size;
    std::int64_t offset = directive.offset;
    if (directive.dim != input) size += taps_in_level(input) - 1;
    const std::int64_t filter = nest_[taps_of(input)];
    const std::int64_t step = stride(input);
    if (step > 1 && size >= filter) {
      const std::int64_t outputs = (size + step - filter) / step;
      size = outputs * std::min(step, filter) + std::max<std::int64_t>(filter - step, 0);
      offset = outputs * (level_ > 0 ? std::min(step, filter) : step);
    }
    return {input, size, offset};
  }

  View view_of(const Directive& directive) const {
    const Window window = in_inputs(directive);
    const std::int64_t extent = sizes_[at(window.dim)];
    View view;
    view.parallel = directive.kind == Directive::Kind::Spatial;
    view.dim = window.dim;
    view.extent = extent;
    view.step = window.offset;
    view.tile = std::min(window.size, extent);
    view.last = view.tile;
    if (view.tile < extent) {
      const std::int64_t steps = (extent - view.tile) / view.step;
      view.count = steps + 1;
      const std::int64_t rest = extent - (steps + 1) * view.step;
      const bool more = steps * view.step + view.tile < extent;
      if (more && (!slides(view.dim) || outputs_in(view.dim, rest, false) > 0)) {
        ++view.count;
        view.last = rest;
      }
    }
    return in_outputs(view);
  }

  // Rows and columns as outputs, where every tile holds whole filters.
  View in_outputs(View view) const {
    if (!slides(view.dim) || taps_in_level(view.dim) != nest_[taps_of(view.dim)]) return view;
    const Dim input = view.dim;
    const std::int64_t step = level_ > 0 ? std::min<std::int64_t>(stride(input), nest_[taps_of(input)]) : stride(input);
    view.dim = output_of(input);
    view.extent = outputs_in(input, view.extent, level_ == 0);
    view.step = std::max<std::int64_t>(1, view.step / step);
    view.tile = outputs_in(input, view.tile, false);
    view.last = outputs_in(input, view.last, false);
    return view;
  }

  std::string header() const {
    const std::string many = units() > 0 ? fmt::format("{} {}s", units(), unit()) : unit() + "s";
    return level_ == 0 ? fmt::format("level 0: array of {}, fed from L2\n", many)
                       : fmt::format("level {}: cluster of {}\n", level_, many);
  }

  std::string line_of(const View& view, std::size_t depth, bool beside) const {
    std::string line(2 * depth, ' ');
    line += fmt::format("{} {} in 0..{} step {}", view.parallel ? "parallel" : "for", lower(name_of(view.dim)), view.extent,
                        view.step);
    if (view.tile != view.step && view.count > 1) line += fmt::format(" size {}", view.tile);
    std::string note = view.count == 1 ? "1 tile" : fmt::format("{} tiles", view.count);
    if (view.last != view.tile) note += fmt::format(", the last of {}", view.last);
    if (view.parallel && beside) note += ", unit by unit with the loop above";
    if (view.parallel && !beside && units() > 0) {
      const std::int64_t rounds = (view.count + units() - 1) / units();
      note += rounds == 1 ? fmt::format(", {} of {} units at work", view.count, units())
                          : fmt::format(", {} rounds of {}", rounds, units());
      if (rounds > 1 && view.count % units() != 0) note += fmt::format(", the last of {}", view.count % units());
    }
    return fmt::format("{:<44}# {}\n", line, note);
  }

  // What one unit gets at a time; the whole of the next level.
  Sizes tile_sizes() const {
    Sizes tile = sizes_;
    std::array<bool, kDimCount> seen{};
    for (const Directive& directive : level().directives) {
      const Window window = in_inputs(directive);
      if (std::exchange(seen[at(window.dim)], true)) continue;
      tile[at(window.dim)] = std::min(window.size, sizes_[at(window.dim)]);
    }
    return tile;
  }

  std::string tile_line(const Sizes& tile) const {
    std::vector<std::string> parts;
    std::int64_t macs = 1;
    for (const Dim dim : loops_of(nest_)) {
      const std::int64_t size = tile[at(dim)];
      const std::int64_t work = slides(dim) ? outputs_in(dim, size, false) : size;
      macs = product(macs, work);
      const std::string inputs = fmt::format("{}{}", dim == Dim::Y ? "row" : "column", size == 1 ? "" : "s");
      parts.push_back(slides(dim) ? fmt::format("{} {} ({} {})", lower(name_of(output_of(dim))), work, size, inputs)
                                  : fmt::format("{} {}", lower(name_of(dim)), size));
    }
    return fmt::format("  each {}: {} = {} MAC{}\n", unit(), join(parts, ", "), with_thousands(macs), macs == 1 ? "" : "s");
  }

  std::string level_text() {
    std::string text = header();
    std::size_t depth = 1;
    bool parallel_seen = false;
    for (const Directive& directive : level().directives) {
      const View view = view_of(directive);
      if (view.count == 1 && !view.parallel) continue;
      text += line_of(view, depth++, parallel_seen);
      parallel_seen = parallel_seen || view.parallel;
    }
    const Sizes tile = tile_sizes();
    text += tile_line(tile);
    sizes_ = tile;
    return text;
  }

  const Mapping& mapping_;
  const Nest& nest_;
  std::int64_t pes_;
  std::int64_t pes_per_cluster_ = 1;
  std::size_t level_ = 0;
  Sizes sizes_{};  // of what the level works on
};

}  // namespace

std::string to_loop_nest(const Mapping& mapping, const Nest& nest, std::int64_t pes) {
  return Printer(mapping, nest, pes).text();
}

}  // namespace tilewright
