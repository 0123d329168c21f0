// A tensor as the judges use it: tables instead of lists.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>

#include "tilewright/hierarchy/loops.hpp"

namespace tilewright::hierarchy {

using Shift = std::array<std::int64_t, kMostRanks>;

struct TensorView {
  std::size_t rank_count = 0;
  std::array<Shift, kMostDims> move{};               // [dim][rank]: how far the tensor's box moves with one step along dim
  std::uint32_t relevant = 0;                        // bit d = dim d moves the tensor
  bool slides = false;                               // a rank depends on two dimensions
  InlineVector<Term, kMostDims * kMostRanks> terms;  // rank after rank, coefficients positive
  std::array<std::uint8_t, kMostRanks> term_end{};

  explicit TensorView(const Tensor& tensor, std::size_t dim_count) : rank_count(tensor.ranks.size()) {
    for (std::size_t rank = 0; rank < rank_count; ++rank) {
      for (const Term& term : tensor.ranks[rank]) move[term.dim][rank] += term.coefficient;
      int moving = 0;
      for (std::size_t dim = 0; dim < dim_count; ++dim) {
        if (move[dim][rank] == 0) continue;
        relevant |= std::uint32_t{1} << dim;
        ++moving;
      }
      // Sides follow the list as written: a dimension named twice widens the box twice.
      for (const Term& term : tensor.ranks[rank]) terms.push_back({term.dim, std::abs(term.coefficient)});
      term_end[rank] = static_cast<std::uint8_t>(terms.size());
      slides = slides || moving > 1 || tensor.ranks[rank].size() > 1;
    }
  }
  TensorView() = default;

  bool moves_with(std::uint8_t dim) const { return (relevant >> dim & 1) != 0; }

  // Sides of the tensor's box for a tile of `extents`; the value is their product.
  std::int64_t sides(const Extents& extents, Shift& into) const {
    std::int64_t words = 1;
    std::size_t at = 0;
    for (std::size_t rank = 0; rank < rank_count; ++rank) {
      std::int64_t side = 1;
      for (; at < term_end[rank]; ++at) side += terms[at].coefficient * (extents[terms[at].dim] - 1);
      into[rank] = side;
      words *= side;
    }
    return words;
  }
  std::int64_t words(const Extents& extents) const {
    Shift unused;
    return sides(extents, unused);
  }
};

}  // namespace tilewright::hierarchy
