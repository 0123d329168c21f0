#include "tilewright/space/design_space.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tilewright {

std::string_view name_of(Role role) {
  switch (role) {
    case Role::Parallelism:
      return "parallelism";
    case Role::Order:
      return "order";
    case Role::Tile:
      return "tile";
    case Role::Hardware:
      return "hardware";
    case Role::Scheduling:
      return "scheduling";
  }
  return "";
}

bool is_legal(const DesignSpace& space, PointView point) {
  if (point.size() != space.parameters().size()) return false;
  thread_local Choices choices;
  for (std::size_t parameter = 0; parameter < point.size(); ++parameter) {
    space.choices(point, parameter, choices);
    if (!choices.contains(point[parameter])) return false;
  }
  return true;
}

void repair(const DesignSpace& space, std::span<std::int32_t> point) {
  thread_local Choices choices;
  for (std::size_t parameter = 0; parameter < point.size(); ++parameter) {
    space.choices(point, parameter, choices);
    point[parameter] = choices.nearest(point[parameter]);
  }
  space.canonicalise(point);
}

Point random_point(const DesignSpace& space, Rng& rng) {
  thread_local Choices choices;
  Point point(space.parameters().size());
  for (std::size_t parameter = 0; parameter < point.size(); ++parameter) {
    space.choices(point, parameter, choices);
    const std::int32_t count = choices.count();
    point[parameter] = choices[count == 1 ? 0 : static_cast<std::int32_t>(rng.below(count))];
  }
  space.canonicalise(point);
  return point;
}

std::uint64_t hash_of(PointView point) { return XXH3_64bits(point.data(), point.size_bytes()); }

}  // namespace tilewright
