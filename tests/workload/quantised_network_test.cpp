// Quantised networks: the fast arithmetic against the definition, scales, wiring from the zoo.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tilewright/base/rng.hpp"
#include "tilewright/workload/quantised_build.hpp"
#include "tilewright/workload/quantised_reference.hpp"

namespace tilewright {
namespace {

std::int8_t any(Rng& rng) { return static_cast<std::int8_t>(rng.between(-128, 127)); }

// out[n,k,y,x] straight from the definition of a layer.
std::int64_t defined_sum(const QuantisedStep& step, const std::vector<std::int8_t>& in, std::int64_t n, std::int64_t k,
                         std::int64_t y, std::int64_t x) {
  const Layer& l = step.layer;
  const std::int64_t group_in = l.in_channels / l.groups, group = k / (l.out_channels / l.groups);
  std::int64_t sum = 0;
  for (std::int64_t c = 0; c < group_in; ++c) {
    for (std::int64_t r = 0; r < l.kernel_height; ++r) {
      for (std::int64_t s = 0; s < l.kernel_width; ++s) {
        const std::int64_t row = y * l.stride_height + r * l.dilation_height - l.pad_top;
        const std::int64_t column = x * l.stride_width + s * l.dilation_width - l.pad_left;
        if (row < 0 || row >= l.in_height || column < 0 || column >= l.in_width) continue;
        const std::int64_t channel = group * group_in + c;
        const auto at = ((n * l.in_channels + channel) * l.in_height + row) * l.in_width + column;
        const auto weight = ((k * group_in + c) * l.kernel_height + r) * l.kernel_width + s;
        sum += std::int64_t{in[static_cast<std::size_t>(at)]} * step.weight[static_cast<std::size_t>(weight)];
      }
    }
  }
  return sum;
}

Layer random_layer(Rng& rng) {
  Layer l;
  l.name = "layer";
  l.batch = rng.between(1, 3);
  l.groups = std::array<std::int64_t, 4>{1, 1, 2, 3}[static_cast<std::size_t>(rng.below(4))];
  l.in_channels = l.groups * rng.between(1, 40);
  l.out_channels = l.groups * rng.between(1, 9);
  l.in_height = rng.between(1, 9);
  l.in_width = rng.between(1, 9);
  l.kernel_height = rng.between(1, 3);
  l.kernel_width = rng.between(1, 5);
  l.stride_height = rng.between(1, 3);
  l.stride_width = rng.between(1, 2);
  l.dilation_height = rng.between(1, 2);
  l.dilation_width = rng.between(1, 2);
  l.pad_top = rng.between(0, 2);
  l.pad_bottom = rng.between(2, 4);
  l.pad_left = rng.between(0, 2);
  l.pad_right = rng.between(7, 8);
  return l;
}

TEST(QuantisedReference, ProductsAreWhatTheyAreDefinedToBe) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Rng rng(seed, "reference");
    QuantisedNetwork network;
    network.steps.resize(3);
    QuantisedStep& step = network.steps[2];
    step.kind = StepKind::Product;
    step.layer = random_layer(rng);
    const Layer& l = step.layer;
    ASSERT_TRUE(check(l)) << check(l).error().message;
    network.steps[0].shape = {l.batch, l.in_channels, l.in_height, l.in_width};
    step.shape = {l.batch, l.out_channels, out_height(l), out_width(l)};
    network.steps[1] = network.steps[2];  // any step of the same shape serves as a residual
    network.steps[1].inputs = {0};
    network.steps[1].shift = 9;
    step.inputs = {0, 1};
    step.has_residual = true;
    step.alignment = {static_cast<int>(rng.between(-2, 9))};
    step.shift = static_cast<int>(rng.between(-1, 14));
    step.low = static_cast<int>(rng.between(-128, 0));
    step.high = static_cast<int>(rng.between(1, 127));
    for (std::int64_t i = 0; i < tensor_sizes(l).weight.value; ++i) step.weight.push_back(any(rng));
    network.steps[1].weight = step.weight;
    for (std::int64_t k = 0; k < l.out_channels; ++k) {
      step.bias.push_back(static_cast<std::int32_t>(rng.between(-100'000, 100'000)));
    }
    const Result<QuantisedNetwork> checked = check(network, "test");
    ASSERT_TRUE(checked) << checked.error().message;
    std::vector<std::int8_t> input;
    for (std::int64_t i = 0; i < network.steps[0].shape.elements(); ++i) input.push_back(any(rng));

    ThreadPool one(1), three(3);
    const QuantisedTensors tensors = run(network, input, one);
    ASSERT_EQ(tensors, run(network, input, three)) << seed;
    std::size_t at = 0;
    for (std::int64_t n = 0; n < l.batch; ++n) {
      for (std::int64_t k = 0; k < l.out_channels; ++k) {
        for (std::int64_t y = 0; y < out_height(l); ++y) {
          for (std::int64_t x = 0; x < out_width(l); ++x, ++at) {
            const double factor = std::ldexp(1.0, step.alignment[0]);
            const auto residual = static_cast<std::int64_t>(std::floor(tensors[1][at] * factor));
            const std::int64_t sum =
                defined_sum(step, input, n, k, y, x) + step.bias[static_cast<std::size_t>(k)] + residual;
            const auto shifted = static_cast<std::int64_t>(std::floor(std::ldexp(static_cast<double>(sum), -step.shift)));
            ASSERT_EQ(tensors[2][at], std::clamp<std::int64_t>(shifted, step.low, step.high)) << seed << " " << at;
          }
        }
      }
    }
  }
}

TEST(QuantisedReference, MatricesSumsPoolsConcatAndTables) {
  QuantisedNetwork network;
  network.steps.resize(9);
  const auto set = [&](std::size_t index, StepKind kind, std::vector<std::size_t> inputs,
                       TensorShape shape) -> QuantisedStep& {
    QuantisedStep& step = network.steps[index];
    step.name = "step" + std::to_string(index);
    step.kind = kind;
    step.inputs = std::move(inputs);
    step.shape = shape;
    return step;
  };
  set(0, StepKind::Input, {}, {1, 1, 2, 2});  // 10 -20 / 30 -40
  QuantisedStep& product = set(1, StepKind::Product, {0, 0}, {1, 1, 2, 2});
  product.layer = matrix_multiply("m", {.batch = 1, .rows = 2, .inner = 2, .columns = 2});
  product.bias = {4, 100};
  product.shift = 3;
  set(2, StepKind::Add, {0, 1}, {1, 1, 2, 2}).alignment = {2, 0};
  network.steps[2].shift = 1;
  QuantisedStep& clip = set(3, StepKind::Clip, {2}, {1, 1, 2, 2});
  clip.low = -5;
  clip.high = 60;
  QuantisedStep& pool = set(4, StepKind::MaxPool, {0}, {1, 1, 2, 2});
  pool.window = {2, 2, 1, 1, 1, 0, 0, 1};
  set(5, StepKind::Concat, {0, 4}, {1, 2, 2, 2}).alignment = {0, 2};
  set(6, StepKind::Flatten, {5}, {1, 8, 1, 1});
  QuantisedStep& table = set(7, StepKind::Table, {6}, {1, 8, 1, 1});
  for (int i = -128; i < 128; ++i) table.table.push_back(static_cast<std::int8_t>(std::abs(i) / 2));
  set(8, StepKind::Clip, {7}, {1, 8, 1, 1});
  const Result<QuantisedNetwork> checked = check(network, "test");
  ASSERT_TRUE(checked) << checked.error().message;
  ThreadPool pool_of_threads(1);
  const QuantisedTensors t = run(network, std::vector<std::int8_t>{10, -20, 30, -40}, pool_of_threads);
  using Values = std::vector<std::int8_t>;
  EXPECT_EQ(t[1], (Values{-62, 87, -112, 127}));  // (100-600+4)/8, (-200+800+100)/8=87, (300-1200+4)/8, (-600+1600+100)/8
  EXPECT_EQ(t[2], (Values{-11, 3, 4, -17}));      // (40-62)/2, (-80+87)/2, (120-112)/2, (-160+127)/2 rounded down
  EXPECT_EQ(t[3], (Values{-5, 3, 4, -5}));
  EXPECT_EQ(t[4], (Values{10, -20, 30, -20}));
  EXPECT_EQ(t[5], (Values{10, -20, 30, -40, 3, -5, 8, -5}));
  EXPECT_EQ(t[7], (Values{5, 10, 15, 20, 1, 2, 4, 2}));
}

TEST(QuantisedNetwork, WrongStepsGetASentence) {
  ThreadPool pool(1);
  const Result<Network> resnet = read_network("zoo:resnet18");
  Result<Draft> draft = draft_of(*resnet, {.height = 32, .width = 32});
  ASSERT_TRUE(draft) << draft.error().message;
  const Result<QuantisedNetwork> built = quantise(*draft, {}, pool);
  ASSERT_TRUE(built);
  const auto sentence = [&](const auto& change) {
    QuantisedNetwork wrong = *built;
    change(wrong.steps[4]);
    const Result<QuantisedNetwork> checked = check(std::move(wrong), "net");
    return checked ? std::string("accepted") : checked.error().message;
  };
  EXPECT_EQ(sentence([](QuantisedStep&) {}), "accepted");
  EXPECT_EQ(sentence([](QuantisedStep& s) { s.weight.pop_back(); }),
            "net: step 'conv2_2': has 36863 weights, expected 36864");
  EXPECT_EQ(sentence([](QuantisedStep& s) { s.inputs[0] = 4; }),
            "net: step 'conv2_2': is fed by itself or a later step, expected an earlier one");
  EXPECT_EQ(sentence([](QuantisedStep& s) { s.inputs.pop_back(); }), "net: step 'conv2_2': has 1 inputs, expected 2");
  EXPECT_EQ(sentence([](QuantisedStep& s) { s.inputs[1] = 0; }),
            "net: step 'conv2_2': input 1 is 1x3x32x32, expected 1x64x8x8");
  EXPECT_EQ(sentence([](QuantisedStep& s) { s.high = 128; }),
            "net: step 'conv2_2': clips to 0..128, expected a range within -128..127");
  EXPECT_EQ(sentence([](QuantisedStep& s) { s.is_average = true; }),
            "net: step 'conv2_2': is an average with unequal weights, a bias or a residual, expected a plain one");
  EXPECT_EQ(sentence([](QuantisedStep& s) { s.alignment.clear(); }), "net: step 'conv2_2': has 0 alignments, expected 1");
}

// The largest share of saturated or zero values, and the least spread, over the results of layers.
struct Health {
  double saturated = 0, zero = 0, spread = 128;
};

Health health_of(const QuantisedNetwork& network, const QuantisedTensors& tensors) {
  Health health;
  for (std::size_t index = 1; index < network.steps.size(); ++index) {
    const QuantisedStep& step = network.steps[index];
    if (step.kind != StepKind::Product) continue;
    double saturated = 0, zero = 0, squares = 0;
    for (const std::int8_t value : tensors[index]) {
      saturated += value == 127 || value == -128 ? 1 : 0;
      zero += value == 0 ? 1 : 0;
      squares += value * value;
    }
    const auto count = static_cast<double>(tensors[index].size());
    health.saturated = std::max(health.saturated, saturated / count);
    health.zero = std::max(health.zero, zero / count);
    health.spread = std::min(health.spread, std::sqrt(squares / count));
  }
  return health;
}

TEST(QuantisedZoo, ActivationsNeitherVanishNorSaturateOnAnInputThatScalesWereNotChosenWith) {
  struct Case {
    const char* name;
    std::int64_t side;
  };
  for (const Case& c : {Case{"resnet18", 64}, {"vgg11", 32}, {"mobilenet_v2", 64}, {"squeezenet", 48}}) {
    ThreadPool pool(2);
    const std::string source = std::string("zoo:") + c.name;
    const Result<QuantisedNetwork> network = read_quantised(source, {.height = c.side, .width = c.side}, pool);
    ASSERT_TRUE(network) << network.error().message;
    const Health health = health_of(*network, run(*network, random_input(*network, 99), pool));
    EXPECT_LT(health.saturated, 0.03) << c.name;
    EXPECT_LT(health.zero, 0.9) << c.name;
    EXPECT_GT(health.spread, 5) << c.name;
  }
}

TEST(QuantisedCalibration, NoiseFillsTheInputsRangeAndNoMore) {
  struct Case {
    InputRange range;
    int exponent, low, high;
  };
  for (const Case& c : {Case{{-1, 1}, 7, -128, 127}, {{0, 255}, -1, 0, 127}, {{-4, 2}, 5, -128, 64}, {{0, 1}, 7, 0, 127}}) {
    ThreadPool pool(1);
    QuantiseOptions options;
    options.height = options.width = 32;
    options.input = c.range;
    const Result<QuantisedNetwork> network = read_quantised("zoo:vgg11", options, pool);
    ASSERT_TRUE(network) << network.error().message;
    EXPECT_EQ(network->steps[0].exponent, c.exponent);
    const std::vector<std::int8_t> input = random_input(*network, 3);
    EXPECT_EQ(*std::ranges::min_element(input), c.low);
    EXPECT_EQ(*std::ranges::max_element(input), c.high);
    const Health health = health_of(*network, run(*network, input, pool));
    EXPECT_LT(health.saturated, 0.03);
    EXPECT_GT(health.spread, 5);
  }
}

TEST(QuantisedZoo, WiringHasTheNetworksLayersAndOperators) {
  for (const char* name :
       {"resnet18", "resnet34", "resnet50", "vgg11", "vgg13", "vgg16", "vgg19", "alexnet", "mobilenet_v2", "mnasnet"}) {
    const Result<Network> network = read_network(std::string("zoo:") + name);
    Result<Draft> draft = wired(*network);
    ASSERT_TRUE(draft) << draft.error().message;
    QuantisedNetwork steps;
    for (const DraftStep& step : draft->steps) steps.steps.push_back(step.step);
    const Result<Done> same = check_layers(steps, *network);
    EXPECT_TRUE(same) << name << ": " << same.error().message;
    EXPECT_EQ(macs(steps), macs(*network)) << name;
    ASSERT_TRUE(resize(draft.value(), {}));  // shapes of all steps fit each other at the network's own resolution
    fuse(draft.value());
    for (const DraftStep& step : draft->steps) {
      EXPECT_NE(step.step.kind, StepKind::Clip) << name << ": " << step.step.name;  // each is part of a layer
      EXPECT_NE(step.step.kind, StepKind::Add) << name << ": " << step.step.name;
    }
  }
}

TEST(QuantisedZoo, NetworksThatAreWiredOtherwiseAreRefused) {
  const auto sentence = [](const char* name) {
    const Result<Draft> draft = wired(*read_network(std::string("zoo:") + name));
    return draft ? std::string("accepted") : draft.error().message;
  };
  EXPECT_EQ(sentence("bert_base"),
            "bert_base: it has 25 LayerNormalization, expected only Add, BatchNormalization, Clip, Concat, Dropout, "
            "GlobalAveragePool, MaxPool, Relu: give the network as an ONNX model instead");
  EXPECT_EQ(
      wired(*network_from_yaml("format: tilewright-network-1\nname: net\nlayers:\n"
                               "  - {name: a, op: conv, in: [3, 8, 8], out: 4, kernel: 3, pad: 1}\n"
                               "  - {name: b, op: conv, in: [4, 4, 4], out: 4, kernel: 1}\n",
                               "net.yaml"))
          .error()
          .message,
      "net: its shapes tell of 1 MaxPool with 256 operations, expected the 0 with 0 that it lists: give the network as "
      "an ONNX model instead");
  Network resnet = *read_network("zoo:resnet18");
  resnet.others[1].count = 18;  // one Relu more than the shapes tell of
  const Result<Draft> draft = wired(resnet);
  ASSERT_FALSE(draft);
  EXPECT_EQ(
      draft.error().message,
      "resnet18: its shapes tell of 17 Relu with 2308096 operations, expected the 18 with 2308096 that it lists: give the "
      "network as an ONNX model instead");
}

TEST(QuantisedZoo, TheSeedDecidesAndThreadsDoNot) {
  ThreadPool one(1), two(2);
  const auto weights_and_shifts = [](const QuantisedNetwork& network) {
    std::vector<std::int64_t> all;
    for (const QuantisedStep& step : network.steps) {
      all.push_back(step.shift);
      all.insert(all.end(), step.bias.begin(), step.bias.end());
      all.insert(all.end(), step.weight.begin(), step.weight.end());
    }
    return all;
  };
  const auto built = [&](std::uint64_t seed, ThreadPool& pool) {
    return weights_and_shifts(*read_quantised("zoo:squeezenet", {.seed = seed, .height = 48, .width = 48}, pool));
  };
  EXPECT_EQ(built(1, one), built(1, two));
  EXPECT_NE(built(1, one), built(2, one));
}

TEST(QuantisedCalibration, ShiftIsTheLeastThatKeepsTheShare) {
  std::vector<std::int32_t> sums(1000, 100);
  EXPECT_EQ(shift_for(sums, -INFINITY, INFINITY, 0), 0);
  sums[0] = 128;
  EXPECT_EQ(shift_for(sums, -INFINITY, INFINITY, 0), 1);
  EXPECT_EQ(shift_for(sums, -INFINITY, INFINITY, 0.001), 0);
  sums[1] = -128;  // fits
  EXPECT_EQ(shift_for(sums, -INFINITY, INFINITY, 0.001), 0);
  sums[1] = -129;
  EXPECT_EQ(shift_for(sums, -INFINITY, INFINITY, 0.001), 1);
  EXPECT_EQ(shift_for(sums, 0, INFINITY, 0.001), 0);  // negative ones are clipped anyway
  sums[2] = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ(shift_for(sums, -INFINITY, INFINITY, 0), 24);
  EXPECT_EQ(shift_for(sums, -INFINITY, INFINITY, 0.01), 0);
  EXPECT_EQ(weight_exponent_for({0.5F, -1.0F}), 6);
  EXPECT_EQ(weight_exponent_for({0, 0}), 0);
  EXPECT_EQ(weight_exponent_for({127}), 0);
  EXPECT_EQ(weight_exponent_for({128}), -1);
}

}  // namespace
}  // namespace tilewright
