#include "tilewright/agents/team_heads.hpp"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "knob_space.hpp"
#include "tilewright/space/archgym_space.hpp"
#include "tilewright/workload/layer.hpp"

namespace tilewright {
namespace {

// Layers of all kinds, whose spaces have different parameters and numbers of values.
struct Layers {
  std::vector<std::unique_ptr<DesignSpace>> owned;
  std::vector<const DesignSpace*> spaces;

  explicit Layers(bool archgym = false) {
    Accelerator machine;
    machine.pes = 168;
    ConvolutionShape large{.out_channels = 96, .in_channels = 64, .in_height = 56, .in_width = 56};
    large.kernel_height = large.kernel_width = 3;
    ConvolutionShape depthwise = large;
    depthwise.out_channels = depthwise.in_channels = depthwise.groups = 32;
    const std::vector<Layer> layers = {convolution("large", large), convolution("depthwise", depthwise),
                                       convolution("point", {.out_channels = 5, .in_channels = 7}),
                                       matrix_multiply("product", {.batch = 12, .rows = 128, .inner = 64, .columns = 128})};
    for (const Layer& layer : layers) {
      MappingSpaceOptions options;
      options.least_levels = 1;
      options.search_pes = true;
      if (archgym) {
        owned.push_back(std::make_unique<ArchgymSpace>(layer.name, *nest_of(layer), machine, ArchgymOptions{}));
      } else {
        owned.push_back(std::make_unique<MappingSpace>(layer.name, *nest_of(layer), machine, options));
      }
      spaces.push_back(owned.back().get());
    }
  }
  TeamHeads heads() const {
    const std::vector<Parameter> parameters = all_parameters(spaces);
    return {spaces, parameters, assign_by_role(parameters)};
  }
};

class EachFamily : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(TeamHeads, EachFamily, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "archgym" : "mapping"; });

TEST_P(EachFamily, EveryValueHasAChoiceThatStandsForIt) {
  const Layers layers(GetParam());
  const TeamHeads heads = layers.heads();
  for (std::size_t problem = 0; problem < layers.spaces.size(); ++problem) {
    std::set<std::int32_t> decided;
    for (std::size_t head = 0; head < heads.head_count(); ++head) {
      const std::int32_t parameter = heads.parameter(problem, head);
      if (parameter < 0) continue;
      EXPECT_TRUE(decided.insert(parameter).second);
      const Parameter& declared = layers.spaces[problem]->parameters()[static_cast<std::size_t>(parameter)];
      std::set<std::size_t> used;
      for (std::int32_t value = 0; value < declared.value_count; ++value) {
        const std::size_t choice = heads.choice_of(problem, head, value);
        ASSERT_LT(choice, heads.size_of(head)) << declared.name;
        EXPECT_EQ(heads.mask(problem)[heads.offset_of(head) + choice], 1);
        const TeamHeads::Values values = heads.values(problem, head, choice);
        EXPECT_LE(values.first, value);
        EXPECT_GE(values.last, value);
        used.insert(choice);
      }
      // As many choices as values, as long as there are enough.
      if (static_cast<std::size_t>(declared.value_count) <= heads.size_of(head)) {
        EXPECT_EQ(used.size(), declared.value_count) << declared.name;
      } else {
        EXPECT_GE(used.size(), heads.size_of(head) / 2) << declared.name;
      }
      // All others are masked.
      for (std::size_t choice = 0; choice < heads.size_of(head); ++choice) {
        EXPECT_EQ(heads.mask(problem)[heads.offset_of(head) + choice], used.contains(choice) ? 1 : 0) << declared.name;
      }
    }
    EXPECT_EQ(decided.size(), layers.spaces[problem]->parameters().size());
  }
}

TEST_P(EachFamily, ValuesOfOrdinalParametersKeepTheirOrder) {
  const Layers layers(GetParam());
  const TeamHeads heads = layers.heads();
  for (std::size_t problem = 0; problem < layers.spaces.size(); ++problem) {
    for (std::size_t head = 0; head < heads.head_count(); ++head) {
      const std::int32_t parameter = heads.parameter(problem, head);
      if (parameter < 0) continue;
      const Parameter& declared = layers.spaces[problem]->parameters()[static_cast<std::size_t>(parameter)];
      if (declared.kind != ParameterKind::Ordinal) continue;
      for (std::int32_t value = 1; value < declared.value_count; ++value) {
        EXPECT_GE(heads.choice_of(problem, head, value), heads.choice_of(problem, head, value - 1)) << declared.name;
      }
    }
  }
}

TEST_P(EachFamily, CodesAreBetweenNoughtAndOne) {
  const Layers layers(GetParam());
  const TeamHeads heads = layers.heads();
  Rng rng(1, "codes");
  for (std::size_t problem = 0; problem < layers.spaces.size(); ++problem) {
    std::set<std::vector<float>> codes;
    for (int n = 0; n < 50; ++n) {
      std::vector<float> code(heads.code_size() + 1, 7);
      heads.encode(problem, random_point(*layers.spaces[problem], rng), std::span(code).first(heads.code_size()));
      EXPECT_EQ(code.back(), 7);
      code.pop_back();
      for (const float entry : code) EXPECT_TRUE(entry >= 0 && entry <= 1) << entry;
      codes.insert(code);
    }
    EXPECT_GT(codes.size(), 40U);
  }
}

TEST(TeamHeads, HaveTheSameFormForEveryLayer) {
  const Layers layers;
  const std::vector<Parameter> parameters = all_parameters(layers.spaces);
  const AgentAssignment assignment = assign_by_role(parameters);
  const TeamHeads all = layers.heads();
  for (const DesignSpace* space : layers.spaces) {
    const TeamHeads alone({space}, parameters, assignment);
    EXPECT_EQ(alone.choice_count(), all.choice_count());
    EXPECT_EQ(alone.code_size(), all.code_size());
    ASSERT_EQ(alone.head_count(), all.head_count());
    ASSERT_EQ(alone.agent_count(), all.agent_count());
    for (std::size_t head = 0; head < all.head_count(); ++head) {
      EXPECT_EQ(alone.size_of(head), all.size_of(head));
      EXPECT_EQ(alone.offset_of(head), all.offset_of(head));
      EXPECT_EQ(alone.agent_of(head), all.agent_of(head));
    }
  }
}

TEST(TeamHeads, AgentsFollowTheAssignment) {
  const Layers layers;
  const std::vector<Parameter> parameters = all_parameters(layers.spaces);
  const TeamHeads heads = layers.heads();
  EXPECT_EQ(heads.agent_count(), 3U);
  EXPECT_EQ(heads.head_count(), parameters.size());
  std::size_t offset = 0;
  for (std::size_t head = 0; head < heads.head_count(); ++head) {
    EXPECT_EQ(heads.offset_of(head), offset);
    offset += heads.size_of(head);
  }
  EXPECT_EQ(offset, heads.choice_count());
  std::size_t choices = 0;
  for (std::size_t agent = 0; agent < heads.agent_count(); ++agent) {
    for (const std::size_t size : heads.actions(agent).categorical) choices += size;
  }
  EXPECT_EQ(choices, heads.choice_count());
  for (const DesignSpace* space : layers.spaces) {
    for (const Parameter& parameter : space->parameters()) {
      EXPECT_NE(std::ranges::find(parameters, parameter.name, &Parameter::name), parameters.end());
    }
  }
}

TEST(TeamHeads, WhatAProblemDoesNotHaveLeavesOneChoice) {
  const KnobSpace both(
      "both", {{"tile.A@0", ParameterKind::Ordinal, Role::Tile, 3}, {"tile.B@0", ParameterKind::Ordinal, Role::Tile, 4}});
  const KnobSpace one("one", {{"tile.A@0", ParameterKind::Ordinal, Role::Tile, 2}});
  const std::vector<Parameter> parameters = all_parameters({&both, &one});
  const TeamHeads heads({&both, &one}, parameters, assign_per_parameter(parameters));
  EXPECT_EQ(heads.parameter(0, 1), 1);
  EXPECT_EQ(heads.parameter(1, 1), -1);
  const auto mask = heads.mask(1).subspan(heads.offset_of(1), heads.size_of(1));
  EXPECT_EQ(mask[0], 1);
  EXPECT_EQ(std::ranges::count(mask, 1.0F), 1);
}

// Sizes lie on the logarithmic scale: half of the choices are for what is below the square root.
TEST(TeamHeads, SmallSizesGetMoreChoicesThanLargeOnes) {
  const Layers layers;
  const std::vector<Parameter> parameters = {{"tile.C@0", ParameterKind::Ordinal, Role::Tile, 64}};
  const TeamHeads heads(layers.spaces, parameters, assign_single(parameters));
  ASSERT_EQ(heads.size_of(0), kFineChoices);
  EXPECT_EQ(heads.choice_of(0, 0, 0), 0U);
  EXPECT_EQ(heads.choice_of(0, 0, 7), kFineChoices / 2);  // 8 of 64
  EXPECT_EQ(heads.choice_of(0, 0, 63), kFineChoices - 1);
  EXPECT_EQ(heads.values(0, 0, 0).last, 0);
  EXPECT_GT(heads.values(0, 0, kFineChoices - 1).last - heads.values(0, 0, kFineChoices - 1).first, 2);
}

}  // namespace
}  // namespace tilewright
