// A mapping as people read it, the outermost loop first, and as a file.
//
//   DRAM [A B Z]: M4
//     L2 [A Z]: M2 N8 K8, spread N4 along Y, M4 along X
//       L1 [A B Z]: N2 M2 K4
#pragma once

#include <string>

#include "tilewright/hierarchy/mapping.hpp"

namespace tilewright::hierarchy {

std::string to_text(const Mapping& mapping, const Problem& problem, const Machine& machine);

//   format: tilewright-mapping-2
//   levels:                       # the outermost first
//   - {level: DRAM, keep: [A, B, Z], time: [M4]}
//   - {level: L2, keep: [A, Z], time: [M2, N8, K8], y: [N4], x: [M4]}
//   - {level: L1, keep: [A, B, Z], time: [N2, M2, K4]}
std::string to_yaml(const Mapping& mapping, const Problem& problem, const Machine& machine);
Result<Mapping> mapping_from_yaml(const std::string& text, const std::string& where, const Problem& problem,
                                  const Machine& machine);

// The same mapping with loops of one trip where the problem has them: what a file says of it.
Mapping canonical(const Mapping& mapping, const Problem& problem);

}  // namespace tilewright::hierarchy
