// ONNX models in integers, compared with the same models in real numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "../scratch.hpp"
#include "onnx_builder.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/rng.hpp"
#include "tilewright/workload/quantised_build.hpp"
#include "tilewright/workload/quantised_reference.hpp"

namespace tilewright {
namespace {

using Reals = std::vector<float>;

Reals random_reals(std::size_t count, double scale, Rng rng) {
  Reals values(count);
  for (float& value : values) value = static_cast<float>(scale * (2 * rng.uniform() - 1));
  return values;
}

template <typename Number>
void add_weight(ModelBuilder& model, const std::string& name, const Ints& dims, const std::vector<Number>& values,
                onnx::TensorProto::DataType type) {
  onnx::TensorProto& tensor = *model.proto().add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(type);
  tensor.mutable_dims()->Assign(dims.begin(), dims.end());
  tensor.set_raw_data(values.data(), values.size() * sizeof(Number));
}
void add_reals(ModelBuilder& model, const std::string& name, const Ints& dims, const Reals& values) {
  add_weight(model, name, dims, values, onnx::TensorProto::FLOAT);
}

struct RealTensor {
  std::int64_t channels = 1, height = 1, width = 1;
  Reals values;
  float at(std::int64_t c, std::int64_t y, std::int64_t x) const {
    if (y < 0 || y >= height || x < 0 || x >= width) return 0;
    return values[static_cast<std::size_t>((c * height + y) * width + x)];
  }
};

// 3x3, stride 1, padding 1.
RealTensor convolved(const RealTensor& in, const Reals& weight, const Reals& bias) {
  RealTensor out{static_cast<std::int64_t>(bias.size()), in.height, in.width, {}};
  for (std::int64_t k = 0; k < out.channels; ++k) {
    for (std::int64_t y = 0; y < in.height; ++y) {
      for (std::int64_t x = 0; x < in.width; ++x) {
        float sum = bias[static_cast<std::size_t>(k)];
        for (std::int64_t tap = 0; tap < in.channels * 9; ++tap) {
          sum += in.at(tap / 9, y + tap % 9 / 3 - 1, x + tap % 3 - 1) *
                 weight[static_cast<std::size_t>(k * in.channels * 9 + tap)];
        }
        out.values.push_back(sum);
      }
    }
  }
  return out;
}

RealTensor real_of(const QuantisedStep& step, const std::vector<std::int8_t>& values) {
  RealTensor tensor{step.shape.channels, step.shape.height, step.shape.width, {}};
  for (const std::int8_t value : values) tensor.values.push_back(std::ldexp(static_cast<float>(value), -step.exponent));
  return tensor;
}

// Root mean square of the error over that of the expected values.
double relative_error(const Reals& is, const Reals& expected) {
  EXPECT_EQ(is.size(), expected.size());
  double error = 0, size = 0;
  for (std::size_t i = 0; i < std::min(is.size(), expected.size()); ++i) {
    error += (is[i] - expected[i]) * (is[i] - expected[i]);
    size += expected[i] * expected[i];
  }
  return std::sqrt(error / size);
}

Result<QuantisedNetwork> quantised(const ModelBuilder& model, ThreadPool& pool) {
  return quantised_from_onnx(model.bytes(), "model.onnx", {}, pool);
}

std::string kinds(const QuantisedNetwork& network) {
  std::string text;
  for (const QuantisedStep& step : network.steps) text += (text.empty() ? "" : " ") + std::string(name_of(step.kind));
  return text;
}

// conv + batch normalisation + relu, conv + residual + relu, pools, fully connected.
TEST(QuantisedOnnx, AFloatModelKeepsItsValues) {
  const Rng rng(3, "onnx");
  const Reals w1 = random_reals(8 * 3 * 9, 0.3, rng.fork("w1")), w2 = random_reals(8 * 8 * 9, 0.2, rng.fork("w2"));
  const Reals b2 = random_reals(8, 0.5, rng.fork("b2")), wf = random_reals(5 * 8, 0.5, rng.fork("wf"));
  const Reals bf = random_reals(5, 0.5, rng.fork("bf"));
  Reals scale = random_reals(8, 0.5, rng.fork("scale")), variance = random_reals(8, 0.4, rng.fork("variance"));
  for (float& value : scale) value += 1;
  for (float& value : variance) value += 0.6F;
  const Reals shift = random_reals(8, 0.3, rng.fork("shift")), mean = random_reals(8, 0.3, rng.fork("mean"));
  ModelBuilder model;
  model.input("x", {"batch", 3, 12, 12}).output("probabilities");
  add_reals(model, "w1", {8, 3, 3, 3}, w1);
  add_reals(model, "w2", {8, 8, 3, 3}, w2);
  add_reals(model, "b2", {8}, b2);
  add_reals(model, "wf", {5, 8}, wf);
  add_reals(model, "bf", {5}, bf);
  add_reals(model, "scale", {8}, scale);
  add_reals(model, "shift", {8}, shift);
  add_reals(model, "mean", {8}, mean);
  add_reals(model, "variance", {8}, variance);
  model.node("Conv", {"x", "w1"}, {"c1"}).named("conv1").with("pads", Ints{1, 1, 1, 1});
  model.node("BatchNormalization", {"c1", "scale", "shift", "mean", "variance"}, {"n1"}).named("norm");
  model.node("Relu", {"n1"}, {"r1"}).named("relu1");
  model.node("Conv", {"r1", "w2", "b2"}, {"c2"}).named("conv2").with("pads", Ints{1, 1, 1, 1});
  model.node("Add", {"c2", "r1"}, {"a2"}).named("add");
  model.node("Relu", {"a2"}, {"r2"}).named("relu2");
  model.node("MaxPool", {"r2"}, {"p"}).named("pool").with("kernel_shape", Ints{2, 2}).with("strides", Ints{2, 2});
  model.node("GlobalAveragePool", {"p"}, {"g"}).named("mean");
  model.node("Flatten", {"g"}, {"f"}).named("flatten");
  model.node("Gemm", {"f", "wf", "bf"}, {"y"}).named("fc").with("transB", 1);
  model.node("Softmax", {"y"}, {"probabilities"}).named("softmax");
  ThreadPool pool(1);
  const Result<QuantisedNetwork> network = quantised(model, pool);
  ASSERT_TRUE(network) << network.error().message;
  ASSERT_EQ(kinds(*network), "input product product max_pool product product");  // a vector per image needs no flattening
  ASSERT_EQ(network->notes.size(), 1u);
  EXPECT_EQ(network->notes[0], "Softmax 'softmax' was left out: the network ends with what it reads");

  const QuantisedTensors tensors = run(*network, random_input(*network, 5), pool);
  const RealTensor input = real_of(network->steps[0], tensors[0]);
  RealTensor first = convolved(input, w1, Reals(8, 0));
  for (std::size_t i = 0; i < first.values.size(); ++i) {
    const std::size_t k = i / 144;
    const float factor = scale[k] / std::sqrt(variance[k] + 1e-5F);
    first.values[i] = std::max(0.0F, (first.values[i] - mean[k]) * factor + shift[k]);
  }
  RealTensor second = convolved(first, w2, b2);
  Reals means(8, 0), expected = bf;
  for (std::size_t i = 0; i < second.values.size(); ++i)
    second.values[i] = std::max(0.0F, second.values[i] + first.values[i]);
  for (std::int64_t k = 0; k < 8; ++k) {
    for (std::int64_t y = 0; y < 12; y += 2) {
      for (std::int64_t x = 0; x < 12; x += 2) {
        means[static_cast<std::size_t>(k)] +=
            std::max({second.at(k, y, x), second.at(k, y, x + 1), second.at(k, y + 1, x), second.at(k, y + 1, x + 1)}) / 36;
      }
    }
  }
  for (std::size_t j = 0; j < 5; ++j) {
    for (std::size_t k = 0; k < 8; ++k) expected[j] += wf[j * 8 + k] * means[k];
  }
  EXPECT_LT(relative_error(real_of(network->steps[1], tensors[1]).values, first.values), 0.03);
  EXPECT_LT(relative_error(real_of(network->steps[2], tensors[2]).values, second.values), 0.04);
  EXPECT_LT(relative_error(real_of(network->steps[5], tensors[5]).values, expected), 0.05);
}

// The same convolution as exporters of quantised models write it: all four forms give the same integers.
TEST(QuantisedOnnx, QuantisedFormsOfOneConvolutionAgree) {
  Rng rng(4, "forms");
  std::vector<std::int8_t> weight(4 * 2 * 9);
  for (std::int8_t& value : weight) value = static_cast<std::int8_t>(rng.between(-127, 127));
  weight[0] = 127;
  const float weight_scale = 1.0F / 64, in_scale = 1.0F / 128, out_scale = 0.125F;
  const std::vector<std::int32_t> bias{1000, -2000, 300, 0};
  Reals real_weight, real_bias;
  for (const std::int8_t value : weight) real_weight.push_back(value * weight_scale);
  for (const std::int32_t value : bias) real_bias.push_back(static_cast<float>(value) * weight_scale * in_scale);
  const auto base = [&] {
    ModelBuilder model;
    model.input("x", {1, 2, 10, 10}).output("y");
    add_weight(model, "w8", {4, 2, 3, 3}, weight, onnx::TensorProto::INT8);
    add_weight(model, "b32", {4}, bias, onnx::TensorProto::INT32);
    add_reals(model, "w", {4, 2, 3, 3}, real_weight);
    add_reals(model, "b", {4}, real_bias);
    add_reals(model, "ws", {}, {weight_scale});
    add_reals(model, "bs", {}, {weight_scale * in_scale});
    add_reals(model, "xs", {}, {in_scale});
    add_reals(model, "ys", {}, {out_scale});
    add_weight(model, "zero8", {}, std::vector<std::int8_t>{0}, onnx::TensorProto::INT8);
    add_weight(model, "zero32", {}, std::vector<std::int32_t>{0}, onnx::TensorProto::INT32);
    add_reals(model, "factor", {}, {weight_scale * in_scale});
    add_reals(model, "b4", {4, 1, 1}, real_bias);
    return model;
  };
  const Ints pads{1, 1, 1, 1};
  ModelBuilder plain = base(), qdq = base(), linear = base(), integer = base();
  plain.node("Conv", {"x", "w", "b"}, {"y"}).named("conv").with("pads", pads);

  qdq.node("QuantizeLinear", {"x", "xs", "zero8"}, {"xq"}).named("q");
  qdq.node("DequantizeLinear", {"xq", "xs", "zero8"}, {"xd"}).named("d");
  qdq.node("DequantizeLinear", {"w8", "ws", "zero8"}, {"wd"}).named("dw");
  qdq.node("DequantizeLinear", {"b32", "bs", "zero32"}, {"bd"}).named("db");
  qdq.node("Conv", {"xd", "wd", "bd"}, {"c"}).named("conv").with("pads", pads);
  qdq.node("QuantizeLinear", {"c", "ys", "zero8"}, {"cq"}).named("qy");
  qdq.node("DequantizeLinear", {"cq", "ys", "zero8"}, {"y"}).named("dy");

  linear.node("QuantizeLinear", {"x", "xs", "zero8"}, {"xq"}).named("q");
  linear.node("QLinearConv", {"xq", "xs", "zero8", "w8", "ws", "zero8", "ys", "zero8", "b32"}, {"cq"})
      .named("conv")
      .with("pads", pads);
  linear.node("DequantizeLinear", {"cq", "ys", "zero8"}, {"y"}).named("dy");

  integer.node("QuantizeLinear", {"x", "xs", "zero8"}, {"xq"}).named("q");
  integer.node("ConvInteger", {"xq", "w8", "zero8", "zero8"}, {"ci"}).named("conv").with("pads", pads);
  integer.node("Cast", {"ci"}, {"cf"}).named("cast").with("to", 1);
  integer.node("Mul", {"cf", "factor"}, {"cs"}).named("scale");
  integer.node("Add", {"cs", "b4"}, {"y"}).named("bias");

  ThreadPool pool(1);
  const Result<QuantisedNetwork> expected = quantised(plain, pool);
  ASSERT_TRUE(expected) << expected.error().message;
  const QuantisedStep& conv = expected->steps.back();
  EXPECT_EQ(conv.weight, weight);  // the scale is a power of two and the largest weight 127, so nothing is lost
  EXPECT_EQ(conv.weight_exponent, 6);
  for (const ModelBuilder* model : {&qdq, &linear, &integer}) {
    const Result<QuantisedNetwork> network = quantised(*model, pool);
    ASSERT_TRUE(network) << network.error().message;
    const QuantisedStep& same = network->steps.back();
    EXPECT_EQ(same.weight, conv.weight);
    EXPECT_EQ(same.bias, conv.bias);
    EXPECT_EQ(same.shift, conv.shift);
    EXPECT_EQ(same.exponent, conv.exponent);
  }
}

// Rows times a matrix whose scales are only known while the model runs: they cancel.
TEST(QuantisedOnnx, DynamicQuantisationIsReadAsThePlainProduct) {
  Rng rng(6, "dynamic");
  std::vector<std::int8_t> weight(12 * 5);  // [inner][column]
  for (std::int8_t& value : weight) value = static_cast<std::int8_t>(rng.between(-127, 127));
  weight[7] = -127;
  Reals real_weight;
  for (const std::int8_t value : weight) real_weight.push_back(value / 32.0F);
  const Reals bias = random_reals(5, 1, rng.fork("bias"));
  const auto base = [&] {
    ModelBuilder model;
    model.input("x", {2, 12}).output("y");
    add_weight(model, "w8", {12, 5}, weight, onnx::TensorProto::INT8);
    add_weight(model, "zero8", {}, std::vector<std::int8_t>{0}, onnx::TensorProto::INT8);
    add_reals(model, "w", {12, 5}, real_weight);
    add_reals(model, "ws", {}, {1.0F / 32});
    add_reals(model, "b", {5}, bias);
    return model;
  };
  ModelBuilder plain = base(), dynamic = base();
  plain.node("MatMul", {"x", "w"}, {"p"}).named("product");
  plain.node("Add", {"p", "b"}, {"y"}).named("bias");
  dynamic.node("DynamicQuantizeLinear", {"x"}, {"xq", "xs", "xz"}).named("quantise");
  dynamic.node("Mul", {"xs", "ws"}, {"s"}).named("scales");
  dynamic.node("MatMulInteger", {"xq", "w8", "xz", "zero8"}, {"i"}).named("product");
  dynamic.node("Cast", {"i"}, {"f"}).named("cast").with("to", 1);
  dynamic.node("Mul", {"f", "s"}, {"p"}).named("scaled");
  dynamic.node("Add", {"p", "b"}, {"y"}).named("bias");
  ThreadPool pool(1);
  const Result<QuantisedNetwork> expected = quantised(plain, pool), network = quantised(dynamic, pool);
  ASSERT_TRUE(expected) << expected.error().message;
  ASSERT_TRUE(network) << network.error().message;
  ASSERT_EQ(kinds(*network), "input product");
  EXPECT_EQ(network->steps[1].weight, expected->steps[1].weight);
  EXPECT_EQ(network->steps[1].bias, expected->steps[1].bias);
  EXPECT_EQ(network->steps[1].shift, expected->steps[1].shift);
  EXPECT_EQ(expected->steps[1].layer, fully_connected("product", 2, 12, 5));
  const QuantisedTensors tensors = run(*network, random_input(*network, 5), pool);
  Reals sums;
  for (std::size_t n = 0; n < 2; ++n) {
    for (std::size_t k = 0; k < 5; ++k) {
      float sum = bias[k];
      for (std::size_t c = 0; c < 12; ++c) sum += static_cast<float>(tensors[0][n * 12 + c]) / 128 * real_weight[c * 5 + k];
      sums.push_back(sum);
    }
  }
  EXPECT_LT(relative_error(real_of(network->steps[1], tensors[1]).values, sums), 0.02);
}

TEST(QuantisedOnnx, FunctionsConcatAndConstants) {
  ModelBuilder model;
  model.input("x", {1, 4, 6, 6}).output("y");
  add_reals(model, "w", {4, 4, 1, 1}, random_reals(16, 1, Rng(1, "w")));
  add_reals(model, "half", {}, {0.5F});
  model.node("Pad", {"x", "pads"}, {"p"}).named("pad");
  model.list("pads", {0, 0, 0, 0, 0, 0, 1, 1});
  model.node("Sigmoid", {"p"}, {"s"}).named("sigmoid");
  model.node("Mul", {"p", "s"}, {"silu"}).named("mul");
  model.node("Mul", {"silu", "half"}, {"h"}).named("halved");
  model.node("Conv", {"h", "w"}, {"c"}).named("conv");
  model.node("Concat", {"c", "p"}, {"y"}).named("concat").with("axis", 1);
  ThreadPool pool(1);
  const Result<QuantisedNetwork> network = quantised(model, pool);
  ASSERT_TRUE(network) << network.error().message;
  EXPECT_EQ(kinds(*network), "input product table product product concat");
  const QuantisedTensors tensors = run(*network, random_input(*network, 5), pool);
  const RealTensor padded = real_of(network->steps[1], tensors[1]);
  EXPECT_EQ(network->steps[1].shape, (TensorShape{1, 4, 7, 7}));
  Reals expected;
  for (const float x : padded.values) expected.push_back(x / (1 + std::exp(-x)) / 2);
  EXPECT_LT(relative_error(real_of(network->steps[3], tensors[3]).values, expected), 0.02);
}

TEST(QuantisedOnnx, WhatHasNoIntegerFormIsNamed) {
  ThreadPool pool(1);
  const auto sentence = [&](const std::function<void(ModelBuilder&)>& build) {
    ModelBuilder model;
    model.input("x", {1, 4, 6, 6}).output("y");
    build(model);
    const Result<QuantisedNetwork> network = quantised(model, pool);
    return network ? "accepted" : network.error().message;
  };
  EXPECT_EQ(sentence([](ModelBuilder& m) { m.node("LRN", {"x"}, {"y"}).named("norm").with("size", 5); }),
            "model.onnx: node 'norm' (LRN): has no integer form here, expected convolutions, matrix products with constant "
            "weights, Add, Concat, pools, or functions of one number");
  EXPECT_EQ(sentence([](ModelBuilder& m) {
              m.weight("w", {4, 4, 1, 1});
              m.node("Conv", {"x", "w"}, {"y"}).named("conv");
            }),
            "model.onnx: weight 'w' has another number or type of elements than its shape tells, expected 16 numbers");
  EXPECT_EQ(sentence([](ModelBuilder& m) {
              m.node("Mul", {"x", "x"}, {"y"}).named("square");
            }),
            "model: step 'square': is computed by the host in real numbers (Mul), expected steps in integers only");
  EXPECT_EQ(
      sentence([](ModelBuilder& m) {
        m.node("AveragePool", {"x"}, {"y"}).named("mean").with("kernel_shape", Ints{3, 3}).with("pads", Ints{1, 1, 1, 1});
      }),
      "model.onnx: node 'mean' (AveragePool): averages fewer numbers at the border, expected count_include_pad = 1 or "
      "no padding");
  EXPECT_EQ(quantised_from_onnx("rubbish", "file.onnx", {}, pool).error().message.substr(0, 27),
            "file.onnx: is not an ONNX m");
}

// Moves every weight of a model to a file beside it, as exporters do with large models.
std::string move_weights_out(ModelBuilder& model, const std::string& location) {
  std::string data;
  for (onnx::TensorProto& weight : *model.proto().mutable_initializer()) {
    const std::string raw = weight.raw_data();
    weight.clear_raw_data();
    weight.set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] : {std::pair("location", location), std::pair("offset", std::to_string(data.size())),
                                     std::pair("length", std::to_string(raw.size()))}) {
      auto& entry = *weight.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    }
    data += raw + "some padding";
  }
  return data;
}

TEST(QuantisedOnnx, WeightsBesideTheModelAreTheSameWeights) {
  const auto make = [] {
    ModelBuilder model;
    model.input("x", {1, 3, 6, 6}).output("y");
    add_reals(model, "w", {4, 3, 3, 3}, random_reals(108, 0.3, Rng(1, "w")));
    add_reals(model, "b", {4}, random_reals(4, 0.3, Rng(1, "b")));
    model.node("Conv", {"x", "w", "b"}, {"y"}).named("conv");
    return model;
  };
  const Scratch folder;
  ThreadPool pool(1);
  const Result<QuantisedNetwork> inside = quantised(make(), pool);
  ASSERT_TRUE(inside) << inside.error().message;
  ModelBuilder model = make();
  const std::string data = move_weights_out(model, "weights.bin");
  const auto read = [&] { return quantised_from_onnx(model.bytes(), "model.onnx", {.data_folder = folder.path()}, pool); };
  EXPECT_EQ(read().error().message, "model.onnx: weight 'w' lies in 'weights.bin', expected that file beside the model");
  ASSERT_TRUE(write_file(folder / "weights.bin", data.substr(0, 100)));
  EXPECT_EQ(read().error().message,
            "model.onnx: weight 'w' begins at byte 0 of 'weights.bin' and takes 432, but the file has 100");
  ASSERT_TRUE(write_file(folder / "weights.bin", data));
  const Result<QuantisedNetwork> outside = read();
  ASSERT_TRUE(outside) << outside.error().message;
  EXPECT_EQ(outside->steps[1].weight, inside->steps[1].weight);
  EXPECT_EQ(outside->steps[1].bias, inside->steps[1].bias);
}

TEST(QuantisedOnnx, WeightsMayBeMadeByConstantOfShape) {
  ModelBuilder model;
  model.input("x", {1, 3, 6, 6}).output("y").list("shape", {4, 3, 3, 3});
  onnx::AttributeProto& value = model.node("ConstantOfShape", {"shape"}, {"w"}).add("value", onnx::AttributeProto::TENSOR);
  value.mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
  value.mutable_t()->add_dims(1);
  value.mutable_t()->add_float_data(0.25F);
  model.node("Conv", {"x", "w"}, {"y"}).named("conv");
  ThreadPool pool(1);
  const Result<QuantisedNetwork> network = quantised(model, pool);
  ASSERT_TRUE(network) << network.error().message;
  const QuantisedStep& step = network->steps[1];
  ASSERT_EQ(step.weight.size(), 108u);
  for (const std::int8_t weight : step.weight) {
    EXPECT_EQ(std::ldexp(static_cast<float>(weight), -step.weight_exponent), 0.25F);
  }
}

TEST(QuantisedOnnx, AFewBytesDoNotBecomeGigabytes) {
  ModelBuilder model;
  model.input("x", {1, 100'000}).output("y").list("shape", {100'000, 100'000});
  model.node("ConstantOfShape", {"shape"}, {"w"}).named("fill");
  model.node("MatMul", {"x", "w"}, {"y"});
  ThreadPool pool(1);
  EXPECT_EQ(quantised(model, pool).error().message,
            "model.onnx: node 'fill' (ConstantOfShape): makes more than 2^27 weights, expected at most that");
}

}  // namespace
}  // namespace tilewright
