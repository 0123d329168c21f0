// Every point of a space once, in the order of its parameters and their values: the true optimum of small spaces.
//
// The tree of legal values is walked depth first and nothing of it is kept but the path, so memory does not grow. Of points
// that mean the same, only the canonical one is proposed.
#pragma once

#include "tilewright/search/searcher.hpp"
#include "tilewright/search/settings.hpp"

namespace tilewright {

struct ExhaustiveOptions {
  std::int64_t batch = 4096;  // points per ask
  double largest = 9;         // spaces of more than ten to the power of this are refused
};
std::vector<Setting> settings_of(ExhaustiveOptions& options);

// An Error when the space is larger than the options allow.
Result<std::unique_ptr<PointSearcher>> make_exhaustive(const DesignSpace& space, const ExhaustiveOptions& options,
                                                       std::int64_t samples, std::uint64_t seed);

}  // namespace tilewright
