// A small made-up machine whose best design is known by trying all: two nested pairs of tiles, the order of three loops, and
// the loop that is spread. It has what makes mapping spaces hard: legal values that depend on others, an infeasible region
// with the optimum at its edge, steps where tiles do not divide, and a best order that depends on what is spread.
#pragma once

#include <array>
#include <optional>

#include "tilewright/space/design_space.hpp"

namespace tilewright {

struct SyntheticSizes {
  std::int32_t a = 60, b = 24;  // of the two tiled dimensions
  std::int32_t room = 48;       // a1 * b1 at most
};

// A design by its meaning; `order` lists loops from the outermost to the innermost.
struct SyntheticDesign {
  std::int32_t spread = 0;                 // 0 … 3
  std::array<std::int32_t, 3> order = {};  // a permutation of 0, 1, 2
  std::int32_t a0 = 1, b0 = 1, a1 = 1, b1 = 1;
};
// Nothing when a1 * b1 is more than there is room for.
std::optional<double> synthetic_cost(const SyntheticSizes& sizes, const SyntheticDesign& design);

// Calls visit(design) for every design once, by plain nested loops.
template <typename Visit>
void for_each_design(const SyntheticSizes& sizes, Visit visit) {
  constexpr std::array<std::array<std::int32_t, 3>, 6> kOrders = {
      {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
  for (std::int32_t spread = 0; spread < 4; ++spread) {
    for (const auto& order : kOrders) {
      for (std::int32_t a0 = 1; a0 <= sizes.a; ++a0) {
        for (std::int32_t b0 = 1; b0 <= sizes.b; ++b0) {
          if (sizes.b % b0 != 0) continue;
          for (std::int32_t a1 = 1; a1 <= a0; ++a1) {
            for (std::int32_t b1 = 1; b1 <= b0; ++b1) {
              if (sizes.b % b1 == 0 && b0 % b1 == 0) visit(SyntheticDesign{spread, order, a0, b0, a1, b1});
            }
          }
        }
      }
    }
  }
}
double synthetic_optimum(const SyntheticSizes& sizes);

// Parameters: parallel, three priorities, tile.A and tile.B outside, then inside. Tiles of A are any size, those of B
// divisors.
class SyntheticSpace final : public DesignSpace {
 public:
  explicit SyntheticSpace(const SyntheticSizes& sizes = {});

  const std::string& name() const override { return name_; }
  const std::vector<Parameter>& parameters() const override { return parameters_; }
  void choices(PointView point, std::size_t parameter, Choices& choices) const override;
  double value(std::size_t parameter, std::int32_t index) const override;
  std::string value_name(std::size_t parameter, std::int32_t index) const override;
  void canonicalise(std::span<std::int32_t> point) const override;
  std::unique_ptr<PointEvaluator> evaluator() const override;
  std::string reason_name(std::uint8_t) const override { return "no-room"; }
  const std::vector<float>& features() const override { return features_; }
  void append_design(PointView point, std::string& bytes) const override;
  std::uint64_t problem_key() const override { return 1; }
  std::string problem_text() const override { return "{}"; }
  double log10_size() const override;

  SyntheticDesign design(PointView point) const;
  const SyntheticSizes& sizes() const { return sizes_; }

 private:
  std::string name_ = "synthetic";
  SyntheticSizes sizes_;
  std::vector<std::int32_t> b_values_;  // divisors of b
  std::vector<Parameter> parameters_;
  std::vector<float> features_ = {1};
};

}  // namespace tilewright
