// What a searcher with a surrogate knows of one problem: what was measured, what the boosted trees predict for the rest, and
// what the limits of area and buffers say without measuring.
//
// Performance is relative to the best measured point: 1 is as good, 0.5 takes twice as long; what failed has 0. The trees
// learn it directly; or, with program features, they learn how much longer a program takes than its busiest module would
// alone, which is known without measuring and holds for machines that were never tried.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "tilewright/search/boosted_trees.hpp"
#include "tilewright/search/searcher.hpp"
#include "tilewright/space/codesign_space.hpp"

namespace tilewright {

// How well a surrogate predicted what was then measured: one entry per round after the first.
struct SurrogateStory final : Story {
  explicit SurrogateStory(std::vector<Calibration> rounds) : calibrations(std::move(rounds)) {}
  std::vector<Calibration> calibrations;
};
// Of one problem of a searcher that told this; none where it has no surrogate.
std::vector<Calibration> calibrations_of(const Story* story, std::size_t problem);

// What the trees see of a point of a CodesignSpace: its knobs, or also what the tiles make the program do.
enum class SurrogateFeatures : std::uint8_t { Program, Knobs };
template <>
struct Names<SurrogateFeatures> {
  static constexpr std::string_view kWhat = "features";
  static constexpr NameTable<SurrogateFeatures, 2> kTable = {
      {{SurrogateFeatures::Program, "program"}, {SurrogateFeatures::Knobs, "knobs"}}};
};

struct ProblemOptions {
  BoostedTreesOptions trees;
  bool knows_limits = true;  // of a CodesignSpace: points beyond them are known to be infeasible without measuring
  SurrogateFeatures features = SurrogateFeatures::Program;
  double area_penalty = 4;         // per area budget exceeded
  double memory_penalty = 1;       // per capacity exceeded, sum over buffers
  double unencodable_reward = -2;  // also the least reward there is
};

struct Opinion {
  float performance = 0;  // measured where it was, otherwise predicted; 0 before anything was measured
  float reward = 0;       // performance minus penalties
  bool feasible = true;   // as far as is known without measuring, or by having measured
  bool measured = false;
};

struct MeasuredPoint {
  Point point;
  bool feasible = false;
  double log_score = 0;  // when feasible
};

class SurrogateProblem {
 public:
  SurrogateProblem(const DesignSpace& space, const ProblemOptions& options);

  const DesignSpace& space() const { return *space_; }
  const CodesignSpace* codesign() const { return codesign_; }  // null for another kind of space

  // Notes results, and how well they had been predicted.
  void tell(std::span<const Point> points, std::span<const Verdict> verdicts);
  // Trains the trees on everything measured.
  void refit();

  // After the first refit with something feasible, in a space with parameters; without any, all points are one.
  bool can_predict() const { return trees_.is_fitted(); }

  void judge(std::span<const Point> points, std::vector<Opinion>& opinions);
  // Whether measuring it could tell anything new.
  bool is_open(PointView point);
  bool is_measured(PointView point) const { return places_.contains(hash_of(point)); }

  // A random legal point that no known limit forbids, if a few hundred draws find one.
  std::optional<Point> draw(Rng& rng);

  const std::vector<MeasuredPoint>& measured() const { return measured_; }  // in order
  const std::vector<std::size_t>& by_score() const { return by_score_; }    // feasible ones of measured(), best first
  double best_log_score() const { return measured_[by_score_.front()].log_score; }  // by_score() must not be empty
  // Natural logarithm of the score this performance stands for.
  double log_score_of(float performance) const;

  // One entry per tell after the first fit.
  const std::vector<Calibration>& calibrations() const { return calibrations_; }

 private:
  struct Known {
    float penalty = 0;
    bool feasible = true;
    std::int64_t fit = -1;  // that the prediction is of
    float prediction = 0;
  };
  bool sees_programs() const { return codesign_ != nullptr && options_.features == SurrogateFeatures::Program; }
  Known& known(PointView point);
  double bound(PointView point) const;  // logarithm of the cycles it takes at least; 0 where that is not known or not used
  float performance_of(float prediction, PointView point) const;
  void append_row(PointView point, FeatureRows& rows) const;

  const DesignSpace* space_;
  const CodesignSpace* codesign_;
  ProblemOptions options_;
  BoostedTrees trees_;
  std::int64_t fits_ = 0;
  std::vector<MeasuredPoint> measured_;
  std::vector<std::size_t> by_score_;
  std::unordered_map<std::uint64_t, std::size_t> places_;  // of measured_, by hash
  std::unordered_map<std::uint64_t, Known> known_;         // by hash
  std::vector<Calibration> calibrations_;
  FeatureRows rows_;
  std::vector<float> predictions_;
  std::vector<std::size_t> unknown_;
};

}  // namespace tilewright
