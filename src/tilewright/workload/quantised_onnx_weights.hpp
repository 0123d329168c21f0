// The constants of an ONNX model with all their elements, by the names that nodes read them by, and what else is asked of
// the file itself.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/workload/onnx_dims.hpp"
#include "tilewright/workload/onnx_graph.hpp"

namespace tilewright::onnx_file {

struct Constant {
  Dims shape;
  std::vector<float> values;
};

class Weights {
 public:
  // Bytes whose structure read_graph has accepted, and where their external data lies.
  static Result<Weights> read(std::string_view bytes, const std::filesystem::path& folder);
  ~Weights();
  Weights(Weights&&) noexcept;
  Weights& operator=(Weights&&) noexcept;

  // Of a weight of the graph or a Constant node. Nothing when there is no such; an Error when its elements are not
  // where the model says or of a type without numbers.
  Result<std::optional<Constant>> find(const std::string& name) const;

  // The names of the graph's results.
  std::vector<std::string> outputs() const;

 private:
  struct Model;
  explicit Weights(std::unique_ptr<Model> model);
  std::unique_ptr<Model> model_;
};

std::string input_name(const Node& node, std::size_t input);
std::string output_name(const Node& node, std::size_t output);
std::optional<double> real_attribute(const Node& node, std::string_view name);

// What a ConstantOfShape fills its result with.
Result<float> fill_value(const Node& node);
bool is_int8(const Tensor& tensor);
bool is_uint8(const Tensor& tensor);

}  // namespace tilewright::onnx_file
