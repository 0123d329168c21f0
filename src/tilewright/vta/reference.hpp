// What a layer or task computes, straight from its definition: no blocks, no tiles, 32-bit sums that wrap around. The proof
// of a program is that it gives the same numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tilewright/vta/generator.hpp"
#include "tilewright/vta/layouts.hpp"

namespace tilewright::vta {

// Sums of products, in the order of the plain output.
std::vector<std::int32_t> reference_sums(const Layer& layer, std::span<const std::int8_t> input,
                                         std::span<const std::int8_t> weight);

// One number through Finishing, its bias and residual already added.
std::int8_t finished(std::int32_t sum, const Finishing& finishing);

std::vector<std::int8_t> reference(const Layer& layer, const Finishing& finishing, const PlainData& data);
std::vector<std::int8_t> reference(const ElementwiseTask& task, const Finishing& finishing, const PlainData& data);
std::vector<std::int8_t> reference(const PoolTask& task, const Finishing& finishing, const PlainData& data);

}  // namespace tilewright::vta
