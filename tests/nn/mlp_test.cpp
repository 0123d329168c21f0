#include "tilewright/nn/mlp.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "tilewright/nn/reference.hpp"
#include "vector_targets.hpp"

namespace tilewright {
namespace {

using Row = std::vector<double>;

double next(Rng& rng) { return 2 * rng.uniform() - 1; }

void randomise(Mlp& mlp, Rng rng) {
  for (std::size_t l = 0; l < mlp.layer_count(); ++l) {
    for (std::size_t i = 0; i < mlp.weight(l).rows; ++i)
      for (std::size_t o = 0; o < mlp.weight(l).columns; ++o)
        mlp.weight(l).row(i)[o] = static_cast<float>(next(rng) / std::sqrt(static_cast<double>(mlp.weight(l).rows)));
    for (float& value : mlp.bias(l)) value = static_cast<float>(0.3 * next(rng));
  }
}

Matrix random_matrix(std::size_t rows, std::size_t columns, Rng rng) {
  Matrix matrix(rows, columns);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) matrix.row(r)[c] = static_cast<float>(next(rng));
  return matrix;
}

Row values_of_row(const Matrix& matrix, std::size_t r) { return Row(matrix.row(r), matrix.row(r) + matrix.columns()); }

// Everything forward and backward make of one batch, in pieces of `cut` rows.
struct Pass {
  Matrix y, dx;
  Mlp gradient;
};
Pass pass_of(const Mlp& mlp, const Matrix& x, const Matrix& dy, std::size_t cut, std::size_t first_input,
             std::size_t input_count) {
  const std::size_t rows = x.rows();
  Pass pass{Matrix(rows, mlp.shape().outputs), Matrix(rows, input_count), Mlp(mlp.shape())};
  MlpWorkspace workspace(mlp.shape(), cut);
  workspace.load_transposed(mlp);
  for (std::size_t first = 0; first < rows; first += cut) {
    const std::size_t count = std::min(cut, rows - first);
    const ConstView tile = x.view().row_range(first, count);
    forward(mlp, tile, pass.y.row_range(first, count), workspace);
    backward(mlp, tile, dy.view().row_range(first, count), workspace, &pass.gradient, pass.dx.row_range(first, count),
             first_input);
  }
  return pass;
}

std::vector<float> numbers_of(const Pass& pass) {
  std::vector<float> numbers(pass.gradient.values().begin(), pass.gradient.values().end());
  for (const Matrix* matrix : {&pass.y, &pass.dx})
    for (std::size_t r = 0; r < matrix->rows(); ++r)
      numbers.insert(numbers.end(), matrix->row(r), matrix->row(r) + matrix->columns());
  return numbers;
}

struct Case {
  MlpShape shape;
  std::size_t rows, first_input, input_count;
};
std::vector<Case> cases() {
  return {
      {{16, {64, 64}, 1, Activation::Relu}, 131, 3, 5},     {{16, {64, 64}, 5, Activation::Relu}, 100, 0, 16},
      {{35, {64, 64}, 1, Activation::Tanh}, 97, 30, 5},     {{7, {}, 3, Activation::Relu}, 50, 2, 4},
      {{37, {}, 1, Activation::Relu}, 29, 0, 37},           {{1, {1}, 1, Activation::Tanh}, 5, 0, 1},
      {{5, {1, 3}, 2, Activation::Relu}, 17, 4, 1},         {{9, {33}, 17, Activation::Tanh}, 64, 1, 8},
      {{20, {40, 24, 16}, 9, Activation::Relu}, 41, 5, 15}, {{68, {100, 7}, 30, Activation::Relu}, 12, 67, 1},
      {{3, {128}, 2, Activation::Tanh}, 1, 0, 3},           {{130, {72, 65}, 64, Activation::Relu}, 33, 100, 30},
  };
}

// Sums of n terms of order one may differ by about n roundings.
void expect_near(double is, double expected, double terms) {
  EXPECT_NEAR(is, expected, 3e-7 * (terms + 10) * (1 + std::abs(expected) / 10));
}

TEST(Mlp, AgreesWithTheReferenceOnManyShapes) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(testing::Message() << c.shape.inputs << " -> " << testing::PrintToString(c.shape.hidden) << " -> "
                                    << c.shape.outputs << ", " << c.rows << " rows");
    Mlp mlp(c.shape);
    randomise(mlp, Rng(1, "weights"));
    const Matrix x = random_matrix(c.rows, c.shape.inputs, Rng(1, "x"));
    const Matrix dy = random_matrix(c.rows, c.shape.outputs, Rng(1, "dy"));
    const Pass pass = pass_of(mlp, x, dy, 48, c.first_input, c.input_count);

    const auto network = reference::network_of<double>(mlp);
    auto gradient = reference::network_of<double>(Mlp(c.shape));
    for (std::size_t r = 0; r < c.rows; ++r) {
      const auto values = reference::forward(network, c.shape.activation, values_of_row(x, r));
      for (std::size_t o = 0; o < c.shape.outputs; ++o) expect_near(pass.y.row(r)[o], values.back()[o], 20);
      const Row dx = reference::backward(network, c.shape.activation, values, values_of_row(dy, r), gradient);
      for (std::size_t i = 0; i < c.input_count; ++i) expect_near(pass.dx.row(r)[i], dx[c.first_input + i], 20);
    }
    for (std::size_t l = 0; l < mlp.layer_count(); ++l) {
      for (std::size_t i = 0; i < gradient[l].w.size(); ++i)
        for (std::size_t o = 0; o < gradient[l].b.size(); ++o)
          expect_near(pass.gradient.weight(l).row(i)[o], gradient[l].w[i][o], static_cast<double>(c.rows));
      for (std::size_t o = 0; o < gradient[l].b.size(); ++o)
        expect_near(pass.gradient.bias(l)[o], gradient[l].b[o], static_cast<double>(c.rows));
    }
  }
}

TEST(Mlp, ReferenceAgreesWithFiniteDifferences) {
  for (const Activation f : {Activation::Relu, Activation::Tanh}) {
    const MlpShape shape{5, {6, 4}, 3, f};
    Mlp mlp(shape);
    randomise(mlp, Rng(2, "weights"));
    auto network = reference::network_of<double>(mlp);
    Row x = values_of_row(random_matrix(1, 5, Rng(2, "x")), 0);
    const Row dy = values_of_row(random_matrix(1, 3, Rng(2, "dy")), 0);
    auto gradient = reference::network_of<double>(Mlp(shape));
    const Row dx = reference::backward(network, f, reference::forward(network, f, x), dy, gradient);

    const auto loss = [&] {
      double sum = 0;
      const Row y = reference::forward(network, f, x).back();
      for (std::size_t o = 0; o < 3; ++o) sum += dy[o] * y[o];
      return sum;
    };
    const auto slope_at = [&](double& number) {
      const double kept = number, step = 1e-6;
      number = kept + step;
      const double above = loss();
      number = kept - step;
      const double below = loss();
      number = kept;
      return (above - below) / (2 * step);
    };
    for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(slope_at(x[i]), dx[i], 1e-8);
    for (std::size_t l = 0; l < network.size(); ++l) {
      for (std::size_t o = 0; o < network[l].b.size(); ++o) {
        EXPECT_NEAR(slope_at(network[l].b[o]), gradient[l].b[o], 1e-8);
        for (std::size_t i = 0; i < network[l].w.size(); ++i)
          EXPECT_NEAR(slope_at(network[l].w[i][o]), gradient[l].w[i][o], 1e-8);
      }
    }
  }
}

TEST(Mlp, DoesNotDependOnHowABatchIsCut) {
  for (const Case& c : cases()) {
    Mlp mlp(c.shape);
    randomise(mlp, Rng(3, "weights"));
    const Matrix x = random_matrix(c.rows, c.shape.inputs, Rng(3, "x"));
    const Matrix dy = random_matrix(c.rows, c.shape.outputs, Rng(3, "dy"));
    const std::vector<float> whole = numbers_of(pass_of(mlp, x, dy, 200, c.first_input, c.input_count));
    for (const std::size_t cut : {1u, 5u, 13u, 48u})
      EXPECT_EQ(numbers_of(pass_of(mlp, x, dy, cut, c.first_input, c.input_count)), whole) << "cut " << cut;
  }
}

TEST(Mlp, EveryProcessorWithFusedMultiplyAddGivesTheSameBits) {
  for (const Case& c : cases()) {
    Mlp mlp(c.shape);
    randomise(mlp, Rng(4, "weights"));
    const Matrix x = random_matrix(c.rows, c.shape.inputs, Rng(4, "x"));
    const Matrix dy = random_matrix(c.rows, c.shape.outputs, Rng(4, "dy"));
    std::vector<float> expected;
    for_each_vector_target([&](const VectorTarget& target) {
      const std::vector<float> numbers = numbers_of(pass_of(mlp, x, dy, kTileRows, c.first_input, c.input_count));
      if (expected.empty()) expected = numbers;
      if (target.has_fma) {
        EXPECT_EQ(numbers, expected) << target.name;
      } else {
        for (std::size_t i = 0; i < numbers.size(); ++i) {
          ASSERT_NEAR(numbers[i], expected[i], 1e-5 * (std::abs(expected[i]) + 3)) << target.name;
        }
      }
    });
  }
}

TEST(Mlp, OneSampleIsARowOfABatch) {
  for (const Case& c : cases()) {
    Mlp mlp(c.shape);
    randomise(mlp, Rng(5, "weights"));
    const Matrix x = random_matrix(c.rows, c.shape.inputs, Rng(5, "x"));
    Matrix y(c.rows, c.shape.outputs);
    MlpWorkspace workspace(c.shape, c.rows);
    forward(mlp, x.view(), y.view(), workspace);
    for (std::size_t r = 0; r < c.rows; ++r) {
      std::vector<float> one(c.shape.outputs);
      const std::vector<float> exact(x.row(r), x.row(r) + x.columns());  // not a number more than the inputs
      forward_one(mlp, exact.data(), one.data());
      EXPECT_EQ(one, std::vector<float>(y.row(r), y.row(r) + y.columns()));
    }
  }
}

TEST(Mlp, WritesNothingBesideItsColumns) {
  for (const std::size_t outputs : {1u, 3u, 5u, 8u, 13u, 40u}) {
    const MlpShape shape{11, {24}, outputs, Activation::Relu};
    Mlp mlp(shape);
    randomise(mlp, Rng(6, "weights"));
    for_each_vector_target([&](const VectorTarget& target) {
      const std::size_t rows = 9;
      std::vector<float> x(rows * 11, 0.5f), y(rows * (outputs + 2), 77.0f), dx(rows * 9, 77.0f);
      const Matrix dy = random_matrix(rows, outputs, Rng(6, "dy"));
      MlpWorkspace workspace(shape, rows);
      workspace.load_transposed(mlp);
      Mlp gradient(shape);
      forward(mlp, {x.data(), rows, 11, 11}, {y.data() + 1, rows, outputs, outputs + 2}, workspace);
      backward(mlp, {x.data(), rows, 11, 11}, dy.view(), workspace, &gradient, {dx.data() + 1, rows, 7, 9}, 2);
      for (std::size_t r = 0; r < rows; ++r) {
        EXPECT_EQ(y[r * (outputs + 2)], 77.0f) << target.name;
        EXPECT_EQ(y[r * (outputs + 2) + outputs + 1], 77.0f) << target.name;
        EXPECT_EQ(dx[r * 9], 77.0f) << target.name;
        EXPECT_EQ(dx[r * 9 + 8], 77.0f) << target.name;
        EXPECT_NE(dx[r * 9 + 7], 77.0f) << target.name;
      }
      std::vector<bool> owned(gradient.values().size());
      for (const TensorPlace& place : gradient.tensors())
        for (std::size_t r = 0; r < place.rows; ++r)
          for (std::size_t c = 0; c < place.columns; ++c) owned[place.offset + r * place.stride + c] = true;
      for (std::size_t i = 0; i < owned.size(); ++i) {
        if (owned[i]) continue;
        EXPECT_EQ(gradient.values()[i], 0.0f) << target.name << ", padding at " << i;
      }
    });
  }
}

TEST(Mlp, IgnoresWhatFillsUpTheRowsOfDy) {
  const MlpShape shape{6, {16}, 5, Activation::Relu};
  Mlp mlp(shape);
  randomise(mlp, Rng(7, "weights"));
  const Matrix x = random_matrix(10, 6, Rng(7, "x"));
  Matrix dy = random_matrix(10, 5, Rng(7, "dy"));
  const std::vector<float> expected = numbers_of(pass_of(mlp, x, dy, 10, 0, 6));
  for (std::size_t r = 0; r < 10; ++r) std::fill(dy.row(r) + 5, dy.row(r) + 8, NAN);
  EXPECT_EQ(numbers_of(pass_of(mlp, x, dy, 10, 0, 6)), expected);
}

TEST(Mlp, InputGradientFollowsTheParameters) {
  const MlpShape shape{8, {}, 2, Activation::Relu};  // y = x W, so dx = dy Wᵀ
  Mlp mlp(shape);
  MlpWorkspace workspace(shape, 1);
  const std::vector<float> x(8, 1.0f);
  std::vector<float> y(2);
  Matrix dy(1, 2), dx(1, 3);
  dy.row(0)[0] = 1;
  dy.row(0)[1] = 10;
  for (const float scale : {1.0f, 2.0f}) {
    for (std::size_t i = 0; i < 8; ++i) {
      mlp.weight(0).row(i)[0] = scale * static_cast<float>(i);
      mlp.weight(0).row(i)[1] = scale;
    }
    workspace.load_transposed(mlp);
    for (const std::size_t first : {4u, 1u, 2u, 4u}) {
      forward(mlp, {x.data(), 1, 8, 8}, {y.data(), 1, 2, 2}, workspace);
      backward(mlp, {x.data(), 1, 8, 8}, dy.view(), workspace, nullptr, dx.view(), first);
      for (std::size_t c = 0; c < 3; ++c)
        EXPECT_EQ(dx.row(0)[c], scale * (static_cast<float>(first + c) + 10)) << "first " << first << ", column " << c;
    }
  }
}

TEST(Mlp, PlacesTensorsInOrderOnCacheLines) {
  const Mlp mlp({5, {3}, 1, Activation::Relu});
  ASSERT_EQ(mlp.tensors().size(), 4u);
  EXPECT_EQ(mlp.tensors()[0].name, "weight0");
  EXPECT_EQ(mlp.tensors()[3].name, "bias1");
  EXPECT_EQ(mlp.tensors()[0].stride, 8u);
  EXPECT_EQ(mlp.tensors()[2].stride, 1u);  // a single column is dense
  EXPECT_EQ(mlp.bias(0).size(), 3u);
  std::size_t end = 0;
  for (const TensorPlace& place : mlp.tensors()) {
    EXPECT_EQ(place.offset % 16, 0u);
    EXPECT_GE(place.offset, end);
    end = place.offset + place.size();
  }
  EXPECT_LE(end, mlp.values().size());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mlp.values().data()) % 64, 0u);
}

TEST(Mlp, XavierFillsItsIntervalEvenly) {
  Mlp mlp({100, {64}, 20, Activation::Relu}), other(mlp.shape());
  initialise_xavier(mlp, Rng(8, "xavier"));
  const double most = std::sqrt(6.0 / 164);
  double sum = 0, squares = 0, largest = 0;
  for (std::size_t i = 0; i < 100; ++i) {
    for (std::size_t o = 0; o < 64; ++o) {
      const double w = mlp.weight(0).row(i)[o];
      sum += w;
      squares += w * w;
      largest = std::max(largest, std::abs(w));
    }
  }
  EXPECT_LE(largest, most);
  EXPECT_GT(largest, 0.99 * most);
  EXPECT_NEAR(sum / 6400, 0, 5 * most / std::sqrt(3.0 * 6400));
  EXPECT_NEAR(squares / 6400, most * most / 3, 0.03 * most * most);
  for (const float b : mlp.bias(0)) EXPECT_EQ(b, 0.0f);

  initialise_xavier(other, Rng(8, "xavier"));
  EXPECT_TRUE(std::ranges::equal(mlp.values(), other.values()));
  initialise_xavier(other, Rng(9, "xavier"));
  EXPECT_FALSE(std::ranges::equal(mlp.values(), other.values()));
}

TEST(Mlp, OrthogonalWeightsKeepLengths) {
  Mlp mlp({30, {64, 20}, 5, Activation::Tanh});
  initialise_orthogonal(mlp, std::sqrt(2.0), 0.01, Rng(10, "orthogonal"));
  for (std::size_t l = 0; l < 3; ++l) {
    const ConstView w = std::as_const(mlp).weight(l);
    const bool by_columns = w.rows >= w.columns;  // the shorter side is an orthogonal set
    const std::size_t count = std::min(w.rows, w.columns), size = std::max(w.rows, w.columns);
    const double gain = l == 2 ? 0.01 : std::sqrt(2.0);
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = 0; b <= a; ++b) {
        double dot = 0;
        for (std::size_t i = 0; i < size; ++i)
          dot +=
              by_columns ? static_cast<double>(w.row(i)[a]) * w.row(i)[b] : static_cast<double>(w.row(a)[i]) * w.row(b)[i];
        EXPECT_NEAR(dot, a == b ? gain * gain : 0, 1e-6 * gain * gain);
      }
    }
  }
}

}  // namespace
}  // namespace tilewright
