#include "tilewright/hierarchy/cost.hpp"

#include <fmt/format.h>

namespace tilewright::hierarchy {

const std::string& level_name(const Machine& machine, std::uint8_t level) {
  return level == kMacLevel ? machine.mac.name : machine.levels[level].name;
}

std::string_view name_of(Infeasible::Reason reason) {
  switch (reason) {
    case Infeasible::Reason::Capacity:
      return "capacity";
    case Infeasible::Reason::Fanout:
      return "fanout";
    case Infeasible::Reason::Utilization:
      return "utilization";
  }
  return "?";
}

std::string to_sentence(const Infeasible& infeasible, const Machine& machine) {
  const std::string& level = level_name(machine, infeasible.level);
  switch (infeasible.reason) {
    case Infeasible::Reason::Capacity:
      return fmt::format("level '{}' holds {} words, expected at most {}", level, infeasible.need, infeasible.limit);
    case Infeasible::Reason::Fanout:
      return fmt::format("level '{}' is spread over {} copies along one or both axes, expected at most {}", level,
                         infeasible.need, infeasible.limit);
    case Infeasible::Reason::Utilization:
      return fmt::format("level '{}' holds {} words, expected at least {}", level, infeasible.limit, infeasible.need);
  }
  return "?";
}

}  // namespace tilewright::hierarchy
