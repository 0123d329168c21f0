// Tables of the GAMMA mapper: a header, then one layer a line, seven whole numbers.
//
//   T   columns 1 to 6        layer
//   1   K, C, Y, X, R, S      convolution, stride 1, no padding; Y and X are input sizes
//   2   1 or C, C, Y, X, R, S depthwise; GAMMA never looks at the first column
//   3   M, N, K, -, -, -      matrix multiply, M x K times K x N
//   0   O, I, -, -, -, -      fully connected, I inputs, O outputs
//
// The table knows neither names nor edges: layers become L1, L2, …, each fed by the one above it.
#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/workload/network.hpp"

namespace tilewright {
namespace {

constexpr std::array<std::string_view, 3> kHeaders = {"K,C,Y,X,R,S,T", "M,N,K,0,0,0,T", "O,I,0,0,0,0,T"};
constexpr std::size_t kColumnCount = 7;
using Row = std::array<std::int64_t, kColumnCount>;

Result<Row> read_row(std::string_view line) {
  const std::vector<std::string_view> fields = split(line, ',');
  if (fields.size() != kColumnCount) {
    return invalid(fmt::format("row has {} columns, expected {}", fields.size(), kColumnCount));
  }
  Row row{};
  for (std::size_t column = 0; column < kColumnCount; ++column) {
    const std::string_view field = trim(fields[column]);
    const auto number = parse_integer(field);
    if (!number) return invalid(fmt::format("column {} is '{}', expected a whole number", column + 1, field));
    row[column] = *number;
  }
  return row;
}

Result<Layer> layer_of(const std::string& name, const Row& row) {
  const auto [k, c, y, x, r, s, type] = row;
  switch (type) {
    case 0:
      return check(fully_connected(name, 1, c, k));
    case 1:
    case 2: {
      Layer layer = convolution(
          name, {.out_channels = k, .in_channels = c, .in_height = y, .in_width = x, .kernel_height = r, .kernel_width = s});
      if (type == 1) return check(std::move(layer));
      if (k != 1 && k != c) {
        return invalid(fmt::format("layer '{}': K is {}, expected 1 or C, which is {}, for a depthwise layer", name, k, c));
      }
      layer.op = Operator::Depthwise;
      layer.groups = layer.out_channels = c;
      return check(std::move(layer));
    }
    case 3:
      return check(matrix_multiply(name, {.rows = k, .inner = y, .columns = c}));
    default:
      return invalid(fmt::format("layer '{}': T is {}, expected 0 (fc), 1 (conv), 2 (depthwise) or 3 (matmul)", name, type));
  }
}

std::string without_blanks(std::string_view line) {
  std::string result;
  for (const std::string_view field : split(line, ',')) result.append(trim(field)).push_back(',');
  result.pop_back();
  return result;
}

}  // namespace

Result<Network> network_from_gamma_csv(const std::string& text, const std::string& where) {
  Network network;
  network.name = std::filesystem::path(where).stem().string();
  const std::vector<std::string_view> lines = split(text, '\n');
  const std::string header = without_blanks(lines.front());
  if (std::find(kHeaders.begin(), kHeaders.end(), header) == kHeaders.end()) {
    return invalid(fmt::format("{}:1: header is '{}', expected '{}'", where, header, kHeaders.front()));
  }
  for (std::size_t index = 1; index < lines.size(); ++index) {
    const std::string_view line = trim(lines[index]);
    if (line.empty()) continue;
    const auto at_line = [&](const Error& error) {
      return invalid(fmt::format("{}:{}: {}", where, index + 1, error.message));
    };
    const Result<Row> row = read_row(line);
    if (!row) return at_line(row.error());
    const std::size_t number = network.layers.size();
    Result<Layer> layer = layer_of(fmt::format("L{}", number + 1), *row);
    if (!layer) return at_line(layer.error());
    network.layers.push_back({.layer = std::move(layer).value(), .inputs = {}});
    if (number > 0) network.layers.back().inputs.push_back(number - 1);
  }
  if (network.layers.empty())
    return invalid(fmt::format("{}: has a header and no rows, expected at least one layer", where));
  return check(std::move(network), where);
}

}  // namespace tilewright
