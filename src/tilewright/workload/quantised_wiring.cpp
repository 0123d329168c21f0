// What stands between the layers of a Network.
//
//   several layers of one shape reach a layer         their sum; an earlier sum of some of them is used again
//   several layers whose channels add up reach it     their concatenation
//   what reaches it is larger than what it reads      a maximum pool, 2x2 or 3x3 everywhere in the network
//   it is fully connected and reads a number per channel  a global average pool
//   activations    after sums and after every layer that is not summed; or, in networks of depthwise blocks, after every
//                  layer but those behind a depthwise one
//
// Whether a guess is right shows at the end: operators and arithmetic must equal the network's own list.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "tilewright/workload/quantised_build.hpp"

namespace tilewright {
namespace {

using Layers = std::vector<std::size_t>;  // indices, sorted

const OtherOperator* find_other(const Network& network, std::string_view name) {
  const auto found = std::ranges::find(network.others, name, &OtherOperator::name);
  return found == network.others.end() ? nullptr : &*found;
}

struct Guess {
  enum class Activations { AfterSums, NotBehindDepthwise } activations = Activations::AfterSums;
  std::int64_t pool_kernel = 2;
};

class Wiring {
 public:
  Wiring(const Network& network, const Guess& guess) : network_(network), guess_(guess) {}

  Result<Draft> build() {
    const Layer& first = network_.layers[0].layer;
    draft_.name = network_.name;
    draft_.input = {first.batch, first.in_channels, first.in_height, first.in_width};
    add(StepKind::Input, "input", {}, draft_.input);
    for (std::size_t index = 0; index < network_.layers.size(); ++index) {
      const NetworkLayer& entry = network_.layers[index];
      if (entry.count != 1) return complain(index, fmt::format("stands for {} layers, expected one", entry.count));
      if (entry.layer.op == Operator::MatrixMultiply || entry.layer.op == Operator::TransposedConvolution) {
        return complain(index,
                        fmt::format("is a {}, expected a convolution or fully connected layer", name_of(entry.layer.op)));
      }
      if (entry.inputs.empty() != (index == 0)) {
        return complain(index, index == 0 ? "is fed by a layer, expected the first to read the input"
                                          : "reads the network's input, expected only the first layer to");
      }
      TW_TRY(const std::size_t input, index == 0 ? Result<std::size_t>(0) : input_of(index));
      products_.push_back(add_product(draft_, entry.layer, {input}));
      shapes_.push_back({entry.layer.batch, entry.layer.out_channels, out_height(entry.layer), out_width(entry.layer)});
    }
    const std::size_t last = network_.layers.size() - 1;
    std::size_t result = products_[last];
    if (network_.layers[last].layer.op != Operator::FullyConnected) result = activated(last);
    if (find_other(network_, "GlobalAveragePool") != nullptr && averages_ == 0) average(result);
    TW_TRY(const Done counted, compare_operators());
    return std::move(draft_);
  }

  // Operators that differ from the network's list, after `build`; very many when it did not come so far.
  std::size_t mismatches() const { return mismatches_; }

 private:
  Error complain(std::size_t layer, const std::string& what) const {
    return invalid(fmt::format("{}: layer '{}': {}", network_.name, network_.layers[layer].layer.name, what));
  }

  std::size_t add(StepKind kind, std::string name, std::vector<std::size_t> inputs, const TensorShape& shape) {
    shapes_.push_back(shape);
    return add_step(draft_, kind, std::move(name), std::move(inputs));
  }

  void count(std::string_view name, std::int64_t operations) {
    OtherOperator& other =
        counted_.try_emplace(std::string(name), OtherOperator{std::string(name), 0, 0, true}).first->second;
    ++other.count;
    other.operations += operations;
  }

  std::size_t clip(std::size_t input, const std::string& name) {
    const bool is_clip = find_other(network_, "Clip") != nullptr;
    if (!is_clip && find_other(network_, "Relu") == nullptr) return input;
    count(is_clip ? "Clip" : "Relu", shapes_[input].elements());
    const std::size_t index = add(StepKind::Clip, name + "_relu", {input}, shapes_[input]);
    draft_.steps[index].low = 0;
    if (is_clip) draft_.steps[index].high = 6;
    return index;
  }

  bool is_behind_depthwise(std::size_t layer) const {
    const Layers& inputs = network_.layers[layer].inputs;
    return inputs.size() == 1 && network_.layers[inputs[0]].layer.op == Operator::Depthwise;
  }

  // The layer's result with its activation, if it has one.
  std::size_t activated(std::size_t layer) {
    if (guess_.activations == Guess::Activations::NotBehindDepthwise && is_behind_depthwise(layer)) return products_[layer];
    const auto [place, is_new] = activated_.try_emplace(layer, 0);
    if (is_new) place->second = clip(products_[layer], network_.layers[layer].layer.name);
    return place->second;
  }

  void average(std::size_t input) {
    const TensorShape in = shapes_[input];
    count("GlobalAveragePool", in.elements());
    ++averages_;
    const Window window{.kernel_height = in.height, .kernel_width = in.width};
    add_average(draft_, fmt::format("average{}", averages_ == 1 ? "" : std::to_string(averages_)), input, in, window);
    shapes_.push_back({in.batch, in.channels, 1, 1});
  }

  Result<std::size_t> sum_of(const Layers& layers, const std::string& name) {
    // Keys that contain only members of `layers`, the longest first: earlier sums.
    const Layers* most = nullptr;
    for (const auto& [key, step] : joined_) {
      if (key.size() < layers.size() && std::ranges::includes(layers, key) &&
          (most == nullptr || key.size() > most->size())) {
        most = &key;
      }
    }
    std::optional<std::size_t> sum;
    if (most != nullptr) sum = joined_.at(*most);
    for (const std::size_t layer : layers) {
      if (most != nullptr && std::ranges::binary_search(*most, layer)) continue;
      const std::size_t next = products_[layer];
      if (!sum) {
        sum = next;
        continue;
      }
      if (shapes_[*sum] != shapes_[next]) {
        return invalid(fmt::format("is fed by {} and {}, expected equal shapes to add or channels to concatenate",
                                   to_text(shapes_[*sum]), to_text(shapes_[next])));
      }
      count("Add", shapes_[next].elements());
      sum = add(StepKind::Add, name + "_add", {*sum, next}, shapes_[next]);
    }
    return guess_.activations == Guess::Activations::AfterSums ? clip(*sum, name + "_add") : *sum;
  }

  std::size_t concatenation_of(const Layers& layers, const std::string& name) {
    std::vector<std::size_t> inputs;
    for (const std::size_t layer : layers) inputs.push_back(activated(layer));
    TensorShape shape = shapes_[inputs[0]];
    for (std::size_t i = 1; i < inputs.size(); ++i) shape.channels += shapes_[inputs[i]].channels;
    count("Concat", 0);
    return add(StepKind::Concat, name + "_concat", std::move(inputs), shape);
  }

  // What reaches `layer`, in the form it wants.
  Result<std::size_t> input_of(std::size_t index) {
    const Layer& layer = network_.layers[index].layer;
    Layers layers = network_.layers[index].inputs;
    std::ranges::sort(layers);
    if (const auto known = joined_.find(layers); known == joined_.end()) {
      std::int64_t channels = 0;
      for (const std::size_t from : layers) channels += network_.layers[from].layer.out_channels;
      if (layers.size() == 1) {
        joined_[layers] = activated(layers[0]);
      } else if (channels == layer.in_channels && layer.op != Operator::FullyConnected) {
        joined_[layers] = concatenation_of(layers, layer.name);
      } else {
        const Result<std::size_t> sum = sum_of(layers, network_.layers[layers.back()].layer.name);
        if (!sum) return complain(index, sum.error().message);
        joined_[layers] = *sum;
      }
    }
    const TensorShape& in = shapes_[joined_[layers]];
    if (layer.op == Operator::FullyConnected) {
      if (in.height * in.width > 1 || in.channels != layer.in_channels) return flattened(index, joined_[layers]);
      return joined_[layers];
    }
    if (in.channels != layer.in_channels) {
      return complain(index,
                      fmt::format("reads {} channels, expected the {} that reach it", layer.in_channels, in.channels));
    }
    if (in.height != layer.in_height || in.width != layer.in_width) {
      TW_TRY(joined_[layers], pooled(index, joined_[layers], layer.in_height, layer.in_width));
    }
    return joined_[layers];
  }

  Result<std::size_t> flattened(std::size_t index, std::size_t input) {
    const std::int64_t wanted = network_.layers[index].layer.in_channels;
    const TensorShape in = shapes_[input];
    if (wanted == in.channels) {
      average(input);
      input = draft_.steps.size() - 1;
    } else if (wanted != in.channels * in.height * in.width) {
      const auto side = static_cast<std::int64_t>(std::lround(std::sqrt(static_cast<double>(wanted / in.channels))));
      if (side * side * in.channels != wanted) {
        return complain(index, fmt::format("reads {} numbers, expected {} or a square part of it", wanted,
                                           in.channels * in.height * in.width));
      }
      TW_TRY(input, pooled(index, input, side, side));
    }
    if (shapes_[input].channels == wanted) return input;  // a vector already
    return add(StepKind::Flatten, network_.layers[index].layer.name + "_flatten", {input}, {in.batch, wanted, 1, 1});
  }

  // The kernel is square and the same for all pools of the network. What padding is needed goes first to the top and left.
  Result<std::size_t> pooled(std::size_t index, std::size_t input, std::int64_t height, std::int64_t width) {
    const TensorShape in = shapes_[input];
    const auto stride = static_cast<std::int64_t>(std::lround(static_cast<double>(in.height) / static_cast<double>(height)));
    const std::int64_t kernel = guess_.pool_kernel;
    const std::int64_t pad_height = (height - 1) * stride + kernel - in.height;
    const std::int64_t pad_width = (width - 1) * stride + kernel - in.width;
    if (stride < 2 || std::min(pad_height, pad_width) <= -stride || std::max(pad_height, pad_width) > kernel) {
      return complain(index,
                      fmt::format("reads rows and columns of {}x{}, expected the {}x{} that reach it, or maximum pools "
                                  "that lead there",
                                  height, width, in.height, in.width));
    }
    const auto begin = [](std::int64_t pad) { return std::max<std::int64_t>((pad + 1) / 2, 0); };
    const auto end = [](std::int64_t pad) { return std::max<std::int64_t>(pad / 2, 0); };
    const TensorShape shape{in.batch, in.channels, height, width};
    const std::size_t pool = add(StepKind::MaxPool, draft_.steps[input].step.name + "_pool", {input}, shape);
    draft_.steps[pool].step.window = {kernel,          kernel,           stride,        stride, begin(pad_height),
                                      end(pad_height), begin(pad_width), end(pad_width)};
    count("MaxPool", shape.elements() * kernel * kernel);
    return pool;
  }

  Result<Done> compare_operators() {
    std::map<std::string, OtherOperator> listed;
    for (const OtherOperator& other : network_.others) {
      const bool is_joined = other.name == "BatchNormalization" || other.name == "Dropout";  // part of a layer, or nothing
      if (!is_joined) listed[other.name] = other;
    }
    for (const auto& [name, other] : counted_) listed.try_emplace(name, OtherOperator{name, 0, 0, true});
    mismatches_ = 0;
    std::optional<Error> error;
    for (const auto& [name, other] : listed) {
      const auto found = counted_.find(name);
      const OtherOperator told = found == counted_.end() ? OtherOperator{name, 0, 0, true} : found->second;
      if (told.count == other.count && (!other.operations_known || told.operations == other.operations)) continue;
      if (mismatches_++ > 0) continue;
      error =
          invalid(fmt::format("{}: its shapes tell of {} {} with {} operations, expected the {} with {} that it lists: give "
                              "the network as an ONNX model instead",
                              network_.name, told.count, name, told.operations, other.count, other.operations));
    }
    if (error) return *error;
    return Done{};
  }

  const Network& network_;
  Guess guess_;
  Draft draft_;
  std::vector<TensorShape> shapes_;               // by step
  std::vector<std::size_t> products_;             // by layer
  std::map<std::size_t, std::size_t> activated_;  // by layer
  std::map<Layers, std::size_t> joined_;
  std::map<std::string, OtherOperator> counted_;
  int averages_ = 0;
  std::size_t mismatches_ = ~std::size_t{0};
};

}  // namespace

Result<Draft> wired(const Network& network) {
  if (network.layers.empty()) return invalid(network.name + ": there are no layers, expected at least one");
  constexpr std::array<std::string_view, 8> kKnown{"Add",     "BatchNormalization", "Clip",    "Concat",
                                                   "Dropout", "GlobalAveragePool",  "MaxPool", "Relu"};
  for (const OtherOperator& other : network.others) {
    if (std::ranges::find(kKnown, other.name) != kKnown.end()) continue;
    return invalid(fmt::format("{}: it has {} {}, expected only {}: give the network as an ONNX model instead", network.name,
                               other.count, other.name, fmt::join(kKnown, ", ")));
  }
  std::optional<Error> error;  // of the guess that comes nearest
  std::size_t least = 0;
  for (const auto activations : {Guess::Activations::AfterSums, Guess::Activations::NotBehindDepthwise}) {
    for (const std::int64_t kernel : {2, 3}) {
      Wiring wiring(network, {activations, kernel});
      Result<Draft> draft = wiring.build();
      if (draft) return draft;
      if (error && wiring.mismatches() >= least) continue;
      error = draft.error();
      least = wiring.mismatches();
    }
  }
  return *error;
}

}  // namespace tilewright
