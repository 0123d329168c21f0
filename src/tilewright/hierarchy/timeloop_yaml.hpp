// Timeloop's files, version 0.3: problem, mapping and constraints. The architecture is in machine_yaml.hpp. Keys may be
// written with hyphens. What the dense model needs and we do not have is refused by name and line.
#pragma once

#include <optional>
#include <string>

#include "tilewright/hierarchy/mapping.hpp"
#include "tilewright/hierarchy/restriction.hpp"

namespace tilewright::hierarchy {

// `problem: {shape: {dimensions: […], data_spaces: […]}, instance: {…}}`; `shape: cnn_layer` and none at all are the
// convolution with seven loops.
Result<Problem> problem_from_timeloop(const std::string& text, const std::string& where);

// `mapping: [{target: L2, type: temporal, factors: M=2 N=8 K=8, permutation: KNM}, …]`. What is not said is kept and not
// cut.
Result<Mapping> mapping_from_timeloop(const std::string& text, const std::string& where, const Problem& problem,
                                      const Machine& machine);
std::string to_timeloop_yaml(const Mapping& mapping, const Problem& problem, const Machine& machine);

// `mapspace_constraints:` or `architecture_constraints:`, both in one file, too.
Result<Restriction> restriction_from_timeloop(const std::string& text, const std::string& where, const Problem& problem,
                                              const Machine& machine);

}  // namespace tilewright::hierarchy
