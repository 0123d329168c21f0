// What one core can do at best: fused multiply-adds on registers alone.
#pragma once

#include <cstddef>
#include <string>

namespace tilewright::bench {

// Runs `rounds` rounds of independent multiply-adds; returns how many floating-point operations that were.
double multiply_add_rounds(std::size_t rounds);

// The vector instructions in use: the best of this processor, or others of its own that were asked for by name.
std::string vector_target();
bool use_vector_target(const std::string& name);  // false: it has none of that name

}  // namespace tilewright::bench
