#include "tilewright/hierarchy/tile_needs.hpp"

#include <algorithm>

namespace tilewright::hierarchy {
namespace {

double bits_of(TensorKind kind, const ElementBits& bits, std::int64_t word, TileNeeds::Outputs outputs) {
  const auto or_word = [&](std::int64_t given) { return static_cast<double>(given == 0 ? word : given); };
  switch (kind) {
    case TensorKind::Weight:
      return or_word(bits.weights);
    case TensorKind::Input:
      return or_word(bits.inputs);
    case TensorKind::Output:
      break;
  }
  const auto [narrow, wide] = std::minmax({or_word(bits.outputs), or_word(bits.partial_sums)});
  return outputs == TileNeeds::Outputs::Narrowest ? narrow : wide;
}

}  // namespace

TileNeeds::TileNeeds(const Problem& problem, const Machine& machine, Judge judge) : tensor_count_(problem.tensors.size()) {
  if (judge == Judge::Hierarchy) {
    counter_.emplace(problem);
  } else {
    for (const Tensor& tensor : problem.tensors) views_.emplace_back(tensor, problem.dims.size());
  }
  for (const StorageLevel& level : machine.levels) {
    Room& room = rooms_.emplace_back();
    if (const auto usable = level.usable()) room.bits = static_cast<double>(*usable) * static_cast<double>(level.word_bits);
    for (const Outputs outputs : {Outputs::Narrowest, Outputs::Widest}) {
      for (std::size_t tensor = 0; tensor < tensor_count_; ++tensor) {
        room.element_bits[static_cast<std::size_t>(outputs)][tensor] =
            judge == Judge::Hierarchy ? bits_of(problem.tensors[tensor].kind, machine.bits, level.word_bits, outputs)
                                      : static_cast<double>(level.word_bits);
      }
    }
  }
}

bool TileNeeds::fits(std::size_t level, TensorMask keeps, const PerTensor<std::int64_t>& words, Outputs outputs) const {
  const Room& room = rooms_[level];
  if (!room.bits) return true;
  double need = 0;
  for (std::size_t tensor = 0; tensor < tensor_count_; ++tensor) {
    if ((keeps >> tensor & 1) == 0) continue;
    need += static_cast<double>(words[tensor]) * room.element_bits[static_cast<std::size_t>(outputs)][tensor];
  }
  return need <= *room.bits;
}

}  // namespace tilewright::hierarchy
