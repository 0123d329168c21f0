#include "tilewright/mapping/dataflows.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "tilewright/base/rng.hpp"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

std::int32_t& stride_of(Nest& nest, Dim dim) { return nest.stride[static_cast<std::size_t>(dim)]; }
std::int64_t stride_of(const Nest& nest, Dim dim) { return std::max(1, nest.stride[static_cast<std::size_t>(dim)]); }

// Rows and columns of output, kernel and stride of one axis.
struct Axis {
  std::int32_t outputs, kernel, stride;
};

Nest convolution_nest(NestKind kind, std::int32_t batch, std::int32_t groups, std::int32_t k, std::int32_t c, Axis rows,
                      Axis columns) {
  Nest nest;
  nest.kind = kind;
  nest.batched = batch > 1;
  if (nest.batched) nest[Dim::N] = batch;
  if (kind == NestKind::Grouped) nest[Dim::G] = groups;
  if (kind != NestKind::Depthwise) nest[Dim::K] = k;
  nest[Dim::C] = c;
  nest[Dim::R] = rows.kernel;
  nest[Dim::S] = columns.kernel;
  nest[Dim::Y] = (rows.outputs - 1) * rows.stride + rows.kernel;
  nest[Dim::X] = (columns.outputs - 1) * columns.stride + columns.kernel;
  nest[Dim::OutY] = nest[Dim::Y] - rows.kernel + 1;
  nest[Dim::OutX] = nest[Dim::X] - columns.kernel + 1;
  stride_of(nest, Dim::Y) = rows.stride;
  stride_of(nest, Dim::X) = columns.stride;
  return nest;
}

Nest matrix_nest(std::int32_t products, std::int32_t rows, std::int32_t columns, std::int32_t inner) {
  Nest nest;
  nest.kind = NestKind::MatrixMultiply;
  nest.batched = products > 1;
  if (nest.batched) nest[Dim::G] = products;
  nest[Dim::M] = rows;
  nest[Dim::N] = columns;
  nest[Dim::K] = inner;
  return nest;
}

Nest random_nest(Rng& rng, std::int32_t most) {
  const auto size = [&] { return static_cast<std::int32_t>(rng.between(1, most)); };
  const auto axis = [&] {
    const auto kernel = static_cast<std::int32_t>(2 * rng.below(3) + 1);
    return Axis{size(), kernel, static_cast<std::int32_t>(rng.between(1, std::min(kernel, 2)))};
  };
  const auto batch = static_cast<std::int32_t>(rng.below(3) == 0 ? rng.between(2, 4) : 1);
  switch (rng.below(4)) {
    case 0:
      return convolution_nest(NestKind::Convolution, batch, 1, size(), size(), axis(), axis());
    case 1:
      return convolution_nest(NestKind::Depthwise, batch, 1, 1, size(), axis(), axis());
    case 2:
      return convolution_nest(NestKind::Grouped, batch, 3, size(), size(), axis(), axis());
    default:
      return matrix_nest(batch, size(), size(), size());
  }
}

Accelerator random_machine(Rng& rng) {
  Accelerator machine;
  machine.pes = rng.between(1, 300);
  const auto maybe = [&](std::int64_t least, std::int64_t most) {
    return rng.below(2) == 0 ? kUnlimited : rng.between(least, most);
  };
  machine.l1 = {maybe(30, 1000)};
  machine.l2 = {maybe(1000, 100000)};
  machine.noc.bandwidth = maybe(1, 200);
  machine.offchip_bandwidth = maybe(1, 200);
  if (rng.below(4) == 0) machine.simd_lanes = rng.between(2, 8);
  if (machine.pes % 4 == 0 && rng.below(2) == 0) machine.clusters = {4};
  return machine;
}

// Indices of each loop of the nest: outputs for Y' and X'.
std::map<Dim, std::int64_t> extents_of(const Nest& nest) {
  std::map<Dim, std::int64_t> extents;
  if (nest.kind == NestKind::MatrixMultiply) {
    extents = {{Dim::M, nest[Dim::M]}, {Dim::N, nest[Dim::N]}, {Dim::K, nest[Dim::K]}};
    if (nest.batched) extents[Dim::G] = nest[Dim::G];
    return extents;
  }
  for (const Dim dim : {Dim::G, Dim::K, Dim::C, Dim::R, Dim::S}) {
    if (nest.has(dim)) extents[dim] = nest[dim];
  }
  if (nest.batched) extents[Dim::N] = nest[Dim::N];
  extents[Dim::OutY] = outputs_along(nest, Dim::Y);
  extents[Dim::OutX] = outputs_along(nest, Dim::X);
  return extents;
}

// Bytes of L1 as the cost model counts them: inputs, weights, and outputs at their input size, twice.
std::int64_t l1_need(const Mapping& mapping, const Nest& nest) {
  std::map<Dim, std::int64_t> tile;
  for (const Directive& directive : mapping.levels.back().directives) tile[directive.dim] = directive.size;
  const auto at = [&](Dim dim) { return tile.contains(dim) ? tile[dim] : 1; };
  if (nest.kind == NestKind::MatrixMultiply) {
    return 2 * at(Dim::G) * (at(Dim::M) * at(Dim::K) + at(Dim::K) * at(Dim::N) + at(Dim::M) * at(Dim::N));
  }
  const std::int64_t rows = at(Dim::OutY) + at(Dim::R) - 1;
  const std::int64_t columns = at(Dim::OutX) + at(Dim::S) - 1;
  const bool outputs_per_input = nest.kind == NestKind::Grouped;
  const std::int64_t input = at(Dim::N) * at(Dim::G) * at(Dim::C) * rows * columns;
  const std::int64_t weight = at(Dim::G) * at(Dim::K) * at(Dim::C) * at(Dim::R) * at(Dim::S);
  const std::int64_t channels =
      nest.kind == NestKind::Depthwise ? at(Dim::C) : at(Dim::K) * (outputs_per_input ? at(Dim::C) : 1);
  return 2 * (input + weight + at(Dim::N) * at(Dim::G) * channels * rows * columns);
}

// Kernel rows spread beside the input rows they meet: the form of row_stationary.hpp, whose counts tests/cost checks.
bool spreads_kernel_rows(const Mapping& mapping) {
  return std::ranges::any_of(mapping.levels.back().directives, [](const Directive& directive) {
    return directive.kind == Directive::Kind::Spatial && directive.dim == Dim::R;
  });
}

class EveryDataflow : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Dataflows, EveryDataflow, ::testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const Dataflow& dataflow : dataflows()) names.emplace_back(dataflow.name);
                           return names;
                         }()),
                         [](const auto& instance) { return instance.param; });

TEST_P(EveryDataflow, IsLegalOnAnyNestAndMachine) {
  Rng rng(4, "legal");
  for (int round = 0; round < 200; ++round) {
    const Nest nest = random_nest(rng, round < 100 ? 40 : 400);
    const Accelerator machine = random_machine(rng);
    const Result<Mapping> mapping = dataflow(GetParam(), nest, machine);
    ASSERT_TRUE(mapping) << mapping.error().message;
    SCOPED_TRACE(to_loop_nest(*mapping, nest, machine.pes));
    std::map<Dim, std::int64_t> above = extents_of(nest);
    std::int64_t units = machine.pes;
    for (const MappingLevel& level : mapping->levels) units /= std::max(1, level.cluster_size);
    EXPECT_GE(units, 1);
    if (spreads_kernel_rows(*mapping)) continue;
    for (const MappingLevel& level : mapping->levels) {
      EXPECT_EQ(std::ranges::count(level.directives, Directive::Kind::Spatial, &Directive::kind), 1);
      EXPECT_EQ(level.directives.size(), above.size());  // each loop of the nest once, and no other
      std::map<Dim, std::int64_t> tiles;
      for (const Directive& directive : level.directives) {
        ASSERT_TRUE(above.contains(directive.dim));
        EXPECT_EQ(directive.size, directive.offset);  // nothing twice, nothing left out
        EXPECT_LE(directive.size, above[directive.dim]);
        const bool filter = nest.kind != NestKind::MatrixMultiply && (directive.dim == Dim::R || directive.dim == Dim::S);
        if (filter) {
          EXPECT_EQ(directive.size, nest[directive.dim]);
        }
        tiles[directive.dim] = directive.size;
      }
      EXPECT_EQ(tiles.size(), level.directives.size());
      above = tiles;
    }
  }
}

// What makes MAESTRO's counting exact; see dataflow_tiles.cpp.
TEST_P(EveryDataflow, IsCountedRight) {
  Rng rng(5, "counted");
  for (int round = 0; round < 200; ++round) {
    const Nest nest = random_nest(rng, 60);
    const Accelerator machine = random_machine(rng);
    const Mapping mapping = dataflow(GetParam(), nest, machine).value();
    if (spreads_kernel_rows(mapping)) continue;
    SCOPED_TRACE(to_loop_nest(mapping, nest, machine.pes));
    std::map<Dim, std::int64_t> extents = extents_of(nest);
    std::int64_t clusters = machine.pes;
    for (const MappingLevel& level : mapping.levels) clusters /= std::max(1, level.cluster_size);
    std::map<Dim, std::int64_t> inner;
    for (const Directive& directive : mapping.levels.back().directives) inner[directive.dim] = directive.size;
    double steps = 1;
    for (const Directive& directive : mapping.levels[0].directives) {
      const std::int64_t extent = extents[directive.dim];
      const bool slides = directive.dim == Dim::OutY || directive.dim == Dim::OutX;
      const Dim input = directive.dim == Dim::OutY ? Dim::Y : Dim::X;
      if (slides && stride_of(nest, input) > 1) {
        EXPECT_EQ(directive.size, 1);
      }
      if (directive.kind == Directive::Kind::Spatial) {
        EXPECT_EQ(extent % directive.size, 0);
        const std::int64_t positions = extent / directive.size;
        if (slides && positions > clusters) {
          EXPECT_NE(positions % clusters, 1);
        }
      } else {
        steps *= static_cast<double>((extent + directive.size - 1) / directive.size);
      }
      const bool cut = inner[directive.dim] < directive.size;
      if (cut && inner[directive.dim] > 1) {
        EXPECT_EQ(extent % directive.size, 0);
        EXPECT_EQ(directive.size % inner[directive.dim], 0);
      }
    }
    EXPECT_LE(steps, std::numeric_limits<std::int32_t>::max());
  }
}

TEST_P(EveryDataflow, FitsL1WheneverOneOutputOfOneChannelDoes) {
  Rng rng(6, "fits");
  for (int round = 0; round < 200; ++round) {
    const Nest nest = random_nest(rng, 60);
    Accelerator machine = random_machine(rng);
    machine.l2 = {kUnlimited};
    const std::int64_t taps = nest.kind == NestKind::MatrixMultiply ? 1 : nest[Dim::R] * nest[Dim::S];
    machine.l1 = {std::max(machine.l1.value, 6 * taps)};
    const Mapping mapping = dataflow(GetParam(), nest, machine).value();
    if (spreads_kernel_rows(mapping)) continue;
    EXPECT_LE(l1_need(mapping, nest), machine.l1.value) << to_loop_nest(mapping, nest, machine.pes);
  }
}

TEST_P(EveryDataflow, IsTheSameEveryTime) {
  Rng rng(7, "same");
  const Nest nest = random_nest(rng, 100);
  const Accelerator machine = random_machine(rng);
  EXPECT_EQ(dataflow(GetParam(), nest, machine).value(), dataflow(GetParam(), nest, machine).value());
}

TEST_P(EveryDataflow, StepsStayWithin31Bits) {
  Accelerator machine;
  machine.pes = 1;
  const Mapping mapping = dataflow(GetParam(), matrix_nest(1, 1 << 20, 1 << 20, 1 << 20), machine).value();
  double steps = 1;
  for (const Directive& directive : mapping.levels[0].directives) steps *= static_cast<double>((1 << 20) / directive.size);
  EXPECT_LE(steps, std::numeric_limits<std::int32_t>::max());
}

Dim spatial_dim(const Mapping& mapping, std::size_t level) {
  return std::ranges::find(mapping.levels[level].directives, Directive::Kind::Spatial, &Directive::kind)->dim;
}

TEST(Dataflows, SpreadWhatTheirNamesSay) {
  const Nest nest = convolution_nest(NestKind::Convolution, 1, 1, 64, 64, {28, 3, 1}, {28, 3, 1});
  Accelerator machine;
  machine.pes = 256;
  const auto spread = [&](std::string_view name) {
    const Mapping mapping = dataflow(name, nest, machine).value();
    std::vector<Dim> dims;
    for (std::size_t level = 0; level < mapping.levels.size(); ++level) dims.push_back(spatial_dim(mapping, level));
    return dims;
  };
  EXPECT_EQ(spread("nvdla"), (std::vector{Dim::K, Dim::C}));
  EXPECT_EQ(spread("tpu"), (std::vector{Dim::C, Dim::K}));
  EXPECT_EQ(spread("eyeriss"), (std::vector{Dim::K, Dim::OutY, Dim::Y}));  // 3 groups of 28 rows, kernel rows inside
  EXPECT_EQ(spread("shidiannao"), (std::vector{Dim::OutY, Dim::OutX}));
  EXPECT_EQ(spread("ykp_os"), (std::vector{Dim::OutY, Dim::K}));
  EXPECT_EQ(spread("nlr"), std::vector{Dim::C});
  EXPECT_EQ(spread("xp_ws"), std::vector{Dim::OutX});
}

TEST(Dataflows, RowStationarySpreadsKernelRows) {
  const Accelerator eyeriss = read_accelerator("zoo:eyeriss").value();
  const Nest many_rows = convolution_nest(NestKind::Convolution, 1, 1, 64, 64, {56, 3, 1}, {56, 3, 1});
  const Mapping clusters = dataflow("eyeriss", many_rows, eyeriss).value();
  ASSERT_EQ(clusters.levels.size(), 2u);  // 56 clusters of 3, a row each
  EXPECT_EQ(clusters.levels[1].cluster_size, 3);
  EXPECT_EQ(spatial_dim(clusters, 0), Dim::OutY);
  const Nest few_rows = convolution_nest(NestKind::Convolution, 1, 1, 64, 64, {7, 3, 1}, {7, 3, 1});
  const Mapping groups = dataflow("eyeriss", few_rows, eyeriss).value();
  ASSERT_EQ(groups.levels.size(), 3u);  // 8 groups of 7 clusters of 3
  EXPECT_EQ(spatial_dim(groups, 0), Dim::K);
  EXPECT_EQ(groups.levels[1].cluster_size, 7);
}

TEST(Dataflows, MaestrosNamesAreTheSameMappings) {
  Rng rng(8, "names");
  for (int round = 0; round < 20; ++round) {
    const Nest nest = random_nest(rng, 64);
    const Accelerator machine = random_machine(rng);
    EXPECT_EQ(dataflow("kcp_ws", nest, machine).value(), dataflow("nvdla", nest, machine).value());
    EXPECT_EQ(dataflow("yxp_os", nest, machine).value(), dataflow("shidiannao", nest, machine).value());
    EXPECT_EQ(dataflow("rs", nest, machine).value(), dataflow("eyeriss", nest, machine).value());
  }
}

TEST(Dataflows, KeepTheClustersTheMachineIsBuiltIn) {
  const Nest nest = convolution_nest(NestKind::Convolution, 1, 1, 64, 64, {28, 3, 1}, {28, 3, 1});
  EXPECT_EQ(dataflow("nvdla", nest, read_accelerator("zoo:nvdla-large").value())->levels[1].cluster_size, 64);
}

// A 1 x 1 filter alone would leave seven of eight lanes without work.
TEST(Dataflows, LanesAreFilled) {
  const Nest nest = convolution_nest(NestKind::Convolution, 1, 1, 64, 64, {28, 1, 1}, {28, 1, 1});
  Accelerator machine;
  machine.pes = 64;
  machine.simd_lanes = 8;
  for (const char* name : {"nvdla", "tpu", "nlr", "ykp_os", "eyeriss"}) {
    const Mapping mapping = dataflow(name, nest, machine).value();
    std::int64_t macs = 1;
    for (const Directive& directive : mapping.levels.back().directives) macs *= directive.size;
    EXPECT_EQ(macs % 8, 0) << name;
  }
}

TEST(Dataflows, ComplaintsNameTheNearest) {
  const Nest nest = matrix_nest(1, 4, 4, 4);
  const Result<Mapping> unknown = dataflow("eyerris", nest, Accelerator{});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::NotFound);
  EXPECT_THAT(unknown.error().message, HasSubstr("(did you mean 'eyeriss'?)"));
  Accelerator impossible;
  impossible.pes = 0;
  EXPECT_EQ(dataflow("nvdla", nest, impossible).error().message, "accelerator: pes is 0, expected at least 1");
  Nest empty = convolution_nest(NestKind::Convolution, 1, 1, 4, 4, {2, 3, 1}, {2, 3, 1});
  empty[Dim::Y] = 2;
  EXPECT_EQ(dataflow("nvdla", empty, Accelerator{}).error().message,
            "the layer has nothing to compute along Y', expected at least 1");
}

}  // namespace
}  // namespace tilewright
