// The loops of one dimension in time: where they stand at the end of so many steps.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tilewright/hierarchy/loops.hpp"

namespace tilewright::hierarchy {

using AxisLoops = InlineVector<Loop, kMostLevels>;  // the innermost first

// Position in time of the `number`-th combination of the loops from `from` outwards.
inline std::int64_t position_of(const AxisLoops& loops, std::size_t from, std::int64_t number) {
  std::int64_t position = 0;
  for (std::size_t at = from; at < loops.size(); ++at) {
    position += number % loops[at].trips * loops[at].step;
    number /= loops[at].trips;
  }
  return position;
}

// The number of the last combination of the loops [from, end) whose position is at most `most`.
inline std::int64_t last_number(const AxisLoops& loops, std::size_t from, std::size_t end, std::int64_t most) {
  std::int64_t number = 0;
  for (std::size_t at = end; at-- > from;) {
    const std::int64_t trip = std::min(loops[at].trips - 1, most / loops[at].step);
    number = number * loops[at].trips + trip;
    most -= trip * loops[at].step;
  }
  return number;
}

// The last position of the loops [0, end) that is at most `most`.
inline std::int64_t last_position(const AxisLoops& loops, std::size_t end, std::int64_t most) {
  std::int64_t position = 0;
  for (std::size_t at = end; at-- > 0;) {
    const std::int64_t trip = std::min(loops[at].trips - 1, (most - position) / loops[at].step);
    position += trip * loops[at].step;
  }
  return position;
}

}  // namespace tilewright::hierarchy
