// Every operator that becomes a layer, with multiply-accumulates small enough to check by hand.
#include "onnx_builder.hpp"
#include "tilewright/workload/nest.hpp"
#include "tilewright/workload/network.hpp"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Network network_of(const ModelBuilder& model) {
  const Result<Network> network = network_from_onnx(model.bytes(), "net.onnx", {});
  EXPECT_TRUE(network) << network.error().message;
  return network ? *network : Network{};
}

Layer only_layer(const ModelBuilder& model) {
  const Network network = network_of(model);
  EXPECT_THAT(network.layers, SizeIs(1));
  return network.layers.empty() ? Layer{} : network.layers[0].layer;
}

OtherOperator only_other(const ModelBuilder& model) {
  const Network network = network_of(model);
  EXPECT_THAT(network.layers, IsEmpty());
  EXPECT_THAT(network.others, SizeIs(1));
  return network.others.empty() ? OtherOperator{} : network.others[0];
}

TEST(OnnxConv, HasStrideDilationPadAndGroups) {
  ModelBuilder model;
  model.input("x", {2, 8, 20, 30}).weight("w", {16, 4, 3, 5});
  model.node("Conv", {"x", "w"}, {"y"})
      .named("conv1")
      .with("strides", Ints{2, 3})
      .with("dilations", Ints{2, 1})
      .with("pads", Ints{1, 2, 3, 4})
      .with("group", 2);
  const Layer expected{.name = "conv1",
                       .op = Operator::Convolution,
                       .batch = 2,
                       .groups = 2,
                       .out_channels = 16,
                       .in_channels = 8,
                       .in_height = 20,
                       .in_width = 30,
                       .kernel_height = 3,
                       .kernel_width = 5,
                       .stride_height = 2,
                       .stride_width = 3,
                       .dilation_height = 2,
                       .dilation_width = 1,
                       .pad_top = 1,
                       .pad_bottom = 3,
                       .pad_left = 2,
                       .pad_right = 4};
  EXPECT_EQ(only_layer(model), expected);
  // Rows (20 + 4 - 5) / 2 + 1 = 10, columns (30 + 6 - 5) / 3 + 1 = 11; each result adds 4 * 3 * 5 products.
  EXPECT_EQ(macs(only_layer(model)).value, 2 * 16 * 10 * 11 * 4 * 3 * 5);
}

Layer same_padded(const char* auto_pad, std::int64_t stride) {
  ModelBuilder model;
  model.input("x", {1, 1, 5, 6}).weight("w", {1, 1, 2, 3});
  model.node("Conv", {"x", "w"}, {"y"}).with("auto_pad", auto_pad).with("strides", Ints{stride, stride});
  return only_layer(model);
}

TEST(OnnxConv, SamePaddingKeepsTheSizeAndPutsTheOddOneLastOrFirst) {
  EXPECT_EQ(out_height(same_padded("SAME_UPPER", 1)), 5);
  EXPECT_EQ(same_padded("SAME_UPPER", 1).pad_top, 0);
  EXPECT_EQ(same_padded("SAME_UPPER", 1).pad_bottom, 1);
  EXPECT_EQ(same_padded("SAME_LOWER", 1).pad_top, 1);
  EXPECT_EQ(same_padded("SAME_LOWER", 1).pad_bottom, 0);
  EXPECT_EQ(out_width(same_padded("SAME_UPPER", 2)), 3);  // 6 / 2
  EXPECT_EQ(same_padded("SAME_UPPER", 2).pad_left, 0);    // windows at 0, 2, 4 need columns 0 to 6: one beyond
  EXPECT_EQ(same_padded("SAME_UPPER", 2).pad_right, 1);
  EXPECT_EQ(out_height(same_padded("VALID", 1)), 4);
}

TEST(OnnxConv, GroupsEqualToChannelsAreDepthwise) {
  ModelBuilder model;
  model.input("x", {1, 6, 4, 4}).weight("w", {12, 1, 3, 3});
  model.node("Conv", {"x", "w"}, {"y"}).with("group", 6);
  EXPECT_EQ(only_layer(model).op, Operator::Depthwise);
  EXPECT_EQ(macs(only_layer(model)).value, 12 * 2 * 2 * 9);
}

TEST(OnnxConv, OneAxisIsTheWidth) {
  ModelBuilder model;
  model.input("x", {1, 2, 10}).weight("w", {3, 2, 4});
  model.node("Conv", {"x", "w"}, {"y"}).with("pads", Ints{1, 2});
  const Layer layer = only_layer(model);
  EXPECT_EQ(layer.in_height, 1);
  EXPECT_EQ(layer.in_width, 10);
  EXPECT_EQ(layer.pad_right, 2);
  EXPECT_EQ(macs(layer).value, 3 * 10 * 2 * 4);
}

TEST(OnnxConv, OfThreeAxesOneBecomesImagesAndChannels) {
  ModelBuilder model;
  model.input("x", {1, 2, 4, 5, 6}).weight("w", {3, 2, 2, 2, 2});
  model.node("Conv", {"x", "w"}, {"y"});
  const Layer layer = only_layer(model);
  EXPECT_EQ(layer, convolution("y", {.batch = 3,  // positions along the depth
                                     .out_channels = 3,
                                     .in_channels = 2 * 2,  // with a tap of the depth each
                                     .in_height = 5,
                                     .in_width = 6,
                                     .kernel_height = 2,
                                     .kernel_width = 2}));
  EXPECT_EQ(macs(layer).value, (3 * 4 * 5) * 3 * (2 * 8));
  EXPECT_EQ(tensor_sizes(layer).weight.value, 3 * 2 * 8);
  EXPECT_EQ(tensor_sizes(layer).output.value, 3 * 3 * 4 * 5);
}

TEST(OnnxConv, TheAxisThatIsFoldedIsTheOneWhoseWindowsOverlapLeast) {
  ModelBuilder model;  // a convolution in time, as (2+1)-D networks have them: nothing is read twice
  model.input("x", {2, 8, 6, 10, 12}).weight("w", {4, 8, 3, 1, 1});
  model.node("Conv", {"x", "w"}, {"y"}).with("pads", Ints{1, 0, 0, 1, 0, 0}).with("strides", Ints{1, 2, 1});
  const Layer layer = only_layer(model);
  EXPECT_EQ(layer.batch, 2 * 5);
  EXPECT_EQ(layer.in_channels, 8);
  EXPECT_EQ(layer.in_height, 6);
  EXPECT_EQ(layer.kernel_height, 3);
  EXPECT_EQ(layer.pad_top, 1);
  EXPECT_EQ(layer.in_width, 12);
  EXPECT_EQ(macs(layer).value, 2 * 4 * (6 * 5 * 12) * 8 * 3);
}

TEST(OnnxConv, GroupsOfThreeAxesStayGroups) {
  ModelBuilder model;
  model.input("x", {1, 6, 4, 4, 4}).weight("w", {6, 1, 3, 3, 3});
  model.node("Conv", {"x", "w"}, {"y"}).with("group", 6).with("pads", Ints(6, 1));
  const Layer layer = only_layer(model);
  EXPECT_EQ(layer.groups, 6);
  EXPECT_EQ(macs(layer).value, 6 * 64 * 27);
  EXPECT_EQ(macs(nest_of(layer).value()).value, 6 * 64 * 27);
}

TEST(OnnxConv, OfFourAxesTwoAreFolded) {
  ModelBuilder model;
  model.input("x", {1, 2, 3, 3, 5, 5}).weight("w", {4, 2, 2, 2, 3, 3});
  model.node("Conv", {"x", "w"}, {"y"});
  EXPECT_EQ(macs(only_layer(model)).value, 4 * (2 * 2 * 3 * 3) * 2 * (2 * 2 * 3 * 3));
}

TEST(OnnxConv, ThreeAxesThatCannotBeAreNamed) {
  ModelBuilder model;
  model.input("x", {1, 3, 1, 8, 8}).weight("w", {4, 3, 2, 3, 3});
  model.node("Conv", {"x", "w"}, {"y"}).with("strides", Ints{2, 1, 1});
  EXPECT_EQ(network_from_onnx(model.bytes(), "net.onnx", {}).error().message,
            "net.onnx: layer 'y': the kernel of 2 does not fit an input of 1 with its padding");
  ModelBuilder uneven;
  uneven.input("x", {1, 3, 4, 4, 4}).weight("w", {4, 1, 2, 2, 2});
  uneven.node("Conv", {"x", "w"}, {"y"}).with("group", 3);
  EXPECT_EQ(network_from_onnx(uneven.bytes(), "net.onnx", {}).error().message,
            "net.onnx: layer 'y': output channels is 4, expected a multiple of groups, which is 3");
}

TEST(OnnxConvTranspose, OfOneAndThreeAxesMultipliesEveryInputWithEveryWeight) {
  ModelBuilder one;
  one.input("x", {2, 4, 9}).weight("w", {4, 3, 5});
  one.node("ConvTranspose", {"x", "w"}, {"y"}).with("strides", Ints{3});
  EXPECT_EQ(macs(only_layer(one)).value, 2 * 4 * 9 * 3 * 5);

  ModelBuilder three;
  three.input("x", {2, 4, 5, 6, 7}).weight("w", {4, 3, 2, 4, 3});
  three.node("ConvTranspose", {"x", "w"}, {"y"}).with("strides", Ints{2, 2, 1});
  const Layer layer = only_layer(three);
  EXPECT_EQ(layer.op, Operator::TransposedConvolution);
  EXPECT_EQ(layer.batch, 2 * 5);         // stride and kernel of the depth are 2, so it does not overlap
  EXPECT_EQ(layer.out_channels, 3 * 2);  // and the results are exactly those of the operator
  EXPECT_EQ(tensor_sizes(layer).output.value, 2 * 3 * 10 * 14 * 9);
  EXPECT_EQ(macs(layer).value, 2 * (5 * 6 * 7) * 4 * 3 * (2 * 4 * 3));
  EXPECT_EQ(macs(nest_of(layer).value()), macs(layer));
}

TEST(OnnxConv, QuantisedRelativesHaveTheSameShape) {
  for (const bool is_linear : {false, true}) {
    ModelBuilder model;
    model.input("x", {1, 3, 8, 8}).weight("w", {4, 3, 3, 3}).weight("s", {}).weight("z", {});
    if (is_linear) {
      model.node("QLinearConv", {"x", "s", "z", "w", "s", "z", "s", "z"}, {"y"});
    } else {
      model.node("ConvInteger", {"x", "w", "z", "z"}, {"y"});
    }
    EXPECT_EQ(macs(only_layer(model)).value, 4 * 6 * 6 * 3 * 9);
  }
}

TEST(OnnxConv, FusedWithAnActivationIsAConv) {
  ModelBuilder model;
  model.input("x", {1, 3, 8, 8}).weight("w", {4, 3, 3, 3});
  model.node("FusedConv", {"x", "w"}, {"y"}).in_domain("com.microsoft").with("activation", "Relu");
  EXPECT_EQ(macs(only_layer(model)).value, 4 * 6 * 6 * 3 * 9);
}

TEST(OnnxConvTranspose, GrowsByStrideAndOutputPadding) {
  ModelBuilder model;
  model.input("x", {1, 4, 5, 6}).weight("w", {4, 3, 3, 3});
  model.node("ConvTranspose", {"x", "w"}, {"y"})
      .with("strides", Ints{2, 2})
      .with("pads", Ints{1, 1, 1, 1})
      .with("output_padding", Ints{1, 0});
  const Layer layer = only_layer(model);
  EXPECT_EQ(layer.op, Operator::TransposedConvolution);
  EXPECT_EQ(out_height(layer), 10);  // (5 - 1) * 2 + 3 - 2 + 1
  EXPECT_EQ(out_width(layer), 11);   // (6 - 1) * 2 + 3 - 2
  EXPECT_EQ(layer.out_channels, 3);
  EXPECT_EQ(macs(layer).value, 4 * 5 * 6 * 3 * 9);  // every input element meets every weight of its channel
}

TEST(OnnxConvTranspose, OutputShapeDecidesThePadding) {
  ModelBuilder model;
  model.input("x", {1, 4, 5, 6}).weight("w", {4, 3, 3, 3});
  model.node("ConvTranspose", {"x", "w"}, {"y"}).with("strides", Ints{2, 2}).with("output_shape", Ints{9, 12});
  const Layer layer = only_layer(model);
  EXPECT_EQ(out_height(layer), 9);
  EXPECT_EQ(out_width(layer), 12);
  EXPECT_EQ(layer.pad_top + layer.pad_bottom, 2);  // the windows cover 11 rows
}

TEST(OnnxGemm, ConstantRightSideIsFullyConnected) {
  for (const bool is_transposed : {false, true}) {
    ModelBuilder model;
    model.input("x", {7, 20}).weight("w", is_transposed ? Ints{30, 20} : Ints{20, 30}).weight("b", {30});
    model.node("Gemm", {"x", "w", "b"}, {"y"}).with("transB", is_transposed ? 1 : 0);
    EXPECT_EQ(only_layer(model), fully_connected("y", 7, 20, 30));
  }
}

TEST(OnnxGemm, TurnsTheLeftSideToo) {
  ModelBuilder model;
  model.input("x", {20, 7}).input("w", {20, 30});
  model.node("Gemm", {"x", "w"}, {"y"}).with("transA", 1);
  EXPECT_EQ(only_layer(model), matrix_multiply("y", {.batch = 1, .rows = 7, .inner = 20, .columns = 30}));
}

Layer product_of(const std::vector<Dimension>& left, const std::vector<Dimension>& right) {
  ModelBuilder model;
  model.input("a", left).input("b", right);
  model.node("MatMul", {"a", "b"}, {"y"});
  return only_layer(model);
}

TEST(OnnxMatMul, BatchesBroadcast) {
  EXPECT_EQ(product_of({2, 3, 4, 5}, {2, 3, 5, 6}), matrix_multiply("y", {.batch = 6, .rows = 4, .inner = 5, .columns = 6}));
  EXPECT_EQ(product_of({2, 1, 4, 5}, {3, 5, 6}), matrix_multiply("y", {.batch = 6, .rows = 4, .inner = 5, .columns = 6}));
}

TEST(OnnxMatMul, OneRightSideForAllBatchesIsOneProduct) {
  EXPECT_EQ(product_of({2, 3, 4, 5}, {5, 6}), matrix_multiply("y", {.batch = 1, .rows = 24, .inner = 5, .columns = 6}));
}

TEST(OnnxMatMul, VectorsAreARowOrAColumn) {
  EXPECT_EQ(macs(product_of({5}, {5, 6})).value, 30);
  EXPECT_EQ(macs(product_of({4, 5}, {5})).value, 20);
  EXPECT_EQ(macs(product_of({5}, {5})).value, 5);
  EXPECT_EQ(macs(product_of({5}, {3, 5, 6})).value, 90);
}

TEST(OnnxMatMul, AWeightThatIsComputedFromConstantsIsAWeight) {
  ModelBuilder model;
  model.input("x", {3, 5}).weight("w", {6, 5});
  model.node("Transpose", {"w"}, {"t"}).with("perm", Ints{1, 0});
  model.node("MatMul", {"x", "t"}, {"y"});
  EXPECT_EQ(only_layer(model), fully_connected("y", 3, 5, 6));
}

TEST(OnnxMatMul, QuantisedAndFusedRelativesMultiplyTheSame) {
  const Layer expected = matrix_multiply("y", {.batch = 2, .rows = 3, .inner = 4, .columns = 5});
  {
    ModelBuilder model;
    model.input("a", {2, 3, 4}).input("b", {2, 4, 5});
    model.node("MatMulInteger", {"a", "b"}, {"y"});
    EXPECT_EQ(only_layer(model), expected);
  }
  {
    ModelBuilder model;
    model.input("a", {2, 3, 4}).input("b", {2, 4, 5}).weight("s", {}).weight("z", {});
    model.node("QLinearMatMul", {"a", "s", "z", "b", "s", "z", "s", "z"}, {"y"});
    EXPECT_EQ(only_layer(model), expected);
  }
  {
    ModelBuilder model;
    model.input("a", {2, 4, 3}).input("b", {2, 5, 4});
    model.node("FusedMatMul", {"a", "b"}, {"y"}).in_domain("com.microsoft").with("transA", 1).with("transB", 1);
    EXPECT_EQ(only_layer(model), expected);
  }
  {
    ModelBuilder model;
    model.input("a", {6, 4}).weight("w", {5, 1, 2}).weight("s", {5});
    model.node("MatMulNBits", {"a", "w", "s"}, {"y"}).in_domain("com.microsoft").with("K", 4).with("N", 5);
    EXPECT_EQ(only_layer(model), fully_connected("y", 6, 4, 5));
  }
}

Layer einsum(const char* equation, const std::vector<Dimension>& left, const std::vector<Dimension>& right) {
  ModelBuilder model;
  model.input("a", left).input("b", right);
  model.node("Einsum", {"a", "b"}, {"y"}).with("equation", equation);
  return only_layer(model);
}

TEST(OnnxEinsum, IsABatchedProduct) {
  const Layer expected = matrix_multiply("y", {.batch = 6, .rows = 4, .inner = 5, .columns = 7});
  EXPECT_EQ(einsum("bhqd,bhkd->bhqk", {2, 3, 4, 5}, {2, 3, 7, 5}), expected);
  EXPECT_EQ(einsum("...qd,...dk->...qk", {2, 3, 4, 5}, {2, 3, 5, 7}), expected);
  EXPECT_EQ(einsum(" i j , j k ", {4, 5}, {5, 7}), matrix_multiply("y", {.batch = 1, .rows = 4, .inner = 5, .columns = 7}));
}

TEST(OnnxEinsum, WithoutAnInnerLetterIsListed) {
  ModelBuilder model;
  model.input("a", {4, 5}).input("b", {4, 5});
  model.node("Einsum", {"a", "b"}, {"y"}).with("equation", "ij,ij->ij");
  EXPECT_EQ(only_other(model).name, "Einsum");
  EXPECT_EQ(only_other(model).operations, 20);
}

TEST(OnnxAttention, IsItsProducts) {
  ModelBuilder model;
  model.input("x", {2, 10, 12}).weight("w", {12, 36}).weight("b", {36});
  model.node("Attention", {"x", "w", "b"}, {"y"}).in_domain("com.microsoft").named("att").with("num_heads", 3);
  const Network network = network_of(model);
  ASSERT_THAT(network.layers, SizeIs(3));
  EXPECT_EQ(network.layers[0].layer, matrix_multiply("att/qkv", {.batch = 1, .rows = 20, .inner = 12, .columns = 36}));
  EXPECT_EQ(network.layers[1].layer, matrix_multiply("att/scores", {.batch = 6, .rows = 10, .inner = 4, .columns = 10}));
  EXPECT_EQ(network.layers[2].layer, matrix_multiply("att/context", {.batch = 6, .rows = 10, .inner = 10, .columns = 4}));
  EXPECT_THAT(network.layers[1].inputs, ElementsAre(0));
  EXPECT_THAT(network.layers[2].inputs, ElementsAre(0, 1));
}

TEST(OnnxAttention, SharedKeysAndAPastAreCounted) {
  ModelBuilder model(22);
  model.input("q", {1, 5, 32}).input("k", {1, 5, 16}).input("v", {1, 5, 16}).input("past", {1, 2, 3, 8});
  model.node("GroupQueryAttention", {"q", "k", "v", "past", "past"}, {"y"})
      .in_domain("com.microsoft")
      .with("num_heads", 4)
      .with("kv_num_heads", 2);
  const Network network = network_of(model);
  ASSERT_THAT(network.layers, SizeIs(2));
  EXPECT_EQ(network.layers[0].layer, matrix_multiply("y/scores", {.batch = 4, .rows = 5, .inner = 8, .columns = 8}));
}

TEST(OnnxAttention, OfOperatorSet23AndOfMultiHeadAttentionAgree) {
  ModelBuilder standard(23);
  standard.input("q", {1, 4, 5, 8}).input("k", {1, 4, 7, 8}).input("v", {1, 4, 7, 6});
  standard.node("Attention", {"q", "k", "v"}, {"y"});
  ModelBuilder fused;
  fused.input("q", {1, 5, 32}).input("k", {1, 7, 32}).input("v", {1, 7, 24});
  fused.node("MultiHeadAttention", {"q", "k", "v"}, {"y"}).in_domain("com.microsoft").with("num_heads", 4);
  EXPECT_EQ(network_of(standard).layers, network_of(fused).layers);
  EXPECT_EQ(macs(network_of(fused)).value, 4 * 5 * 7 * 8 + 4 * 5 * 7 * 6);
}

struct Cost {
  const char* op;
  std::int64_t operations;
};

TEST(OnnxOthers, ElementwiseCountsItsResults) {
  for (const Cost& cost : {Cost{"Relu", 24}, Cost{"Sigmoid", 24}, Cost{"Softmax", 5 * 24}, Cost{"Identity", 0},
                           Cost{"ReduceMean", 24}, Cost{"ReduceL2", 48}, Cost{"GlobalAveragePool", 24}, Cost{"Shape", 0}}) {
    ModelBuilder model;
    model.input("x", {1, 2, 3, 4});
    model.node(cost.op, {"x"}, {"y"});
    const OtherOperator other = only_other(model);
    EXPECT_EQ(other.operations, cost.operations) << cost.op;
    EXPECT_TRUE(other.operations_known) << cost.op;
  }
}

TEST(OnnxOthers, BroadcastCountsTheLargerShape) {
  ModelBuilder model;
  model.input("a", {2, 3}).input("b", {4, 1, 1});
  model.node("Add", {"a", "b"}, {"y"});
  EXPECT_EQ(only_other(model).operations, 4 * 2 * 3);
}

TEST(OnnxOthers, PoolsCountTheirKernels) {
  ModelBuilder model;
  model.input("x", {1, 2, 7, 7});
  model.node("MaxPool", {"x"}, {"y"}).with("kernel_shape", Ints{3, 3}).with("strides", Ints{2, 2}).with("ceil_mode", 1);
  EXPECT_EQ(only_other(model).operations, 2 * 3 * 3 * 9);
}

TEST(OnnxOthers, ADeformableConvolutionIsLeftOutWithItsWork) {
  ModelBuilder model;
  model.input("x", {1, 3, 8, 8}).input("offsets", {1, 18, 6, 6}).weight("w", {4, 3, 3, 3});
  model.node("DeformConv", {"x", "w", "offsets"}, {"y"});
  const OtherOperator other = only_other(model);
  EXPECT_EQ(other.macs, 4 * 6 * 6 * 3 * 9);
  EXPECT_EQ(other.operations, 2 * 4 * 6 * 6 * 3 * 9);
}

TEST(OnnxOthers, WhatMultipliesIsToldFromWhatDoesNot) {
  ModelBuilder model;
  model.input("x", {2, 3}).input("y", {3, 4}).input("z", {4, 5});
  model.node("Relu", {"x"}, {"relu"});
  model.node("Magic", {"x"}, {"magic"}).in_domain("some.where");
  model.node("TopK", {"x"}, {"top", "indices"});
  model.node("Einsum", {"x", "y", "z"}, {"sum"}).with("equation", "ab,bc,cd->ad");
  model.node("Conv", {"magic", "magic"}, {"conv"});
  const Network network = network_of(model);
  ASSERT_EQ(network.others.size(), 5);
  EXPECT_EQ(network.others[0].macs, 0);
  EXPECT_EQ(network.others[1].macs, std::nullopt);
  EXPECT_EQ(network.others[2].macs, 0);
  EXPECT_EQ(network.others[3].macs, 2 * (2 * 3 * 4 * 5));
  EXPECT_EQ(network.others[4].name, "Conv (shape unknown)");
  EXPECT_EQ(network.others[4].macs, std::nullopt);
}

struct RecurrentCase {
  const char* op;
  std::int64_t gates, directions, layout;
};

// Every step multiplies every image's input and state with all weights of every direction.
TEST(OnnxRecurrent, IsItsProducts) {
  constexpr std::int64_t kSteps = 5, kBatch = 2, kIn = 3, kHidden = 4;
  for (const auto& [op, gates, directions, layout] : {RecurrentCase{"LSTM", 4, 1, 0}, RecurrentCase{"LSTM", 4, 2, 1},
                                                      RecurrentCase{"RNN", 1, 2, 0}, RecurrentCase{"GRU", 3, 1, 1}}) {
    ModelBuilder model;
    model.input("x",
                layout == 0 ? std::vector<Dimension>{kSteps, kBatch, kIn} : std::vector<Dimension>{kBatch, kSteps, kIn});
    model.weight("w", {directions, gates * kHidden, kIn}).weight("r", {directions, gates * kHidden, kHidden});
    model.node(op, {"x", "w", "r"}, {"y", "y_h"})
        .named("rnn")
        .with("hidden_size", kHidden)
        .with("layout", layout)
        .with("direction", directions == 2 ? "bidirectional" : "forward")
        .with("linear_before_reset", 1);
    model.weight("fc", {kHidden, 7}).node("MatMul", {"y_h", "fc"}, {"p"});
    const Network network = network_of(model);
    ASSERT_EQ(network.layers.size(), 3) << op;
    EXPECT_TRUE(network.others.empty());
    EXPECT_EQ(network.layers[0].layer, fully_connected("rnn/input", kSteps * kBatch, kIn, gates * kHidden));
    EXPECT_EQ(network.layers[0].count, directions);
    EXPECT_EQ(network.layers[1].layer, fully_connected("rnn/recurrent", kBatch, kHidden, gates * kHidden));
    EXPECT_EQ(network.layers[1].count, directions * kSteps);
    EXPECT_EQ(network.layers[1].inputs, std::vector<std::size_t>{0});
    EXPECT_EQ(macs(network).value,
              directions * kSteps * kBatch * gates * kHidden * (kIn + kHidden) + directions * kBatch * kHidden * 7);
  }
}

TEST(OnnxRecurrent, AGruThatResetsFirstMultipliesItsCandidateAfterItsGates) {
  ModelBuilder model;
  model.input("x", {5, 2, 3}).weight("w", {1, 12, 3}).weight("r", {1, 12, 4});
  model.node("GRU", {"x", "w", "r"}, {"y"}).with("hidden_size", 4);
  const Network network = network_of(model);
  ASSERT_EQ(network.layers.size(), 3);
  EXPECT_EQ(network.layers[1].layer, fully_connected("y/recurrent", 2, 4, 8));
  EXPECT_EQ(network.layers[2].layer, fully_connected("y/candidate", 2, 4, 4));
  EXPECT_EQ(macs(network).value, 5 * 2 * 12 * (3 + 4));
}

TEST(OnnxRecurrent, AStateThatIsComputedReachesTheRecurrentProduct) {
  ModelBuilder model;
  model.input("s", {1, 6}).weight("v", {6, 4}).list("shape", {1, 1, 4}).input("x", {5, 1, 3});
  model.weight("w", {1, 16, 3}).weight("r", {1, 16, 4});
  model.node("MatMul", {"s", "v"}, {"h"});
  model.node("Reshape", {"h", "shape"}, {"h0"});
  model.node("LSTM", {"x", "w", "r", "", "", "h0"}, {"y"});
  EXPECT_EQ(network_of(model).layers[2].inputs, (std::vector<std::size_t>{0, 1}));
}

TEST(OnnxRecurrent, OfAnUnknownLengthIsListedAndOfAWrongWeightRefused) {
  ModelBuilder model;
  model.input("x", {5, 2, 3}).weight("w", {1, 16, 3}).weight("r", {1, 16, 4});
  model.node("Magic", {"x"}, {"m"}).in_domain("some.where");
  model.node("LSTM", {"m", "w", "r"}, {"y"});
  const Network network = network_of(model);
  ASSERT_EQ(network.others.size(), 2);
  EXPECT_EQ(network.others[1].name, "LSTM (shape unknown)");
  EXPECT_EQ(network.others[1].macs, std::nullopt);

  ModelBuilder wrong;
  wrong.input("x", {5, 2, 9}).weight("w", {1, 16, 3}).weight("r", {1, 16, 4});
  wrong.node("LSTM", {"x", "w", "r"}, {"y"});
  EXPECT_EQ(network_from_onnx(wrong.bytes(), "net.onnx", {}).error().message,
            "net.onnx: layer 'y': the left side has 9 columns, but the right side 3 rows");
}

}  // namespace
}  // namespace tilewright
