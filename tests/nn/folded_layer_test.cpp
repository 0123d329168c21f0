#include <cmath>

#include <gtest/gtest.h>

#include "tilewright/base/rng.hpp"
#include "tilewright/nn/folded_layer.hpp"

namespace tilewright {
namespace {

void fill(View view, Rng rng) {
  for (std::size_t r = 0; r < view.rows; ++r)
    for (std::size_t c = 0; c < view.columns; ++c) view.row(r)[c] = static_cast<float>(2 * rng.uniform() - 1);
}

// Inputs of every kind: differences, single numbers of both signs, always zero, the same pair twice and mirrored.
std::vector<FoldedInput> some_inputs(std::size_t count, std::int32_t folded, Rng rng) {
  std::vector<FoldedInput> inputs = {{0, 1}, {1, 0}, {0, 1}, {2, FoldedInput::kNone}, {FoldedInput::kNone, 2}, {}, {1, 1}};
  while (inputs.size() < count) {
    const auto draw = [&] { return static_cast<std::int32_t>(rng.between(-1, folded - 1)); };
    inputs.push_back({draw(), draw()});
  }
  return inputs;
}

struct Layer {
  Layer(std::size_t count, std::size_t folded, std::size_t columns)
      : inputs(some_inputs(count, static_cast<std::int32_t>(folded), Rng(1, "inputs"))),
        layer(std::make_shared<const FoldedForm>(inputs), columns) {
    Matrix weight(count, columns);
    fill(weight.view(), Rng(1, "weight"));
    set_weight(layer, weight.view());
  }
  Matrix weight() const {
    Matrix result(inputs.size(), layer.weight.columns());
    get_weight(layer, result.view());
    return result;
  }

  std::vector<FoldedInput> inputs;
  FoldedLayer layer;
};

// x[r] = s[plus] - s[minus]
std::vector<double> unfolded(const std::vector<FoldedInput>& inputs, const std::vector<double>& s) {
  std::vector<double> x;
  for (const FoldedInput& input : inputs)
    x.push_back((input.plus < 0 ? 0 : s[static_cast<std::size_t>(input.plus)]) -
                (input.minus < 0 ? 0 : s[static_cast<std::size_t>(input.minus)]));
  return x;
}

double unfolded_gradient(const Layer& layer, const Matrix& folded_gradient, std::size_t row, std::size_t column) {
  std::vector<double> s;
  for (std::size_t r = 0; r < folded_gradient.rows(); ++r) s.push_back(folded_gradient.row(r)[column]);
  return unfolded(layer.inputs, s)[row];
}

TEST(FoldedLayer, GivesTheSameOutputs) {
  const Layer layer(40, 11, 21);
  const Matrix weight = layer.weight();
  Matrix folded(11, 21);
  fold(layer.layer, folded.view());
  std::vector<double> s(11);
  Rng rng(2, "s");
  for (double& value : s) value = 2 * rng.uniform() - 1;
  const std::vector<double> x = unfolded(layer.inputs, s);
  for (std::size_t c = 0; c < 21; ++c) {
    double expected = 0, found = 0;
    for (std::size_t r = 0; r < x.size(); ++r) expected += x[r] * weight.row(r)[c];
    for (std::size_t r = 0; r < s.size(); ++r) found += s[r] * folded.row(r)[c];
    EXPECT_NEAR(found, expected, 1e-5);
  }
}

TEST(FoldedLayer, ForgetsWhatWasFoldedBefore) {
  const Layer layer(12, 5, 8);
  Matrix once(5, 8), twice(5, 8);
  fold(layer.layer, once.view());
  fold(layer.layer, twice.view());
  fold(layer.layer, twice.view());
  for (std::size_t r = 0; r < 5; ++r)
    for (std::size_t c = 0; c < 8; ++c) EXPECT_EQ(once.row(r)[c], twice.row(r)[c]);
}

TEST(FoldedLayer, NormIsThatOfTheUnfoldedGradient) {
  for (const std::size_t columns : {1u, 8u, 21u, 64u}) {
    const Layer layer(203, 11, columns);
    Matrix gradient(11, columns);
    fill(gradient.view(), Rng(3, "gradient"));
    double expected = 0;
    for (std::size_t r = 0; r < 203; ++r)
      for (std::size_t c = 0; c < columns; ++c) expected += std::pow(unfolded_gradient(layer, gradient, r, c), 2);
    EXPECT_NEAR(unfolded_squared_norm(layer.layer, gradient.view()), expected, 1e-6 * expected) << columns << " columns";
  }
}

TEST(FoldedLayer, StepsLikeAdamOnEveryRow) {
  constexpr std::size_t kRows = 40, kColumns = 21;
  const AdamOptions options;
  Layer layer(kRows, 11, kColumns);
  const Matrix start = layer.weight();
  std::vector<double> first(kRows * kColumns), second(first), weight(first);
  for (std::size_t r = 0; r < kRows; ++r)
    for (std::size_t c = 0; c < kColumns; ++c) weight[r * kColumns + c] = start.row(r)[c];
  for (std::int64_t step = 0; step < 3; ++step) {
    Matrix gradient(11, kColumns), folded(11, kColumns), again(11, kColumns);
    fill(gradient.view(), Rng(4, "gradient").fork("step", static_cast<std::uint64_t>(step)));
    const float scale = 0.25f, rate = adam_rate(options, step);
    step_and_fold(layer.layer, gradient.view(), scale, rate, options, folded.view());

    const Matrix moved = layer.weight();
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t c = 0; c < kColumns; ++c) {
        const double g = 0.25 * unfolded_gradient(layer, gradient, r, c);
        double& m = first[r * kColumns + c];
        double& v = second[r * kColumns + c];
        m = 0.9 * m + 0.1 * g;
        v = 0.999 * v + 0.001 * g * g;
        weight[r * kColumns + c] -= double{rate} * m / (std::sqrt(v) + 1e-8);
        EXPECT_NEAR(moved.row(r)[c], weight[r * kColumns + c], 1e-5);
      }
    }
    fold(layer.layer, again.view());
    for (std::size_t r = 0; r < 11; ++r)
      for (std::size_t c = 0; c < kColumns; ++c) EXPECT_EQ(folded.row(r)[c], again.row(r)[c]);  // a checkpoint relies on it
  }
}

TEST(FoldedLayer, EqualAndMirroredInputsShareTheirMoments) {
  const Layer layer(7, 3, 16);
  const FoldedForm& form = *layer.layer.form;
  ASSERT_EQ(form.groups.size(), 2u);  // {0, 1} thrice, once mirrored; {2} with both signs
  EXPECT_EQ(form.groups[0].end, 3u);
  EXPECT_EQ(form.groups[1].end, 5u);
  EXPECT_EQ(form.input_of, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(form.signs[0], -form.signs[1]);
  EXPECT_EQ(form.signs[0], form.signs[2]);
  EXPECT_EQ(form.signs[3], -form.signs[4]);
}

TEST(FoldedLayer, InputsThatAreAlwaysZeroNeverLearn) {
  Layer layer(7, 3, 16);
  const Matrix before = layer.weight();
  Matrix gradient(3, 16), folded(3, 16);
  fill(gradient.view(), Rng(5, "gradient"));
  step_and_fold(layer.layer, gradient.view(), 1, 0.01f, {}, folded.view());
  const Matrix after = layer.weight();
  for (std::size_t c = 0; c < 16; ++c) {
    EXPECT_EQ(after.row(5)[c], before.row(5)[c]);  // neither plus nor minus
    EXPECT_EQ(after.row(6)[c], before.row(6)[c]);  // a number minus itself
    EXPECT_NE(after.row(0)[c], before.row(0)[c]);
  }
}

}  // namespace
}  // namespace tilewright
