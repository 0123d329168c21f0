#include "tilewright/nn/folded_layer.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tilewright/nn/folded_layer.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // compiles what follows once per instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tilewright {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Calls work(tag, column) for vectors that cover a row of `stride` floats, from left to right.
template <typename Work>
HWY_INLINE void for_each_vector(std::size_t stride, const Work& work) {
  const hn::ScalableTag<float> wide;
  const hn::CappedTag<float, kRowPadding> narrow;
  const hn::CappedTag<float, 1> single;  // for a layer with one output, which has no padding
  std::size_t column = 0;
  for (; column + hn::Lanes(wide) <= stride; column += hn::Lanes(wide)) work(wide, column);
  for (; column + hn::Lanes(narrow) <= stride; column += hn::Lanes(narrow)) work(narrow, column);
  for (; column < stride; ++column) work(single, column);
}

// The one or two rows of a folded matrix that a group is made of.
template <typename T>
struct RowPair {
  HWY_INLINE RowPair(BasicView<T> folded, FoldedInput input)
      : plus(folded.row(static_cast<std::size_t>(input.plus))),
        minus(input.minus < 0 ? nullptr : folded.row(static_cast<std::size_t>(input.minus))) {}
  T* plus;
  T* minus;
};

template <class D>
HWY_INLINE hn::Vec<D> difference(D d, const RowPair<const float>& rows, std::size_t column) {
  const auto plus = hn::LoadU(d, rows.plus + column);
  return rows.minus ? hn::Sub(plus, hn::LoadU(d, rows.minus + column)) : plus;
}

template <class D>
HWY_INLINE void add_to_both(D d, hn::Vec<D> value, const RowPair<float>& rows, std::size_t column) {
  hn::StoreU(hn::Add(hn::LoadU(d, rows.plus + column), value), d, rows.plus + column);
  if (rows.minus) hn::StoreU(hn::Sub(hn::LoadU(d, rows.minus + column), value), d, rows.minus + column);
}

// The roots and divisions of one row keep the processor from looking far enough ahead by itself.
constexpr std::size_t kRowsAhead = 16;

// Asks for a row that will be needed soon. It may lie behind the end of an array: the processor then ignores the request.
HWY_INLINE void prefetch_row(const float* row, std::size_t stride) {
  for (std::size_t column = 0; column < stride; column += 64 / sizeof(float)) hwy::Prefetch(row + column);
}

void clear(View view) { std::fill(view.data, view.data + view.rows * view.stride, 0.0f); }

void fold(const FoldedLayer& layer, View folded) {
  clear(folded);
  std::size_t begin = 0;
  for (const FoldedForm::Group& group : layer.form->groups) {
    const RowPair to(folded, group.input);
    for_each_vector(folded.stride, [&](auto d, std::size_t column) HWY_ATTR {
      auto sum = hn::Zero(d);
      for (std::size_t r = begin; r < group.end; ++r)
        sum = hn::MulAdd(hn::Set(d, layer.form->signs[r]), hn::LoadU(d, layer.weight.row(r) + column), sum);
      add_to_both(d, sum, to, column);
    });
    begin = group.end;
  }
}

// Column by column, so that the order of the sum does not depend on the vector width; in double precision between blocks of
// groups, because one float accumulator would lose digits over thousands of them.
double unfolded_squared_norm(const FoldedLayer& layer, ConstView gradient) {
  constexpr std::size_t kBlock = 64;
  const std::vector<FoldedForm::Group>& groups = layer.form->groups;
  double total = 0;
  for_each_vector(gradient.stride, [&](auto d, std::size_t column) HWY_ATTR {
    std::array<float, HWY_MAX_BYTES / sizeof(float)> block_sums{};
    std::array<double, HWY_MAX_BYTES / sizeof(float)> sums{};
    std::size_t begin = 0;
    for (std::size_t first = 0; first < groups.size(); first += kBlock) {
      auto sum = hn::Zero(d);
      for (std::size_t u = first; u < std::min(first + kBlock, groups.size()); ++u) {
        const auto g = difference(d, RowPair(gradient, groups[u].input), column);
        const auto count = hn::Set(d, static_cast<float>(groups[u].end - begin));
        sum = hn::MulAdd(hn::Mul(count, g), g, sum);
        begin = groups[u].end;
      }
      hn::StoreU(sum, d, block_sums.data());
      for (std::size_t i = 0; i < hn::Lanes(d); ++i) sums[i] += static_cast<double>(block_sums[i]);
    }
    for (std::size_t i = 0; i < hn::Lanes(d); ++i) total += sums[i];
  });
  return total;
}

void step_and_fold(FoldedLayer& layer, ConstView gradient, float scale, float rate, const AdamOptions& options,
                   View folded) {
  const auto beta1 = static_cast<float>(options.beta1), beta2 = static_cast<float>(options.beta2);
  const auto share1 = static_cast<float>(1 - options.beta1) * scale;
  const auto share2 = static_cast<float>(1 - options.beta2) * scale * scale;
  const auto epsilon = static_cast<float>(options.epsilon);
  const FoldedForm& form = *layer.form;
  clear(folded);
  std::size_t begin = 0;
  for (std::size_t u = 0; u < form.groups.size(); ++u) {
    const FoldedForm::Group& group = form.groups[u];
    prefetch_row(layer.first.row(u + kRowsAhead), folded.stride);
    prefetch_row(layer.second.row(u + kRowsAhead), folded.stride);
    for (std::size_t r = begin; r < group.end; ++r) prefetch_row(layer.weight.row(r + kRowsAhead), folded.stride);
    const RowPair from(gradient, group.input);
    const RowPair to(folded, group.input);
    float* first = layer.first.row(u);
    float* second = layer.second.row(u);
    for_each_vector(folded.stride, [&](auto d, std::size_t column) HWY_ATTR {
      const auto g = difference(d, from, column);
      const auto m = hn::MulAdd(hn::Set(d, beta1), hn::LoadU(d, first + column), hn::Mul(hn::Set(d, share1), g));
      const auto v =
          hn::MulAdd(hn::Set(d, beta2), hn::LoadU(d, second + column), hn::Mul(hn::Set(d, share2), hn::Mul(g, g)));
      hn::StoreU(m, d, first + column);
      hn::StoreU(v, d, second + column);
      const auto change = hn::Div(hn::Mul(hn::Set(d, rate), m), hn::Add(hn::Sqrt(v), hn::Set(d, epsilon)));
      auto sum = hn::Zero(d);
      for (std::size_t r = begin; r < group.end; ++r) {
        const auto sign = hn::Set(d, form.signs[r]);
        float* weight = layer.weight.row(r) + column;
        const auto w = hn::NegMulAdd(sign, change, hn::LoadU(d, weight));
        hn::StoreU(w, d, weight);
        sum = hn::MulAdd(sign, w, sum);
      }
      add_to_both(d, sum, to, column);
    });
    begin = group.end;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tilewright
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilewright {
namespace {
HWY_EXPORT(fold);
HWY_EXPORT(unfolded_squared_norm);
HWY_EXPORT(step_and_fold);
}  // namespace

FoldedForm::FoldedForm(std::span<const FoldedInput> inputs) : signs(inputs.size(), 1.0f) {
  struct Row {
    std::size_t input;
    float sign;
  };
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> known;  // plus, minus -> group
  std::vector<std::vector<Row>> rows;
  std::vector<std::size_t> always_zero;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    auto [plus, minus] = inputs[i];
    if (plus == minus) {
      always_zero.push_back(i);
      continue;
    }
    const bool mirrored = plus < minus;  // also when there is no plus
    if (mirrored) std::swap(plus, minus);
    const auto [found, is_new] = known.try_emplace({plus, minus}, groups.size());
    if (is_new) {
      groups.push_back({.input = {plus, minus}});
      rows.emplace_back();
    }
    rows[found->second].push_back({i, mirrored ? -1.0f : 1.0f});
  }
  for (std::size_t u = 0; u < groups.size(); ++u) {
    for (const Row& row : rows[u]) {
      signs[input_of.size()] = row.sign;
      input_of.push_back(row.input);
    }
    groups[u].end = input_of.size();
  }
  input_of.insert(input_of.end(), always_zero.begin(), always_zero.end());
}

FoldedLayer::FoldedLayer(std::shared_ptr<const FoldedForm> form_of_rows, std::size_t columns)
    : form(std::move(form_of_rows)),
      weight(form->input_of.size(), columns),
      first(form->groups.size(), columns),
      second(form->groups.size(), columns) {}

void set_weight(FoldedLayer& layer, ConstView weight) {
  for (std::size_t r = 0; r < weight.rows; ++r)
    std::copy_n(weight.row(layer.form->input_of[r]), weight.columns, layer.weight.row(r));
}

void get_weight(const FoldedLayer& layer, View weight) {
  for (std::size_t r = 0; r < weight.rows; ++r)
    std::copy_n(layer.weight.row(r), weight.columns, weight.row(layer.form->input_of[r]));
}

void fold(const FoldedLayer& layer, View folded) {
  TW_ASSERT(folded.stride == layer.weight.view().stride);
  HWY_DYNAMIC_DISPATCH(fold)(layer, folded);
}

double unfolded_squared_norm(const FoldedLayer& layer, ConstView folded_gradient) {
  return HWY_DYNAMIC_DISPATCH(unfolded_squared_norm)(layer, folded_gradient);
}

void step_and_fold(FoldedLayer& layer, ConstView folded_gradient, float scale, float rate, const AdamOptions& options,
                   View folded) {
  TW_ASSERT(folded.stride == layer.weight.view().stride && folded_gradient.stride == folded.stride);
  HWY_DYNAMIC_DISPATCH(step_and_fold)(layer, folded_gradient, scale, rate, options, folded);
}

}  // namespace tilewright
#endif
