#include "tilewright/workload/onnx_recurrent.hpp"

#include <algorithm>
#include <array>

namespace tilewright::onnx_file {
namespace {

struct Cell {
  std::string_view kind;
  std::int64_t gates;
  bool is_turned = false;  // weights are [directions, from, gates * hidden] instead of [directions, gates * hidden, from]
};
constexpr std::array kCells{Cell{"RNN", 1}, Cell{"GRU", 3}, Cell{"LSTM", 4}, Cell{"DynamicQuantizeLSTM", 4, true}};

const Cell* cell_of(std::string_view kind) {
  const auto* found = std::ranges::find(kCells, kind, &Cell::kind);
  return found == kCells.end() ? nullptr : found;
}

Product product_of(const char* part, std::int64_t rows, std::int64_t inner, std::int64_t columns, std::int64_t count) {
  return {.part = part,
          .rows = rows,
          .inner = inner,
          .columns = columns,
          .right_inner = inner,
          .is_linear = true,
          .count = count};
}

// States that the network computes reach the recurrent products without passing the first one.
bool has_computed_state(const NodeView& view) {
  const Tensor* hidden = view.input(5);
  const Tensor* cell = view.input(6);
  return (hidden != nullptr && !hidden->fixed) || (cell != nullptr && !cell->fixed);
}

}  // namespace

bool is_recurrent(std::string_view kind) { return cell_of(kind) != nullptr; }

std::optional<Recurrent> recurrent_of(const NodeView& view) {
  const Cell* cell = cell_of(kind(view.node));
  const Dims* input = view.shape(0);
  const Dims* weight = view.shape(1);
  const Dims* recurrence = view.shape(2);
  if (cell == nullptr || input == nullptr || weight == nullptr || recurrence == nullptr) return std::nullopt;
  if (input->size() != 3 || weight->size() != 3 || recurrence->size() != 3) return std::nullopt;
  Recurrent recurrent;
  recurrent.is_batch_first = view.integer("layout", 0) != 0;
  recurrent.steps = (*input)[recurrent.is_batch_first ? 1 : 0];
  recurrent.batch = (*input)[recurrent.is_batch_first ? 0 : 1];
  recurrent.inputs = (*input)[2];
  recurrent.weight_inputs = (*weight)[cell->is_turned ? 1 : 2];
  recurrent.hidden = (*recurrence)[cell->is_turned ? 1 : 2];
  recurrent.gates = cell->gates;
  recurrent.directions = (*recurrence)[0];
  return recurrent;
}

std::optional<Products> recurrent_products(const NodeView& view) {
  const auto recurrent = recurrent_of(view);
  if (!recurrent) return std::nullopt;
  const auto& [steps, batch, inputs, weight_inputs, hidden, gates, directions, is_batch_first] = *recurrent;
  const std::int64_t turns = times(steps, directions);
  const bool is_split = kind(view.node) == "GRU" && view.integer("linear_before_reset", 0) == 0;
  Products products;
  products.products.push_back(product_of("input", times(steps, batch), inputs, times(gates, hidden), directions));
  products.products.front().right_inner = weight_inputs;
  products.products.push_back(product_of("recurrent", batch, hidden, times(is_split ? gates - 1 : gates, hidden), turns));
  if (is_split) products.products.push_back(product_of("candidate", batch, hidden, hidden, turns));
  products.is_projected = !has_computed_state(view);
  return products;
}

}  // namespace tilewright::onnx_file
