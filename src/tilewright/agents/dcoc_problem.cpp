#include "tilewright/agents/dcoc_problem.hpp"

#include <algorithm>
#include <cmath>

#include "tilewright/base/result.hpp"
#include "tilewright/search/variation.hpp"
#include "tilewright/vta/generator_loops.hpp"

namespace tilewright {
namespace {

constexpr int kDraws = 400;        // at a point within the limits
constexpr int kSchedules = 100;    // of them on one machine
constexpr float kFailed = 0.7F;    // logarithm of how much longer than the slowest something that failed takes
constexpr double kMostHope = 3.0;  // performance that a prediction can promise

// What the tiles make the program do: steps, bytes to load and store, instructions, how full the buffers are.
void append_program(const CodesignSpace& space, PointView point, FeatureRows& rows) {
  const vta::Machine machine = space.machine(point);
  const vta::Schedule schedule = space.schedule(point);
  const vta::ElementLoops loops = vta::element_loops(space.layer(), machine);
  const vta::Tiling t = vta::tiling(loops, machine, schedule);
  const auto log_of = [](double number) { return static_cast<float>(std::log2(std::max(number, 1.0))); };
  const auto d = [](std::int64_t number) { return static_cast<double>(number); };
  const double outputs = d(loops.groups * loops.batch * loops.out_height * loops.out_width * loops.out_blocks);
  const double steps = outputs * d(loops.in_blocks * loops.kernel_height * loops.kernel_width);
  const double inp_bytes = d(loops.groups * t.inp_loads * t.inp_elements) * d(vta::element_bytes(machine, vta::Buffer::Inp));
  const double wgt_bytes = d(loops.groups * t.wgt_loads * t.wgt_elements) * d(vta::element_bytes(machine, vta::Buffer::Wgt));
  const double out_bytes = outputs * d(vta::element_bytes(machine, vta::Buffer::Out));
  const double tiles = d(loops.groups * t.batch_tiles * t.row_tiles * t.column_tiles * t.co_tiles);
  const double inp_rows = d(schedule.tile_b * schedule.tile_ci * loops.input_rows(schedule.tile_h));
  const auto share = [&](std::int64_t need, vta::Buffer buffer) {
    return static_cast<float>(d(need) / d(vta::depth(machine, buffer)));
  };
  rows.values.insert(
      rows.values.end(),
      {log_of(steps), log_of(inp_bytes), log_of(wgt_bytes), log_of(inp_bytes + wgt_bytes + out_bytes),
       log_of((inp_bytes + wgt_bytes) / (d(space.options().timing.bus_bytes) * steps) * 256), log_of(tiles),
       log_of(tiles * d(t.ci_steps * t.kernel_steps)), log_of(d(loops.groups * t.inp_loads) * inp_rows),
       share(t.inp_slots * t.inp_elements, vta::Buffer::Inp), share(t.wgt_slots * t.wgt_elements, vta::Buffer::Wgt),
       share(t.acc_slots * t.acc_elements, vta::Buffer::Acc), static_cast<float>(t.contexts),
       static_cast<float>(t.acc_slots), log_of(d(t.wgt_elements)), log_of(d(t.acc_elements)),
       static_cast<float>(t.channels_outer ? 1 : 0)});
}

// Whether it cannot but take longer than measurements are allowed to.
bool is_given_up(const CodesignSpace& space, PointView point) {
  const CodesignSpaceOptions& options = space.options();
  if (options.give_up == 0) return false;
  const double serial = serial_cycles(space.layer(), space.machine(point), options);
  return space.least_cycles(point) > options.give_up * serial;
}

}  // namespace

std::vector<Calibration> calibrations_of(const Story* story, std::size_t problem) {
  const auto* apart = dynamic_cast<const StoriesApart*>(story);
  const auto* surrogate = apart != nullptr ? dynamic_cast<const SurrogateStory*>(apart->problems[problem].get()) : nullptr;
  return surrogate != nullptr ? surrogate->calibrations : std::vector<Calibration>{};
}

SurrogateProblem::SurrogateProblem(const DesignSpace& space, const ProblemOptions& options)
    : space_(&space), codesign_(dynamic_cast<const CodesignSpace*>(&space)), options_(options), trees_(options.trees) {}

SurrogateProblem::Known& SurrogateProblem::known(PointView point) {
  const auto [place, is_first] = known_.try_emplace(hash_of(point));
  Known& known = place->second;
  if (!is_first || codesign_ == nullptr || !options_.knows_limits) return known;
  const CodesignSpace::Excess excess = codesign_->excess(point);
  known.penalty = static_cast<float>(options_.area_penalty * excess.area + options_.memory_penalty * excess.buffers);
  known.feasible = excess.encodable && excess.area <= 0 && excess.buffers <= 0 &&
                   !vta::misfit(codesign_->layer(), codesign_->machine(point), codesign_->schedule(point)) &&
                   !is_given_up(*codesign_, point);
  // What no penalty measures is as bad as what cannot be encoded.
  if (!known.feasible && known.penalty == 0) known.penalty = static_cast<float>(1 - options_.unencodable_reward);
  return known;
}

void SurrogateProblem::append_row(PointView point, FeatureRows& rows) const {
  thread_local FeatureRows row;
  row = {};
  append_features(*space_, point, row);
  if (sees_programs()) append_program(*codesign_, point, row);
  rows.width = row.values.size();
  rows.values.insert(rows.values.end(), row.values.begin(), row.values.end());
}

void SurrogateProblem::tell(std::span<const Point> points, std::span<const Verdict> verdicts) {
  if (trees_.is_fitted()) {
    std::vector<Opinion> opinions;
    judge(points, opinions);
    std::vector<float> predicted, found;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (opinions[i].measured) continue;
      predicted.push_back(opinions[i].performance);
      found.push_back(verdicts[i].feasible ? static_cast<float>(std::exp(-log_score(verdicts[i]))) : 0.0F);
    }
    if (predicted.size() > 1) calibrations_.push_back(calibration(predicted, found));
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!places_.try_emplace(hash_of(points[i]), measured_.size()).second) continue;
    const bool feasible = verdicts[i].feasible;
    measured_.push_back({points[i], feasible, feasible ? log_score(verdicts[i]) : 0});
    if (!feasible) continue;
    const auto after = std::ranges::upper_bound(by_score_, measured_.back().log_score, {},
                                                [&](std::size_t place) { return measured_[place].log_score; });
    by_score_.insert(after, measured_.size() - 1);
  }
}

double SurrogateProblem::bound(PointView point) const {
  return sees_programs() ? std::log(std::max(codesign_->least_cycles(point), 1.0)) : 0;
}

void SurrogateProblem::refit() {
  if (by_score_.empty() || space_->parameters().empty()) return;
  rows_ = {};
  std::vector<float> targets;
  const bool bounded = sees_programs();
  float least = 0;
  for (const MeasuredPoint& one : measured_) {
    append_row(one.point, rows_);
    const double target = !one.feasible ? 0
                          : bounded     ? bound(one.point) - one.log_score
                                        : std::exp(best_log_score() - one.log_score);
    targets.push_back(static_cast<float>(target));
    least = std::min(least, targets.back());
  }
  // What failed is as if it took twice as long as the slowest.
  for (std::size_t i = 0; bounded && i < targets.size(); ++i) {
    if (!measured_[i].feasible) targets[i] = least - kFailed;
  }
  trees_.fit(rows_, targets);
  ++fits_;
}

float SurrogateProblem::performance_of(float prediction, PointView point) const {
  if (!sees_programs()) return std::max(0.0F, prediction);
  return static_cast<float>(
      std::min(std::exp(best_log_score() - bound(point) + static_cast<double>(prediction)), kMostHope));
}

void SurrogateProblem::judge(std::span<const Point> points, std::vector<Opinion>& opinions) {
  if (trees_.is_fitted()) {
    rows_ = {};
    unknown_.clear();
    for (std::size_t i = 0; i < points.size(); ++i) {
      Known& one = known(points[i]);
      if (one.fit == fits_ || is_measured(points[i])) continue;
      one.fit = fits_;
      unknown_.push_back(i);
      append_row(points[i], rows_);
    }
    if (!unknown_.empty()) trees_.predict(rows_, predictions_);
    for (std::size_t n = 0; n < unknown_.size(); ++n) {
      const Point& point = points[unknown_[n]];
      known(point).prediction = performance_of(predictions_[n], point);
    }
  }
  opinions.clear();
  for (const Point& point : points) {
    const Known& one = known(point);
    Opinion opinion{.performance = one.prediction, .feasible = one.feasible};
    if (const auto place = places_.find(hash_of(point)); place != places_.end()) {
      const MeasuredPoint& found = measured_[place->second];
      opinion = {.performance = found.feasible ? static_cast<float>(std::exp(best_log_score() - found.log_score)) : 0.0F,
                 .feasible = found.feasible,
                 .measured = true};
    }
    opinion.reward = std::max(opinion.performance - one.penalty, static_cast<float>(options_.unencodable_reward));
    opinions.push_back(opinion);
  }
}

bool SurrogateProblem::is_open(PointView point) { return !is_measured(point) && known(point).feasible; }

// A machine first and then a schedule for it, so that machines with few schedules that fit come up as often as others.
std::optional<Point> SurrogateProblem::draw(Rng& rng) {
  const bool limited = codesign_ != nullptr && options_.knows_limits;
  Choices choices;
  for (int tried = 0; tried < kDraws; ++tried) {
    Point point = random_point(*space_, rng);
    if (known(point).feasible) return point;
    if (!limited || codesign_->excess(point).area > 0) continue;
    for (int again = 0; again < kSchedules; ++again) {
      for (std::size_t p = codesign_->hardware_parameters(); p < point.size(); ++p) {
        space_->choices(point, p, choices);
        point[p] = choices[static_cast<std::int32_t>(rng.below(choices.count()))];
      }
      if (known(point).feasible) return point;
    }
  }
  return std::nullopt;
}

double SurrogateProblem::log_score_of(float performance) const {
  return best_log_score() - std::log(std::max(static_cast<double>(performance), 1e-3));
}

}  // namespace tilewright
