#include <algorithm>

#include "tilewright/mapping/mapping.hpp"
#include "tilewright/mapping/mapping_maestro.hpp"
#include "tilewright/workload/layer.hpp"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

// A layer and its dataflow in MAESTRO's words, as loops.
std::string loops_of(const std::string& shape, const std::string& dataflow, std::int64_t pes = 0) {
  const std::string text = "Network n { Layer l { " + shape + " Dataflow { " + dataflow + " } } }";
  const Result<MaestroFile> file = parse_maestro(text, "l.m", FilterTiles::Any);
  EXPECT_TRUE(file) << file.error().message;
  DimNames names;
  const Result<Nest> nest = nest_of(*file, 0, names);
  EXPECT_TRUE(nest) << nest.error().message;
  return to_loop_nest(mapping_of(file->layers[0], names).value(), *nest, pes);
}

const std::string kConv = "Type: CONV Dimensions { K 8, C 6, R 3, S 3, Y 10, X 9 }";

// 8 x 7 outputs. The same mapping as docs/cost_model.md works through.
TEST(LoopNest, TwoLevels) {
  EXPECT_EQ(loops_of(kConv,
                     "SpatialMap(3,3) K; TemporalMap(4,4) C; TemporalMap(5,5) Y'; TemporalMap(4,4) X'; TemporalMap(3,3) R; "
                     "TemporalMap(3,3) S; Cluster(4,P); TemporalMap(2,2) K; SpatialMap(1,1) C; TemporalMap(2,2) Y'; "
                     "TemporalMap(3,3) X'; TemporalMap(3,3) R; TemporalMap(3,3) S;",
                     16),
            "level 0: array of 4 clusters, fed from L2\n"
            "  parallel k in 0..8 step 3                 # 3 tiles, the last of 2, 3 of 4 units at work\n"
            "    for c in 0..6 step 4                    # 2 tiles, the last of 2\n"
            "      for y' in 0..8 step 5                 # 2 tiles, the last of 3\n"
            "        for x' in 0..7 step 4               # 2 tiles, the last of 3\n"
            "  each cluster: k 3, c 4, y' 5 (7 rows), x' 4 (6 columns), r 3, s 3 = 2,160 MACs\n"
            "level 1: cluster of 4 processing elements\n"
            "  for k in 0..3 step 2                      # 2 tiles, the last of 1\n"
            "    parallel c in 0..4 step 1               # 4 tiles, 4 of 4 units at work\n"
            "      for y' in 0..5 step 2                 # 3 tiles, the last of 1\n"
            "        for x' in 0..4 step 3               # 2 tiles, the last of 1\n"
            "  each processing element: k 2, c 1, y' 2 (4 rows), x' 3 (5 columns), r 3, s 3 = 108 MACs\n");
}

TEST(LoopNest, InputRowsThatSlideByOneAreOutputs) {
  const std::string text = loops_of(kConv,
                                    "TemporalMap(1,1) K; TemporalMap(3,1) Y; SpatialMap(3,1) X; TemporalMap(3,3) R; "
                                    "TemporalMap(3,3) S;");
  EXPECT_EQ(text,
            "level 0: array of processing elements, fed from L2\n"
            "  for k in 0..8 step 1                      # 8 tiles\n"
            "    for y' in 0..8 step 1                   # 8 tiles\n"
            "      parallel x' in 0..7 step 1            # 7 tiles\n"
            "  each processing element: k 1, c 6, y' 1 (3 rows), x' 1 (3 columns), r 3, s 3 = 54 MACs\n");
}

TEST(LoopNest, PartsOfAFilterAreShownAsInputs) {
  const std::string text = loops_of(kConv,
                                    "SpatialMap(1,1) Y'; TemporalMap(3,3) R; TemporalMap(3,3) S; Cluster(3,P); "
                                    "SpatialMap(1,1) Y; SpatialMap(1,1) R; TemporalMap(3,3) S;",
                                    24);
  EXPECT_THAT(text, HasSubstr("  parallel y' in 0..8 step 1                # 8 tiles, 8 of 8 units at work\n"));
  EXPECT_THAT(text, HasSubstr("  parallel y in 0..3 step 1                 # 3 tiles, 3 of 3 units at work\n"));
  EXPECT_THAT(text, HasSubstr("    parallel r in 0..3 step 1               # 3 tiles, unit by unit with the loop above\n"));
  EXPECT_THAT(text, HasSubstr("each processing element: k 8, c 6, y' 1 (1 row), x' 7 (9 columns), r 1, s 3 = 1,008 MACs\n"));
}

TEST(LoopNest, OverlappingTilesSayTheirSize) {
  EXPECT_THAT(loops_of(kConv, "SpatialMap(1,1) K; TemporalMap(4,2) C;"),
              HasSubstr("for c in 0..6 step 2 size 4             # 2 tiles\n"));
}

// ResNet's first layer: 112 outputs of 229 rows, two rows apart.
TEST(LoopNest, StridesCountOutputs) {
  const std::string shape = "Type: CONV Stride { X 2, Y 2 } Dimensions { K 64, C 3, R 7, S 7, Y 229, X 229 }";
  const std::string text = loops_of(shape,
                                    "SpatialMap(1,1) K; TemporalMap(7,7) Y'; TemporalMap(1,1) X'; TemporalMap(7,7) R; "
                                    "TemporalMap(7,7) S;");
  EXPECT_THAT(text, HasSubstr("for y' in 0..112 step 4                 # 28 tiles\n"));
  EXPECT_THAT(text, HasSubstr("for x' in 0..112 step 1               # 112 tiles\n"));
  EXPECT_THAT(text, HasSubstr("y' 4 (13 rows), x' 1 (7 columns)"));
}

TEST(LoopNest, LeftOverRowsOfAStrideAreNoTile) {
  const std::string shape = "Type: CONV Stride { X 2, Y 2 } Dimensions { K 1, C 1, R 3, S 3, Y 10, X 10 }";
  EXPECT_THAT(loops_of(shape, "TemporalMap(1,1) Y'; SpatialMap(1,1) X'; TemporalMap(3,3) R; TemporalMap(3,3) S;"),
              HasSubstr("for y' in 0..4 step 1                     # 4 tiles\n"));
}

TEST(LoopNest, FiltersShorterThanTheirStrideLeaveGaps) {
  const std::string shape = "Type: CONV Stride { X 2, Y 2 } Dimensions { K 1, C 1, R 1, S 1, Y 9, X 9 }";
  const std::string text = loops_of(shape,
                                    "SpatialMap(3,3) Y'; TemporalMap(1,1) R; TemporalMap(1,1) S; Cluster(2,P); "
                                    "SpatialMap(1,1) Y'; TemporalMap(1,1) R; TemporalMap(1,1) S;",
                                    8);
  EXPECT_THAT(text,
              HasSubstr("  parallel y' in 0..5 step 2                # 3 tiles, the last of 1, 3 of 4 units at work\n"));
  EXPECT_THAT(text, HasSubstr("  parallel y' in 0..2 step 1                # 2 tiles, 2 of 2 units at work\n"));
}

TEST(LoopNest, MatrixMultiply) {
  EXPECT_EQ(loops_of("Type: GEMM Dimensions { M 5, N 6, K 7 }", "SpatialMap(2,2) M; TemporalMap(3,3) N;", 2),
            "level 0: array of 2 processing elements, fed from L2\n"
            "  parallel m in 0..5 step 2                 # 3 tiles, the last of 1, 2 rounds of 2, the last of 1\n"
            "    for n in 0..6 step 3                    # 2 tiles\n"
            "  each processing element: m 2, n 3, k 7 = 42 MACs\n");
}

}  // namespace
}  // namespace tilewright
