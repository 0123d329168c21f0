// Matrix products: MatMul, Gemm, the Einsums that are products, attention as the products it consists of, and their
// quantised and fused relatives.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tilewright/workload/onnx_graph.hpp"

namespace tilewright::onnx_file {

// out[b, row, column] += left[b, row, inner] * right[b, inner, column]
struct Product {
  std::string part;  // of the node, when it consists of several: "scores"
  std::int64_t batch = 1;
  std::int64_t rows = kUnknown;
  std::int64_t inner = kUnknown;
  std::int64_t columns = kUnknown;
  std::int64_t right_inner = kUnknown;  // `inner` as the right side has it
  bool is_linear = false;               // rows of vectors times a weight: a fully connected layer
  std::int64_t count = 1;               // how often the product is made, one after the other or with other weights
};

struct Products {
  std::vector<Product> products;       // empty when the node turns out to be something else
  std::optional<Dims> out;             // the shape of the node's first result
  bool is_projected = false;           // the first product reads the inputs, the others only its result
  std::int64_t operations = kUnknown;  // arithmetic operations when `products` is empty,
  std::int64_t macs = kUnknown;        // and the multiply-accumulates among them
};

// Nothing when the node is not of this family or ranks are missing.
std::optional<Products> products_of(const NodeView& view);
bool is_product(std::string_view kind);

// The parts of the family that have a file of their own.
std::optional<Products> einsum_products(const NodeView& view);
std::optional<Products> attention_products(const NodeView& view);   // ONNX's own
std::optional<Products> multi_head_products(const NodeView& view);  // com.microsoft, from here on
std::optional<Products> group_query_products(const NodeView& view);
std::optional<Products> projected_attention_products(const NodeView& view);

}  // namespace tilewright::onnx_file
