#include "cost/cases.hpp"

#include <algorithm>

#include "tilewright/base/rng.hpp"
#include "tilewright/workload/network.hpp"

namespace tilewright::bench {
namespace {

Mapping draw(Rng& rng, const Nest& nest, std::int64_t levels, std::int64_t pes) {
  std::vector<Dim> dims, spreadable;
  std::array<std::int64_t, kDimCount> left{};
  for (const Dim dim : {Dim::K, Dim::C, Dim::OutY, Dim::OutX, Dim::R, Dim::S}) {
    if (!nest.has(dim)) continue;
    dims.push_back(dim);
    if (dim != Dim::R && dim != Dim::S) spreadable.push_back(dim);
    left[static_cast<std::size_t>(dim)] = nest[dim];
  }
  Mapping mapping;
  for (std::int64_t number = 0; number < levels; ++number) {
    MappingLevel level;
    if (number > 0) {
      level.cluster_size = static_cast<std::int32_t>(rng.between(1, pes));
      pes /= level.cluster_size;
    }
    std::ranges::shuffle(dims, rng);
    const Dim spatial = spreadable[static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(spreadable.size())))];
    for (const Dim dim : dims) {
      std::int64_t& bound = left[static_cast<std::size_t>(dim)];
      if (dim != Dim::R && dim != Dim::S) bound = rng.between(1, bound);
      const auto size = static_cast<std::int32_t>(bound);
      level.directives.push_back({dim == spatial ? Directive::Kind::Spatial : Directive::Kind::Temporal, dim, size, size});
    }
    mapping.levels.push_back(level);
  }
  return mapping;
}

}  // namespace

Accelerator gamma_machine() {
  Accelerator accelerator;
  accelerator.name = "gamma example";
  accelerator.pes = 168;
  accelerator.noc.bandwidth = 81920000;
  return accelerator;
}

std::vector<LayerCases> gamma_cases(std::int64_t levels, std::size_t mappings_per_layer) {
  std::vector<LayerCases> all;
  for (const char* source : {"zoo:resnet18", "zoo:vgg16", "zoo:mobilenet_v2"}) {
    const Network network = read_network(source).value();
    for (const LayerGroup& group : distinct_layers(network)) {
      const Layer& layer = network.layers[group.first].layer;
      LayerCases cases{network.name + "/" + layer.name, nest_of(layer).value(), {}};
      if (cases.nest.stride[static_cast<std::size_t>(Dim::X)] > 1 || cases.nest[Dim::OutX] < 2)
        continue;  // GAMMA has no strides
      Rng rng = Rng(1, cases.name).fork("levels", static_cast<std::uint64_t>(levels));
      for (std::size_t i = 0; i < mappings_per_layer; ++i)
        cases.mappings.push_back(draw(rng, cases.nest, levels, gamma_machine().pes));
      all.push_back(std::move(cases));
    }
  }
  return all;
}

}  // namespace tilewright::bench
