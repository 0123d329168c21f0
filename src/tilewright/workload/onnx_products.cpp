#include "tilewright/workload/onnx_products.hpp"

#include <algorithm>
#include <unordered_map>

namespace tilewright::onnx_file {
namespace {

struct Matrix {
  Dims batch;
  std::int64_t rows, columns;
};

Matrix transposed(Matrix matrix) {
  std::swap(matrix.rows, matrix.columns);
  return matrix;
}

bool is_fixed(const NodeView& view, std::size_t input) {
  const Tensor* tensor = view.input(input);
  return tensor != nullptr && tensor->fixed;
}

// The last two axes are the matrix, those before them count products; a vector is a row on the left, a column on the right.
Matrix matrix_of(const Dims& shape, bool is_left) {
  if (shape.size() == 1) return is_left ? Matrix{{}, 1, shape[0]} : Matrix{{}, shape[0], 1};
  return {Dims(shape.begin(), shape.end() - 2), shape[shape.size() - 2], shape.back()};
}

std::optional<Products> multiply(const Matrix& left, const Matrix& right, bool right_is_fixed) {
  const auto batch = broadcast(left.batch, right.batch);
  if (!batch) return std::nullopt;
  Product result;
  result.inner = left.columns;
  result.right_inner = right.rows;
  result.columns = right.columns;
  if (product(right.batch) == 1) {
    // One right side for all: the products are the rows of a single one.
    result.rows = times(product(left.batch), left.rows);
    result.is_linear = right_is_fixed && left.batch.empty();
  } else {
    result.batch = product(*batch);
    result.rows = left.rows;
  }
  Dims out = *batch;
  out.insert(out.end(), {left.rows, right.columns});
  return Products{.products = {std::move(result)}, .out = std::move(out)};
}

std::optional<Products> matmul(const NodeView& view, std::size_t left_input, std::size_t right_input) {
  const Dims* left = view.shape(left_input);
  const Dims* right = view.shape(right_input);
  if (left == nullptr || right == nullptr || left->empty() || right->empty()) return std::nullopt;
  auto result = multiply(matrix_of(*left, true), matrix_of(*right, false), is_fixed(view, right_input));
  if (!result) return std::nullopt;
  if (right->size() == 1) result->out->pop_back();
  if (left->size() == 1) result->out->erase(result->out->end() - (right->size() == 1 ? 1 : 2));
  return result;
}

std::optional<Products> matmul_0_1(const NodeView& view) { return matmul(view, 0, 1); }
std::optional<Products> matmul_0_3(const NodeView& view) { return matmul(view, 0, 3); }

std::optional<Products> gemm(const NodeView& view, std::size_t right_input) {
  const Dims* left = view.shape(0);
  const Dims* right = view.shape(right_input);
  if (left == nullptr || right == nullptr || left->size() != 2 || right->size() != 2) return std::nullopt;
  const Matrix a = matrix_of(*left, true), b = matrix_of(*right, false);
  return multiply(view.integer("transA", 0) != 0 ? transposed(a) : a, view.integer("transB", 0) != 0 ? transposed(b) : b,
                  is_fixed(view, right_input));
}

std::optional<Products> gemm_0_1(const NodeView& view) { return gemm(view, 1); }
std::optional<Products> gemm_0_3(const NodeView& view) { return gemm(view, 3); }

// MatMul with the axes turned first: the last two, or (transBatch) the first behind the other batch axes.
std::optional<Products> fused_matmul(const NodeView& view) {
  const Dims* left = view.shape(0);
  const Dims* right = view.shape(1);
  if (left == nullptr || right == nullptr || left->size() < 2 || right->size() < 2) return matmul(view, 0, 1);
  const auto turned = [&](Dims shape, std::string_view side, bool is_left) {
    if (view.integer("transBatch" + std::string(side), 0) != 0 && shape.size() > 2) {
      std::rotate(shape.begin(), shape.begin() + 1, shape.end() - 1);
    }
    const Matrix matrix = matrix_of(shape, is_left);
    return view.integer("trans" + std::string(side), 0) != 0 ? transposed(matrix) : matrix;
  };
  return multiply(turned(*left, "A", true), turned(*right, "B", false), is_fixed(view, 1));
}

// Weights packed in blocks of few bits: their matrix is only in the attributes.
std::optional<Products> packed_weight_matmul(const NodeView& view) {
  const Dims* left = view.shape(0);
  const std::int64_t inner = view.integer("K", kUnknown), columns = view.integer("N", kUnknown);
  if (left == nullptr || left->empty() || inner < 1 || columns < 1 || inner > kMostDim || columns > kMostDim) {
    return std::nullopt;
  }
  auto result = multiply(matrix_of(*left, true), Matrix{{}, inner, columns}, true);
  if (result && left->size() == 1) result->out->erase(result->out->end() - 2);
  return result;
}

using Rule = std::optional<Products> (*)(const NodeView&);

const std::unordered_map<std::string_view, Rule>& rules() {
  static const std::unordered_map<std::string_view, Rule> table{
      {"MatMul", matmul_0_1},
      {"MatMulInteger", matmul_0_1},
      {"QLinearMatMul", matmul_0_3},
      {"DynamicQuantizeMatMul", matmul_0_1},
      {"MatMulIntegerToFloat", matmul_0_1},
      {"GemmFastGelu", matmul_0_1},
      {"FusedMatMul", fused_matmul},
      {"FusedMatMulActivation", fused_matmul},
      {"TransposeMatMul", fused_matmul},
      {"MatMulNBits", packed_weight_matmul},
      {"MatMulBnb4", packed_weight_matmul},
      {"Gemm", gemm_0_1},
      {"FusedGemm", gemm_0_1},
      {"GemmFloat8", gemm_0_1},
      {"QGemm", gemm_0_3},
      {"Einsum", einsum_products},
      {"Attention", attention_products},
      {"MultiHeadAttention", multi_head_products},
      {"GroupQueryAttention", group_query_products},
      {"com.microsoft::Attention", projected_attention_products},
      {"QAttention", projected_attention_products},
  };
  return table;
}

}  // namespace

bool is_product(std::string_view kind) { return rules().contains(kind); }

std::optional<Products> products_of(const NodeView& view) {
  const auto rule = rules().find(kind(view.node));
  return rule == rules().end() ? std::nullopt : rule->second(view);
}

}  // namespace tilewright::onnx_file
