// Layers and networks.
#include "bind.hpp"
#include "convert.hpp"

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/report/page.hpp"
#include "tilewright/workload/network.hpp"
#include "tilewright/zoo/zoo.hpp"

namespace tilewright::python {
namespace {

constexpr Operator kOperators[] = {Operator::Convolution, Operator::Depthwise, Operator::TransposedConvolution,
                                   Operator::FullyConnected, Operator::MatrixMultiply};

}  // namespace
}  // namespace tilewright::python

// The templates of convert.hpp look for these where Operator is.
namespace tilewright {

static void from_python(nanobind::handle value, const std::string& place, Operator& out) {
  std::string word;
  python::from_python(value, place, word);
  std::vector<std::string> names;
  for (const Operator op : python::kOperators) {
    names.emplace_back(name_of(op));
    if (names.back() != word) continue;
    out = op;
    return;
  }
  python::raise(
      fmt::format("{} is '{}'{}, expected one of {}", place, printable(word), did_you_mean(word, names), join(names, ", ")));
}

static nanobind::object to_python(const Operator& op) { return nanobind::cast(std::string(name_of(op))); }

}  // namespace tilewright

namespace tilewright::python {
template <>
struct TypeName<Operator> {
  static std::string text() { return "str"; }
};

namespace {

#define TW_FIELD(type, member, meaning)                            \
  Field {                                                          \
#member, meaning, [](type & it) -> auto& { return it.member; } \
  }

void bind_layer(nb::module_& module) {
  nb::class_<Layer> cls(module, "Layer",
                        "One operator of a network that multiplies and accumulates, with its full shape.\n\n"
                        "Sizes are counts of elements. A value that never changes: any number of threads may use it.");
  define_fields<Layer>(
      cls, "Layer", [](Layer layer) {
    return check(std::move(layer)); },
      Field{"name", "what people call it", [](Layer& it) -> auto& { return it.name;
}
}  // namespace
, Field{"op", "conv, depthwise, transposed-conv, fc or matmul", [](Layer& it) -> auto& {return it.op;
}  // namespace tilewright::python
},
      TW_FIELD(Layer, batch, "images; of a matmul the number of independent products"),
      TW_FIELD(Layer, groups, "of channels; of a depthwise layer as many as input channels"),
      TW_FIELD(Layer, out_channels, "of all groups together; of a matmul the columns of the result"),
      TW_FIELD(Layer, in_channels, "of all groups together; of a matmul the inner dimension"),
      TW_FIELD(Layer, in_height, "rows without padding; of a matmul the rows of the result"),
      TW_FIELD(Layer, in_width, "columns without padding"), TW_FIELD(Layer, kernel_height, "rows of the kernel"),
      TW_FIELD(Layer, kernel_width, "columns of the kernel"), TW_FIELD(Layer, stride_height, "rows between two outputs"),
      TW_FIELD(Layer, stride_width, "columns between two outputs"),
      TW_FIELD(Layer, dilation_height, "rows between two taps of the kernel"),
      TW_FIELD(Layer, dilation_width, "columns between two taps of the kernel"),
      TW_FIELD(Layer, pad_top, "rows of padding above"), TW_FIELD(Layer, pad_bottom, "rows of padding below"),
      TW_FIELD(Layer, pad_left, "columns of padding before"), TW_FIELD(Layer, pad_right, "columns of padding after"),
      TW_FIELD(Layer, output_pad_height, "extra rows of a transposed convolution"),
      TW_FIELD(Layer, output_pad_width, "extra columns of a transposed convolution"));
cls.def_prop_ro(
    "macs", [](const Layer& self) { return macs(self).value; },
    "Multiply-accumulates of the whole layer, padding positions included.");
cls.def_prop_ro(
    "out_height", [](const Layer& self) { return out_height(self); }, "Rows of the result.");
cls.def_prop_ro(
    "out_width", [](const Layer& self) { return out_width(self); }, "Columns of the result.");
cls.def_prop_ro(
    "shape", [](const Layer& self) { return shape_text(self); }, "As people write it: '3x224x224 -> 64x112x112, 7x7/2'.");
}

void bind_entry(nb::module_& module) {
  nb::class_<NetworkLayer> cls(module, "NetworkLayer", "A layer where it stands in a network. A value that never changes.");
  cls.def(nb::init_implicit<const Layer&>());
  cls.def(
      "__init__",
      [](NetworkLayer* self, const Layer& layer, const nb::object& count, const nb::object& inputs) {
        NetworkLayer made{.layer = layer, .inputs = {}};
        from_python(count, "NetworkLayer: count", made.count);
        from_python(inputs, "NetworkLayer: inputs", made.inputs);
        new (self) NetworkLayer(std::move(made));
      },
      "layer"_a, "count"_a = 1, "inputs"_a = nb::list(),
      nb::sig("def __init__(self, layer: Layer, count: int = 1, inputs: collections.abc.Sequence[int] = ...) -> None"),
      "Made of the layer, how many such stand here, and the numbers of the layers whose results reach it.");
  cls.def_ro("layer", &NetworkLayer::layer, "The layer.");
  cls.def_ro("count", &NetworkLayer::count, "How many such layers stand here.");
  cls.def_prop_ro(
      "inputs", [](const NetworkLayer& self) { return self.inputs; },
      "Numbers of the layers whose results reach this one, through other operators or not.");
  cls.def(
      "__eq__",
      [](const NetworkLayer& a, const nb::object& b) {
        return nb::isinstance<NetworkLayer>(b) && a == nb::cast<const NetworkLayer&>(b);
      },
      nb::sig("def __eq__(self, other: object, /) -> bool"));
  cls.def("__repr__", [](const NetworkLayer& self) {
    return shown("NetworkLayer",
                 {{"layer", nb::cast(self.layer)}, {"count", nb::cast(self.count)}, {"inputs", nb::cast(self.inputs)}});
  });
}

const NetworkLayer& entry_of(const Network& network, const nb::object& key) {
  if (nb::isinstance<nb::str>(key)) return network.layers[take(find_layer(network, nb::cast<std::string>(key)))];
  std::int64_t index = 0;
  from_python(key, "Network: index", index);
  const auto count = static_cast<std::int64_t>(network.layers.size());
  if (index < -count || index >= count) {
    raise_builtin(PyExc_IndexError,
                  fmt::format("layer {} of {}, expected -{} to {}", index, printable(network.name), count, count - 1));
  }
  return network.layers[static_cast<std::size_t>(index < 0 ? index + count : index)];
}

Network made(const std::string& name, const nb::object& layers, const std::string& source) {
  Network network{.name = name, .source = source, .stated = {}, .layers = {}, .others = {}};
  for (const nb::handle entry : nb::iter(layers)) {
    if (nb::isinstance<Layer>(entry)) {
      NetworkLayer& added = network.layers.emplace_back();
      added.layer = nb::cast<const Layer&>(entry);
    } else if (nb::isinstance<NetworkLayer>(entry)) {
      network.layers.push_back(nb::cast<const NetworkLayer&>(entry));
    } else {
      raise_type("Network: an entry of layers", entry, "a Layer or a NetworkLayer");
    }
  }
  const std::string where = fmt::format("network '{}'", printable(network.name));
  return take(check(std::move(network), where));
}

std::string html_of(const Network& network) {
  std::string rows;
  for (const NetworkLayer& entry : network.layers) {
    rows += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>", html_escaped(entry.layer.name),
                        entry.count, name_of(entry.layer.op), with_prefix(static_cast<double>(macs(entry.layer).value)),
                        html_escaped(shape_text(entry.layer)));
  }
  return fmt::format(
      "<table><caption>{}: {} layers, {} MACs</caption><tr><th>layer</th><th>count</th><th>operator</th>"
      "<th>MACs</th><th>shape</th></tr>{}</table>",
      html_escaped(network.name), network.layers.size(), with_prefix(static_cast<double>(macs(network).value)), rows);
}

ReadOptions options_from(const nb::object& dims, std::int64_t batch) {
  std::vector<std::string> texts;
  if (!dims.is_none()) {
    if (!nb::isinstance<nb::dict>(dims)) raise_type("dims", dims, "sizes by the names of open dimensions");
    for (auto [key, value] : nb::cast<nb::dict>(dims)) {
      std::string name;
      std::int64_t size = 0;
      from_python(key, "dims: a name", name);
      from_python(value, "dims: " + name, size);
      texts.push_back(fmt::format("{}={}", name, size));
    }
  }
  if (batch < 1) raise(fmt::format("batch is {}, expected at least 1", batch));
  return take(read_options(batch, texts));
}

void bind_network_class(nb::module_& module) {
  nb::class_<Network> cls(
      module, "Network",
      "The layers of a network in order, how often each occurs, what feeds what, and what else it contains.\n\n"
      "`network['conv1']` and `network[0]` are layers; iteration gives them in order. A value that never "
      "changes: any number of threads may use it.");
  cls.def(
      "__init__",
      [](Network* self, const std::string& name, const nb::object& layers, const std::string& source) {
        new (self) Network(made(name, layers, source));
      },
      "name"_a, "layers"_a, "source"_a = "",
      nb::sig(
          "def __init__(self, name: str, layers: collections.abc.Iterable[Layer | NetworkLayer], source: str = '') -> None"),
      "Made of layers in their order; `source` says where the shapes come from.");
  cls.def_ro("name", &Network::name, "What people call it.");
  cls.def_ro("source", &Network::source, "Where the shapes come from; may be empty.");
  cls.def_prop_ro(
      "layers", [](const Network& self) { return self.layers; }, "Every layer with its count and inputs, as a new list.");
  cls.def_prop_ro(
      "macs", [](const Network& self) { return macs(self).value; }, "Multiply-accumulates of all layers together.");
  cls.def_prop_ro(
      "others",
      [](const Network& self) {
        nb::dict all;
        for (const OtherOperator& other : self.others) all[other.name.c_str()] = other.count;
        return all;
      },
      nb::sig("def others(self) -> dict[str, int]"), "Operators that are no layers, by name: how many there are.");
  cls.def(
      "replace",
      [](const Network& self, const nb::object& name, const nb::object& layers, const nb::object& source) {
        Network changed =
            made(name.is_none() ? self.name : nb::cast<std::string>(name), layers.is_none() ? nb::cast(self.layers) : layers,
                 source.is_none() ? self.source : nb::cast<std::string>(source));
        changed.others = self.others;
        return changed;
      },
      nb::kw_only(), "name"_a = nb::none(), "layers"_a = nb::none(), "source"_a = nb::none(),
      nb::sig("def replace(self, *, name: str | None = None, layers: collections.abc.Iterable[Layer | NetworkLayer] | None "
              "= None, "
              "source: str | None = None) -> Network"),
      "The same with another name, other layers or another source.");
  cls.def("__len__", [](const Network& self) { return self.layers.size(); });
  cls.def(
      "__getitem__", [](const Network& self, const nb::object& key) { return entry_of(self, key).layer; },
      nb::sig("def __getitem__(self, key: str | int, /) -> Layer"), "The layer of that name, or at that place.");
  cls.def(
      "__iter__",
      [](const Network& self) {
        nb::list all;
        for (const NetworkLayer& entry : self.layers) all.append(entry.layer);
        return nb::iter(all);
      },
      nb::sig("def __iter__(self) -> collections.abc.Iterator[Layer]"));
  cls.def(
      "__eq__",
      [](const Network& a, const nb::object& b) { return nb::isinstance<Network>(b) && a == nb::cast<const Network&>(b); },
      nb::sig("def __eq__(self, other: object, /) -> bool"));
  cls.def("__hash__", [](const Network& self) { return nb::hash(nb::str(to_yaml(self).c_str())); });
  cls.def("__repr__", [](const Network& self) {
    return fmt::format("<Network {}: {} layers of {} shapes, {} MACs>", printable(self.name), self.layers.size(),
                       distinct_layers(self).size(), with_prefix(static_cast<double>(macs(self).value)));
  });
  cls.def("_repr_html_", &html_of, "A table for notebooks.");
  cls.def(
      "to_yaml", [](const Network& self) { return to_yaml(self); }, "As a file of ours, which read_network reads back.");
  cls.def(
      "save", [](const Network& self, const nb::object& path) { write_text(path, to_yaml(self)); }, "path"_a,
      nb::sig("def save(self, path: str | os.PathLike[str]) -> None"), "Writes to_yaml() to the file.");
  cls.def("__getstate__", [](const Network& self) { return to_yaml(self); });
  cls.def("__setstate__",
          [](Network& self, const std::string& text) { new (&self) Network(take(network_from_yaml(text, "pickle"))); });
}

}  // namespace

void bind_network(nb::module_& module) {
  bind_layer(module);
  bind_entry(module);
  bind_network_class(module);
  module.def(
      "read_network",
      [](const nb::object& source, const nb::object& dims, std::int64_t batch) {
        const std::string text = source_text(source, "read_network: source");
        const ReadOptions options = options_from(dims, batch);
        nb::gil_scoped_release released;
        auto network = read_network(text, options);
        nb::gil_scoped_acquire held;
        return take(std::move(network));
      },
      "source"_a, nb::kw_only(), "dims"_a = nb::none(), "batch"_a = 1,
      nb::sig("def read_network(source: str | os.PathLike[str], *, dims: dict[str, int] | None = None, "
              "batch: int = 1) -> Network"),
      "Reads a network: 'zoo:resnet18', or a file by its ending: .onnx, .yaml, .m (MAESTRO), .csv (GAMMA); several with + "
      "between them as one.\n\n"
      "    dims: sizes of the dimensions that an ONNX model leaves open, by their names\n"
      "    batch: images, for an open first dimension");
  module.def(
      "network_from_onnx",
      [](const nb::bytes& model, const std::string& name, const nb::object& dims, std::int64_t batch) {
        const std::string bytes(model.c_str(), model.size());
        return take(network_from_onnx(bytes, name, options_from(dims, batch)));
      },
      "model"_a, "name"_a = "the model", nb::kw_only(), "dims"_a = nb::none(), "batch"_a = 1,
      nb::sig("def network_from_onnx(model: bytes, name: str = 'the model', *, dims: dict[str, int] | "
              "None = None, batch: int = 1) -> Network"),
      "The network of an ONNX model that is in memory; `name` is what sentences call it.");
  module.def(
      "network_from_yaml",
      [](const std::string& text, const std::string& where) { return take(network_from_yaml(text, where)); }, "text"_a,
      "where"_a = "the text", "The network of a YAML text; `where` is what sentences call it.");
  module.def(
      "zoo_names", [](const std::string& kind) { return zoo_names(kind); }, "kind"_a,
      "The built-in 'networks', 'accelerators' or 'machines' by name, sorted.");
}

}  // namespace tilewright::python
