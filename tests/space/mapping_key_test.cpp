#include "tilewright/space/mapping_key.hpp"

#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "tilewright/workload/layer.hpp"

namespace tilewright {
namespace {

Mapping example() {
  Mapping mapping;
  for (const std::int32_t cluster : {0, 4}) {
    MappingLevel level;
    level.cluster_size = cluster;
    level.directives.push_back({Directive::Kind::Temporal, Dim::K, 3, 3});
    level.directives.push_back({Directive::Kind::Spatial, Dim::C, 200, 200});
    level.directives.push_back({Directive::Kind::Temporal, Dim::R, 3, 1});
    mapping.levels.push_back(level);
  }
  return mapping;
}

std::string bytes_of(const Mapping& mapping, std::int64_t pes = 16) {
  std::string bytes;
  append_mapping(mapping, pes, bytes);
  return bytes;
}

TEST(MappingKey, BytesFollowWhatIsThereAlready) {
  std::string bytes = "before";
  append_mapping(example(), 16, bytes);
  EXPECT_EQ(bytes, "before" + bytes_of(example()));
}

TEST(MappingKey, EveryPartOfAMappingChangesTheBytes) {
  const std::vector<std::function<void(Mapping&)>> changes = {
      [](Mapping& m) { m.levels[1].cluster_size = 8; },
      [](Mapping& m) { m.levels[1].cluster_size = 132; },  // 4 in the lowest seven bits, as before
      [](Mapping& m) { m.levels[0].directives[0].kind = Directive::Kind::Spatial; },
      [](Mapping& m) { m.levels[0].directives[0].dim = Dim::OutY; },
      [](Mapping& m) { m.levels[0].directives[0].size = 4; },
      [](Mapping& m) { m.levels[0].directives[0].offset = 4; },
      [](Mapping& m) { m.levels[0].directives[0].size = m.levels[0].directives[0].offset = 4; },
      [](Mapping& m) { m.levels[1].directives[2].offset = 2; },
      [](Mapping& m) { m.levels[1].directives[1].size = 200 + 128; },
      [](Mapping& m) { std::swap(m.levels[0].directives[0], m.levels[0].directives[1]); },
      [](Mapping& m) { m.levels[0].directives.pop_back(); },
      [](Mapping& m) { m.levels.pop_back(); }};
  std::set<std::string> known = {bytes_of(example())};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Mapping changed = example();
    changes[i](changed);
    EXPECT_TRUE(known.insert(bytes_of(changed)).second) << i;
  }
  EXPECT_TRUE(known.insert(bytes_of(example(), 17)).second);
  EXPECT_TRUE(known.insert(bytes_of(example(), 16 + 128)).second);
  EXPECT_EQ(bytes_of(example()), bytes_of(example()));
}

TEST(MappingKey, EveryIngredientChangesTheProblem) {
  struct Problem {
    Nest nest;
    Accelerator machine;
    EvaluateOptions options;
    bool gamma_rules = false;
  };
  Problem problem{
      *nest_of(convolution(
          "layer",
          {.out_channels = 8, .in_channels = 4, .in_height = 9, .in_width = 9, .kernel_height = 3, .kernel_width = 3})),
      {},
      {}};
  problem.machine.pes = 64;
  const auto key = [](const Problem& p) { return mapping_problem_key(p.nest, p.machine, p.options, p.gamma_rules); };
  const std::vector<std::pair<const char*, std::function<void(Problem&)>>> changes = {
      {"K", [](Problem& p) { ++p.nest[Dim::K]; }},
      {"R", [](Problem& p) { ++p.nest[Dim::R]; }},
      {"kind", [](Problem& p) { p.nest.kind = NestKind::Grouped; }},
      {"stride", [](Problem& p) { p.nest.stride[static_cast<std::size_t>(Dim::Y)] = 2; }},
      {"batched", [](Problem& p) { p.nest.batched = !p.nest.batched; }},
      {"declared input", [](Problem& p) { ++p.nest.declared_input; }},
      {"declared weight", [](Problem& p) { ++p.nest.declared_weight; }},
      {"l1", [](Problem& p) { --p.machine.l1.value; }},
      {"l2", [](Problem& p) { --p.machine.l2.value; }},
      {"bandwidth", [](Problem& p) { --p.machine.noc.bandwidth; }},
      {"hops", [](Problem& p) { ++p.machine.noc.hops; }},
      {"hop latency", [](Problem& p) { ++p.machine.noc.hop_latency; }},
      {"off-chip bandwidth", [](Problem& p) { --p.machine.offchip_bandwidth; }},
      {"lanes", [](Problem& p) { ++p.machine.simd_lanes; }},
      {"clock", [](Problem& p) { p.machine.clock_ghz = 0.5; }},
      {"energy of a MAC", [](Problem& p) { p.machine.energy.mac.value *= 2; }},
      {"energy of L1", [](Problem& p) { p.machine.energy.l1_access.value *= 2; }},
      {"energy of L2", [](Problem& p) { p.machine.energy.l2_access.value *= 2; }},
      {"area of a PE", [](Problem& p) { p.machine.area.pe = SquareMicrometres{0}; }},
      {"area of a byte", [](Problem& p) { p.machine.area.buffer_byte = SquareMicrometres{0}; }},
      {"area of a byte of L1", [](Problem& p) { p.machine.area.l1_byte = SquareMicrometres{0}; }},
      {"leakage", [](Problem& p) { p.machine.leakage = Milliwatts{1}; }},
      {"model", [](Problem& p) { p.options.model = Model::Exact; }},
      {"constraints", [](Problem& p) { p.options.constraints = Constraints::Report; }},
      {"rules", [](Problem& p) { p.gamma_rules = true; }}};
  std::set<std::uint64_t> known = {key(problem)};
  for (const auto& [name, change] : changes) {
    Problem changed = problem;
    change(changed);
    EXPECT_TRUE(known.insert(key(changed)).second) << name;
  }
}

// Designs say how many processing elements they run on, and names mean nothing to a cost.
TEST(MappingKey, NamesAndSearchedNumbersDoNotChangeTheProblem) {
  const Nest nest = *nest_of(convolution("layer", {.out_channels = 8}));
  Accelerator machine;
  const std::uint64_t key = mapping_problem_key(nest, machine, {}, false);
  machine.name = "other";
  machine.source = "a paper";
  machine.pes = 256;
  EvaluateOptions options;
  options.columns = EvaluateOptions::Columns::All;
  EXPECT_EQ(mapping_problem_key(nest, machine, options, false), key);
}

}  // namespace
}  // namespace tilewright
