#include "tilewright/workload/maestro_file.hpp"

#include "tilewright/workload/network.hpp"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

// A file with one layer whose blocks are `body`.
std::string file_of(const std::string& body) { return "Network net {\nLayer conv {\n" + body + "\n}\n}\n"; }

const std::string kType = "Type: CONV\n";
const std::string kDims = "Dimensions { K: 4, C: 3, R: 3, S: 3, Y: 8, X: 9 }\n";
const std::string kFlow = " Dataflow { SpatialMap(1,1) K; }\n";

std::string file_complaint(const std::string& text, FilterTiles rule = FilterTiles::Whole) {
  const Result<MaestroFile> file = parse_maestro(text, "f.m", rule);
  return file ? "nothing" : file.error().message;
}

MaestroFile parsed(const std::string& text, FilterTiles rule = FilterTiles::Whole) {
  const Result<MaestroFile> file = parse_maestro(text, "f.m", rule);
  EXPECT_TRUE(file) << file.error().message;
  return file ? *file : MaestroFile{};
}

TEST(ParseMaestro, ReadsALayerInFull) {
  const MaestroFile file = parsed(
      "// comment\n"
      "Constant TILE : 2;\n"
      "Network net {\n"
      "  Layer conv1 {\n"
      "    Type: CONV\n"
      "    Stride { X: 2, Y: 1 }\n"
      "    Dimensions { K: 64, C: 3, R: 3, S: 3, Y: 224, X: 224 }\n"
      "    Dataflow {\n"
      "      TemporalMap (TILE, 1) C; // half\n"
      "      SpatialMap(Sz(R),1) Y;\n"
      "      Cluster(Sz(S), L);\n"
      "      TemporalMap(3,3) R;\n"
      "    }\n"
      "  }\n"
      "}\n");
  EXPECT_EQ(file.network, "net");
  ASSERT_EQ(file.layers.size(), 1u);
  const MaestroLayer& layer = file.layers[0];
  EXPECT_EQ(layer.name, "conv1");
  EXPECT_EQ(layer.type, "CONV");
  EXPECT_EQ(layer.line, 4);
  EXPECT_EQ(layer.strides, (std::vector<std::pair<std::string, std::int32_t>>{{"X", 2}, {"Y", 1}}));
  EXPECT_EQ(layer.dims[4], (std::pair<std::string, std::int32_t>{"Y", 224}));
  ASSERT_EQ(layer.dataflow.size(), 4u);
  EXPECT_EQ(layer.dataflow[0].size, 2);
  EXPECT_EQ(layer.dataflow[0].line, 9);
  EXPECT_EQ(layer.dataflow[1].kind, MaestroDirective::Kind::Spatial);
  EXPECT_EQ(layer.dataflow[1].size, 3);
  EXPECT_EQ(layer.dataflow[2].kind, MaestroDirective::Kind::Cluster);
  EXPECT_EQ(layer.dataflow[2].dim, "L");
}

// What the real parser accepts, strange as some of it is.
TEST(ParseMaestro, AcceptsWhatTheRealParserAccepts) {
  EXPECT_EQ(file_complaint(""), "nothing");
  EXPECT_EQ(file_complaint("anything } { goes here"), "nothing");
  EXPECT_EQ(file_complaint("Network { }"), "nothing");
  EXPECT_EQ(file_complaint("Network many words { }"), "nothing");
  EXPECT_EQ(file_complaint(file_of(kType)), "nothing");
  EXPECT_EQ(file_complaint(file_of("Type: FC Type: CONV")), "nothing");
  EXPECT_EQ(file_complaint(file_of(kType + "Dimensions { K 4x, C +3 }")), "nothing");
  EXPECT_EQ(file_complaint(file_of(kType + "Dimensions { K->4; } Dimensions { C 3 }")), "nothing");
  EXPECT_EQ(file_complaint(file_of(kType + "Dataflow { TemporalMap(1,1) }; }")), "nothing");
  EXPECT_EQ(file_complaint(file_of(kType + "Dataflow { TemporalMap(2,1) R; } " + kDims), FilterTiles::Any), "nothing");
  EXPECT_EQ(file_complaint(file_of(kType + "Dataflow { TemporalMap(2,2) R; } " + kDims)), "nothing");
  EXPECT_EQ(file_complaint(file_of(kType + kDims + "Dataflow { SpatialMap(1,1) R; }")), "nothing");
}

TEST(ParseMaestro, RejectsWithALineAndAnExpectation) {
  EXPECT_EQ(file_complaint("Network n {\n"), "f.m:1: the file ends here, expected '}' of the Network block");
  EXPECT_EQ(file_complaint("Network n {\nLayre a { }\n}"),
            "f.m:2: found 'Layre' in a Network block, expected 'Layer' or '}'");
  EXPECT_EQ(
      file_complaint(file_of("Typo: CONV")),
      "f.m:3: found 'Typo' in a Layer block, expected Type, Stride, Dimensions, Dataflow or '}' (did you mean 'Type'?)");
  EXPECT_EQ(file_complaint(file_of("Type: CONF")),
            "f.m:3: layer type 'CONF', expected CONV, DSCONV, NGCONV, TRCONV or GEMM (did you mean 'CONV'?)");
  EXPECT_EQ(file_complaint(file_of("Type: POOL")),
            "f.m:4: the layer has no type, expected 'Type: CONV', DSCONV, NGCONV, TRCONV or GEMM");
  EXPECT_EQ(file_complaint(file_of(kType + kDims + "Stride { X 2 }")),
            "f.m:5: Stride stands after Dimensions, expected it before");
  EXPECT_EQ(file_complaint(file_of(kType + "Stride { X 0 }")), "f.m:4: stride of 'X' is '0', expected a positive number");
  EXPECT_EQ(file_complaint(file_of(kType + "Dimensions { K none }")),
            "f.m:4: size of 'K' is 'none', expected a positive number");
  EXPECT_EQ(file_complaint(file_of(kType + "Dimensions { K 3000000000 }")),
            "f.m:4: '3000000000' is too large, expected at most 2147483647");
  EXPECT_EQ(file_complaint(file_of(kType + "Dimensions {K 3 }")),
            "f.m:4: found '{K' (braces need blanks around them) after Dimensions, expected '{'");
  EXPECT_THAT(file_complaint("Network n {\r\n}\r\n"), HasSubstr("carriage return"));
  EXPECT_EQ(file_complaint(file_of(kType + kDims + "Dataflow { TemporalMap(Sz(Q),1) K; }")),
            "f.m:5: Sz of 'Q' asks for a dimension not given so far, expected one of K, C, R, S, Y, X");
  EXPECT_EQ(file_complaint(file_of(kType + kDims + "Dataflow { TemporalMap(0,1) K; }")),
            "f.m:5: size of the TemporalMap is '0', expected a positive number");
  EXPECT_EQ(file_complaint(file_of(kType + kDims + "Dataflow { Cluster(2,Q); }")),
            "f.m:5: cluster kind is 'Q', expected 'P' (physical) or 'L' (logical)");
  EXPECT_THAT(file_complaint("Accelerator { PE { NumPEs 3 } }"), HasSubstr("f.m:1: an Accelerator block cannot be closed"));
}

TEST(ParseMaestro, FilterTilesAreWholeInHeadOnly) {
  const std::string part = file_of(kType + kDims + "Dataflow { TemporalMap(1,1) R; }");
  const std::string sliding = file_of(kType + kDims + "Dataflow { TemporalMap(3,1) S; }");
  EXPECT_EQ(file_complaint(part), "f.m:5: temporal tile of R is 1, expected the whole filter, 3");
  EXPECT_EQ(file_complaint(sliding), "f.m:5: temporal tile of S has size 3 and offset 1, expected equal numbers");
  EXPECT_EQ(file_complaint(part, FilterTiles::Any), "nothing");
  EXPECT_EQ(file_complaint(sliding, FilterTiles::Any), "nothing");
}

TEST(ParseMaestro, NamesAreTheLastWordReadBeforeTheType) {
  EXPECT_EQ(parsed("Network a b { Layer c d { Type: CONV } }").layers[0].name, "d");
  EXPECT_EQ(parsed("Network a b { Layer c d { Type: CONV } }").network, "b");
  EXPECT_EQ(parsed("Network { Layer { Type: CONV } }").layers[0].name, "Layer");
  EXPECT_EQ(parsed(file_of(kDims + kType)).layers[0].name, "X");
  EXPECT_EQ(parsed(file_of("Type: CONV Type: GEMM")).layers[0].name, "Layer");
}

TEST(ParseMaestro, TheLastSizeOfARepeatedDimensionCountsForSz) {
  const MaestroFile file = parsed(file_of(kType + "Dimensions { K 4 K 6 } Dataflow { SpatialMap(Sz(K),1) K; }"));
  EXPECT_EQ(file.layers[0].dataflow[0].size, 6);
}

Result<Nest> nest(const std::string& text, std::size_t index = 0) {
  DimNames names;
  return nest_of(parsed(text), index, names);
}

TEST(NestOfMaestro, OutputsFollowFromInputs) {
  const Result<Nest> found = nest(file_of(kType + "Stride { X 2 } " + kDims + kFlow));
  ASSERT_TRUE(found);
  EXPECT_EQ((*found)[Dim::OutY], 6);
  EXPECT_EQ((*found)[Dim::OutX], 7);
  EXPECT_EQ(found->stride[static_cast<std::size_t>(Dim::X)], 2);
  EXPECT_EQ(found->stride[static_cast<std::size_t>(Dim::OutX)], 2);
  EXPECT_EQ(found->stride[static_cast<std::size_t>(Dim::Y)], 1);
  EXPECT_FALSE(found->batched);
}

TEST(NestOfMaestro, InputsFollowFromOutputsAndSwapTheirStrides) {
  const Result<Nest> found =
      nest(file_of(kType + "Stride { X' 2, Y' 3 } Dimensions { K 4, C 3, R 5, S 3, Y' 8, X' 9 }" + kFlow));
  ASSERT_TRUE(found);
  EXPECT_EQ((*found)[Dim::Y], 12);
  EXPECT_EQ((*found)[Dim::X], 11);
  EXPECT_EQ(found->stride[static_cast<std::size_t>(Dim::X)], 3);
  EXPECT_EQ(found->stride[static_cast<std::size_t>(Dim::Y)], 2);
}

TEST(NestOfMaestro, ARepeatedDimensionKeepsItsFirstSizeButDerivesFromItsLast) {
  const Result<Nest> found = nest(file_of(kType + kDims + "Dimensions { Y 20 }" + kFlow));
  ASSERT_TRUE(found);
  EXPECT_EQ((*found)[Dim::Y], 8);
  EXPECT_EQ((*found)[Dim::OutY], 18);
}

TEST(NestOfMaestro, TheFirstLayerOfATypeDecidesAboutTheBatch) {
  const std::string with = "Layer a { Type: TRCONV Dimensions { N 2 K 4, C 3, R 3, S 3, Y 8, X 9 } " + kFlow + "}\n";
  const std::string without = "Layer b { Type: CONV " + kDims + kFlow + "}\n";
  EXPECT_TRUE(nest("Network n { " + with + "}")->batched);
  EXPECT_FALSE(nest("Network n { " + without + with + "}", 1)->batched);
  const Result<Nest> missing = nest("Network n { " + with + without + "}", 1);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message,
            "f.m:3: layer 'b': CONV has no dimension N, expected it since the first layer of this type has it");
}

TEST(NestOfMaestro, RefusesWhatTheRealProgramCannotCompute) {
  const auto complaint = [](const std::string& dims) {
    const Result<Nest> found = nest(file_of(kType + "Dimensions { " + dims + " }" + kFlow));
    return found ? "nothing" : found.error().message;
  };
  EXPECT_EQ(complaint("K 4, C 3, R 3, Y 8, X 9"), "f.m:2: layer 'conv': CONV has no dimension S, expected it");
  EXPECT_EQ(complaint("K 4, C 3, R 3, S 3, X 9"), "f.m:2: layer 'conv': has no dimension Y, expected Y or Y'");
  EXPECT_EQ(complaint("K 4, C 3, R 3, S 3, Y 8, X' 9"),
            "f.m:2: layer 'conv': has only one of X' and Y', expected X and Y or X' and Y'");
  EXPECT_EQ(complaint("K 4, C 3, R 3, S 3, Y 8, X 9, Y' 6, X' 7"),
            "f.m:2: layer 'conv': has both X and X', expected one of them");
}

TEST(NestOfMaestro, UnknownNamesCountWhenADirectiveUsesThem) {
  DimNames names;
  const MaestroFile file =
      parsed(file_of(kType + "Dimensions { K 4, C 3, R 3, S 3, Y 8, X 9, idle 5, T 7 } Dataflow { SpatialMap(1,1) T; }"));
  const Result<Nest> found = nest_of(file, 0, names);
  ASSERT_TRUE(found);
  EXPECT_EQ((*found)[Dim::Other0], 7);
  EXPECT_EQ((*found)[Dim::Other1], 0);
  EXPECT_EQ(names.intern("T"), Dim::Other0);
}

TEST(DimNames, GivesEachNameItsOwnDimAndFourAtMost) {
  DimNames names;
  EXPECT_EQ(names.intern("Y'"), Dim::OutY);
  EXPECT_EQ(names.intern("other2"), Dim::Other2);
  EXPECT_EQ(names.intern("a"), Dim::Other0);
  EXPECT_EQ(names.intern("b"), Dim::Other1);
  EXPECT_EQ(names.intern("a"), Dim::Other0);
  EXPECT_EQ(names.intern("c"), Dim::Other3);
  EXPECT_EQ(names.intern("d"), std::nullopt);
}

TEST(NetworkFromMaestro, EveryTypeBecomesItsLayer) {
  const Result<Network> network = network_from_maestro(
      "Network net {\n"
      "Layer a { Type: CONV Stride { X 2, Y 2 } Dimensions { N 2, K 64, C 3, R 7, S 5, Y 230, X 229 } }\n"
      "Layer b { Type: DSCONV Dimensions { K 1, C 32, R 3, S 3, Y 10, X 12 } }\n"
      "Layer c { Type: NGCONV Dimensions { G 4, K 8, C 2, R 3, S 3, Y 10, X 12 } }\n"
      "Layer d { Type: TRCONV Dimensions { K 8, C 16, R 2, S 2, Y 28, X 28 } }\n"
      "Layer e { Type: GEMM Dimensions { M 5, N 6, K 7 } }\n"
      "Layer f { Type: CONV Stride { Y' 2 } Dimensions { K 1, C 1, R 3, S 3, Y' 4, X' 5 } Dataflow { TemporalMap(1,1) R; } "
      "}\n"
      "}\n",
      "models/net.m");
  ASSERT_TRUE(network) << network.error().message;
  ASSERT_EQ(network->layers.size(), 6u);
  EXPECT_EQ(network->name, "net");
  EXPECT_EQ(network->layers[0].layer, convolution("a", {.batch = 2,
                                                        .out_channels = 64,
                                                        .in_channels = 3,
                                                        .in_height = 230,
                                                        .in_width = 229,
                                                        .kernel_height = 7,
                                                        .kernel_width = 5,
                                                        .stride = 2}));
  EXPECT_EQ(network->layers[1].layer.op, Operator::Depthwise);
  EXPECT_EQ(macs(network->layers[1].layer), Macs{32 * 8 * 10 * 9});
  EXPECT_EQ(network->layers[2].layer.out_channels, 32);
  EXPECT_EQ(macs(network->layers[2].layer), Macs{4 * 8 * 2 * 8 * 10 * 9});
  EXPECT_EQ(network->layers[3].layer.op, Operator::TransposedConvolution);
  EXPECT_EQ(out_height(network->layers[3].layer), 56);
  EXPECT_EQ(network->layers[4].layer, matrix_multiply("e", {.rows = 5, .inner = 7, .columns = 6}));
  EXPECT_EQ(network->layers[5].layer.in_height, 9);
  EXPECT_EQ(out_height(network->layers[5].layer), 4);
  EXPECT_EQ(out_width(network->layers[5].layer), 5);
  EXPECT_EQ(network->layers[5].inputs, std::vector<std::size_t>{4});
}

TEST(NetworkFromMaestro, RefusesLayersWithoutAShape) {
  const auto complaint = [](const std::string& body) {
    const Result<Network> network = network_from_maestro(file_of(body), "f.m");
    return network ? "nothing" : network.error().message;
  };
  EXPECT_EQ(complaint("Type: GEMM Dimensions { M 5, K 7 }"), "f.m:2: layer 'conv': GEMM has no dimension 'N', expected it");
  EXPECT_EQ(complaint("Type: CONV Dimensions { K 4, C 3, R 3, S 3, Y 8, X 9, T 4 }"),
            "f.m:2: layer 'conv': CONV has no use for dimension 'T', expected it to be 1 or left out");
  EXPECT_EQ(complaint("Type: DSCONV Dimensions { K 4, C 3, R 3, S 3, Y 8, X 9 }"),
            "f.m:2: layer 'conv': K is 4, expected 1 or C, which is 3, for a DSCONV");
  EXPECT_THAT(complaint("Type: CONV Dimensions { K 4, C 3, R 9, S 3, Y 8, X 9 }"), HasSubstr("f.m:2: layer 'conv': "));
  EXPECT_EQ(network_from_maestro("", "f.m").error().message,
            "f.m: has no layers, expected a Network block with at least one");
}

}  // namespace
}  // namespace tilewright
