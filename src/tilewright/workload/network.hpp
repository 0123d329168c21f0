// A network: its layers in order, how often each occurs, what feeds what, and what else it contains.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/workload/layer.hpp"
#include "tilewright/workload/read_options.hpp"

namespace tilewright {

inline constexpr std::int64_t kMostCount = 2'147'483'647;  // of equal layers that stand in one place

struct NetworkLayer {
  Layer layer;
  std::int64_t count = 1;           // how many such layers stand here (the 12 equal blocks of a transformer, say)
  std::vector<std::size_t> inputs;  // indices of the layers whose results reach this one, through other operators or not

  bool operator==(const NetworkLayer&) const = default;
};

// An operator that is not a Layer: listed so that nothing is dropped silently.
struct OtherOperator {
  std::string name;             // "MaxPool", "com.microsoft::Gelu"
  std::int64_t count = 0;       // nodes
  std::int64_t operations = 0;  // arithmetic operations of all of them; 0 when the shape is unknown
  bool operations_known = false;
  std::optional<std::int64_t> macs = 0;  // multiply-accumulates among the operations; nothing when unknown

  bool operator==(const OtherOperator&) const = default;
};

struct Network {
  std::string name;
  std::string source;          // where the shapes come from, free text, may be empty
  std::optional<Macs> stated;  // the total the source states; nothing checks it against `macs`
  std::vector<NetworkLayer> layers;
  std::vector<OtherOperator> others;

  bool operator==(const Network&) const = default;
};

// The network itself, or a sentence about its first count below 1, input that is not an earlier layer, or total that needs
// more than 63 bits. read_network passes every network through it, so that sums over layers are safe.
Result<Network> check(Network network, const std::string& where);

Macs macs(const Network& network);

// Layers with equal shapes, in order of first appearance.
struct LayerGroup {
  std::size_t first = 0;             // index of the first such layer
  std::int64_t count = 0;            // multiplicity over the whole network
  std::vector<std::size_t> members;  // indices into Network::layers
};
std::vector<LayerGroup> distinct_layers(const Network& network);

// Index of the layer called `name`, or an Error that names the nearest one.
Result<std::size_t> find_layer(const Network& network, std::string_view name);

// Reads "zoo:resnet18" or a file by its ending: .onnx, .yaml/.yml, .m (MAESTRO), .csv (GAMMA); several with + between them
// as one network, whose layers are then called resnet18/conv1.
Result<Network> read_network(const std::string& source, const ReadOptions& options = {});

// The readers behind it. `where` is what error sentences call the text.
Result<Network> network_from_yaml(const std::string& text, const std::string& where);
Result<Network> network_from_gamma_csv(const std::string& text, const std::string& where);
Result<Network> network_from_maestro(const std::string& text, const std::string& where);
Result<Network> network_from_onnx(const std::string& bytes, const std::string& where, const ReadOptions& options);

// Names of the dimensions that the inputs of an ONNX model leave open.
Result<std::vector<std::string>> open_dims_of_onnx(const std::string& bytes, const std::string& where);

// What network_from_yaml reads back as an equal network.
std::string to_yaml(const Network& network);

}  // namespace tilewright
