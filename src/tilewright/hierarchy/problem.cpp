#include "tilewright/hierarchy/problem.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "tilewright/workload/nest.hpp"

namespace tilewright::hierarchy {
namespace {

using Rank = std::vector<Shape::Rank>;

Rank plain(char dim) { return {{dim, ""}}; }

std::vector<Rank> plain_ranks(std::string_view dims) {
  std::vector<Rank> ranks;
  for (const char dim : dims) ranks.push_back(plain(dim));
  return ranks;
}

Shape convolution_shape(std::string name, std::string dims, std::string_view weights, std::string_view inputs,
                        std::string_view outputs) {
  Shape shape;
  shape.name = std::move(name);
  shape.dims = std::move(dims);
  shape.coefficients = {{"Wstride", 1}, {"Hstride", 1}, {"Wdilation", 1}, {"Hdilation", 1}};
  std::vector<Rank> windows = plain_ranks(inputs);
  windows.push_back({{'R', "Wdilation"}, {'P', "Wstride"}});
  windows.push_back({{'S', "Hdilation"}, {'Q', "Hstride"}});
  shape.spaces = {{"Weights", TensorKind::Weight, plain_ranks(weights)},
                  {"Inputs", TensorKind::Input, std::move(windows)},
                  {"Outputs", TensorKind::Output, plain_ranks(outputs)}};
  return shape;
}

Shape product_shape(std::string name, std::string dims, std::string_view left, std::string_view right,
                    std::string_view result) {
  Shape shape;
  shape.name = std::move(name);
  shape.dims = std::move(dims);
  shape.spaces = {{"A", TensorKind::Input, plain_ranks(left)},
                  {"B", TensorKind::Weight, plain_ranks(right)},
                  {"Z", TensorKind::Output, plain_ranks(result)}};
  return shape;
}

const std::int64_t* find(const NamedNumbers& numbers, std::string_view name) {
  for (const auto& [known, number] : numbers) {
    if (known == name) return &number;
  }
  return nullptr;
}

// a * b, or a number beyond kMostCount when it is larger than that.
std::int64_t capped_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kMostCount + 1 : std::min(product, kMostCount + 1);
}

std::int64_t capped_footprint(const Tensor& tensor, const std::vector<std::int64_t>& extents) {
  std::int64_t words = 1;
  for (const auto& rank : tensor.ranks) {
    std::int64_t side = 1;
    for (const Term& term : rank) {
      side = std::min(side + capped_product(std::abs(term.coefficient), extents[term.dim] - 1), kMostCount + 1);
    }
    words = capped_product(words, side);
  }
  return words;
}

// Rows and columns of a transposed convolution as its nest has them.
Result<Problem> transposed_problem(const Layer& layer) {
  TW_TRY(const Nest nest, nest_of(layer));
  const auto size = [&](Dim dim) -> std::int64_t { return std::max(1, nest[dim]); };
  const bool depthwise = nest.kind == NestKind::Depthwise;
  const bool grouped = nest.kind == NestKind::Grouped;
  NamedNumbers bounds = {{"R", size(Dim::S)},    {"S", size(Dim::R)}, {"P", size(Dim::OutX)},
                         {"Q", size(Dim::OutY)}, {"C", size(Dim::C)}, {"N", size(Dim::N)}};
  if (!depthwise) bounds.emplace_back("K", size(Dim::K));
  if (grouped) bounds.emplace_back("G", size(Dim::G));
  const Shape shape = *shape_named(depthwise ? "dwconv" : grouped ? "gconv" : "conv");
  return problem_of(shape, bounds, {}, "layer '" + layer.name + "'");
}

}  // namespace

std::optional<std::uint8_t> Problem::dim_named(char letter) const {
  const auto at = dims.find(letter);
  if (at == std::string::npos) return std::nullopt;
  return static_cast<std::uint8_t>(at);
}

std::optional<std::uint8_t> Problem::tensor_named(std::string_view tensor) const {
  for (std::size_t index = 0; index < tensors.size(); ++index) {
    if (tensors[index].name == tensor) return static_cast<std::uint8_t>(index);
  }
  return std::nullopt;
}

std::optional<Shape> shape_named(std::string_view name) {
  if (name == "conv") return convolution_shape("conv", "RSPQCKN", "CKRS", "NC", "NKQP");
  if (name == "dwconv") return convolution_shape("dwconv", "RSPQCN", "CRS", "NC", "NCQP");
  if (name == "gconv") return convolution_shape("gconv", "RSPQCKNG", "GCKRS", "NGC", "NGKQP");
  if (name == "gemm") return product_shape("gemm", "MNK", "MK", "KN", "MN");
  if (name == "bgemm") return product_shape("bgemm", "MNKG", "GMK", "GKN", "GMN");
  return std::nullopt;
}

Result<Problem> problem_of(const Shape& shape, const NamedNumbers& bounds, const NamedNumbers& coefficients,
                           const std::string& where) {
  Problem problem;
  problem.name = shape.name;
  problem.dims = shape.dims;
  for (const char dim : shape.dims) {
    const std::int64_t* bound = find(bounds, std::string_view(&dim, 1));
    if (bound == nullptr) return invalid(fmt::format("{}: dimension '{}' has no bound, expected at least 1", where, dim));
    problem.bounds.push_back(*bound);
  }
  for (const Shape::Space& space : shape.spaces) {
    Tensor tensor{space.name, space.kind, {}};
    for (const Rank& rank : space.ranks) {
      std::vector<Term> terms;
      for (const Shape::Rank& term : rank) {
        const auto dim = problem.dim_named(term.dim);
        if (!dim) {
          return invalid(fmt::format("{}: tensor '{}' uses dimension '{}', expected one of {}", where, space.name, term.dim,
                                     shape.dims));
        }
        std::int64_t coefficient = 1;
        if (!term.coefficient.empty()) {
          const std::int64_t* value = find(coefficients, term.coefficient);
          if (value == nullptr) value = find(shape.coefficients, term.coefficient);
          if (value == nullptr) {
            return invalid(fmt::format("{}: tensor '{}' uses coefficient '{}', which has no value", where, space.name,
                                       term.coefficient));
          }
          coefficient = *value;
        }
        terms.push_back({*dim, coefficient});
      }
      tensor.ranks.push_back(std::move(terms));
    }
    problem.tensors.push_back(std::move(tensor));
  }
  return check(std::move(problem), where);
}

Result<Problem> problem_of(const Layer& layer) {
  TW_TRY(const Layer checked, check(layer));
  const std::string where = "layer '" + layer.name + "'";
  Result<Problem> problem = [&]() -> Result<Problem> {
    if (layer.op == Operator::TransposedConvolution) return transposed_problem(layer);
    if (layer.op == Operator::FullyConnected) {
      return problem_of(
          *shape_named("gemm"),
          {{"M", layer.batch}, {"N", layer.out_channels}, {"K", macs(layer).value / (layer.batch * layer.out_channels)}}, {},
          where);
    }
    if (layer.op == Operator::MatrixMultiply) {
      NamedNumbers bounds = {{"M", layer.in_height}, {"N", layer.out_channels}, {"K", layer.in_channels}};
      if (layer.batch == 1) return problem_of(*shape_named("gemm"), bounds, {}, where);
      bounds.emplace_back("G", layer.batch);
      return problem_of(*shape_named("bgemm"), bounds, {}, where);
    }
    const bool depthwise = layer.groups > 1 && layer.groups == layer.in_channels && layer.groups == layer.out_channels;
    const bool grouped = layer.groups > 1 && !depthwise;
    NamedNumbers bounds = {{"R", layer.kernel_width},
                           {"S", layer.kernel_height},
                           {"P", out_width(layer)},
                           {"Q", out_height(layer)},
                           {"N", layer.batch}};
    bounds.emplace_back("C", depthwise ? layer.in_channels : layer.in_channels / layer.groups);
    if (!depthwise) bounds.emplace_back("K", layer.out_channels / layer.groups);
    if (grouped) bounds.emplace_back("G", layer.groups);
    return problem_of(*shape_named(depthwise ? "dwconv"
                                   : grouped ? "gconv"
                                             : "conv"),
                      bounds,
                      {{"Wstride", layer.stride_width},
                       {"Hstride", layer.stride_height},
                       {"Wdilation", layer.dilation_width},
                       {"Hdilation", layer.dilation_height}},
                      where);
  }();
  if (!problem) return problem.error();
  Problem named = std::move(problem).value();
  named.name = layer.name;
  return named;
}

Result<Problem> check(Problem problem, const std::string& where) {
  const auto refuse = [&](const std::string& sentence) { return invalid(where + ": " + sentence); };
  if (problem.dims.empty()) return refuse("the problem has no dimension, expected at least one");
  if (problem.dims.size() > kMostDims)
    return refuse(fmt::format("the problem has {} dimensions, expected at most {}", problem.dims.size(), kMostDims));
  if (problem.bounds.size() != problem.dims.size())
    return refuse(fmt::format("there are {} bounds, expected one for each of {}", problem.bounds.size(), problem.dims));
  for (std::size_t index = 0; index < problem.dims.size(); ++index) {
    const char dim = problem.dims[index];
    if (problem.dims.find(dim) != index) return refuse(fmt::format("dimension '{}' is declared twice, expected once", dim));
    if (problem.bounds[index] < 1)
      return refuse(fmt::format("dimension '{}' is {}, expected at least 1", dim, problem.bounds[index]));
  }
  std::int64_t points = 1;
  for (const std::int64_t bound : problem.bounds) points = capped_product(points, bound);
  if (points > kMostCount) return refuse("there are more than 2^53 multiplications, expected at most that");
  if (problem.tensors.empty()) return refuse("the problem has no tensor, expected at least one");
  if (problem.tensors.size() > kMostTensors)
    return refuse(fmt::format("the problem has {} tensors, expected at most {}", problem.tensors.size(), kMostTensors));
  for (std::size_t index = 0; index < problem.tensors.size(); ++index) {
    const Tensor& tensor = problem.tensors[index];
    if (tensor.name.empty()) return refuse("a tensor has no name");
    if (*problem.tensor_named(tensor.name) != index)
      return refuse(fmt::format("tensor '{}' is declared twice, expected once", tensor.name));
    if (tensor.ranks.size() > kMostRanks) {
      return refuse(
          fmt::format("tensor '{}' has {} ranks, expected at most {}", tensor.name, tensor.ranks.size(), kMostRanks));
    }
    for (const auto& rank : tensor.ranks) {
      for (const Term& term : rank) {
        if (term.dim >= problem.dims.size())
          return refuse(fmt::format("tensor '{}' uses an unknown dimension, expected one of {}", tensor.name, problem.dims));
        if (std::abs(static_cast<double>(term.coefficient)) > static_cast<double>(kMostCount)) {
          return refuse(
              fmt::format("tensor '{}' has a coefficient of {}, expected at most 2^53", tensor.name, term.coefficient));
        }
      }
    }
    if (capped_footprint(tensor, problem.bounds) > kMostCount)
      return refuse(fmt::format("tensor '{}' has more than 2^53 words, expected at most that", tensor.name));
  }
  return problem;
}

std::int64_t computes(const Problem& problem) {
  std::int64_t points = 1;
  for (const std::int64_t bound : problem.bounds) points *= bound;
  return points;
}

std::int64_t footprint(const Tensor& tensor, const std::int64_t* extents) {
  std::int64_t words = 1;
  for (const auto& rank : tensor.ranks) {
    std::int64_t side = 1;
    for (const Term& term : rank) side += std::abs(term.coefficient) * (extents[term.dim] - 1);
    words *= side;
  }
  return words;
}

}  // namespace tilewright::hierarchy
