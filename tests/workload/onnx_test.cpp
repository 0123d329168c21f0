// Whole models: operator sets, open dimensions, exporters' habits, nested graphs, and files that are no models.
#include <cstdlib>
#include <filesystem>

#include "../scratch.hpp"
#include "onnx_builder.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/workload/network.hpp"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

Network read(const ModelBuilder& model, std::int64_t batch = 1) {
  const Result<Network> network = network_from_onnx(model.bytes(), "dir/net.onnx", {.batch = batch});
  EXPECT_TRUE(network) << network.error().message;
  return network ? *network : Network{};
}

std::string complaint(const std::string& bytes, std::int64_t batch = 1) {
  const Result<Network> network = network_from_onnx(bytes, "net.onnx", {.batch = batch});
  return network ? "nothing" : network.error().message;
}

const OtherOperator* find_other(const Network& network, const std::string& name) {
  for (const OtherOperator& other : network.others) {
    if (other.name == name) return &other;
  }
  return nullptr;
}

std::vector<std::string> names(const Network& network) {
  std::vector<std::string> result;
  for (const NetworkLayer& entry : network.layers) result.push_back(entry.layer.name);
  return result;
}

ModelBuilder one_conv(const std::vector<Dimension>& input) {
  ModelBuilder model;
  model.input("x", input).weight("w", {4, 3, 3, 3});
  model.node("Conv", {"x", "w"}, {"y"}).named("conv1");
  return model;
}
constexpr std::int64_t kOneConvMacs = 4 * 6 * 6 * 3 * 9;  // for an 8 x 8 image

// The same network as exporters wrote it over the years: lists moved from attributes to inputs.
ModelBuilder of_opset(std::int64_t opset) {
  ModelBuilder model(opset);
  model.input("x", {"N", 3, 8, 8}).weight("w", {4, 3, 3, 3}).weight("fc.w", {10, 4}).weight("fc.b", {10});
  model.node("Conv", {"x", "w"}, {"c"}).named("conv").with("pads", Ints{1, 1, 1, 1});
  if (opset < 11) {
    model.node("Clip", {"c"}, {"r"});
  } else {
    model.weight("low", {}).node("Clip", {"c", "low"}, {"r"});
  }
  model.node("Dropout", {"r"}, {"d"});
  if (opset < 18) {
    model.node("ReduceMean", {"d"}, {"m"}).with("axes", Ints{2, 3});
  } else {
    model.list("axes", {2, 3}).node("ReduceMean", {"d", "axes"}, {"m"});
  }
  if (opset < 13) {
    model.node("Squeeze", {"m"}, {"s"}).with("axes", Ints{2, 3});
  } else {
    model.list("squeezed", {-1, -2}).node("Squeeze", {"m", "squeezed"}, {"s"});
  }
  model.node("Gemm", {"s", "fc.w", "fc.b"}, {"y"}).named("fc").with("transB", 1);
  return model;
}

TEST(OnnxOpsets, SevenToTwentyTwoGiveTheSameLayers) {
  const Network oldest = read(of_opset(7));
  EXPECT_EQ(macs(oldest).value, 4 * 8 * 8 * 27 + 4 * 10);
  EXPECT_EQ(oldest.layers[1].layer, fully_connected("fc", 1, 4, 10));
  for (const std::int64_t opset : {9, 11, 13, 17, 18, 20, 22})
    EXPECT_EQ(read(of_opset(opset)).layers, oldest.layers) << opset;
}

TEST(OnnxBatch, OpenFirstDimensionIsTheOptionsBatch) {
  EXPECT_EQ(macs(read(one_conv({"batch", 3, 8, 8}))).value, kOneConvMacs);
  EXPECT_EQ(macs(read(one_conv({"batch", 3, 8, 8}), 5)).value, 5 * kOneConvMacs);
  EXPECT_EQ(macs(read(one_conv({"", 3, 8, 8}), 5)).value, 5 * kOneConvMacs);
  EXPECT_EQ(macs(read(one_conv({-1, 3, 8, 8}), 5)).value, 5 * kOneConvMacs);
}

TEST(OnnxBatch, AFixedBatchStays) { EXPECT_EQ(macs(read(one_conv({2, 3, 8, 8}), 5)).value, 2 * kOneConvMacs); }

TEST(OnnxBatch, ItsNameMeansTheSameEverywhere) {
  ModelBuilder model;
  model.input("x", {"N", 5}).input("y", {7, "N"}).input("z", {"N", 3});
  model.node("MatMul", {"y", "z"}, {"p"});
  EXPECT_EQ(read(model, 4).layers[0].layer, matrix_multiply("p", {.batch = 1, .rows = 7, .inner = 4, .columns = 3}));
}

TEST(OnnxBatch, BelowOneIsRefused) {
  EXPECT_EQ(complaint(one_conv({"N", 3, 8, 8}).bytes(), 0), "net.onnx: batch is 0, expected at least 1");
}

TEST(OnnxDims, AnotherOpenDimensionIsNamed) {
  EXPECT_EQ(complaint(one_conv({1, 3, "height", 8}).bytes()),
            "net.onnx: input 'x': dimension 2 is 'height', expected a number because layer 'conv1' depends on it; give "
            "--dim height=N");
  EXPECT_THAT(complaint(one_conv({1, 3, 8, -1}).bytes()), HasSubstr("input 'x': dimension 3 is -1, expected a number"));
  EXPECT_THAT(complaint(one_conv({1, 3, 8, ""}).bytes()), HasSubstr("input 'x': dimension 3 is open, expected a number"));
  EXPECT_THAT(complaint(one_conv({1, 3, 8, ""}).bytes()), HasSubstr("; give --dim x.3=N"));
  EXPECT_THAT(complaint(one_conv({1, 3, "h", "w"}).bytes()), HasSubstr("; give --dim h=N --dim w=N"));
  EXPECT_THAT(complaint(one_conv({1, 3, "s", "s"}).bytes()), testing::EndsWith("; give --dim s=N"));
}

Result<Network> with_dims(const ModelBuilder& model, const std::vector<std::string>& dims) {
  const Result<ReadOptions> options = read_options(1, dims);
  return options ? network_from_onnx(model.bytes(), "net.onnx", *options) : options.error();
}

TEST(OnnxDims, AreGivenByNameOrByInputAndAxis) {
  EXPECT_EQ(macs(with_dims(one_conv({"batch", 3, "height", ""}), {"height=8", "x.3=8"}).value()).value, kOneConvMacs);
  EXPECT_EQ(macs(with_dims(one_conv({"batch", 3, 8, 8}), {"batch=4"}).value()).value, 4 * kOneConvMacs);
  EXPECT_EQ(macs(with_dims(one_conv({1, 3, "a = b", 8}), {"a = b=8"}).value()).value, kOneConvMacs);
}

TEST(OnnxDims, ThatTheModelDoesNotHaveAreRefused) {
  const ModelBuilder model = one_conv({"batch", 3, "height", 8});
  EXPECT_EQ(with_dims(model, {"heigth=8"}).error().message,
            "net.onnx: has no open dimension 'heigth' (did you mean 'height'?)");
  EXPECT_EQ(with_dims(model, {"z=8"}).error().message, "net.onnx: has no open dimension 'z', expected one of batch, height");
  EXPECT_EQ(with_dims(one_conv({1, 3, 8, 8}), {"z=8"}).error().message, "net.onnx: has no open dimension 'z': it has none");
  EXPECT_EQ(with_dims(model, {"height"}).error().message, "--dim is 'height', expected NAME=NUMBER");
  EXPECT_EQ(with_dims(model, {"=3"}).error().message, "--dim is '=3', expected NAME=NUMBER");
  EXPECT_EQ(with_dims(model, {"height=0"}).error().message, "--dim height is 0, expected 1 to 2147483647");
  EXPECT_EQ(with_dims(model, {"height=1", "height=2"}).error().message, "--dim height is given twice, expected once");
}

// A folder for a model and the data beside it.
class OnnxExternal : public testing::Test {
 protected:
  // A product whose shape hangs on the content of a list in another file.
  ModelBuilder reshaped(const std::string& location, std::int64_t offset = 16) {
    ModelBuilder model;
    model.input("x", {1, 24}).list("shape", {4, 6}).weight("w", {6, 5});
    onnx::TensorProto& shape = *model.proto().mutable_initializer(0);
    shape.clear_raw_data();
    shape.set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] : {std::pair("location", location), std::pair("offset", std::to_string(offset)),
                                     std::pair("length", std::string("16"))}) {
      auto& entry = *shape.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    }
    model.node("Reshape", {"x", "shape"}, {"r"});
    model.node("MatMul", {"r", "w"}, {"y"});
    return model;
  }

  Result<Network> read_beside(const ModelBuilder& model) {
    return network_from_onnx(model.bytes(), "net.onnx", {.data_folder = folder_.path()});
  }

  const Scratch folder_;
  const Ints content_{0, 0, 4, 6};
  const std::string bytes_{reinterpret_cast<const char*>(content_.data()), 32};
};

TEST_F(OnnxExternal, ContentBesideTheModelIsRead) {
  ASSERT_TRUE(write_file(folder_ / "data.bin", bytes_));
  const Result<Network> network = read_beside(reshaped("data.bin"));
  ASSERT_TRUE(network) << network.error().message;
  EXPECT_EQ(network->layers[0].layer, fully_connected("y", 4, 6, 5));
}

TEST_F(OnnxExternal, WhatALayerNeedsAndIsNotThereIsNamed) {
  EXPECT_EQ(
      read_beside(reshaped("data.bin")).error().message,
      "net.onnx: weight 'shape' lies in 'data.bin', expected that file beside the model because layer 'y' depends on it");
  ASSERT_TRUE(write_file(folder_ / "data.bin", bytes_.substr(0, 24)));
  EXPECT_EQ(read_beside(reshaped("data.bin")).error().message,
            "net.onnx: weight 'shape' begins at byte 16 of 'data.bin' and takes 16, but the file has 24 because layer 'y' "
            "depends on it");
}

TEST_F(OnnxExternal, NothingOutsideTheFolderIsOpened) {
  for (const char* location : {"../data.bin", "/etc/passwd", "a/../../b", ""}) {
    EXPECT_EQ(read_beside(reshaped(location)).error().message,
              "net.onnx: weight 'shape' lies in '" + std::string(location) + "', expected a file beside the model");
  }
  EXPECT_EQ(read_beside(reshaped("data.bin", -1)).error().message,
            "net.onnx: weight 'shape': the offset of its external data is '-1', expected a number of bytes");
}

TEST_F(OnnxExternal, JoinedModelsEachGetTheirOwnDimensions) {
  const auto write = [&](const char* name, const char* dim) {
    return write_file(folder_ / name, one_conv({1, 3, dim, 8}).bytes());
  };
  ASSERT_TRUE(write("a.onnx", "height") && write("b.onnx", "rows"));
  const std::string both = (folder_ / "a.onnx").string() + "+" + (folder_ / "b.onnx").string();
  const Result<Network> network = read_network(both, read_options(1, {"height=8", "rows=8"}).value());
  ASSERT_TRUE(network) << network.error().message;
  EXPECT_EQ(macs(*network).value, 2 * kOneConvMacs);
  EXPECT_THAT(read_network(both, read_options(1, {"row=8"}).value()).error().message, HasSubstr("did you mean 'rows'?"));
}

TEST(OnnxDims, AnOpenDimensionThatNoLayerNeedsIsFine) {
  ModelBuilder model = one_conv({1, 3, 8, 8});
  model.input("mask", {1, "sequence"});
  model.node("Relu", {"mask"}, {"relu"});
  const Network network = read(model);
  EXPECT_EQ(macs(network).value, kOneConvMacs);
  EXPECT_FALSE(find_other(network, "Relu")->operations_known);
  EXPECT_EQ(find_other(network, "Relu")->operations, 0);
}

TEST(OnnxDims, AMissingShapeIsNamed) {
  ModelBuilder model = one_conv({1, 3, 8, 8});
  model.proto().mutable_input(0)->clear_type();
  EXPECT_THAT(complaint(model.bytes()), HasSubstr("input 'x': the shape is missing"));
}

TEST(OnnxWeights, ListedAsInputsTooAreStillWeights) {
  ModelBuilder model;
  model.input("x", {"N", 20}).input("w", {20, 30}).weight("w", {20, 30});
  model.node("Gemm", {"x", "w"}, {"y"});
  EXPECT_EQ(read(model, 3).layers[0].layer, fully_connected("y", 3, 20, 30));
}

TEST(OnnxWeights, InAnotherFileThatIsAbsentHaveTheirShape) {
  ModelBuilder model = one_conv({1, 3, 8, 8});
  onnx::TensorProto& weight = *model.proto().mutable_initializer(0);
  weight.set_data_location(onnx::TensorProto::EXTERNAL);
  auto& location = *weight.add_external_data();
  location.set_key("location");
  location.set_value("nowhere.bin");
  EXPECT_EQ(macs(read(model)).value, kOneConvMacs);
}

TEST(OnnxWeights, ManyMegabytesAreSkipped) {
  ModelBuilder model;
  model.input("x", {1, 1024}).weight("w", {1024, 4096});
  model.proto().mutable_initializer(0)->set_raw_data(std::string(1024 * 4096 * 4, 'w'));
  model.node("MatMul", {"x", "w"}, {"y"});
  EXPECT_EQ(read(model).layers[0].layer, fully_connected("y", 1, 1024, 4096));
}

// x.view(x.size(0), -1) as PyTorch writes it when the batch is open.
TEST(OnnxExporters, AReshapeComputedFromAShapeIsFollowed) {
  ModelBuilder model(13);
  model.input("x", {"N", 8, 4, 5}).weight("w", {160, 10}).scalar("zero", 0).list("axis", {0}).list("rest", {-1});
  model.node("Shape", {"x"}, {"shape"});
  model.node("Gather", {"shape", "zero"}, {"size"}).with("axis", 0);
  model.node("Unsqueeze", {"size", "axis"}, {"size_list"});
  model.node("Concat", {"size_list", "rest"}, {"target"}).with("axis", 0);
  model.node("Reshape", {"x", "target"}, {"flat"});
  model.node("MatMul", {"flat", "w"}, {"y"});
  EXPECT_EQ(read(model, 6).layers[0].layer, fully_connected("y", 6, 160, 10));
}

// The halves of a channel shuffle: sizes are divided, sliced and concatenated again.
TEST(OnnxExporters, ArithmeticOnSizesIsFollowed) {
  ModelBuilder model;
  model.input("x", {"N", 8, 6, 6}).weight("w", {5, 4, 1, 1});
  model.list("one", {1}).list("two", {2}).list("four", {4}).list("zero", {0}).list("big", {9223372036854775807});
  model.node("Shape", {"x"}, {"shape"});
  model.node("Slice", {"shape", "one", "two", "zero"}, {"channels"});
  model.node("Div", {"channels", "two"}, {"half"});
  model.node("Slice", {"x", "half", "big", "one"}, {"upper"});
  model.node("Conv", {"upper", "w"}, {"y"});
  EXPECT_EQ(macs(read(model)).value, 5 * 6 * 6 * 4);
}

TEST(OnnxExporters, ASizeTheFileDeclaresIsUsedWhereARuleIsMissing) {
  ModelBuilder model;
  model.input("x", {"N", 3, 8, 8}).weight("w", {4, 3, 3, 3}).declare("z", {"N", 3, 8, 8});
  model.node("Mystery", {"x"}, {"z"}).in_domain("some.where");
  model.node("Conv", {"z", "w"}, {"y"});
  const Network network = read(model, 2);
  EXPECT_EQ(macs(network).value, 2 * kOneConvMacs);
  ASSERT_NE(find_other(network, "some.where::Mystery"), nullptr);
  EXPECT_FALSE(find_other(network, "some.where::Mystery")->operations_known);
}

TEST(OnnxExporters, ALayerWhoseShapeDependsOnDataIsListed) {
  ModelBuilder model;
  model.input("x", {3, 4}).weight("w", {2, 5});
  model.node("NonZero", {"x"}, {"n"});
  model.node("Transpose", {"n"}, {"t"});
  model.node("MatMul", {"t", "w"}, {"y"});
  const Network network = read(model);
  EXPECT_THAT(network.layers, IsEmpty());
  ASSERT_NE(find_other(network, "MatMul (shape unknown)"), nullptr);
  EXPECT_FALSE(find_other(network, "MatMul (shape unknown)")->operations_known);
}

TEST(OnnxOthers, AreListedOnceWithTheirCounts) {
  ModelBuilder model = one_conv({1, 3, 8, 8});
  model.node("Relu", {"y"}, {"r1"});
  model.node("Relu", {"r1"}, {"r2"});
  model.node("Gelu", {"r2"}, {"g"}).in_domain("com.microsoft");
  const Network network = read(model);
  ASSERT_THAT(network.others, SizeIs(2));
  EXPECT_EQ(network.others[0].name, "Relu");
  EXPECT_EQ(network.others[0].count, 2);
  EXPECT_EQ(network.others[0].operations, 2 * 4 * 6 * 6);
  EXPECT_EQ(network.others[1].name, "com.microsoft::Gelu");
  EXPECT_EQ(network.others[1].operations, 4 * 6 * 6);
}

TEST(OnnxEdges, ReachThroughOtherOperators) {
  ModelBuilder model;
  model.input("x", {1, 4, 8, 8}).weight("w", {4, 4, 1, 1}).list("flat", {1, -1}).weight("fc", {256, 10});
  model.node("Conv", {"x", "w"}, {"a"});
  model.node("Relu", {"a"}, {"ra"});
  model.node("Conv", {"ra", "w"}, {"b"});
  model.node("Add", {"ra", "b"}, {"sum"});
  model.node("Shape", {"a"}, {"shape"});  // says how large `a` is, not what is in it
  model.node("Reshape", {"b", "shape"}, {"c_in"});
  model.node("Conv", {"c_in", "w"}, {"c"});
  model.node("Reshape", {"sum", "flat"}, {"f"});
  model.node("Gemm", {"f", "fc"}, {"y"});
  const Network network = read(model);
  EXPECT_THAT(names(network), ElementsAre("a", "b", "c", "y"));
  EXPECT_THAT(network.layers[0].inputs, IsEmpty());
  EXPECT_THAT(network.layers[1].inputs, ElementsAre(0));
  EXPECT_THAT(network.layers[2].inputs, ElementsAre(1));
  EXPECT_THAT(network.layers[3].inputs, ElementsAre(0, 1));
}

TEST(OnnxNames, AreUniqueAndNeverEmpty) {
  ModelBuilder model;
  model.input("x", {1, 4, 8, 8}).weight("w", {4, 4, 1, 1});
  model.node("Conv", {"x", "w"}, {"a"}).named("conv");
  model.node("Conv", {"a", "w"}, {"b"}).named("conv");
  model.node("Conv", {"b", "w"}, {"conv_2"});
  model.node("Conv", {"b", "w"}, {});
  model.node("Conv", {"b", "w"}, {"tab\there"});
  EXPECT_THAT(names(read(model)), ElementsAre("conv", "conv_2", "conv_2_2", "Conv_3", "tab?here"));
  EXPECT_EQ(read(model).name, "net");
}

TEST(OnnxOrder, NodesMayStandInAnyOrder) {
  ModelBuilder model;
  model.input("x", {1, 4, 8, 8}).weight("w", {4, 4, 1, 1});
  model.node("Conv", {"a", "w"}, {"b"});
  model.node("Conv", {"x", "w"}, {"a"});
  EXPECT_THAT(names(read(model)), ElementsAre("a", "b"));
}

ModelBuilder with_if(bool condition_is_known) {
  ModelBuilder model;
  model.input("x", {1, 3, 8, 8}).weight("w", {4, 3, 3, 3}).scalar("yes", 1).input("maybe", {});
  NodeBuilder node = model.node("If", {condition_is_known ? "yes" : "maybe"}, {"z"});
  GraphBuilder then_branch(*node.add("then_branch", onnx::AttributeProto::GRAPH).mutable_g());
  then_branch.node("Conv", {"x", "w"}, {"t"});
  then_branch.output("t");
  GraphBuilder else_branch(*node.add("else_branch", onnx::AttributeProto::GRAPH).mutable_g());
  else_branch.weight("v", {4, 3, 3, 3}).node("Conv", {"x", "v"}, {"e"});
  else_branch.output("e");
  model.weight("u", {5, 4, 1, 1}).node("Conv", {"z", "u"}, {"y"});
  return model;
}

TEST(OnnxBodies, ABranchThatIsSurelyTakenIsPartOfTheNetwork) {
  const Network network = read(with_if(true));
  EXPECT_THAT(names(network), ElementsAre("t", "y"));
  EXPECT_THAT(network.layers[1].inputs, ElementsAre(0));
  EXPECT_EQ(find_other(network, "Conv (inside If)")->count, 1);
}

TEST(OnnxBodies, BranchesThatMayBeTakenAreListed) {
  const Network network = read(with_if(false));
  EXPECT_THAT(names(network), ElementsAre("y"));
  EXPECT_EQ(find_other(network, "Conv (inside If)")->count, 2);
  EXPECT_FALSE(find_other(network, "Conv (inside If)")->operations_known);
  EXPECT_EQ(find_other(network, "If")->count, 1);
}

TEST(OnnxBodies, LoopsAreListed) {
  ModelBuilder model;
  model.input("x", {1, 4}).scalar("n", 3).weight("go", {}).weight("w", {4, 4});
  NodeBuilder node = model.node("Loop", {"n", "go", "x"}, {"y"});
  GraphBuilder body(*node.add("body", onnx::AttributeProto::GRAPH).mutable_g());
  body.input("i", {}).input("c", {}).input("state", {1, 4});
  body.node("MatMul", {"state", "w"}, {"next"});
  body.node("Identity", {"c"}, {"c2"});
  body.output("c2").output("next");
  const Network network = read(model);
  EXPECT_THAT(network.layers, IsEmpty());
  EXPECT_EQ(find_other(network, "MatMul (inside Loop)")->count, 1);
  EXPECT_TRUE(find_other(network, "Identity (inside Loop)")->operations_known);
}

onnx::FunctionProto& add_function(ModelBuilder& model, const std::string& name) {
  onnx::FunctionProto& function = *model.model().add_functions();
  function.set_domain("local");
  function.set_name(name);
  function.add_input("in");
  function.add_input("weight");
  function.add_output("out");
  return function;
}

TEST(OnnxFunctions, AreReplacedByTheirNodes) {
  ModelBuilder model;
  onnx::FunctionProto& function = add_function(model, "Block");
  function.add_attribute("step");
  onnx::NodeProto& conv = *function.add_node();
  conv.set_op_type("Conv");
  conv.add_input("in");
  conv.add_input("weight");
  conv.add_output("middle");
  NodeBuilder(conv).with_parameter("group", "step");
  onnx::NodeProto& relu = *function.add_node();
  relu.set_op_type("Relu");
  relu.add_input("middle");
  relu.add_output("out");
  model.input("x", {1, 4, 8, 8}).weight("w", {4, 2, 1, 1});
  model.node("Block", {"x", "w"}, {"a"}).in_domain("local").named("first").with("step", 2);
  model.node("Block", {"a", "w"}, {"b"}).in_domain("local").named("second").with("step", 2);
  const Network network = read(model);
  EXPECT_THAT(names(network), ElementsAre("first/middle", "second/middle"));
  EXPECT_EQ(network.layers[0].layer.groups, 2);
  EXPECT_THAT(network.layers[1].inputs, ElementsAre(0));
  EXPECT_EQ(find_other(network, "Relu")->count, 2);
}

std::string field(int number, const std::string& content) {
  EXPECT_LT(content.size(), 128u);
  const int tag = number << 3 | 2;
  std::string bytes{static_cast<char>(tag < 128 ? tag : (tag & 127) | 128)};
  if (tag >= 128) bytes.push_back(static_cast<char>(tag >> 7));
  return bytes + static_cast<char>(content.size()) + content;
}

// Written byte by byte, because ONNX before 1.13 has no such field.
TEST(OnnxFunctions, UseTheDefaultsOfTheirAttributes) {
  ModelBuilder source;
  onnx::FunctionProto& function = add_function(source, "Block");
  onnx::NodeProto& conv = *function.add_node();
  conv.set_op_type("Conv");
  conv.add_input("in");
  conv.add_input("weight");
  conv.add_output("out");
  NodeBuilder(conv).with_parameter("group", "parts");
  onnx::AttributeProto parts;
  parts.set_name("parts");
  parts.set_type(onnx::AttributeProto::INT);
  parts.set_i(2);
  ModelBuilder model;
  model.input("x", {1, 4, 8, 8}).weight("w", {4, 2, 1, 1});
  model.node("Block", {"x", "w"}, {"y"}).in_domain("local").named("block");
  const std::string with_default = function.SerializeAsString() + field(11, parts.SerializeAsString());
  const Result<Network> network = network_from_onnx(model.bytes() + field(25, with_default), "net.onnx", {});
  ASSERT_TRUE(network) << network.error().message;
  EXPECT_EQ(network->layers[0].layer.groups, 2);
}

TEST(OnnxFunctions, ThatCallThemselvesAreRefused) {
  ModelBuilder model;
  onnx::FunctionProto& function = add_function(model, "Loopy");
  onnx::NodeProto& call = *function.add_node();
  call.set_op_type("Loopy");
  call.set_domain("local");
  call.add_input("in");
  call.add_output("out");
  model.input("x", {1, 4}).node("Loopy", {"x"}, {"y"}).in_domain("local");
  EXPECT_EQ(complaint(model.bytes()), "net.onnx: function 'Loopy' calls itself");
}

TEST(OnnxFunctions, ThatMultiplyWithoutEndAreRefused) {
  ModelBuilder model;
  for (int level = 0; level < 14; ++level) {
    onnx::FunctionProto& function = add_function(model, "F" + std::to_string(level));
    for (int copy = 0; copy < 8; ++copy) {
      onnx::NodeProto& node = *function.add_node();
      node.set_op_type(level == 0 ? "Relu" : "F" + std::to_string(level - 1));
      node.set_domain(level == 0 ? "" : "local");
      node.add_input("in");
      node.add_output(copy == 0 ? "out" : "copy" + std::to_string(copy));
    }
  }
  model.input("x", {1, 4}).node("F13", {"x"}, {"y"}).in_domain("local");
  EXPECT_THAT(complaint(model.bytes()), HasSubstr("more than 200000 nodes"));
}

TEST(OnnxErrors, BytesThatAreNoModelGetOneSentence) {
  EXPECT_EQ(complaint(""), "net.onnx: is not an ONNX model: it is empty");
  for (const std::string& bytes : {std::string("hello, world\n"), std::string("<html>"), std::string(1000, '\xFF'),
                                   std::string(64, '\0'), std::string("\x08\x08")}) {
    EXPECT_THAT(complaint(bytes), StartsWith("net.onnx: is not an ONNX model: ")) << bytes;
  }
}

TEST(OnnxErrors, ATruncatedFileIsRefusedWhereverItEnds) {
  ModelBuilder model = of_opset(13);
  const std::string graph = model.proto().SerializeAsString();
  const std::string bytes = model.bytes();
  const std::size_t graph_end = bytes.find(graph) + graph.size();
  for (std::size_t size = 0; size < graph_end; ++size) {
    EXPECT_THAT(complaint(bytes.substr(0, size)), StartsWith("net.onnx: is not an ONNX model: ")) << size;
  }
}

TEST(OnnxErrors, AByteThatFlipsNeverCrashes) {
  const std::string bytes = of_opset(17).bytes();
  int refused = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int bit : {0, 3, 7}) {
      std::string flipped = bytes;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      refused += complaint(flipped) == "nothing" ? 0 : 1;
    }
  }
  EXPECT_GT(refused, 100);
}

TEST(OnnxErrors, NestingWithoutEndIsRefused) {
  onnx::GraphProto graph;
  for (int depth = 0; depth < 40; ++depth) {
    onnx::GraphProto outer;
    NodeBuilder(*outer.add_node()).add("body", onnx::AttributeProto::GRAPH).mutable_g()->Swap(&graph);
    graph.Swap(&outer);
  }
  onnx::ModelProto model;
  model.mutable_graph()->Swap(&graph);
  EXPECT_THAT(complaint(model.SerializeAsString()), HasSubstr("nest deeper than"));
}

TEST(OnnxErrors, ACycleIsNamed) {
  ModelBuilder model;
  model.input("x", {1, 4, 8, 8}).weight("w", {4, 4, 1, 1});
  model.node("Conv", {"x", "w"}, {"start"});
  model.node("Add", {"start", "b"}, {"a"}).named("first");
  model.node("Relu", {"a"}, {"b"}).named("second");
  model.node("Relu", {"b"}, {"c"}).named("third");
  EXPECT_EQ(complaint(model.bytes()), "net.onnx: node 'first' needs its own result, expected a graph without cycles");
}

TEST(OnnxErrors, TensorsNobodyOrTwoNodesCompute) {
  ModelBuilder nobody;
  nobody.input("x", {1, 4}).node("Add", {"x", "ghost"}, {"y"}).named("sum");
  EXPECT_EQ(complaint(nobody.bytes()), "net.onnx: node 'sum' reads 'ghost', which nothing computes");
  ModelBuilder two;
  two.input("x", {1, 4}).node("Relu", {"x"}, {"y"});
  two.node("Neg", {"x"}, {"y"});
  EXPECT_EQ(complaint(two.bytes()), "net.onnx: tensor 'y' is computed by two nodes");
}

TEST(OnnxErrors, ImpossibleDimensionsAreNamed) {
  ModelBuilder model;
  model.input("x", {1, 3, 8, 8}).weight("w", {4, 3, -3, 3});
  model.node("Conv", {"x", "w"}, {"y"});
  EXPECT_EQ(complaint(model.bytes()), "net.onnx: tensor 'w': dimension 2 is -3, expected 0 to 1099511627776");
  EXPECT_THAT(complaint(one_conv({1, 3, 9223372036854775807, 8}).bytes()),
              StartsWith("net.onnx: input 'x': dimension 2 is 9223372036854775807, expected at most"));
  EXPECT_THAT(complaint(one_conv({1, 3, 1 << 30, 1 << 30}).bytes()), StartsWith("net.onnx: layer 'conv1': "));
}

TEST(OnnxErrors, LayersThatCannotBeAreNamed) {
  EXPECT_THAT(complaint(one_conv({1, 3, 2, 2}).bytes()), StartsWith("net.onnx: layer 'conv1': kernel"));
  EXPECT_EQ(complaint(one_conv({1, 5, 8, 8}).bytes()),
            "net.onnx: layer 'conv1': the input has 5 channels, but the weight is for 3");
  ModelBuilder strides = one_conv({1, 3, 8, 8});
  NodeBuilder(*strides.proto().mutable_node(0)).with("strides", Ints{0, 1});
  EXPECT_EQ(complaint(strides.bytes()), "net.onnx: layer 'conv1': stride is 0, expected at least 1");
  ModelBuilder ranks;
  ranks.input("x", {1, 3, 8}).weight("w", {4, 3, 3, 3});
  ranks.node("Conv", {"x", "w"}, {"y"});
  EXPECT_EQ(complaint(ranks.bytes()),
            "net.onnx: layer 'y': shapes [1, 3, 8] and [4, 3, 3, 3], or the attributes, do not fit together");
  ModelBuilder product;
  product.input("a", {2, 3}).input("b", {4, 5});
  product.node("MatMul", {"a", "b"}, {"y"});
  EXPECT_EQ(complaint(product.bytes()), "net.onnx: layer 'y': the left side has 3 columns, but the right side 4 rows");
}

TEST(OnnxErrors, AbsurdAttributesGiveASentence) {
  ModelBuilder many = one_conv({1, 3, 8, 8});
  for (int i = 0; i < 200; ++i) NodeBuilder(*many.proto().mutable_node(0)).with("a" + std::to_string(i), 1);
  EXPECT_THAT(complaint(many.bytes()), HasSubstr("node 'conv1' has 200 attributes"));
  ModelBuilder large = one_conv({1, 3, 8, 8});
  NodeBuilder(*large.proto().mutable_node(0)).with("pads", Ints{0, 0, 9223372036854775807, 0});
  EXPECT_THAT(complaint(large.bytes()), StartsWith("net.onnx: layer 'conv1': pad is 2147483648, expected at most"));
}

// Prints one line per model. Without TILEWRIGHT_ONNX_DIR in the environment there is nothing to read and it passes.
TEST(OnnxDirectory, EveryModelInTilewrightOnnxDirIsReadIfThatIsSet) {
  const char* directory = std::getenv("TILEWRIGHT_ONNX_DIR");
  if (directory == nullptr) return;
  int count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.path().extension() != ".onnx") continue;
    const Result<Network> network = read_network(entry.path().string());
    ++count;
    if (network) {
      std::printf("%s: %zu layers, %lld MACs\n", entry.path().c_str(), network->layers.size(),
                  static_cast<long long>(macs(*network).value));
    } else {
      EXPECT_THAT(network.error().message, StartsWith(entry.path().string() + ": "));
      std::printf("%s\n", network.error().message.c_str());
    }
  }
  EXPECT_GT(count, 0) << "no .onnx files in " << directory;
}

}  // namespace
}  // namespace tilewright
