// Loops over plain arrays: the optimiser's, random numbers and elementary functions. As in kernels.hpp, the best version for
// the processor is chosen when the program runs, and all of them give the same numbers wherever the processor has fused
// multiply-adds.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tilewright::kernels {

struct AdamFactors {
  float beta1, rest1;  // β1, 1-β1
  float beta2, rest2;
  float epsilon;
  float scale;  // of the gradient
  float rate;
};
void adam(float* values, float* first, float* second, const float* gradient, std::size_t size, const AdamFactors& factors);

// Σ values², as 32 interleaved sums in double.
double squared_norm(const float* values, std::size_t size);

// target += tau·(online - target)
void approach(float* target, const float* online, float tau, std::size_t size);

// Entries first, first + 1, … of a stream of uniform numbers (k + 1/2)/2^23. Sixteen Philox blocks make 64 entries: entry
// 64·g + 16·w + j is word w of the block with counter (16·g + j, domain).
void uniform(float* values, std::size_t size, std::uint64_t key, std::uint32_t domain, std::uint64_t first);

// In place; sizes need not be multiples of anything.
void gumbel(float* uniform, std::size_t size);    // -ln(-ln u)
void normal(float* uniform, std::size_t size);    // the inverse of the normal distribution function
void logarithm(float* values, std::size_t size);  // of positive normal numbers

// Narrow rows, a whole row at a time; `from` must be readable eight numbers beyond its end.
void copy_rows(const float* from, std::size_t from_stride, float* to, std::size_t to_stride, std::size_t rows,
               std::size_t columns);

}  // namespace tilewright::kernels
