#include "tilewright/vta/folding.hpp"

#include <algorithm>

#include "tilewright/base/result.hpp"

namespace tilewright::vta {
namespace {

constexpr std::int64_t kSixteenBits = 65535;
constexpr std::int64_t kFourteenBits = 16383;
constexpr std::int64_t kHazardDistance = 3;

bool accumulates(const StepLoop& loop) { return loop.dst == 0 && loop.count > 1; }

// Loops of one turn vanish; a loop that continues where its inner one ends becomes one with it.
int simplify(std::span<const StepLoop> loops, std::array<StepLoop, 7>& simple) {
  int count = 0;
  for (const StepLoop& loop : loops) {
    if (loop.count == 1) continue;
    if (count > 0) {
      StepLoop& outer = simple[static_cast<std::size_t>(count - 1)];
      const bool continues =
          outer.dst == loop.count * loop.dst && outer.src == loop.count * loop.src && outer.wgt == loop.count * loop.wgt;
      if (continues && outer.count * loop.count <= kFourteenBits) {
        outer = {outer.count * loop.count, loop.dst, loop.src, loop.wgt};
        continue;
      }
    }
    simple[static_cast<std::size_t>(count++)] = loop;
  }
  return count;
}

// Steps between two on the same accumulator, or a large number when none meet.
std::int64_t hazard_distance(const StepLoop& outer, const StepLoop& inner, std::int64_t places, bool accumulating_uops) {
  if (accumulating_uops || accumulates(inner)) return places;
  if (accumulates(outer)) return places * inner.count;
  return kFourteenBits;
}

}  // namespace

StepNest nest_steps(std::span<const StepLoop> loops) {
  std::array<StepLoop, 7> simple{};
  const int count = simplify(loops, simple);
  std::int64_t all = 1, places = 1;
  int accumulating = 0;
  for (int i = 0; i < count; ++i) {
    const StepLoop& loop = simple[static_cast<std::size_t>(i)];
    all *= loop.count;
    if (accumulates(loop)) {
      ++accumulating;
    } else {
      places *= loop.count;
    }
  }

  // -1 stands for no loop at all: with fewer than two loops, or none that is far enough from the next.
  int best_outer = -1, best_inner = -1;
  std::int64_t best_uops = all + 1;
  const int least = count < 2 ? -1 : 0;
  for (int o = least; o < count; ++o) {
    for (int i = least; i < count; ++i) {
      if (o == i && o >= 0) continue;
      const StepLoop outer = o < 0 ? StepLoop{} : simple[static_cast<std::size_t>(o)];
      const StepLoop inner = i < 0 ? StepLoop{} : simple[static_cast<std::size_t>(i)];
      if (outer.count > kFourteenBits || inner.count > kFourteenBits) continue;
      const std::int64_t uops = all / (outer.count * inner.count);
      if (uops >= best_uops) continue;
      const int inside = (accumulates(outer) ? 1 : 0) + (accumulates(inner) ? 1 : 0);
      const std::int64_t rest = places / ((accumulates(outer) ? 1 : outer.count) * (accumulates(inner) ? 1 : inner.count));
      if (hazard_distance(outer, inner, rest, accumulating > inside) < kHazardDistance) continue;
      best_outer = o;
      best_inner = i;
      best_uops = uops;
    }
  }

  StepNest nest;
  const bool found = best_uops <= all;
  if (found && best_outer >= 0) nest.outer = simple[static_cast<std::size_t>(best_outer)];
  if (found && best_inner >= 0) nest.inner = simple[static_cast<std::size_t>(best_inner)];
  nest.uop_count = found ? best_uops : all;
  nest.piece = found ? nest.uop_count : places;
  for (const bool accumulating_loops : {false, true}) {
    for (int i = count - 1; i >= 0; --i) {
      const StepLoop& loop = simple[static_cast<std::size_t>(i)];
      if ((found && (i == best_outer || i == best_inner)) || accumulates(loop) != accumulating_loops) continue;
      nest.written[static_cast<std::size_t>(nest.written_count++)] = loop;
      if (!accumulating_loops) nest.places *= loop.count;
    }
  }
  return nest;
}

FoldedRectangle fold(const Rectangle& r) {
  const bool x_pads = r.pad_left + r.pad_right > 0, y_pads = r.pad_top + r.pad_bottom > 0;
  std::array<Rectangle::Axis, 4> levels{};  // folded, innermost first
  levels[0] = r.axes[3];
  std::size_t count = 1;
  bool open = !x_pads;  // whether the next axis may become one with the last level
  for (int i = 2; i >= 0; --i) {
    const Rectangle::Axis& axis = r.axes[static_cast<std::size_t>(i)];
    const bool padded = i == 2 && y_pads;
    if (axis.count == 1 && !padded) continue;
    Rectangle::Axis& last = levels[count - 1];
    if (open && !padded && axis.stride == last.count * last.stride && last.count * axis.count <= kSixteenBits) {
      last.count *= axis.count;
      continue;
    }
    levels[count++] = axis;
    open = !padded;
  }
  // A row too far from the next cannot be a row of the same instruction.
  if (count > 1 && !y_pads && levels[1].stride > kSixteenBits) {
    TW_ASSERT(count < 4);
    for (std::size_t i = count; i > 1; --i) levels[i] = levels[i - 1];
    levels[1] = {1, 0};
    ++count;
  }

  FoldedRectangle folded;
  folded.levels = levels;
  folded.rows = count > 1 ? levels[1].count : 1;
  folded.stride = folded.rows > 1 ? levels[1].stride : levels[0].count;
  folded.pads = {static_cast<std::uint8_t>(r.pad_top), static_cast<std::uint8_t>(r.pad_bottom),
                 static_cast<std::uint8_t>(r.pad_left), static_cast<std::uint8_t>(r.pad_right)};
  folded.size = (r.pad_top + folded.rows + r.pad_bottom) * (r.pad_left + levels[0].count + r.pad_right);
  return folded;
}

}  // namespace tilewright::vta
