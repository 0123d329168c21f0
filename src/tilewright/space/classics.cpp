#include "tilewright/space/classics.hpp"

#include <algorithm>

#include "tilewright/mapping/dataflow_tilings.hpp"
#include "tilewright/space/mapping_outcome.hpp"

namespace tilewright {
namespace {

constexpr std::size_t kDescents = 2;  // starts from which tiles are changed one at a time

using Tiling = DataflowTilings::Tiling;

struct Judged {
  Tiling tiling;
  Outcome outcome;
  Score score{};
};

class Judge {
 public:
  Judge(const DataflowTilings& tilings, const Nest& nest, const Accelerator& accelerator, const Judging& judging)
      : tilings_(tilings),
        nest_(nest),
        accelerator_(accelerator),
        judging_(judging),
        evaluator_(nest, accelerator, judging.evaluate) {}

  std::optional<Judged> judge(const Tiling& tiling) {
    ++count_;
    const Outcome outcome =
        outcome_of(evaluator_.evaluate(tilings_.mapping(tiling)), macs(nest_), accelerator_, judging_.gamma_rules);
    if (!outcome.feasible || broken_limit(judging_.objective.limits, outcome.metrics)) return std::nullopt;
    return Judged{tiling, outcome, score_of(judging_.objective, outcome.metrics)};
  }

  // The best that is reached from `from` by changing one tile at a time.
  Judged descend(Judged from) {
    for (bool better = true; better;) {
      better = false;
      for (const Tiling& next : tilings_.around(from.tiling)) {
        const auto judged = judge(next);
        if (!judged || judged->score >= from.score) continue;
        from = *judged;
        better = true;
        break;
      }
    }
    return from;
  }

  std::int64_t count() const { return count_; }

 private:
  const DataflowTilings& tilings_;
  const Nest& nest_;
  const Accelerator& accelerator_;
  const Judging& judging_;
  Evaluator evaluator_;
  std::int64_t count_ = 0;
};

struct Found {
  std::optional<Classic> classic;
  std::int64_t judged = 0;
};

Found find_tiling(std::string_view name, const DataflowTilings& tilings, const Nest& nest, const Accelerator& accelerator,
                  const Judging& judging) {
  Judge judge(tilings, nest, accelerator, judging);
  // MAESTRO's own counts reward tiles that it miscounts, so under its models the exact ones of the estimate stand.
  const bool trusted = !is_maestro(judging.evaluate.model);
  std::vector<Judged> fitting;
  for (const Tiling& tiling : tilings.starts()) {
    if (const auto judged = judge.judge(tiling)) fitting.push_back(*judged);
    if (!trusted && !fitting.empty()) break;
  }
  std::ranges::stable_sort(fitting, {}, &Judged::score);
  std::optional<Judged> best;
  for (std::size_t i = 0; i < std::min(kDescents, fitting.size()); ++i) {
    const Judged found = trusted ? judge.descend(fitting[i]) : fitting[i];
    if (!best || found.score < best->score) best = found;
  }
  if (!best) return {std::nullopt, judge.count()};
  return {Classic{name, tilings.mapping(best->tiling), best->outcome, best->score, judge.count()}, judge.count()};
}

// Whether the two largest dimensions, spread over clusters and inside them, leave units without work.
bool leaves_units(const MappingSpace& space) {
  std::vector<std::int64_t> sizes;
  for (const Slot slot : {Slot::K, Slot::C, Slot::Y, Slot::X, Slot::N, Slot::G}) sizes.push_back(space.size_of(slot));
  std::ranges::sort(sizes, std::ranges::greater{});
  return sizes[2] > 1 && sizes[0] * sizes[1] < space.accelerator().pes;
}

}  // namespace

StridedTiles strided_for(Model model) { return is_maestro(model) ? StridedTiles::Single : StridedTiles::Several; }

Result<std::optional<Classic>> best_tiling(std::string_view name, const Nest& nest, const Accelerator& accelerator,
                                           const Judging& judging) {
  TW_TRY(const DataflowTilings tilings, DataflowTilings::make(name, nest, accelerator, strided_for(judging.evaluate.model)));
  return find_tiling(name, tilings, nest, accelerator, judging).classic;
}

Classics classics_of(const Nest& nest, const Accelerator& accelerator, const Judging& judging) {
  Classics classics;
  for (const Dataflow& known : dataflows()) {
    if (known.alias) continue;
    const Result<DataflowTilings> tilings =
        DataflowTilings::make(known.name, nest, accelerator, strided_for(judging.evaluate.model));
    if (!tilings) continue;  // the layer has nothing to compute along one of its loops
    Found found = find_tiling(known.name, *tilings, nest, accelerator, judging);
    classics.judged += found.judged;
    if (found.classic) classics.fitting.push_back(std::move(*found.classic));
  }
  std::ranges::stable_sort(classics.fitting, {}, &Classic::score);
  return classics;
}

std::vector<Point> points_of(const Classics& classics, const MappingSpace& space) {
  std::vector<Point> points;
  const auto evaluator = space.evaluator();
  for (const Classic& classic : classics.fitting) {
    const auto point = space.point_of(classic.mapping);
    if (point && evaluator->evaluate(*point) == classic.outcome) points.push_back(*point);
  }
  return points;
}

MappingSpace space_with(const Classics& classics, std::string name, const Nest& nest, const Accelerator& accelerator,
                        MappingSpaceOptions options) {
  std::vector<Mapping> mappings;
  options.least_levels = options.most_levels = 2;
  for (const Classic& classic : classics.fitting) {
    mappings.push_back(classic.mapping);
    options.most_levels = std::max(options.most_levels, classic.mapping.levels.size());
  }
  MappingSpace space(name, nest, accelerator, options, mappings);
  if (options.most_levels == 2 && leaves_units(space)) {
    options.most_levels = 3;
    space = MappingSpace(name, nest, accelerator, options, mappings);
  }
  if (points_of(classics, space).size() == classics.fitting.size()) return space;
  options.least_levels = 1;
  return MappingSpace(std::move(name), nest, accelerator, options, mappings);
}

}  // namespace tilewright
