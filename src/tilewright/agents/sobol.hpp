// Quasi-random exploration: points that fill a design space more evenly than chance.
//
// A Sobol sequence (Sobol 1967): dimension d has a primitive polynomial over GF(2), the d-th by degree and value, and odd
// initial direction numbers m_k < 2^k from which its recurrence makes the others. Every aligned run of 2^k members then has
// exactly one in each interval of length 2^-k, in every dimension. The initial numbers are chosen as Joe and Kuo (2008)
// advise, for even pairs of dimensions: of some candidates the one whose pairs with the dimensions before it have the lowest
// sum of 2^t, where t is the quality of the net that their first 2^m members make. A seed moves the whole sequence by an
// exclusive or (a digital shift), which keeps all of this.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "tilewright/search/searcher.hpp"

namespace tilewright {

inline constexpr std::size_t kSobolDimensions = 64;

class SobolSequence {
 public:
  explicit SobolSequence(std::uint64_t seed);

  // Member `index` in one dimension, as 32 binary digits after the point.
  std::uint32_t at(std::uint32_t index, std::size_t dimension) const;

 private:
  std::array<std::uint32_t, kSobolDimensions> shifts_{};
};

// Each parameter in order takes the legal value at its coordinate: u in [0, 1) is the floor(u · n)-th of n. Parameters
// beyond the sequence's dimensions take theirs at random.
std::unique_ptr<PointSearcher> make_sobol(const DesignSpace& space, std::uint64_t seed);

}  // namespace tilewright
