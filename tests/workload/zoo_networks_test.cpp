// The networks of zoo/networks against what others publish about them: work, parameters, sizes, structure.
#include <map>

#include "tilewright/workload/network.hpp"
#include "tilewright/zoo/zoo.hpp"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAreArray;

Network zoo(const std::string& name) {
  const Result<Network> network = read_network("zoo:" + name);
  EXPECT_TRUE(network) << network.error().message;
  return network ? *network : Network{};
}

const Layer& layer_of(const Network& network, const std::string& name) {
  return network.layers[find_layer(network, name).value()].layer;
}

struct Published {
  const char* network;
  std::size_t layers;
  std::int64_t macs;  // exact
  double giga;        // as printed by the source, rounded
};

// torchvision 0.29.2: `_ops` of the weights of each model, 10^9 multiply-accumulates with three decimals. The exact numbers
// are those of the Conv2d and Linear modules of the same models, counted layer by layer with forward hooks; vit_b16 adds the
// products and projections of its attention, which are no modules, by hand.
constexpr Published kTorchvision[] = {
    {"alexnet", 8, 714188480, 0.714},          {"vgg11", 11, 7609090048, 7.609},
    {"vgg13", 13, 11308466176, 11.308},        {"vgg16", 16, 15470264320, 15.470},
    {"vgg19", 19, 19632062464, 19.632},        {"resnet18", 21, 1814073344, 1.814},
    {"resnet34", 37, 3663761408, 3.664},       {"resnet50", 54, 4089184256, 4.089},
    {"mobilenet_v2", 53, 300774272, 0.301},    {"densenet121", 121, 2834161664, 2.834},
    {"efficientnet_b0", 82, 385814752, 0.386}, {"shufflenet_v2", 57, 144907992, 0.145},
    {"inception_v3", 95, 5713216096, 5.713},   {"squeezenet", 26, 818924576, 0.819},
    {"mnasnet", 53, 314415872, 0.314},         {"vit_b16", 8, 17563828224, 17.564},
};

constexpr Published kOthers[] = {
    // Table 1 of the paper by hand, which rounds it to "1.5 billion"; another test compares it with torchvision's 1.498 G.
    {"googlenet", 58, 1582671872, 1.583},
    // Figure 1 of the paper by hand; the unpadded original has no published total.
    {"unet", 23, 150428424448, 150.428},
    // pytorch-image-models, results/benchmark-infer-*.csv, mixer_b16_224: 12.62 G.
    {"mlp_mixer_b16", 6, 12601767936, 12.62},
    // TinyBERT (arXiv 1909.10351, table 1): 22.5 G operations, two for each.
    {"bert_base", 9, 11174215680, 22.5 / 2},
    // nanoGPT, transformer_sizing.ipynb, forward_total: 291,648,307,200 operations, two for each.
    {"gpt2", 7, 291648307200 / 2, 145.824},
    // One token: in each of 12 blocks 12 * 768^2 weights and two products with 1024 positions; then the head.
    {"gpt2_decode", 7, 12 * (std::int64_t{12} * 768 * 768 + 2 * 768 * 1024) + 768 * 50257, 0.142},
    // 2048 samples, each 2,365,184 weights of the two MLPs and the interaction, by hand.
    {"dlrm", 9, 2048 * (std::int64_t{2365184} + 27 * 128 * 27), 5.035},
    // For each token the 6,979,321,856 weights of the blocks and 32 layers * 2 products * 4096 channels * 2048 positions,
    // and the head once. The weights follow from the published parameters, which another test compares.
    {"llama3_8b_prefill", 10, 2048 * (std::int64_t{6979321856} + 32 * 2 * 4096 * 2048) + 525336576, 15393.688},
    {"llama3_8b_decode", 10, std::int64_t{6979321856} + 32 * 2 * 4096 * 2048 + 525336576, 8.042},
};

TEST(ZooNetworks, DoThePublishedWork) {
  std::vector<std::string> tested;
  const auto expect_published = [&](const Published& published, double tolerance) {
    SCOPED_TRACE(published.network);
    tested.emplace_back(published.network);
    const Network network = zoo(published.network);
    EXPECT_EQ(network.name, published.network);
    EXPECT_EQ(network.layers.size(), published.layers);
    EXPECT_EQ(macs(network), Macs{published.macs});
    EXPECT_EQ(network.stated, Macs{published.macs});
    EXPECT_NEAR(static_cast<double>(published.macs) * 1e-9, published.giga, tolerance);
    EXPECT_FALSE(network.source.empty());
    EXPECT_FALSE(network.others.empty());
  };
  for (const Published& published : kTorchvision) expect_published(published, 0.0005);
  for (const Published& published : kOthers) expect_published(published, 0.01 * published.giga);
  EXPECT_THAT(zoo_names("networks"), UnorderedElementsAreArray(tested));
}

std::int64_t weights(const Network& network) {
  std::int64_t total = 0;
  for (const NetworkLayer& entry : network.layers) {
    if (entry.layer.op == Operator::MatrixMultiply) continue;  // activations on both sides
    total += tensor_sizes(entry.layer).weight.value * entry.count;
  }
  return total;
}

// What a network has besides weights: a bias per output; or scale and shift of a normalisation after (or, in DenseNet,
// before) each convolution and a bias in the classifier only.
std::int64_t biases(const Network& network) {
  std::int64_t total = 0;
  for (const NetworkLayer& entry : network.layers) total += entry.layer.out_channels * entry.count;
  return total;
}
std::int64_t norms_after(const Network& network) {
  std::int64_t total = 0;
  for (const NetworkLayer& entry : network.layers) {
    const bool normalised = entry.layer.in_height > 1;  // neither the classifier nor the squeeze-and-excite pair
    total += entry.layer.out_channels * (normalised ? 2 : 1);
  }
  return total;
}
std::int64_t norms_before(const Network& network) {
  std::int64_t total = 2 * 64 + 2 * 1024 + 1000;  // after the first convolution, before the classifier, its bias
  for (const NetworkLayer& entry : network.layers) {
    if (entry.layer.in_height > 1 && entry.layer.in_channels != 3) total += 2 * entry.layer.in_channels;
  }
  return total;
}

TEST(ZooNetworks, HaveThePublishedParameters) {
  struct Row {
    const char* network;
    std::int64_t (*besides)(const Network&);
    std::int64_t parameters;  // torchvision, `num_params` of the weights
  };
  constexpr Row kRows[] = {
      {"alexnet", biases, 61100840},
      {"vgg11", biases, 132863336},
      {"vgg13", biases, 133047848},
      {"vgg16", biases, 138357544},
      {"vgg19", biases, 143667240},
      {"squeezenet", biases, 1248424},
      {"resnet18", norms_after, 11689512},
      {"resnet34", norms_after, 21797672},
      {"resnet50", norms_after, 25557032},
      {"mobilenet_v2", norms_after, 3504872},
      {"mnasnet", norms_after, 4383312},
      {"shufflenet_v2", norms_after, 2278604},
      {"efficientnet_b0", norms_after, 5288548},
      {"densenet121", norms_before, 7978856},
      {"inception_v3", norms_after, 27161264 - 3326696},  // without the auxiliary classifier
  };
  for (const Row& row : kRows) {
    const Network network = zoo(row.network);
    EXPECT_EQ(weights(network) + row.besides(network), row.parameters) << row.network;
  }
}

TEST(ZooNetworks, TransformersHaveThePublishedParameters) {
  const auto block_biases = [](const Network& network) {
    std::int64_t total = 0;
    for (const NetworkLayer& entry : network.layers) {
      if (entry.layer.op != Operator::MatrixMultiply) total += entry.layer.out_channels * entry.count;
    }
    return total;
  };
  const Network vit = zoo("vit_b16");  // 25 normalisations, 197 positions, a class token
  EXPECT_EQ(weights(vit) + block_biases(vit) + 25 * 2 * 768 + 198 * 768, 86567656);
  const Network mixer = zoo("mlp_mixer_b16");  // pytorch-image-models: 59.88 M; 25 normalisations
  EXPECT_EQ(weights(mixer) + block_biases(mixer) + 25 * 2 * 768, 59880472);
  const Network bert = zoo("bert_base");  // bert-base-uncased; 30522 words, 512 positions, 2 segments
  EXPECT_EQ(weights(bert) + block_biases(bert) + 25 * 2 * 768 + (30522 + 512 + 2) * 768, 109482240);
  const Network gpt = zoo("gpt2");  // the head is the embedding and has no bias; 1024 positions
  EXPECT_EQ(weights(gpt) + block_biases(gpt) - 50257 + 25 * 2 * 768 + 1024 * 768, 124439808);
  for (const char* name : {"llama3_8b_prefill", "llama3_8b_decode"}) {  // no biases; embedding of its own; 65 scales
    EXPECT_EQ(weights(zoo(name)) + std::int64_t{128256} * 4096 + 65 * 4096, 8030261248) << name;
  }
}

TEST(ZooNetworks, GoogLeNetIsTorchvisionsButForTheKernelsItShrank) {
  Network network = zoo("googlenet");
  for (NetworkLayer& entry : network.layers) {
    Layer& layer = entry.layer;
    if (layer.kernel_height != 5) continue;
    layer.kernel_height = layer.kernel_width = 3;
    layer.pad_top = layer.pad_bottom = layer.pad_left = layer.pad_right = 1;
  }
  EXPECT_EQ(macs(network), Macs{1498376192});                   // `_ops` is 1.498
  EXPECT_EQ(weights(network) + norms_after(network), 6624904);  // `num_params`; torchvision normalises, the paper does not
}

TEST(ZooNetworks, FormAConnectedGraph) {
  for (const std::string& name : zoo_names("networks")) {
    SCOPED_TRACE(name);
    const Network network = zoo(name);
    std::vector<bool> used(network.layers.size(), false);
    for (std::size_t index = 0; index < network.layers.size(); ++index) {
      for (const std::size_t input : network.layers[index].inputs) {
        ASSERT_LT(input, index);
        used[input] = true;
      }
    }
    for (std::size_t index = 0; index + 1 < network.layers.size(); ++index) {
      EXPECT_TRUE(used[index]) << "nothing reads " << network.layers[index].layer.name;
    }
    EXPECT_FALSE(used.back());
    if (network.layers[0].layer.op != Operator::Convolution) continue;  // queries, keys and values all read the input
    for (std::size_t index = 1; index < network.layers.size(); ++index) {
      EXPECT_FALSE(network.layers[index].inputs.empty()) << network.layers[index].layer.name << " reads the image";
    }
  }
}

// Results that are added have the reader's channels each; results that are concatenated have them together.
TEST(ZooNetworks, ChannelsFitTheirReaders) {
  for (const std::string& name : zoo_names("networks")) {
    if (name == "shufflenet_v2") continue;  // splits channels as well
    SCOPED_TRACE(name);
    const Network network = zoo(name);
    for (const NetworkLayer& entry : network.layers) {
      const Layer& reader = entry.layer;
      if (reader.op == Operator::FullyConnected || reader.op == Operator::MatrixMultiply || entry.inputs.empty()) continue;
      std::int64_t together = 0;
      bool each = true;
      for (const std::size_t input : entry.inputs) {
        const std::int64_t channels = network.layers[input].layer.out_channels;
        together += channels;
        each = each && channels == reader.in_channels;
      }
      EXPECT_TRUE(each || together == reader.in_channels) << reader.name;
    }
  }
}

TEST(ZooNetworks, SurviveTheRoundTrip) {
  for (const std::string& name : zoo_names("networks")) {
    const Network network = zoo(name);
    const Result<Network> again = network_from_yaml(to_yaml(network), name);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_TRUE(*again == network) << name;
  }
}

TEST(ZooNetworks, ResNetLayersCarryTheNamesOfThePaper) {
  const Network resnet18 = zoo("resnet18");
  EXPECT_TRUE(same_shape(layer_of(resnet18, "conv2_1"), convolution("", {.out_channels = 64,
                                                                         .in_channels = 64,
                                                                         .in_height = 56,
                                                                         .in_width = 56,
                                                                         .kernel_height = 3,
                                                                         .kernel_width = 3,
                                                                         .pad = 1})));
  const std::size_t third = find_layer(resnet18, "conv2_3").value();
  EXPECT_THAT(resnet18.layers[third].inputs, ElementsAre(0, 2));  // the shortcut past conv2_1 and conv2_2
  EXPECT_EQ(out_height(layer_of(resnet18, "conv5_4")), 7);

  const Network resnet50 = zoo("resnet50");
  EXPECT_EQ(layer_of(resnet50, "conv2_1_3").out_channels, 256);
  EXPECT_EQ(layer_of(resnet50, "conv3_1_1").stride_height, 1);
  EXPECT_EQ(layer_of(resnet50, "conv3_1_2").stride_height, 2);
  EXPECT_EQ(layer_of(resnet50, "conv5_1_proj").out_channels, 2048);
}

TEST(ZooNetworks, EveryDenseNetLayerReadsAllBeforeItInItsBlock) {
  const Network network = zoo("densenet121");
  const auto reads = [&](const std::string& name) {
    return network.layers[find_layer(network, name).value()].inputs.size();
  };
  EXPECT_EQ(reads("dense1_6_1x1"), 6u);  // conv0 and five layers
  EXPECT_EQ(reads("transition3"), 25u);  // transition2 and 24 layers
}

TEST(ZooNetworks, UNetHasTheSizesOfItsFigure) {
  const Network network = zoo("unet");
  const std::map<std::string, std::int64_t> sizes = {{"down1_2", 568}, {"down2_2", 280}, {"down3_2", 136}, {"down4_2", 64},
                                                     {"down5_2", 28},  {"up4", 56},      {"up4_2", 52},    {"up3_2", 100},
                                                     {"up2_2", 196},   {"up1", 392},     {"up1_2", 388},   {"classes", 388}};
  for (const auto& [name, size] : sizes) EXPECT_EQ(out_height(layer_of(network, name)), size) << name;
}

TEST(ZooNetworks, Llama3SharesEachKeyValueHeadAmongFourQueryHeads) {
  const Network network = zoo("llama3_8b_decode");
  const Layer& qk = layer_of(network, "qk");
  EXPECT_EQ(tensor_sizes(qk).weight, Elements{8 * 128 * 2048});  // the key cache of one layer
  EXPECT_EQ(tensor_sizes(qk).output, Elements{32 * 2048});       // scores of 32 heads
}

}  // namespace
}  // namespace tilewright
