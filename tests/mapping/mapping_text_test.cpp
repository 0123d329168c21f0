#include <filesystem>

#include "../scratch.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/rng.hpp"
#include "tilewright/mapping/mapping.hpp"
#include "tilewright/mapping/mapping_maestro.hpp"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

constexpr Directive::Kind kSpatial = Directive::Kind::Spatial;
constexpr Directive::Kind kTemporal = Directive::Kind::Temporal;

Mapping two_levels() {
  Mapping mapping;
  mapping.levels.push_back({});
  mapping.levels[0].directives.push_back({kSpatial, Dim::K, 1, 1});
  mapping.levels[0].directives.push_back({kTemporal, Dim::OutY, 3, 1});
  MappingLevel inner;
  inner.cluster_size = 14;
  inner.cluster_kind = ClusterKind::Logical;
  inner.directives.push_back({kSpatial, Dim::C, 2, 2});
  mapping.levels.push_back(inner);
  return mapping;
}

Mapping random_mapping(Rng& rng) {
  Mapping mapping;
  const std::int64_t levels = rng.between(1, kMaxLevels);
  for (std::int64_t index = 0; index < levels; ++index) {
    MappingLevel level;
    if (index > 0) {
      level.cluster_size = static_cast<std::int32_t>(rng.between(1, 2147483647));
      level.cluster_kind = rng.below(2) == 0 ? ClusterKind::Physical : ClusterKind::Logical;
    }
    const std::int64_t directives = rng.between(0, kMaxDirectives);
    for (std::int64_t i = 0; i < directives; ++i) {
      level.directives.push_back({rng.below(2) == 0 ? kSpatial : kTemporal, static_cast<Dim>(rng.below(kDimCount)),
                                  static_cast<std::int32_t>(rng.between(1, 2147483647)),
                                  static_cast<std::int32_t>(rng.between(1, 9))});
    }
    mapping.levels.push_back(level);
  }
  // A `.m` layer without any directive is one without a Dataflow.
  if (levels == 1 && mapping.levels[0].directives.empty()) mapping.levels[0].directives.push_back({kSpatial, Dim::K, 1, 1});
  return mapping;
}

TEST(MappingYaml, LooksLikeThis) {
  EXPECT_EQ(to_yaml(two_levels()),
            "format: tilewright-mapping-1\n"
            "levels:\n"
            "  - loops:\n"
            "      - {spatial: K, size: 1, offset: 1}\n"
            "      - {temporal: \"Y'\", size: 3, offset: 1}\n"
            "  - cluster: 14\n"
            "    cluster_kind: logical\n"
            "    loops:\n"
            "      - {spatial: C, size: 2, offset: 2}\n");
}

TEST(MappingYaml, TheOffsetIsTheSizeUnlessGiven) {
  const Result<Mapping> mapping =
      mapping_from_yaml("format: tilewright-mapping-1\nlevels: [{loops: [{spatial: K, size: 4}]}]\n", "m.yaml");
  ASSERT_TRUE(mapping) << mapping.error().message;
  EXPECT_EQ(mapping->levels[0].directives[0], (Directive{kSpatial, Dim::K, 4, 4}));
}

TEST(MappingYaml, WhatIsWrittenIsReadBack) {
  Rng rng(2, "mapping");
  for (int round = 0; round < 300; ++round) {
    const Mapping mapping = random_mapping(rng);
    const Result<Mapping> again = mapping_from_yaml(to_yaml(mapping), "again.yaml");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, mapping) << to_yaml(mapping);
  }
}

TEST(MappingYaml, ComplaintsNameTheLine) {
  const auto complaint = [](const std::string& levels) {
    const Result<Mapping> mapping = mapping_from_yaml("format: tilewright-mapping-1\n" + levels, "m.yaml");
    return mapping ? "nothing" : mapping.error().message;
  };
  EXPECT_EQ(complaint("levels: []"), "m.yaml:1: the mapping has 0 levels, expected 1 to 4");
  EXPECT_EQ(complaint("levels:\n  - cluster: 4\n    loops: []\n"),
            "m.yaml:3: the first level has 'cluster', expected it from the second level on");
  EXPECT_EQ(complaint("levels:\n  - loops: []\n  - loops: []\n"), "m.yaml:4: 'cluster' is missing, expected it here");
  EXPECT_EQ(complaint("levels:\n  - loops: []\n  - cluster: 2\n    cluster_kind: round\n"),
            "m.yaml:5: cluster_kind is 'round', expected 'physical' or 'logical'");
  EXPECT_EQ(complaint("levels:\n  - loops:\n      - {size: 1}\n"),
            "m.yaml:4: the loop has neither 'spatial' nor 'temporal', expected one of them");
  EXPECT_EQ(complaint("levels:\n  - loops:\n      - {spatial: K, size: 0}\n"),
            "m.yaml:4: size is 0, expected 1 to 2147483647");
  EXPECT_EQ(complaint("levels:\n  - loops:\n      - {spatial: k, size: 1}\n"),
            "m.yaml:4: 'spatial' is 'k', expected one of C, G, K, M, N, R, S, X, Y, X', Y', other0, other1, other2, other3 "
            "(did you mean 'K'?)");
  EXPECT_EQ(complaint("levels:\n  - loops:\n      - {spatial: K, sizes: 1}\n"),
            "m.yaml:4: 'sizes' is not a known field (did you mean 'size'?)");
}

std::string maestro_file(const std::string& dataflow) {
  return "Network n {\nLayer l {\nType: CONV\nDataflow {\n" + dataflow + "}\n}\n}\n";
}

TEST(MappingMaestro, LooksLikeThis) {
  EXPECT_EQ(to_maestro(two_levels()),
            "SpatialMap(1,1) K;\n"
            "TemporalMap(3,1) Y';\n"
            "Cluster(14, L);\n"
            "SpatialMap(2,2) C;\n");
}

TEST(MappingMaestro, WhatIsWrittenIsReadBack) {
  Rng rng(3, "mapping");
  for (int round = 0; round < 300; ++round) {
    const Mapping mapping = random_mapping(rng);
    const Result<MaestroFile> file = parse_maestro(maestro_file(to_maestro(mapping)), "again.m", FilterTiles::Any);
    ASSERT_TRUE(file) << file.error().message;
    DimNames names;
    const Result<Mapping> again = mapping_of(file->layers[0], names);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, mapping) << to_maestro(mapping);
  }
}

TEST(MappingMaestro, RefusesWhatDoesNotFit) {
  const auto complaint = [](const std::string& dataflow) {
    const Result<MaestroFile> file = parse_maestro(maestro_file(dataflow), "f.m");
    DimNames names;
    const Result<Mapping> mapping = mapping_of(file->layers[0], names);
    return mapping ? "nothing" : mapping.error().message;
  };
  EXPECT_EQ(complaint(""), "f.m:2: layer 'l' has no Dataflow of its own, expected one");
  EXPECT_EQ(complaint("Cluster(2,P);\nCluster(2,P);\nCluster(2,P);\n"), "nothing");
  EXPECT_EQ(complaint("Cluster(2,P);\nCluster(2,P);\nCluster(2,P);\nCluster(2,P);\n"),
            "f.m:8: layer 'l' has too many levels, expected at most 3 Clusters");
  std::string many;
  for (std::size_t i = 0; i <= kMaxDirectives; ++i) many += "TemporalMap(1,1) K;\n";
  EXPECT_EQ(complaint(many), "f.m:25: layer 'l' has too long a level, expected at most 20 directives");
  EXPECT_EQ(
      complaint("TemporalMap(1,1) a; TemporalMap(1,1) b; TemporalMap(1,1) c; TemporalMap(1,1) d;\nSpatialMap(1,1) e;\n"),
      "f.m:6: layer 'l' maps too many unknown dimensions, expected at most four");
}

TEST(ReadMapping, TakesTheLayerOfThatNameOrTheOnlyOne) {
  const Scratch folder;
  const auto in_folder = [&](const char* name) { return (folder / name).string(); };
  const std::string layer = "Type: CONV Dataflow { SpatialMap(1,1) ";
  ASSERT_TRUE(write_file(folder / "one.m", "Network n { Layer a { " + layer + "K; } } }"));
  ASSERT_TRUE(write_file(folder / "two.m", "Network n { Layer a1 { " + layer + "K; } } Layer b2 { " + layer + "C; } } }"));
  ASSERT_TRUE(write_file(folder / "ours.yaml", to_yaml(two_levels())));
  EXPECT_EQ(read_mapping(in_folder("ours.yaml"), "anything").value(), two_levels());
  EXPECT_EQ(read_mapping(in_folder("one.m"), "other")->levels[0].directives[0].dim, Dim::K);
  EXPECT_EQ(read_mapping(in_folder("two.m"), "b2")->levels[0].directives[0].dim, Dim::C);
  EXPECT_THAT(read_mapping(in_folder("two.m"), "b").error().message,
              HasSubstr("two.m: has no layer 'b', expected one of its 2 layers (did you mean 'b2'?)"));
  EXPECT_EQ(read_mapping("a.txt", "b").error().message, "a.txt: ends in '.txt', expected a mapping in .yaml, .yml or .m");
}

}  // namespace
}  // namespace tilewright
