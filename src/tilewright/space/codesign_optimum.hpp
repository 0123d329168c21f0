// The fastest point of a co-design space, proven: points are measured in the order of what they take at least, until that is
// more than the best takes.
#pragma once

#include <cstdint>
#include <optional>

#include "tilewright/space/codesign_space.hpp"

namespace tilewright {

struct CodesignOptimum {
  Point point;  // the first of equal ones in that order
  Outcome outcome;
  std::int64_t points = 0;    // of the space
  std::int64_t measured = 0;  // of those
};
// Nothing when no point is feasible.
std::optional<CodesignOptimum> codesign_optimum(const CodesignSpace& space);

// Calls visit(point) for every legal point, the last parameter changing fastest.
template <typename Visit>
void for_each_point(const DesignSpace& space, Visit visit) {
  const std::size_t count = space.parameters().size();
  Point point(count);
  const auto descend = [&](const auto& self, std::size_t parameter) -> void {
    if (parameter == count) return visit(static_cast<const Point&>(point));
    Choices choices;
    space.choices(point, parameter, choices);
    for (std::int32_t i = 0; i < choices.count(); ++i) {
      point[parameter] = choices[i];
      self(self, parameter + 1);
    }
  };
  descend(descend, 0);
}

}  // namespace tilewright
