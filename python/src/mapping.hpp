// A mapping of a machine with memory levels, with what gives it its words.
#pragma once

#include <string>

#include "tilewright/hierarchy/mapping.hpp"

namespace tilewright::python {

struct LeveledMapping {
  hierarchy::Mapping mapping;
  hierarchy::Problem problem;
  hierarchy::Machine machine;
};

// InvalidInput when it was made for another layer or machine.
void check_same(const LeveledMapping& mapping, const hierarchy::Problem& problem, const hierarchy::Machine& machine,
                const std::string& where);

}  // namespace tilewright::python
