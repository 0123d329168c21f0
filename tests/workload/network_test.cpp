#include "tilewright/workload/network.hpp"

#include <fstream>
#include <limits>

#include "../scratch.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/rng.hpp"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr const char* kHeader = "format: tilewright-network-1\nname: test\nlayers:\n";

Network read(const std::string& text) {
  const Result<Network> network = network_from_yaml(text, "net.yaml");
  EXPECT_TRUE(network) << network.error().message;
  return network ? *network : Network{};
}

// What the reader says about a network whose fourth line is `layer`.
std::string network_complaint(const std::string& layer) {
  const Result<Network> network = network_from_yaml(kHeader + layer, "net.yaml");
  return network ? "nothing" : network.error().message;
}

TEST(NetworkYaml, ReadsEveryOperator) {
  const Network network = read(R"(
format: tilewright-network-1
name: all
source: "by hand: one of each"
macs: 12
layers:
  - {name: conv, op: conv, in: [4, 20, 30], out: 6, kernel: [3, 5], stride: [2, 1], dilation: 2, pad: [1, 2, 3, 4], groups: 2}
  - {name: dw, op: depthwise, in: [6, 9, 8], kernel: 3, pad: [1, 0]}
  - {name: multiplied, op: depthwise, in: [6, 9, 8], out: 12, kernel: 3}
  - {name: up, op: transposed-conv, in: [8, 4, 4], out: 2, kernel: 3, stride: 2, pad: 1, output_pad: [1, 0]}
  - {name: fc, op: fc, in: 512, out: 1000, batch: 3}
  - {name: qk, op: matmul, batch: 12, rows: 128, inner: 64, columns: 100, count: 24}
others:
  - {op: MaxPool, count: 1, operations: 802816}
  - {op: Softmax}
)");
  EXPECT_EQ(network.name, "all");
  EXPECT_EQ(network.source, "by hand: one of each");
  EXPECT_EQ(network.stated, Macs{12});
  ASSERT_EQ(network.layers.size(), 6u);

  const Layer& conv = network.layers[0].layer;
  EXPECT_EQ(conv.kernel_height, 3);
  EXPECT_EQ(conv.kernel_width, 5);
  EXPECT_EQ(conv.stride_height, 2);
  EXPECT_EQ(conv.stride_width, 1);
  EXPECT_EQ(conv.dilation_width, 2);
  EXPECT_EQ(conv.pad_top, 1);
  EXPECT_EQ(conv.pad_bottom, 2);
  EXPECT_EQ(conv.pad_left, 3);
  EXPECT_EQ(conv.pad_right, 4);
  EXPECT_EQ(conv.groups, 2);

  const Layer& depthwise = network.layers[1].layer;
  EXPECT_EQ(depthwise.groups, 6);
  EXPECT_EQ(depthwise.out_channels, 6);
  EXPECT_EQ(depthwise.pad_bottom, 1);
  EXPECT_EQ(depthwise.pad_left, 0);
  EXPECT_EQ(network.layers[2].layer.out_channels, 12);

  const Layer& up = network.layers[3].layer;
  EXPECT_EQ(out_height(up), 8);
  EXPECT_EQ(out_width(up), 7);
  EXPECT_EQ(network.layers[4].layer, fully_connected("fc", 3, 512, 1000));
  EXPECT_EQ(network.layers[5].layer, matrix_multiply("qk", {.batch = 12, .rows = 128, .inner = 64, .columns = 100}));
  EXPECT_EQ(network.layers[5].count, 24);

  ASSERT_EQ(network.others.size(), 2u);
  EXPECT_EQ(network.others[0].operations, 802816);
  EXPECT_TRUE(network.others[0].operations_known);
  EXPECT_FALSE(network.others[1].operations_known);
  EXPECT_EQ(network.others[1].count, 1);
}

TEST(NetworkYaml, AnUnsaidInputIsThePreviousLayer) {
  const Network network = read(std::string(kHeader) +
                               "  - {name: a, op: fc, in: 4, out: 4}\n"
                               "  - {name: b, op: fc, in: 4, out: 4}\n"
                               "  - {name: c, op: fc, in: 4, out: 4, from: []}\n"
                               "  - {name: d, op: fc, in: 4, out: 4, from: [c, a]}\n");
  EXPECT_THAT(network.layers[0].inputs, IsEmpty());
  EXPECT_THAT(network.layers[1].inputs, ElementsAre(0));
  EXPECT_THAT(network.layers[2].inputs, IsEmpty());
  EXPECT_THAT(network.layers[3].inputs, ElementsAre(2, 0));
}

TEST(NetworkYaml, MistakesAreSentencesWithALine) {
  EXPECT_EQ(network_complaint("  - {name: a, op: conv, in: [3, 8, 8], out: 4, kernel: 3, stride: 0}\n"),
            "net.yaml:4: layer 'a': stride is 0, expected at least 1");
  EXPECT_EQ(network_complaint("  - {name: a, op: conv, in: [3, 8, 8], out: 4, kernal: 3}\n"),
            "net.yaml:4: 'kernal' is not a known field (did you mean 'kernel'?)");
  EXPECT_EQ(network_complaint("  - {name: a, op: convv, in: [3, 8, 8], out: 4, kernel: 3}\n"),
            "net.yaml:4: op 'convv' is not known (did you mean 'conv'?)");
  EXPECT_EQ(network_complaint("  - {name: a, op: pooling}\n"),
            "net.yaml:4: op 'pooling' is not known, expected one of conv, depthwise, transposed-conv, fc, matmul");
  EXPECT_EQ(network_complaint("  - {name: a, op: conv, in: [3, 8], out: 4, kernel: 3}\n"),
            "net.yaml:4: 'in' has 2 entries, expected [channels, height, width]");
  EXPECT_EQ(network_complaint("  - {name: a, op: conv, in: 3, out: 4, kernel: 3}\n"),
            "net.yaml:4: 'in' is not a list, expected [channels, height, width]");
  EXPECT_EQ(network_complaint("  - {name: a, op: conv, in: [3, 8, 8], out: 4}\n"),
            "net.yaml:4: 'kernel' is missing, expected one number or [height, width]");
  EXPECT_EQ(network_complaint("  - {name: a, op: conv, in: [3, 8, 8], out: 4, kernel: [3, 3, 3]}\n"),
            "net.yaml:4: 'kernel' has 3 entries, expected one number or [height, width]");
  EXPECT_EQ(network_complaint("  - {name: a, op: conv, in: [3, 8, 8], out: 4, kernel: 1, pad: [1, 1, 1]}\n"),
            "net.yaml:4: 'pad' has 3 entries, expected one number, [height, width] or [top, bottom, left, right]");
  EXPECT_EQ(network_complaint("  - {name: a, op: fc, in: 3}\n"), "net.yaml:4: 'out' is missing, expected it here");
  EXPECT_EQ(network_complaint("  - {name: a, op: fc, in: 3, out: 4, count: 0}\n"),
            "net.yaml:4: 'count' is 0, expected at least 1");
  EXPECT_EQ(network_complaint("  - {name: '', op: fc, in: 3, out: 4}\n"), "net.yaml:4: 'name' is empty, expected a name");
  EXPECT_EQ(network_complaint("  - nothing\n"), "net.yaml:4: a layer is not a map, expected {name: …, op: …, …}");
}

TEST(NetworkYaml, NamesAreUniqueAndInputsStandAbove) {
  const std::string first = "  - {name: first, op: fc, in: 4, out: 4}\n";
  EXPECT_EQ(network_complaint(first + "  - {name: first, op: fc, in: 4, out: 4}\n"),
            "net.yaml:5: layer 'first' stands here for the second time, expected a name of its own");
  EXPECT_EQ(network_complaint(first + "  - {name: b, op: fc, in: 4, out: 4, from: [frist]}\n"),
            "net.yaml:5: 'from' names 'frist', expected a layer above this one (did you mean 'first'?)");
  EXPECT_THAT(network_complaint(first + "  - {name: b, op: fc, in: 4, out: 4, from: [b]}\n"),
              HasSubstr("a layer above this one"));
  EXPECT_EQ(network_complaint(first + "  - {name: b, op: fc, in: 4, out: 4, from: [first, first]}\n"),
            "net.yaml:5: 'from' names 'first' twice, expected it once");
}

TEST(NetworkYaml, TheDocumentItselfIsChecked) {
  const auto complaint = [](const std::string& text) { return network_from_yaml(text, "net.yaml").error().message; };
  EXPECT_EQ(complaint("format: tilewright-network-2\nname: a\n"),
            "net.yaml:1: format is 'tilewright-network-2', expected 'tilewright-network-1'");
  EXPECT_EQ(complaint("format: tilewright-network-1\nname: a\n"),
            "net.yaml:1: 'layers' is missing or empty, expected at least one layer");
  EXPECT_EQ(complaint("format: tilewright-network-1\nname: a\nmacs: -1\n"), "net.yaml:3: 'macs' is -1, expected at least 0");
  EXPECT_EQ(complaint("format: tilewright-network-1\nname: a\nlayer: []\n"),
            "net.yaml:3: 'layer' is not a known field (did you mean 'layers'?)");
  const std::string layers = std::string(kHeader) + "  - {name: a, op: fc, in: 1, out: 1}\n";
  EXPECT_EQ(complaint(layers + "others:\n  - {op: Relu, count: -1}\n"), "net.yaml:6: 'count' is -1, expected at least 1");
  EXPECT_EQ(complaint(layers + "others:\n  - {op: Relu, operations: -1}\n"),
            "net.yaml:6: 'operations' is -1, expected at least 0");
  EXPECT_EQ(complaint(layers + "others:\n  - {op: Relu, macs: -1}\n"), "net.yaml:6: 'macs' is -1, expected at least 0");
}

TEST(NetworkYaml, TheTotalFitsIn63Bits) {
  const std::string big = "in: 2147483647, out: 2147483647";
  EXPECT_EQ(network_complaint("  - {name: a, op: fc, " + big + "}\n  - {name: b, op: fc, " + big + "}\n"), "nothing");
  EXPECT_EQ(network_complaint("  - {name: a, op: fc, " + big + "}\n  - {name: b, op: fc, " + big + ", count: 2}\n"),
            "net.yaml: layer 'b': brings the network to more than 2^63 multiply-accumulates, expected fewer");
}

TEST(NetworkYaml, AwkwardNamesSurviveTheRoundTrip) {
  Network network;
  for (const char* name :
       {"a, b",       "[x]", "{y}", "null", "~",    "true", "12", "# no", "a: b", "'quoted'", "\"",   "\\",
        "two\nlines", " x ", "-",   "?",    "Füße", "&a",   "*a", "!t",   "%",    "@",        "a #b", "/layer/Conv:0"}) {
    network.layers.push_back({fully_connected(name, 1, 2, 3), 1, {}});
    network.others.push_back({name, 1, 0, false});
  }
  network.layers.back().inputs = {0, 1, 2, 7};
  network.name = "a: {b}";
  network.source = "x # y";
  EXPECT_TRUE(read(to_yaml(network)) == network) << to_yaml(network);
}

Layer random_layer(Rng& rng, const std::string& name) {
  const auto small = [&] { return rng.between(1, 9); };
  Layer l{.name = name,
          .op = static_cast<Operator>(rng.below(5)),
          .batch = small(),
          .out_channels = small(),
          .in_channels = small()};
  if (l.op == Operator::FullyConnected) return l;
  l.in_height = small();
  if (l.op == Operator::MatrixMultiply) return l;
  l.in_width = small();
  for (auto member : {&Layer::kernel_height, &Layer::kernel_width, &Layer::stride_height, &Layer::stride_width,
                      &Layer::dilation_height, &Layer::dilation_width}) {
    l.*member = rng.between(1, 3);
  }
  for (auto member : {&Layer::pad_top, &Layer::pad_bottom, &Layer::pad_left, &Layer::pad_right}) l.*member = rng.below(3);
  l.groups = l.op == Operator::Depthwise ? l.in_channels : rng.between(1, 2);
  l.out_channels *= l.groups;
  if (l.op != Operator::Depthwise) l.in_channels *= l.groups;
  if (l.op == Operator::TransposedConvolution) l.output_pad_width = rng.below(2);
  return l;
}

TEST(NetworkYaml, RandomNetworksSurviveTheRoundTrip) {
  Rng rng(1, "network-round-trip");
  for (int round = 0; round < 200; ++round) {
    Network network;
    network.name = "random";
    if (rng.below(2) == 0) network.stated = Macs{rng.below(1000)};
    while (network.layers.size() < 10) {
      const std::size_t index = network.layers.size();
      const Layer layer = random_layer(rng, "layer" + std::to_string(index));
      if (!check(layer)) continue;
      std::vector<std::size_t> inputs;
      for (std::size_t input = 0; input < index; ++input) {
        if (rng.below(3) == 0) inputs.push_back(input);
      }
      network.layers.push_back({layer, rng.between(1, 3), inputs});
    }
    if (rng.below(2) == 0) network.others.push_back({"Relu", 3, 17, true});
    if (rng.below(2) == 0) network.others.push_back({"DeformConv", 1, 40, true, 20});
    if (rng.below(2) == 0) network.others.push_back({"LSTM (shape unknown)", 1, 0, false, std::nullopt});
    ASSERT_TRUE(read(to_yaml(network)) == network) << to_yaml(network);
  }
}

TEST(Network, EqualShapesAreOneGroup) {
  const Network network = read(std::string(kHeader) +
                               "  - {name: a, op: fc, in: 4, out: 4}\n"
                               "  - {name: b, op: fc, in: 4, out: 5, count: 2}\n"
                               "  - {name: c, op: fc, in: 4, out: 4, count: 3}\n");
  EXPECT_EQ(macs(network), Macs{16 + 2 * 20 + 3 * 16});
  const std::vector<LayerGroup> groups = distinct_layers(network);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].first, 0u);
  EXPECT_EQ(groups[0].count, 4);
  EXPECT_THAT(groups[0].members, ElementsAre(0, 2));
  EXPECT_EQ(groups[1].first, 1u);
  EXPECT_EQ(groups[1].count, 2);
}

TEST(Network, LayersAreFoundByName) {
  const Network network =
      read(std::string(kHeader) + "  - {name: conv1, op: fc, in: 4, out: 4}\n  - {name: fc, op: fc, in: 4, out: 4}\n");
  EXPECT_EQ(find_layer(network, "fc").value(), 1u);
  const Result<std::size_t> missing = find_layer(network, "conv_1");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::NotFound);
  EXPECT_EQ(missing.error().message, "network 'test' has no layer 'conv_1' (did you mean 'conv1'?)");
}

TEST(Network, CheckRefusesCyclesAndEmptyCounts) {
  Network network;
  network.layers.push_back({fully_connected("a", 1, 2, 3), 1, {0}});
  EXPECT_EQ(check(network, "net").error().message,
            "net: layer 'a': is fed by itself or a later layer, expected an earlier one");
  network.layers[0] = {fully_connected("a", 1, 2, 3), 0, {}};
  EXPECT_EQ(check(network, "net").error().message, "net: layer 'a': count is 0, expected at least 1");
}

class ReadNetwork : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_ / name;
    EXPECT_TRUE(write_file(path, text));
    return path.string();
  }

  const Scratch folder_;
};

TEST_F(ReadNetwork, ChoosesTheReaderByTheEnding) {
  const std::string layer = std::string(kHeader) + "  - {name: a, op: fc, in: 4, out: 4}\n";
  EXPECT_EQ(macs(read_network(file("a.yaml", layer)).value()), Macs{16});
  EXPECT_EQ(macs(read_network(file("a.yml", layer)).value()), Macs{16});
  EXPECT_EQ(macs(read_network(file("A.CSV", "O,I,0,0,0,0,T\n5,3,1,1,1,1,0\n")).value()), Macs{15});
  EXPECT_EQ(read_network("zoo:resnet18").value().name, "resnet18");
}

TEST_F(ReadNetwork, SaysWhatItCannotRead) {
  const std::string text_file = file("a.txt", "");
  EXPECT_EQ(read_network(text_file).error().message,
            text_file + ": ends in '.txt', expected .onnx, .yaml, .yml, .m, .csv, or zoo:NAME");
  EXPECT_THAT(read_network("resnet18").error().message, HasSubstr("(did you mean 'zoo:resnet18'?)"));
  EXPECT_THAT(read_network("zoo:resnet81").error().message, HasSubstr("did you mean 'resnet18'?"));
  EXPECT_THAT(read_network("nowhere/net.yaml").error().message, StartsWith("nowhere/net.yaml: no such file"));
}

TEST_F(ReadNetwork, JoinsSeveralNetworks) {
  const Network first = read_network("zoo:resnet18").value(), second = read_network("zoo:bert_base").value();
  const Network both = read_network("zoo:resnet18+zoo:bert_base").value();
  EXPECT_EQ(both.name, "resnet18+bert_base");
  EXPECT_EQ(macs(both), Macs{macs(first).value + macs(second).value});
  ASSERT_EQ(both.layers.size(), first.layers.size() + second.layers.size());
  const NetworkLayer& joined = both.layers.back();
  EXPECT_EQ(joined.layer.name, "bert_base/" + second.layers.back().layer.name);
  ASSERT_EQ(joined.inputs.size(), second.layers.back().inputs.size());
  for (std::size_t i = 0; i < joined.inputs.size(); ++i) {
    EXPECT_EQ(joined.inputs[i], second.layers.back().inputs[i] + first.layers.size());
  }
  EXPECT_THAT(read_network("zoo:resnet18+zoo:resnet81").error().message, HasSubstr("did you mean 'resnet18'?"));
  EXPECT_FALSE(read_network("zoo:resnet18+"));
}

// A file may be called what it likes.
TEST_F(ReadNetwork, PlusInAFileName) {
  EXPECT_EQ(read_network(file("a+b.csv", "O,I,0,0,0,0,T\n5,3,1,1,1,1,0\n")).value().layers.size(), 1U);
}

}  // namespace
}  // namespace tilewright
