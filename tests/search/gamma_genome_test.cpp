#include "tilewright/search/gamma_genome.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "gamma_runs.hpp"
#include "gamma_spaces.hpp"

namespace tilewright {
namespace {

const GammaCase kDepthwise{"mobilenet_v2", 2, "latency", 20, 10, 168, 512, 108'000};

std::size_t at(Slot slot) { return static_cast<std::size_t>(slot); }

// The mapping file GAMMA writes for a genome: each loop in its place, K of a depthwise layer left out and spread as C.
Mapping emit(const Genome& genome, const GenomeForm& form) {
  constexpr std::array<Dim, 6> kDims = {Dim::K, Dim::C, Dim::OutY, Dim::OutX, Dim::R, Dim::S};
  Mapping mapping;
  for (std::size_t depth = 0; depth < genome.size(); ++depth) {
    MappingLevel level;
    if (depth > 0) level.cluster_size = genome[depth].units;
    Slot spread = genome[depth].parallel;
    if (form.depthwise && spread == Slot::K) spread = Slot::C;
    for (std::size_t loop = 0; loop < form.dims.size(); ++loop) {
      const Slot slot = genome[depth].order[loop];
      if (form.depthwise && slot == Slot::K) continue;
      const std::int32_t tile = genome[depth].tile[at(slot)];
      level.directives.push_back(
          {slot == spread ? Directive::Kind::Spatial : Directive::Kind::Temporal, kDims[at(slot)], tile, tile});
    }
    mapping.levels.push_back(level);
  }
  return mapping;
}

TEST(GammaGenome, APointCostsWhatTheOriginalsMappingFileCosts) {
  for (const GammaCase& one : {kResnet, kDepthwise}) {
    const MappingSpace space = gamma_space(one);
    const GenomeForm form(space, false);
    Evaluator evaluator(space.nest(), space.accelerator(), space.options().evaluate);
    Rng rng(1, "test");
    int costed = 0;
    for (int n = 0; n < 2000; ++n) {
      Genome genome = draw_genome(form, rng);
      for (int redraw = 0; redraw < 6; ++redraw) redraw_gene(genome, form, rng);
      conform(genome, form);
      const Genome before = genome;
      const Evaluation of_point = evaluator.evaluate(space.mapping(to_point(genome, form)));
      EXPECT_EQ(genome, before);  // the space has all of GAMMA's genomes
      const Evaluation of_file = evaluator.evaluate(emit(before, form));
      ASSERT_EQ(of_point.index(), of_file.index());
      if (const Cost* cost = std::get_if<Cost>(&of_point)) {
        const Cost& original = std::get<Cost>(of_file);
        EXPECT_EQ(cost->runtime, original.runtime);
        EXPECT_EQ(cost->energy.value, original.energy.value);
        EXPECT_EQ(cost->l1, original.l1);
        EXPECT_EQ(cost->l2, original.l2);
        EXPECT_EQ(cost->leaf_macs, original.leaf_macs);
        ++costed;
      }
    }
    EXPECT_GT(costed, 1500);
  }
}

TEST(GammaGenome, NewOnesCutOnlyTheOuterLevel) {
  const MappingSpace space = gamma_space(kResnet);
  const GenomeForm form(space, false);
  Rng rng(2, "test");
  std::int32_t largest = 0;
  for (int n = 0; n < 500; ++n) {
    const Genome genome = draw_genome(form, rng);
    ASSERT_EQ(genome.size(), 2U);
    for (const Slot slot : {Slot::K, Slot::C, Slot::Y, Slot::X}) EXPECT_EQ(genome[1].tile[at(slot)], 1);
    for (const GenomeLevel& level : genome) {
      EXPECT_EQ(level.tile[at(Slot::R)], 3);
      EXPECT_EQ(level.tile[at(Slot::S)], 3);
    }
    EXPECT_LE(genome[1].units, genome[0].tile[at(genome[1].parallel)]);
    largest = std::max(largest, genome[0].tile[at(Slot::Y)]);
  }
  EXPECT_EQ(largest, 56);  // rows of the input, although the output has 54
}

TEST(GammaGenome, CrossingExchangesOneDimensionOnAllLevels) {
  const MappingSpace space = gamma_space(kResnet);
  const GenomeForm form(space, false);
  Rng rng(3, "test");
  for (int n = 0; n < 200; ++n) {
    Genome one = draw_genome(form, rng);
    Genome other = draw_genome(form, rng);
    for (GenomeLevel& level : one) {
      for (std::int32_t& tile : level.tile) tile = 100;
    }
    for (GenomeLevel& level : other) {
      for (std::int32_t& tile : level.tile) tile = 200;
    }
    const Genome was = one;
    cross(one, other, form, rng);
    int exchanged = 0;
    for (const Slot slot : form.dims) {
      EXPECT_EQ(one[0].tile[at(slot)], one[1].tile[at(slot)]);
      EXPECT_EQ(one[0].tile[at(slot)] + other[0].tile[at(slot)], 300);
      exchanged += one[0].tile[at(slot)] == 200 ? 1 : 0;
    }
    EXPECT_EQ(exchanged, 1);
    for (std::size_t depth = 0; depth < 2; ++depth) {
      EXPECT_EQ(one[depth].order, was[depth].order);
      EXPECT_EQ(one[depth].parallel, was[depth].parallel);
    }
  }
}

TEST(GammaGenome, RedrawnGenesStayBelowTheLevelAbove) {
  for (const Tiles tiles : {Tiles::Any, Tiles::Divisors}) {
    const MappingSpace space = many_levels(tiles);
    const GenomeForm form(space, true);
    Rng rng(4, "test");
    for (int n = 0; n < 300; ++n) {
      Genome genome = draw_genome(form, rng);
      while (genome.size() < 3) grow(genome, form, rng);
      for (int redraw = 0; redraw < 20; ++redraw) {
        redraw_gene(genome, form, rng);
        conform(genome, form);
        for (std::size_t depth = 1; depth < 3; ++depth) {
          for (const Slot slot : form.dims) EXPECT_LE(genome[depth].tile[at(slot)], genome[depth - 1].tile[at(slot)]);
          EXPECT_GE(genome[depth].units, 1);
        }
      }
      const Point point = to_point(genome, form);
      ASSERT_TRUE(is_legal(space, point));
      for (std::size_t depth = 0; depth < 3; ++depth) {  // what was repaired is inherited
        for (const Slot slot : form.dims) EXPECT_EQ(genome[depth].tile[at(slot)], space.tile_of(point, depth, slot));
      }
      EXPECT_EQ(to_point(genome, form), point);
    }
  }
}

TEST(GammaGenome, LevelsComeAndGoWithinTheSpace) {
  const MappingSpace space = many_levels(Tiles::Any);
  const GenomeForm form(space, false);
  Rng rng(5, "test");
  Genome genome = draw_genome(form, rng);
  EXPECT_EQ(genome.size(), 1U);
  for (int n = 0; n < 5; ++n) grow(genome, form, rng);
  EXPECT_EQ(genome.size(), 3U);
  EXPECT_EQ(space.level_count(to_point(genome, form)), 3U);
  for (int n = 0; n < 5; ++n) age(genome, form);
  EXPECT_EQ(genome.size(), 1U);
  EXPECT_EQ(space.level_count(to_point(genome, form)), 1U);
}

}  // namespace
}  // namespace tilewright
