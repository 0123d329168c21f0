// What a stored outcome is filed under.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tilewright/cost/evaluator.hpp"
#include "tilewright/hardware/accelerator.hpp"
#include "tilewright/mapping/mapping.hpp"

namespace tilewright {

// Goes up when the numbers of a model change, so that old stores do not answer for the new one.
inline constexpr int kModelVersion = 3;

// Bytes that are equal for equal mappings on equally many processing elements, and for no others.
void append_mapping(const Mapping& mapping, std::int64_t pes, std::string& bytes);
// Back from those bytes; nothing when they are none of append_mapping's.
struct MappingDesign {
  Mapping mapping;
  std::int64_t pes = 0;
};
std::optional<MappingDesign> mapping_design(std::string_view bytes);

// Changes with every number of the nest and the machine that a cost depends on, with the model, its version, and the rules.
std::uint64_t mapping_problem_key(const Nest& nest, const Accelerator& accelerator, const EvaluateOptions& options,
                                  bool gamma_rules);

}  // namespace tilewright
