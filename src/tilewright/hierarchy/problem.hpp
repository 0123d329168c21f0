// A problem: one layer as a box of index points, each of them one multiply-accumulate, and where each point reads and
// writes.
//
//   conv   R S P Q C K N     Weights[C][K][R][S]  Inputs[N][C][R*Wdilation+P*Wstride][S*Hdilation+Q*Hstride]
//   Outputs[N][K][Q][P] gemm   M N K             A[M][K]  B[K][N]  Z[M][N]
//
// A tensor is a list of ranks, a rank a sum of coefficient times dimension. There is no padding: the input is as large as
// outputs, stride and kernel imply.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewright/base/names.hpp"
#include "tilewright/base/result.hpp"
#include "tilewright/workload/layer.hpp"

namespace tilewright::hierarchy {

// Workspaces have room for this much and no more.
inline constexpr std::size_t kMostDims = 12;
inline constexpr std::size_t kMostTensors = 6;
inline constexpr std::size_t kMostRanks = 8;

// Counts up to here are exact as double.
inline constexpr std::int64_t kMostCount = std::int64_t{1} << 53;

enum class TensorKind : std::uint8_t { Weight, Input, Output };

struct Term {
  std::uint8_t dim = 0;  // index into Problem::dims
  std::int64_t coefficient = 1;
  bool operator==(const Term&) const = default;
};

struct Tensor {
  std::string name;
  TensorKind kind = TensorKind::Input;  // an Output is read and written
  std::vector<std::vector<Term>> ranks;
  bool operator==(const Tensor&) const = default;
};

struct Problem {
  std::string name;
  std::string dims;                  // one letter each
  std::vector<std::int64_t> bounds;  // as many as dims
  std::vector<Tensor> tensors;
  bool operator==(const Problem&) const = default;

  std::optional<std::uint8_t> dim_named(char letter) const;
  std::optional<std::uint8_t> tensor_named(std::string_view tensor) const;
};

// A problem without its numbers: what many layers share.
struct Shape {
  struct Rank {
    char dim = 'C';
    std::string coefficient;  // empty = 1
    bool operator==(const Rank&) const = default;
  };
  struct Space {
    std::string name;
    TensorKind kind = TensorKind::Input;
    std::vector<std::vector<Rank>> ranks;
    bool operator==(const Space&) const = default;
  };
  std::string name;
  std::string dims;
  std::vector<std::pair<std::string, std::int64_t>> coefficients;  // with their defaults
  std::vector<Space> spaces;
  bool operator==(const Shape&) const = default;
};

// "conv", "dwconv", "gconv" (with groups G in all three tensors), "gemm", "bgemm" (G products); nothing for another name.
std::optional<Shape> shape_named(std::string_view name);

using NamedNumbers = std::vector<std::pair<std::string, std::int64_t>>;

// The shape with its numbers. Every dimension needs a bound; a coefficient without value keeps its default.
Result<Problem> problem_of(const Shape& shape, const NamedNumbers& bounds, const NamedNumbers& coefficients,
                           const std::string& where);

// A layer as loops: convolutions as conv, dwconv or gconv (P, R and Wstride are of columns, Q, S and Hstride of rows),
// matrix products as gemm or bgemm (M rows, K inner, N columns). A transposed convolution becomes that of its sub-pixels.
Result<Problem> problem_of(const Layer& layer);

// The problem itself, or a sentence that names what is impossible. Points and the footprint of every tensor are at most
// kMostCount.
Result<Problem> check(Problem problem, const std::string& where);

std::int64_t computes(const Problem& problem);

// Words of a box of a tensor whose sides are `extents`, holes of strides included.
std::int64_t footprint(const Tensor& tensor, const std::int64_t* extents);

}  // namespace tilewright::hierarchy

template <>
struct tilewright::Names<tilewright::hierarchy::TensorKind> {
  static constexpr std::string_view kWhat = "kind of tensor";
  static constexpr NameTable<hierarchy::TensorKind, 3> kTable = {{{hierarchy::TensorKind::Weight, "weights"},
                                                                  {hierarchy::TensorKind::Input, "inputs"},
                                                                  {hierarchy::TensorKind::Output, "outputs"}}};
};
