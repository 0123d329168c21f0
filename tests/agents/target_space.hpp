// A family of made-up problems whose best designs are known: one categorical parameter, two priorities and three sizes.
// Where the best sizes are, and which category is best, is told by the only feature; the second size should make up for the
// first, so that the two depend on each other. Everything costs a factor per step away from the best, which costs 1.
#pragma once

#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/space/design_space.hpp"

namespace tilewright {

class TargetSpace final : public DesignSpace {
 public:
  enum Place : std::size_t { kSpread, kOrderA, kOrderB, kTileA, kTileB, kTileC };

  // `feature` from 0 to 1; `size` is that of the first two sizes. Points whose third size is above `room` are infeasible.
  TargetSpace(std::string name, float feature, std::int32_t size = 16, std::int32_t room = 12)
      : name_(std::move(name)), size_(size), room_(room), features_{feature, 0.5F} {
    parameters_ = {{"parallel@0", ParameterKind::Categorical, Role::Parallelism, 4},
                   {"order.A@0", ParameterKind::Ordinal, Role::Order, 4},
                   {"order.B@0", ParameterKind::Ordinal, Role::Order, 4},
                   {"tile.A@0", ParameterKind::Ordinal, Role::Tile, size},
                   {"tile.B@0", ParameterKind::Ordinal, Role::Tile, size},
                   {"tile.C@0", ParameterKind::Ordinal, Role::Tile, 16}};
  }

  Point best() const {
    const auto a = static_cast<std::int32_t>(std::lround(features_[0] * static_cast<float>(size_ - 1)));
    return {features_[0] < 0.5F ? 1 : 2, 3, 1, a, size_ - 1 - a, std::min(11, room_ - 1)};
  }
  double latency(PointView point) const {
    const Point target = best();
    double steps = point[kSpread] == target[kSpread] ? 0 : 4;
    steps += 2 * std::abs(point[kOrderA] - target[kOrderA]) + 2 * std::abs(point[kOrderB] - target[kOrderB]);
    steps += std::abs(point[kTileA] - target[kTileA]) + std::abs(point[kTileA] + point[kTileB] - (size_ - 1));
    steps += std::abs(point[kTileC] - target[kTileC]);
    return std::exp(0.15 * steps);
  }

  const std::string& name() const override { return name_; }
  const std::vector<Parameter>& parameters() const override { return parameters_; }
  void choices(PointView, std::size_t parameter, Choices& choices) const override {
    choices.set_below(parameters_[parameter].value_count);
  }
  double value(std::size_t parameter, std::int32_t index) const override {
    return parameters_[parameter].role == Role::Tile ? index + 1 : index;
  }
  std::string value_name(std::size_t parameter, std::int32_t index) const override {
    return std::to_string(value(parameter, index));
  }
  void canonicalise(std::span<std::int32_t>) const override {}
  std::unique_ptr<PointEvaluator> evaluator() const override {
    struct Scorer final : PointEvaluator {
      explicit Scorer(const TargetSpace& of) : space(of) {}
      Outcome evaluate(PointView point) override {
        if (point[kTileC] >= space.room_) return {false, 1, {}};
        Outcome outcome{true, 0, {}};
        outcome.metrics.latency = space.latency(point);
        return outcome;
      }
      const TargetSpace& space;
    };
    return std::make_unique<Scorer>(*this);
  }
  std::string reason_name(std::uint8_t) const override { return "no-room"; }
  const std::vector<float>& features() const override { return features_; }
  void append_design(PointView point, std::string& bytes) const override {
    for (const std::int32_t index : point) bytes += std::to_string(index) + ",";
  }
  std::uint64_t problem_key() const override { return std::hash<std::string>{}(name_); }
  std::string problem_text() const override { return "{}"; }
  double log10_size() const override { return std::log10(4.0 * 4 * 4 * size_ * size_ * 16); }

 private:
  std::string name_;
  std::int32_t size_, room_;
  std::vector<Parameter> parameters_;
  std::vector<float> features_;
};

}  // namespace tilewright
