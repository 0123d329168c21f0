#include "tilewright/nn/heads.hpp"

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

Row row_of(const Matrix& matrix, std::size_t r) {
  return matrix.columns() == 0 ? Row{} : Row(matrix.row(r), matrix.row(r) + matrix.columns());
}

std::vector<ActionSpace> spaces() {
  return {{{5}, 0}, {{2}, 0}, {{1}, 1}, {{5, 10}, 2}, {{8, 3, 16}, 0}, {{}, 3}, {{33}, 9}, {{7, 7, 9}, 1}};
}

// Random rows of everything a head needs. Every head allows at least one choice; the chosen one is allowed. Some standard
// deviations lie beyond their limit.
struct Rows {
  Matrix outputs, noise, mask, chosen, dactions;
};
Rows random_rows(const ActionSpace& space, std::size_t rows, std::uint64_t seed) {
  Rng rng(seed, "rows");
  const std::size_t choices = space.choice_count();
  Rows all{Matrix(rows, space.output_size()), Matrix(rows, space.action_size()), Matrix(rows, choices),
           Matrix(rows, space.action_size()), Matrix(rows, space.action_size())};
  sample_noise(space, all.noise.view(), rng);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < space.output_size(); ++c) all.outputs.row(r)[c] = static_cast<float>(4 * rng.uniform() - 2);
    for (std::size_t c = 0; c < space.action_size(); ++c) all.dactions.row(r)[c] = static_cast<float>(2 * rng.uniform() - 1);
    for (const auto& [first, count] : reference::heads_of(space)) {
      const auto chosen = static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(count)));
      for (std::size_t c = 0; c < count; ++c) all.mask.row(r)[first + c] = c == chosen || rng.uniform() < 0.6 ? 1 : 0;
      all.chosen.row(r)[first + chosen] = 1;
    }
    if (space.continuous > 0 && r % 3 == 0) all.outputs.row(r)[space.output_size() - 1] = kMostLogStd + 1;
    for (std::size_t c = choices; c < space.action_size(); ++c)
      all.chosen.row(r)[c] = static_cast<float>(1.9 * rng.uniform() - 0.95);
  }
  return all;
}

TEST(SoftActions, AgreeWithTheReferenceForwardAndBackward) {
  for (const ActionSpace& space : spaces()) {
    const std::size_t rows = 37;
    const Rows all = random_rows(space, rows, 5);
    for (const bool masked : {false, true}) {
      for_each_vector_target([&](const VectorTarget& target) {
        SCOPED_TRACE(target.name + testing::PrintToString(space.categorical));
        Matrix actions(rows, space.action_size()), doutputs(rows, space.output_size());
        soft_actions(space, all.outputs.view(), all.noise.view(), actions.view(), masked ? all.mask.view() : ConstView{});
        soft_actions_backward(space, all.outputs.view(), all.noise.view(), actions.view(), all.dactions.view(),
                              doutputs.view());
        for (std::size_t r = 0; r < rows; ++r) {
          const Row outputs = row_of(all.outputs, r), noise = row_of(all.noise, r);
          const Row a = reference::soft_actions(space, outputs, noise, masked ? row_of(all.mask, r) : Row{});
          const Row d = reference::soft_actions_backward(space, outputs, noise, a, row_of(all.dactions, r));
          for (std::size_t c = 0; c < a.size(); ++c) ASSERT_NEAR(actions.row(r)[c], a[c], 1e-6);
          for (std::size_t c = 0; c < d.size(); ++c) ASSERT_NEAR(doutputs.row(r)[c], d[c], 3e-6 * (1 + std::abs(d[c])));
          for (std::size_t c = 0; masked && c < space.choice_count(); ++c) {
            if (all.mask.row(r)[c] != 0) continue;
            ASSERT_EQ(actions.row(r)[c], 0.0f);
            ASSERT_EQ(doutputs.row(r)[c], 0.0f);
          }
        }
      });
    }
  }
}

TEST(SoftActions, HoldForExtremeScores) {
  const ActionSpace space{{3}, 0};
  Matrix outputs(4, 3), noise(4, 3), mask(4, 3), actions(4, 3);
  const std::vector<std::vector<float>> rows = {{1e30f, 0, -1e30f}, {-1e30f, -1e30f, -1e30f}, {500, 499, 0}, {1, 2, 3}};
  for (std::size_t r = 0; r < 4; ++r) std::ranges::copy(rows[r], outputs.row(r));
  for (std::size_t c = 0; c < 3; ++c) mask.row(0)[c] = mask.row(1)[c] = mask.row(2)[c] = 1;  // the last row allows nothing
  soft_actions(space, outputs.view(), noise.view(), actions.view(), mask.view());
  EXPECT_EQ(row_of(actions, 0), (Row{1, 0, 0}));
  for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(actions.row(1)[c], 1.0 / 3, 1e-7);
  EXPECT_NEAR(actions.row(2)[0], 1 / (1 + std::exp(-1.0)), 1e-6);
  EXPECT_EQ(row_of(actions, 3), (Row{0, 0, 0}));
}

TEST(SoftActions, StandardDeviationsAreLimited) {
  const ActionSpace space{{}, 2};
  Matrix outputs(1, 4), noise(1, 2), actions(1, 2), ones(1, 2), doutputs(1, 4);
  std::ranges::copy(std::vector<float>{0.25f, 0.5f, -1000, 1000}, outputs.row(0));
  std::ranges::copy(std::vector<float>{1, -0.1f}, noise.row(0));
  std::fill_n(ones.row(0), 2, 1.0f);
  soft_actions(space, outputs.view(), noise.view(), actions.view());
  soft_actions_backward(space, outputs.view(), noise.view(), actions.view(), ones.view(), doutputs.view());
  EXPECT_NEAR(actions.row(0)[0], std::tanh(0.25 + std::exp(-20)), 1e-6);
  EXPECT_NEAR(actions.row(0)[1], std::tanh(0.5 - 0.1 * std::exp(2)), 1e-6);
  EXPECT_EQ(doutputs.row(0)[2], 0.0f);
  EXPECT_EQ(doutputs.row(0)[3], 0.0f);
}

// Reference gradients of f(outputs) against central differences.
template <typename F>
void expect_gradient(const F& f, Row outputs, const Row& gradient) {
  for (std::size_t c = 0; c < outputs.size(); ++c) {
    const double kept = outputs[c], step = 1e-6;
    outputs[c] = kept + step;
    const double above = f(outputs);
    outputs[c] = kept - step;
    const double below = f(outputs);
    outputs[c] = kept;
    EXPECT_NEAR((above - below) / (2 * step), gradient[c], 1e-7 * (1 + std::abs(gradient[c]))) << "output " << c;
  }
}

TEST(Reference, HeadsAgreeWithFiniteDifferences) {
  for (const ActionSpace& space : spaces()) {
    const Rows all = random_rows(space, 6, 6);
    for (std::size_t r = 0; r < 6; ++r) {
      const Row outputs = row_of(all.outputs, r), noise = row_of(all.noise, r), dactions = row_of(all.dactions, r);
      const Row mask = r % 2 == 0 ? Row{} : row_of(all.mask, r), chosen = row_of(all.chosen, r);
      const auto weighted = [&](const Row& o) {
        const Row a = reference::soft_actions(space, o, noise, mask);
        double sum = 0;
        for (std::size_t c = 0; c < a.size(); ++c) sum += dactions[c] * a[c];
        return sum;
      };
      const Row a = reference::soft_actions(space, outputs, noise, mask);
      expect_gradient(weighted, outputs, reference::soft_actions_backward(space, outputs, noise, a, dactions));
      const auto policy = [&](const Row& o) {
        return 0.7 * reference::log_probability(space, o, chosen, mask) - 0.4 * reference::entropy(space, o, mask);
      };
      expect_gradient(policy, outputs, reference::policy_backward(space, outputs, chosen, mask, 0.7, -0.4));
    }
  }
}

TEST(Policy, AgreesWithTheReference) {
  for (const ActionSpace& space : spaces()) {
    const std::size_t rows = 35;
    const Rows all = random_rows(space, rows, 7);
    std::vector<float> weight_log(rows), weight_entropy(rows);
    fill_uniform(weight_log, Rng(7, "log"));
    fill_uniform(weight_entropy, Rng(7, "entropy"));
    for (const bool masked : {false, true}) {
      const ConstView mask = masked ? all.mask.view() : ConstView{};
      for_each_vector_target([&](const VectorTarget& target) {
        SCOPED_TRACE(target.name + testing::PrintToString(space.categorical));
        std::vector<float> logs(rows), entropy(rows);
        Matrix doutputs(rows, space.output_size());
        for (std::size_t r = 0; r < rows; ++r) std::fill_n(doutputs.row(r), space.output_size(), 1.0f);
        log_probabilities(space, all.outputs.view(), all.chosen.view(), logs, mask);
        entropies(space, all.outputs.view(), entropy, mask);
        policy_backward(space, all.outputs.view(), all.chosen.view(), weight_log, weight_entropy, doutputs.view(), mask);
        for (std::size_t r = 0; r < rows; ++r) {
          const Row outputs = row_of(all.outputs, r), chosen = row_of(all.chosen, r);
          const Row m = masked ? row_of(all.mask, r) : Row{};
          const double log = reference::log_probability(space, outputs, chosen, m);
          ASSERT_NEAR(logs[r], log, 1e-5 * (1 + std::abs(log)));
          ASSERT_NEAR(entropy[r], reference::entropy(space, outputs, m), 1e-5);
          const Row d = reference::policy_backward<double>(space, outputs, chosen, m, weight_log[r], weight_entropy[r]);
          for (std::size_t c = 0; c < d.size(); ++c)
            ASSERT_NEAR(doutputs.row(r)[c], 1 + d[c], 1e-5 * (1 + std::abs(d[c]))) << "output " << c;
          for (std::size_t c = 0; masked && c < space.choice_count(); ++c) {
            if (all.mask.row(r)[c] != 0) continue;
            ASSERT_EQ(doutputs.row(r)[c], 1.0f);
          }
        }
      });
    }
  }
}

TEST(Policy, ProbabilitiesOfAllActionsAddUpToOne) {
  const ActionSpace space{{3, 2}, 1};
  const Rows all = random_rows(space, 2, 8);
  double sum = 0;
  const int steps = 4000;
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 2; ++b) {
      for (int i = 0; i < steps; ++i) {
        Matrix action(1, 6);
        action.row(0)[a] = action.row(0)[3 + b] = 1;
        action.row(0)[5] = static_cast<float>((2 * i + 1.0) / steps - 1);
        float log = 0;
        log_probabilities(space, all.outputs.view().row_range(1, 1), action.view(), {&log, 1});
        sum += std::exp(static_cast<double>(log)) * 2 / steps;
      }
    }
  }
  EXPECT_NEAR(sum, 1, 2e-3);
}

TEST(Policy, UniformHeadsHaveTheEntropyOfTheirSize) {
  const ActionSpace space{{8, 2}, 0};
  Matrix outputs(1, 10), mask(1, 10);
  std::fill_n(mask.row(0), 10, 1.0f);
  mask.row(0)[3] = mask.row(0)[8] = 0;  // 7 and 1 choices left
  float all = 0, some = 0;
  entropies(space, outputs.view(), {&all, 1});
  entropies(space, outputs.view(), {&some, 1}, mask.view());
  EXPECT_NEAR(all, std::log(16.0), 1e-6);
  EXPECT_NEAR(some, std::log(7.0), 1e-6);
}

TEST(HardActions, ComeAsOftenAsTheirProbability) {
  const ActionSpace space{{3, 2}, 0};
  const std::size_t rows = 30'000;
  Matrix outputs(rows, 5), noise(rows, 5), actions(rows, 5), mask(rows, 5);
  const Row logits = {0.5, 2.0, -0.7, 1.0, 0.0};
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < 5; ++c) outputs.row(r)[c] = static_cast<float>(logits[c]);
    for (std::size_t c = 0; c < 5; ++c) mask.row(r)[c] = c == 1 ? 0 : 1;
  }
  sample_noise(space, noise.view(), Rng(9, "hard"));
  for (const bool masked : {false, true}) {
    hard_actions(space, outputs.view(), noise.view(), actions.view(), masked ? mask.view() : ConstView{});
    const Row p = reference::probabilities(space, logits, masked ? row_of(mask, 0) : Row{});
    for (std::size_t c = 0; c < 5; ++c) {
      double count = 0;
      for (std::size_t r = 0; r < rows; ++r) {
        ASSERT_TRUE(actions.row(r)[c] == 0 || actions.row(r)[c] == 1);
        count += actions.row(r)[c];
      }
      EXPECT_NEAR(count / rows, p[c], 5 * std::sqrt(p[c] * (1 - p[c]) / rows)) << "choice " << c;
    }
  }
}

TEST(GreedyActions, TakeTheFirstOfTheBest) {
  const ActionSpace space{{4, 2}, 1};
  Matrix outputs(1, 8), mask(1, 6), actions(1, 7);
  std::ranges::copy(std::vector<float>{1, 3, 3, 2, 0, 0, 0.5f, 1}, outputs.row(0));
  greedy_actions(space, outputs.view(), actions.view());
  EXPECT_EQ(row_of(actions, 0), (Row{0, 1, 0, 0, 1, 0, actions.row(0)[6]}));
  EXPECT_NEAR(actions.row(0)[6], std::tanh(0.5), 1e-6);
  std::ranges::copy(std::vector<float>{1, 0, 0, 1, 0, 1}, mask.row(0));
  greedy_actions(space, outputs.view(), actions.view(), mask.view());
  EXPECT_EQ(row_of(actions, 0), (Row{0, 0, 0, 1, 0, 1, actions.row(0)[6]}));
}

TEST(Heads, GiveTheSameBitsOnEveryProcessorWithFusedMultiplyAdd) {
  for (const ActionSpace& space : spaces()) {
    const std::size_t rows = 33;
    const Rows all = random_rows(space, rows, 10);
    const std::vector<float> ones(rows, 1.0f);
    std::vector<float> expected;
    for_each_vector_target([&](const VectorTarget& target) {
      Matrix noise(rows, space.action_size()), soft(rows, space.action_size()), hard(rows, space.action_size());
      Matrix d(rows, space.output_size()), policy(rows, space.output_size());
      std::vector<float> logs(rows), entropy(rows);
      sample_noise(space, noise.view(), Rng(10, "bits"));
      soft_actions(space, all.outputs.view(), noise.view(), soft.view(), all.mask.view());
      hard_actions(space, all.outputs.view(), noise.view(), hard.view(), all.mask.view());
      soft_actions_backward(space, all.outputs.view(), noise.view(), soft.view(), all.dactions.view(), d.view());
      log_probabilities(space, all.outputs.view(), all.chosen.view(), logs, all.mask.view());
      entropies(space, all.outputs.view(), entropy, all.mask.view());
      policy_backward(space, all.outputs.view(), all.chosen.view(), ones, ones, policy.view(), all.mask.view());
      std::vector<float> numbers = logs;
      numbers.insert(numbers.end(), entropy.begin(), entropy.end());
      for (const Matrix* matrix : {&noise, &soft, &hard, &d, &policy})
        for (std::size_t r = 0; r < rows; ++r)
          numbers.insert(numbers.end(), matrix->row(r), matrix->row(r) + matrix->columns());
      if (expected.empty()) expected = numbers;
      if (target.has_fma) {
        EXPECT_EQ(numbers, expected) << target.name;
      }
    });
  }
}

TEST(Heads, StayInsideTheirColumns) {
  const ActionSpace space{{5, 3}, 2};
  const std::size_t rows = 7, a = space.action_size(), o = space.output_size(), edge = 2;
  const Rows all = random_rows(space, rows, 11);
  for_each_vector_target([&](const VectorTarget& target) {
    std::vector<float> noise(rows * (a + edge), 77.0f), actions = noise, d(rows * (o + edge), 77.0f);
    const View noise_view{noise.data() + 1, rows, a, a + edge}, action_view{actions.data() + 1, rows, a, a + edge};
    const View d_view{d.data() + 1, rows, o, o + edge};
    sample_noise(space, noise_view, Rng(11, "edge"));
    soft_actions(space, all.outputs.view(), noise_view, action_view);
    soft_actions_backward(space, all.outputs.view(), noise_view, action_view, all.dactions.view(), d_view);
    hard_actions(space, all.outputs.view(), noise_view, action_view);
    for (std::size_t r = 0; r < rows; ++r) {
      for (const std::vector<float>* values : {&noise, &actions, &d}) {
        const std::size_t stride = values->size() / rows;
        EXPECT_EQ((*values)[r * stride], 77.0f) << target.name;
        EXPECT_EQ((*values)[(r + 1) * stride - 1], 77.0f) << target.name;
        EXPECT_NE((*values)[r * stride + 1], 77.0f) << target.name;
        EXPECT_NE((*values)[(r + 1) * stride - 2], 77.0f) << target.name;
      }
    }
  });
}

}  // namespace
}  // namespace tilewright
