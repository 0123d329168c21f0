// Attention as the matrix products it consists of, one of each per image and head:
//
//   qkv      rows of the input times the stacked projections, in operators that contain them
//   scores   query [S, d]  times  key^T [d, L]
//   context  softmax(scores) [S, L]  times  value [L, v]
#include "tilewright/workload/onnx_products.hpp"

namespace tilewright::onnx_file {
namespace {

struct Heads {
  std::int64_t batch = kUnknown;
  std::int64_t count = kUnknown;       // of the query; keys and values may be shared by several
  std::int64_t queries = kUnknown;     // S
  std::int64_t keys = kUnknown;        // L, those of the past included
  std::int64_t size = kUnknown;        // d
  std::int64_t value_size = kUnknown;  // v
};

std::int64_t divide(std::int64_t a, std::int64_t b) { return a < 0 || b < 1 || a % b != 0 ? kUnknown : a / b; }

void add_products(const Heads& heads, Products& products) {
  const std::int64_t batch = times(heads.batch, heads.count);
  products.products.push_back({"scores", batch, heads.queries, heads.size, heads.keys, heads.size, false});
  products.products.push_back({"context", batch, heads.queries, heads.keys, heads.value_size, heads.keys, false});
}

// Keys remembered from earlier calls, in a tensor whose axis `axis` counts them; 0 when the input is left out.
std::int64_t past_keys(const NodeView& view, std::size_t input, std::size_t axis) {
  if (view.input(input) == nullptr) return 0;
  const Dims* past = view.shape(input);
  return past == nullptr || past->size() <= axis ? kUnknown : (*past)[axis];
}

}  // namespace

// Q, K, V as [batch, heads, sequence, size] or, with the number of heads as attributes, [batch, sequence, heads * size].
std::optional<Products> attention_products(const NodeView& view) {
  const Dims* query = view.shape(0);
  const Dims* key = view.shape(1);
  const Dims* value = view.shape(2);
  if (query == nullptr || key == nullptr || value == nullptr) return std::nullopt;
  if (query->empty() || query->size() != key->size() || key->size() != value->size()) return std::nullopt;
  Heads heads{.batch = (*query)[0]};
  Products products;
  const std::int64_t past = past_keys(view, 4, 2);
  if (query->size() == 4) {
    heads.count = (*query)[1];
    heads.queries = (*query)[2];
    heads.keys = plus((*key)[2], past);
    heads.size = (*query)[3];
    heads.value_size = (*value)[3];
    products.out = Dims{heads.batch, heads.count, heads.queries, heads.value_size};
  } else if (query->size() == 3) {
    heads.count = view.integer("q_num_heads", kUnknown);
    heads.queries = (*query)[1];
    heads.keys = plus((*key)[1], past);
    heads.size = divide((*query)[2], heads.count);
    heads.value_size = divide((*value)[2], view.integer("kv_num_heads", kUnknown));
    products.out = Dims{heads.batch, heads.queries, times(heads.count, heads.value_size)};
  } else {
    return std::nullopt;
  }
  add_products(heads, products);
  return products;
}

// Query [batch, S, heads * d], key and value alike; key and value also as [batch, heads, L, d]; or all three packed into
// the query as [batch, S, heads, 3, d], or key and value packed into the key as [batch, L, heads, 2, d].
std::optional<Products> multi_head_products(const NodeView& view) {
  const Dims* query = view.shape(0);
  if (query == nullptr || (query->size() != 3 && query->size() != 5)) return std::nullopt;
  Heads heads{.batch = (*query)[0], .count = view.integer("num_heads", kUnknown), .queries = (*query)[1]};
  heads.size = query->size() == 5 ? (*query)[4] : divide((*query)[2], heads.count);
  heads.value_size = heads.size;
  heads.keys = heads.queries;
  const Dims* key = view.shape(1);
  if (view.input(1) != nullptr && key == nullptr) return std::nullopt;
  if (key != nullptr) {
    if (key->size() < 3) return std::nullopt;
    heads.keys = (*key)[key->size() == 4 ? 2 : 1];
  }
  if (const Dims* value = view.shape(2); value != nullptr) {
    if (value->size() == 4) heads.value_size = (*value)[3];
    if (value->size() == 3) heads.value_size = divide((*value)[2], heads.count);
  }
  heads.keys = plus(heads.keys, past_keys(view, 6, 2));
  Products products;
  products.out = Dims{heads.batch, heads.queries, times(heads.count, heads.value_size)};
  add_products(heads, products);
  return products;
}

// Query [batch, S, heads * d] with its own number of heads, or query, key and value one after the other in the last axis.
std::optional<Products> group_query_products(const NodeView& view) {
  const Dims* query = view.shape(0);
  if (query == nullptr || query->size() != 3) return std::nullopt;
  Heads heads{.batch = (*query)[0], .count = view.integer("num_heads", kUnknown), .queries = (*query)[1]};
  const std::int64_t shared = view.integer("kv_num_heads", kUnknown);
  const bool is_packed = view.input(1) == nullptr;
  heads.size = divide((*query)[2], is_packed ? plus(heads.count, times(2, shared)) : heads.count);
  heads.value_size = heads.size;
  heads.keys = plus(heads.queries, past_keys(view, 3, 2));
  Products products;
  products.out = Dims{heads.batch, heads.queries, times(heads.count, heads.size)};
  add_products(heads, products);
  return products;
}

// Input [batch, S, hidden] times weight [hidden, q + k + v], then attention; the past is [2, batch, heads, P, d].
std::optional<Products> projected_attention_products(const NodeView& view) {
  const Dims* input = view.shape(0);
  const Dims* weight = view.shape(1);
  if (input == nullptr || weight == nullptr || input->size() != 3 || weight->size() != 2) return std::nullopt;
  Heads heads{.batch = (*input)[0], .count = view.integer("num_heads", kUnknown), .queries = (*input)[1]};
  const std::int64_t third = divide((*weight)[1], 3);
  const Dims hidden = integers(view.node, "qkv_hidden_sizes").value_or(Dims{third, third, third});
  if (hidden.size() != 3) return std::nullopt;
  heads.size = divide(hidden[0], heads.count);
  heads.value_size = divide(hidden[2], heads.count);
  heads.keys = plus(heads.queries, past_keys(view, kind(view.node) == "QAttention" ? 8 : 4, 3));
  Products products;
  products.out = Dims{heads.batch, heads.queries, times(heads.count, heads.value_size)};
  products.is_projected = true;
  products.products.push_back({"qkv", 1, times(heads.batch, heads.queries), (*input)[2], (*weight)[1], (*weight)[0], false});
  add_products(heads, products);
  return products;
}

}  // namespace tilewright::onnx_file
