// Writes small ONNX models for tests, as an exporter would.
#pragma once

#include <onnx/onnx_pb.h>

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace tilewright {

using Ints = std::vector<std::int64_t>;

class NodeBuilder {
 public:
  explicit NodeBuilder(onnx::NodeProto& node) : node_(node) {}

  NodeBuilder& named(const std::string& name) { return node_.set_name(name), *this; }
  NodeBuilder& in_domain(const std::string& domain) { return node_.set_domain(domain), *this; }
  NodeBuilder& with(const std::string& name, std::integral auto value) {
    onnx::AttributeProto& attribute = add(name, onnx::AttributeProto::INT);
    return attribute.set_i(value), *this;
  }
  NodeBuilder& with(const std::string& name, const Ints& values) {
    onnx::AttributeProto& attribute = add(name, onnx::AttributeProto::INTS);
    return attribute.mutable_ints()->Assign(values.begin(), values.end()), *this;
  }
  NodeBuilder& with(const std::string& name, const char* value) {
    onnx::AttributeProto& attribute = add(name, onnx::AttributeProto::STRING);
    return attribute.set_s(value), *this;
  }
  // The value is whatever the caller of the enclosing function gives its attribute `parameter`.
  NodeBuilder& with_parameter(const std::string& name, const std::string& parameter) {
    onnx::AttributeProto& attribute = add(name, onnx::AttributeProto::INT);
    return attribute.set_ref_attr_name(parameter), *this;
  }
  onnx::AttributeProto& add(const std::string& name, onnx::AttributeProto::AttributeType type) {
    onnx::AttributeProto& attribute = *node_.add_attribute();
    attribute.set_name(name);
    attribute.set_type(type);
    return attribute;
  }

 private:
  onnx::NodeProto& node_;
};

// A dimension is a number, a name, or (empty name) open.
using Dimension = std::variant<std::int64_t, const char*>;

class GraphBuilder {
 public:
  explicit GraphBuilder(onnx::GraphProto& graph) : graph_(graph) {}

  GraphBuilder& input(const std::string& name, const std::vector<Dimension>& dims) {
    return describe(*graph_.add_input(), name, dims), *this;
  }
  GraphBuilder& output(const std::string& name) { return graph_.add_output()->set_name(name), *this; }
  GraphBuilder& declare(const std::string& name, const std::vector<Dimension>& dims) {
    return describe(*graph_.add_value_info(), name, dims), *this;
  }
  // A weight with a shape and no contents, as in a model whose data lies in another file.
  GraphBuilder& weight(const std::string& name, const Ints& dims) {
    onnx::TensorProto& tensor = *graph_.add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    tensor.mutable_dims()->Assign(dims.begin(), dims.end());
    return *this;
  }
  GraphBuilder& list(const std::string& name, const Ints& elements) {
    onnx::TensorProto& tensor = *graph_.add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::INT64);
    tensor.add_dims(static_cast<std::int64_t>(elements.size()));
    tensor.set_raw_data(elements.data(), elements.size() * sizeof(std::int64_t));
    return *this;
  }
  GraphBuilder& scalar(const std::string& name, std::int64_t value) {
    list(name, {value});
    graph_.mutable_initializer(graph_.initializer_size() - 1)->clear_dims();
    return *this;
  }
  NodeBuilder node(const std::string& op, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
    onnx::NodeProto& added = *graph_.add_node();
    added.set_op_type(op);
    for (const std::string& name : inputs) added.add_input(name);
    for (const std::string& name : outputs) added.add_output(name);
    return NodeBuilder(added);
  }
  onnx::GraphProto& proto() { return graph_; }

 private:
  static void describe(onnx::ValueInfoProto& value, const std::string& name, const std::vector<Dimension>& dims) {
    value.set_name(name);
    auto& tensor = *value.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(onnx::TensorProto::FLOAT);
    tensor.mutable_shape();
    for (const Dimension& dim : dims) {
      auto& added = *tensor.mutable_shape()->add_dim();
      if (const auto* number = std::get_if<std::int64_t>(&dim)) added.set_dim_value(*number);
      if (const auto* name_of_dim = std::get_if<const char*>(&dim); name_of_dim != nullptr && **name_of_dim != '\0') {
        added.set_dim_param(*name_of_dim);
      }
    }
  }

  onnx::GraphProto& graph_;
};

class ModelBuilder : public GraphBuilder {
 public:
  explicit ModelBuilder(std::int64_t opset = 17) : ModelBuilder(opset, std::make_shared<onnx::ModelProto>()) {}

  onnx::ModelProto& model() { return *model_; }
  std::string bytes() const { return model_->SerializeAsString(); }

 private:
  ModelBuilder(std::int64_t opset, std::shared_ptr<onnx::ModelProto> model)
      : GraphBuilder(*model->mutable_graph()), model_(std::move(model)) {
    model_->set_ir_version(opset > 17 ? 10 : 8);
    model_->add_opset_import()->set_version(opset);
  }

  std::shared_ptr<onnx::ModelProto> model_;
};

}  // namespace tilewright
