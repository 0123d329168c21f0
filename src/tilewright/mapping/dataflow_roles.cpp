#include "tilewright/mapping/dataflow_roles.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace tilewright {

Result<RoleLoops> roles_of(const Nest& nest) {
  RoleLoops loops;
  loops.kind = nest.kind;
  std::optional<Dim> missing;
  const auto set = [&](LoopRole role, Dim dim, std::int64_t extent, std::int64_t stride) {
    loops.loop[index(role)] = {dim, extent, stride};
    if (extent < 1) missing = dim;
  };
  const auto whole = [&](LoopRole role, Dim dim) { set(role, dim, nest[dim], 1); };
  const auto outputs = [&](LoopRole role, Dim input, Dim output) {
    set(role, output, outputs_along(nest, input), std::max(1, nest.stride[static_cast<std::size_t>(input)]));
  };
  if (nest.kind == NestKind::MatrixMultiply) {
    if (nest.batched) whole(LoopRole::Group, Dim::G);
    whole(LoopRole::Out, Dim::N);
    whole(LoopRole::In, Dim::K);
    whole(LoopRole::Row, Dim::M);
  } else {
    if (nest.batched) whole(LoopRole::Batch, Dim::N);
    if (nest.kind == NestKind::Grouped) whole(LoopRole::Group, Dim::G);
    if (nest.kind != NestKind::Depthwise) whole(LoopRole::Out, Dim::K);
    whole(LoopRole::In, Dim::C);
    outputs(LoopRole::Row, Dim::Y, Dim::OutY);
    outputs(LoopRole::Column, Dim::X, Dim::OutX);
    whole(LoopRole::FilterRow, Dim::R);
    whole(LoopRole::FilterColumn, Dim::S);
  }
  if (missing)
    return invalid(fmt::format("the layer has nothing to compute along {}, expected at least 1", name_of(*missing)));
  return loops;
}

TensorRoles tensors_with(LoopRole role, NestKind kind) {
  switch (role) {
    case LoopRole::Batch:
    case LoopRole::Row:
    case LoopRole::Column:
      return {.input = true, .weight = false, .output = true};
    case LoopRole::Group:
      return {.input = true, .weight = true, .output = true};
    case LoopRole::Out:
      return {.input = false, .weight = true, .output = true};
    case LoopRole::In:
      // A depthwise channel is of all three; MAESTRO also counts the outputs of grouped convolutions per input channel.
      return {.input = true, .weight = true, .output = kind == NestKind::Depthwise || kind == NestKind::Grouped};
    default:
      return {.input = false, .weight = true, .output = false};
  }
}

TileVolumes volumes_of(const RoleLoops& loops, const PerRole<std::int64_t>& tile) {
  TileVolumes volumes;
  for (const LoopRole role : kRoles) {
    if (loops[role].extent == 0) continue;
    const std::int64_t size = tile[index(role)];
    std::int64_t inputs = size;
    if (loops.slides(role))
      inputs = (size - 1) * loops[role].stride +
               loops[role == LoopRole::Row ? LoopRole::FilterRow : LoopRole::FilterColumn].extent;
    const auto multiply = [](double& product, std::int64_t factor) { product *= static_cast<double>(factor); };
    const TensorRoles tensors = tensors_with(role, loops.kind);
    if (tensors.input) multiply(volumes.input, inputs);
    if (tensors.weight) multiply(volumes.weight, size);
    if (tensors.output) multiply(volumes.output, size);
    if (tensors.output) multiply(volumes.output_at_input_size, inputs);
    multiply(volumes.macs, size);
  }
  return volumes;
}

}  // namespace tilewright
