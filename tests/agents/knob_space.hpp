// A design space without constraints whose cost is any function of the point: for tests of what is made from samples.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/space/design_space.hpp"

namespace tilewright {

class KnobSpace final : public DesignSpace {
 public:
  using Cost = std::function<Outcome(PointView)>;

  KnobSpace(std::string name, std::vector<Parameter> parameters, Cost cost = {})
      : name_(std::move(name)), parameters_(std::move(parameters)), cost_(std::move(cost)) {}

  const std::string& name() const override { return name_; }
  const std::vector<Parameter>& parameters() const override { return parameters_; }
  void choices(PointView, std::size_t parameter, Choices& choices) const override {
    choices.set_below(parameters_[parameter].value_count);
  }
  double value(std::size_t, std::int32_t index) const override { return index; }
  std::string value_name(std::size_t, std::int32_t index) const override { return std::to_string(index); }
  void canonicalise(std::span<std::int32_t>) const override {}
  std::unique_ptr<PointEvaluator> evaluator() const override {
    struct Scorer final : PointEvaluator {
      explicit Scorer(const Cost& of) : cost(of) {}
      Outcome evaluate(PointView point) override { return cost(point); }
      const Cost& cost;
    };
    return std::make_unique<Scorer>(cost_);
  }
  std::string reason_name(std::uint8_t) const override { return "too-bad"; }
  const std::vector<float>& features() const override { return features_; }
  void append_design(PointView point, std::string& bytes) const override {
    for (const std::int32_t index : point) bytes += std::to_string(index) + ",";
  }
  std::uint64_t problem_key() const override { return std::hash<std::string>{}(name_); }
  std::string problem_text() const override { return "{}"; }
  double log10_size() const override { return 0; }

 private:
  std::string name_;
  std::vector<Parameter> parameters_;
  Cost cost_;
  std::vector<float> features_ = {0};
};

}  // namespace tilewright
