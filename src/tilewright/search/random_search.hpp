// Uniform random search: each parameter in turn uniformly among its legal values, no point twice.
//
// The yardstick of every comparison: it knows nothing, repeats nothing, and is hard to beat in a space without illegal
// points.
#pragma once

#include "tilewright/search/searcher.hpp"
#include "tilewright/search/settings.hpp"

namespace tilewright {

struct RandomOptions {
  std::int64_t batch = 256;  // points per ask
  std::int64_t tries = 100;  // draws for a point that is new before a repeated one is taken
};
std::vector<Setting> settings_of(RandomOptions& options);

Result<std::unique_ptr<PointSearcher>> make_random(const DesignSpace& space, const RandomOptions& options,
                                                   std::int64_t samples, std::uint64_t seed);

}  // namespace tilewright
