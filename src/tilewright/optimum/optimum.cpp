#include "tilewright/optimum/optimum.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "tilewright/optimum/floor.hpp"
#include "tilewright/optimum/outside.hpp"

namespace tilewright::optimum {

using hierarchy::Extents;
using hierarchy::Mapping;

namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr double kAlmost = 1 - 1e-11;

// Insides by the thousand: factors, as numbers of divisors, and orders of their blocks in a row. Where the blocks in time
// are not told apart, only the first of them is kept.
class Packed {
 public:
  Packed(const hierarchy::Problem& problem, std::size_t outermost, Inner inner)
      : dims_(problem.dims.size()),
        outermost_(outermost),
        blocks_(inner == Inner::Known ? outermost - 1 : std::min<std::size_t>(1, outermost - 1)) {
    for (const std::int64_t bound : problem.bounds) divisors_.push_back(divisors_of(bound));
  }
  void add(double least, const Mapping& mapping) {
    ranks_.emplace_back(least, static_cast<std::uint32_t>(ranks_.size()));
    const auto number = [&](std::size_t dim, std::int64_t factor) {
      numbers_.push_back(
          static_cast<std::uint16_t>(std::ranges::lower_bound(divisors_[dim], factor) - divisors_[dim].begin()));
    };
    for (std::size_t level = 0; level < outermost_; ++level) {
      for (std::size_t dim = 0; dim < dims_; ++dim) {
        number(dim, mapping.levels[level].spatial.factors[dim]);
        if (level >= blocks_) continue;
        number(dim, mapping.levels[level].temporal.factors[dim]);
        numbers_.push_back(mapping.levels[level].temporal.order[dim]);
      }
    }
  }
  void sort() { std::ranges::sort(ranks_); }
  std::size_t size() const { return ranks_.size(); }
  double least(std::size_t at) const { return ranks_[at].first; }
  void set(std::size_t at, Mapping& mapping) const {
    const std::size_t width = dims_ * (outermost_ + 2 * blocks_);
    const std::uint16_t* next = numbers_.data() + ranks_[at].second * width;
    for (std::size_t level = 0; level < outermost_; ++level) {
      for (std::size_t dim = 0; dim < dims_; ++dim) {
        mapping.levels[level].spatial.factors[dim] = divisors_[dim][*next++];
        if (level >= blocks_) continue;
        mapping.levels[level].temporal.factors[dim] = divisors_[dim][*next++];
        mapping.levels[level].temporal.order[dim] = static_cast<std::uint8_t>(*next++);
      }
    }
  }

 private:
  std::size_t dims_, outermost_, blocks_;
  std::vector<std::vector<std::int64_t>> divisors_;
  std::vector<std::pair<double, std::uint32_t>> ranks_;
  std::vector<std::uint16_t> numbers_;
};

class Search {
 public:
  Search(const Question& question, const Options& options)
      : model_(question),
        options_(options),
        choices_(model_),
        orders_(model_, options.goal, options.limits),
        evaluator_(question.problem, question.machine, {.judge = question.judge}) {
    orders_.order_bounds = options.bounds.orders;
    incumbent_ = options.incumbent;
    const hierarchy::Restriction& rule = question.restriction;
    checks_ = rule.least_parallelism > 0 || std::ranges::any_of(rule.levels, [](const auto& level) {
                return !level.spatial.innermost.empty() || !level.spatial.outermost.empty();
              });
  }

  Answer run() {
    for (const Mapping& start : options_.starts) judge(start);
    bool whole = true;
    double lowest = kNone;
    const std::size_t outermost = model_.level_count - 1;
    std::vector<std::unique_ptr<Group>> groups;
    for (const auto& keeps : choices_.keeps()) {
      hierarchy::Restriction restriction = model_.restriction;
      Mapping mapping;
      for (const hierarchy::TensorMask mask : keeps) {
        hierarchy::LevelMapping level;
        level.keeps = mask;
        restriction.levels[mapping.levels.size()].keeps = mask;
        restriction.levels[mapping.levels.size()].bypasses = static_cast<hierarchy::TensorMask>(~mask);
        mapping.levels.push_back(level);
      }
      const Floor floor = floor_of({model_.problem, model_.machine, model_.judge, restriction});
      choices_.spreads(mapping, outermost, outermost, [&] {
        groups.push_back(std::make_unique<Group>(model_, mapping, Inner::Known));
        groups.back()->floor = floor;
        return true;
      });
    }
    const auto floor_value = [&](const std::unique_ptr<Group>& group) { return group->floor.value(options_.goal); };
    std::ranges::stable_sort(groups, {}, floor_value);
    for (std::size_t index = 0; index < groups.size(); ++index) {
      const double least = floor_value(groups[index]);
      if (options_.bounds.insides && is_worse(least)) break;
      const Closing closing = stopped() ? Closing{least, false} : explore(*groups[index], index);
      if (closing.finished) continue;
      lowest = std::min(lowest, std::max(closing.least, least));
      whole = false;
    }
    const Closing closing = go_inside(groups);
    lowest = std::min(lowest, closing.least);
    whole = whole && closing.finished;
    Answer answer;
    answer.mapping = best_;
    answer.cost = cost_;
    answer.certificate = certificate_;
    answer.certificate.incumbent = incumbent_;
    answer.certificate.closed = whole ? Closed::Exhausted : lowest > 0 ? Closed::Insides : Closed::Traffic;
    answer.certificate.lower_bound = whole ? incumbent_ * (1 - kTolerance) : std::min(lowest, incumbent_ * (1 - kTolerance));
    return answer;
  }

 private:
  struct Closing {
    double least = kNone;  // of what was not looked at
    bool finished = true;
  };

  bool is_worse(double least) const { return least >= incumbent_ * (1 - kTolerance); }

  bool stopped() {
    if (certificate_.nodes >= options_.nodes) return true;
    if (options_.stop && ++asked_ % 256 == 0 && options_.stop()) stop_ = true;
    return stop_;
  }

  void judge(const Mapping& mapping) {
    ++certificate_.evaluations;
    const hierarchy::Evaluation evaluation = evaluator_.evaluate(mapping);
    const auto* cost = std::get_if<hierarchy::Cost>(&evaluation);
    if (cost == nullptr || !options_.limits.keeps(*cost)) return;
    const double value = value_of(options_.goal, *cost);
    if (value >= incumbent_) return;
    if (violation(model_.restriction, mapping, model_.problem, model_.machine)) return;
    incumbent_ = value;
    best_ = mapping;
    cost_ = *cost;
  }

  // All mappings that keep the same tensors and spread the outermost level alike.
  struct Group {
    Group(const Model& model, const Mapping& the_mapping, Inner inner)
        : mapping(the_mapping), outside(model, the_mapping), insides(model.problem, model.level_count - 1, inner) {}
    Mapping mapping;
    Outside outside;
    std::vector<BufferTile> tiles;
    Costs outer{};  // what all tiles cost at least, entry by entry
    Floor floor;
    Packed insides;
  };
  // Insides of several blocks in time, told by the product of their factors.
  struct Candidate {
    double least = 0;
    std::size_t group = 0, inside = 0;
  };

  bool set_tiles(Group& group);
  Closing explore(Group& group, std::size_t index);
  // Nothing when there are more than `most`; false when it was stopped.
  std::optional<bool> gather(Group& group, Inner inner, std::int64_t most);
  Closing search(Group& group);
  // What such insides cost at least with the best tile and the best orders: those that may be better than the best known.
  Closing survey(Group& group, std::size_t index);
  double least_with(const Inside& inside, Group& group, double enough);
  Closing go_inside(std::vector<std::unique_ptr<Group>>& groups);
  bool cut_up(const Candidate& candidate, Group& group);
  // False when it was stopped.
  bool pair_up(const Inside& inside, Outside& outside, const std::vector<BufferTile>& tiles);
  double tile_bound(const Inside& inside, const BufferTile& tile, double cycles) const;
  void set_task(const Inside& inside, Outside& outside, const BufferTile& tile, Costs& base, Orders::Task& task);
  void look_at(const Inside& inside, Outside& outside, const BufferTile& tile);
  bool set_blocks(const Inside& inside, const Outside& outside, const BufferTile& tile, Orders::Task& task) const;
  double pair_bound(const Inside& inside, const BufferTile& tile, const Orders::Task& task);
  void judge_orders(const Inside& inside, const Orders::Task& task);
  double bound(const Costs& costs, const Inside& inside) const;

  Model model_;
  const Options& options_;
  Choices choices_;
  Orders orders_;
  hierarchy::Evaluator evaluator_;
  hierarchy::Loops loops_;
  bool checks_ = false, stop_ = false;
  std::int64_t asked_ = 0;
  double incumbent_ = kNone;
  std::optional<Mapping> best_;
  std::optional<hierarchy::Cost> cost_;
  Certificate certificate_;
  std::vector<Mapping> arrangements_;  // of the inside at hand
  std::vector<Candidate> candidates_;
};

double Search::bound(const Costs& costs, const Inside& inside) const {
  const double cycles = std::max(inside.compute_cycles, std::ceil(model_.prices.cycles(costs) * kAlmost));
  const double energy = (costs[0] + inside.leakage * cycles) * kAlmost;
  if (cycles > options_.limits.cycles || energy > options_.limits.energy) return kNone;
  return value_of(options_.goal, energy, cycles);
}

std::optional<bool> Search::gather(Group& group, Inner inner, std::int64_t most) {
  Packed& insides = group.insides = Packed(model_.problem, model_.level_count - 1, inner);
  bool too_many = false;
  std::int64_t seen = 0;
  const std::size_t outermost = model_.level_count - 1;
  Inside inside;
  Mapping mapping = group.mapping;
  const auto add = [&] {
    inside.mapping = mapping;
    build(model_, loops_, inside, inner);
    Costs costs = inside.least;
    for (std::size_t at = 0; at < model_.prices.count(); ++at) costs[at] += group.outer[at];
    const double least = bound(costs, inside);
    if (!options_.bounds.insides || !is_worse(least)) insides.add(options_.bounds.insides ? least : 0, mapping);
    too_many = ++seen > most;
    return !too_many && !stopped();
  };
  const bool whole = choices_.spreads(mapping, 0, outermost - 1, [&] {
    double macs = 1;
    for (const hierarchy::LevelMapping& level : mapping.levels) {
      for (std::size_t dim = 0; dim < model_.dim_count; ++dim) macs *= static_cast<double>(level.spatial.factors[dim]);
    }
    const double cycles = std::max(group.floor.cycles, static_cast<double>(computes(model_.problem)) / macs);
    if (options_.bounds.insides && is_worse(value_of(options_.goal, group.floor.energy, cycles) * kAlmost)) return true;
    return inner == Inner::Together ? choices_.totals(mapping, outermost - 1, add)
                                    : choices_.tilings(mapping, outermost - 1, nullptr, add);
  });
  return too_many ? std::nullopt : std::optional(whole);
}

// Insides one by one where they are few; elsewhere told by the product of the factors of their blocks first.
Search::Closing Search::explore(Group& group, std::size_t index) {
  if (!set_tiles(group)) return {};
  const bool deep = model_.level_count > 3;  // several blocks in time below the buffer's
  const auto known = gather(group, Inner::Known, deep ? std::min(options_.insides, options_.few_insides) : options_.insides);
  if (known) return *known ? search(group) : Closing{0, false};
  if (!deep) return {0, false};
  const auto together = gather(group, Inner::Together, options_.insides);
  return together && *together ? survey(group, index) : Closing{0, false};
}

bool Search::set_tiles(Group& group) {
  group.tiles = group.outside.tiles(choices_, orders_);
  if (group.tiles.empty()) return false;
  std::ranges::stable_sort(group.tiles, {}, [&](const BufferTile& tile) {
    return options_.goal == Goal::Latency ? model_.prices.cycles(tile.least) : tile.least[0];
  });
  group.outer = group.tiles.front().least;
  for (const BufferTile& tile : group.tiles) {
    for (std::size_t at = 0; at < model_.prices.count(); ++at) group.outer[at] = std::min(group.outer[at], tile.least[at]);
  }
  return true;
}

Search::Closing Search::search(Group& group) {
  Packed& insides = group.insides;
  insides.sort();
  Inside inside;
  for (std::size_t at = 0; at < insides.size(); ++at) {
    if (is_worse(insides.least(at))) break;
    if (stopped()) return {insides.least(at), false};
    inside.mapping = group.mapping;
    insides.set(at, inside.mapping);
    build(model_, loops_, inside, Inner::Known);
    if (!pair_up(inside, group.outside, group.tiles)) return {insides.least(at), false};
  }
  group.tiles = {};
  insides = Packed(model_.problem, model_.level_count - 1, Inner::Known);
  return {};
}

Search::Closing Search::survey(Group& group, std::size_t index) {
  Packed& insides = group.insides;
  insides.sort();
  Inside inside;
  for (std::size_t at = 0; at < insides.size(); ++at) {
    if (is_worse(insides.least(at))) break;
    if (stopped()) return {insides.least(at), false};
    inside.mapping = group.mapping;
    insides.set(at, inside.mapping);
    build(model_, loops_, inside, Inner::Together);
    const double least = std::max(insides.least(at), least_with(inside, group, insides.least(at)));
    if (is_worse(least)) continue;
    candidates_.push_back({least, index, at});
  }
  return {};
}

// The least bound of all tiles and orders, or any value that is no more than it and no more than `enough`.
double Search::least_with(const Inside& inside, Group& group, double enough) {
  double best = kNone;
  const double cycles = std::max(inside.compute_cycles, std::ceil(model_.prices.cycles(inside.least) * kAlmost));
  for (const BufferTile& tile : group.tiles) {
    const double least = tile_bound(inside, tile, cycles);
    if (least >= best || is_worse(least)) break;
    bool divides = true;
    for (std::size_t dim = 0; dim < model_.dim_count && divides; ++dim)
      divides = tile.extents[dim] % inside.extents[dim] == 0;
    if (!divides) continue;
    ++certificate_.nodes;
    Orders::Task task;
    if (!set_blocks(inside, group.outside, tile, task)) continue;
    const double pair = pair_bound(inside, tile, task);
    if (pair >= best || is_worse(pair)) continue;
    Costs base;
    set_task(inside, group.outside, tile, base, task);
    best = std::min(best, orders_.bound(orders_.least()));
    if (best <= enough) break;
  }
  return best;
}

Search::Closing Search::go_inside(std::vector<std::unique_ptr<Group>>& groups) {
  std::ranges::stable_sort(candidates_, {}, &Candidate::least);
  for (const Candidate& candidate : candidates_) {
    if (is_worse(candidate.least)) break;
    if (stopped() || !cut_up(candidate, *groups[candidate.group])) return {candidate.least, false};
  }
  return {};
}

// Every way to cut the factors of a candidate into blocks.
bool Search::cut_up(const Candidate& candidate, Group& group) {
  Mapping mapping = group.mapping;
  group.insides.set(candidate.inside, mapping);
  const Extents totals = mapping.levels[0].temporal.factors;
  mapping.levels[0].temporal = {};
  Inside inside;
  return choices_.tilings(mapping, model_.level_count - 2, &totals, [&] {
    ++certificate_.nodes;
    if (stopped()) return false;
    inside.mapping = mapping;
    build(model_, loops_, inside, Inner::Known);
    Costs costs = inside.least;
    for (std::size_t at = 0; at < model_.prices.count(); ++at) costs[at] += group.outer[at];
    if (options_.bounds.insides && is_worse(bound(costs, inside))) return true;
    return pair_up(inside, group.outside, group.tiles);
  });
}

bool Search::pair_up(const Inside& inside, Outside& outside, const std::vector<BufferTile>& tiles) {
  const double cycles = std::max(inside.compute_cycles, std::ceil(model_.prices.cycles(inside.least) * kAlmost));
  arrangements_.clear();
  for (const BufferTile& tile : tiles) {
    // The tiles come by rising cost, so what is too dear stays so.
    const double least = tile_bound(inside, tile, cycles);
    if (options_.bounds.insides && is_worse(least)) break;
    bool divides = true;
    for (std::size_t dim = 0; dim < model_.dim_count && divides; ++dim)
      divides = tile.extents[dim] % inside.extents[dim] == 0;
    if (!divides) continue;
    ++certificate_.nodes;
    if (stopped()) return false;
    look_at(inside, outside, tile);
  }
  return true;
}

// Of an inside that takes so many cycles with any tile that costs as much as this one.
double Search::tile_bound(const Inside& inside, const BufferTile& tile, double cycles) const {
  if (options_.goal == Goal::Latency) return std::max(cycles, model_.prices.cycles(tile.least) * kAlmost);
  return value_of(options_.goal, (inside.least[0] + tile.least[0] + inside.leakage * cycles) * kAlmost, cycles);
}

bool Search::set_blocks(const Inside& inside, const Outside& outside, const BufferTile& tile, Orders::Task& task) const {
  const hierarchy::BlockRestriction& rule = model_.restriction.levels[model_.level_count - 2].temporal;
  task.outermost = outside.outermost_block(tile.extents);
  task.buffer.rule = &rule;
  task.buffer.loops.clear();
  task.buffer.outside = 1;
  for (const hierarchy::Loop& loop : task.outermost.loops) task.buffer.outside *= static_cast<double>(loop.trips);
  for (std::uint8_t dim = 0; dim < model_.dim_count; ++dim) {
    const std::int64_t trips = tile.extents[dim] / inside.extents[dim];
    if (!Choices::allows(rule, dim, trips)) return false;
    if (trips > 1) task.buffer.loops.push_back({trips, inside.extents[dim], dim});
  }
  return true;
}

// Where a loop of the buffer moves a tensor, all outermost loops bring its tile again.
double Search::pair_bound(const Inside& inside, const BufferTile& tile, const Orders::Task& task) {
  Costs costs = inside.base;
  for (std::size_t at = 0; at < model_.prices.count(); ++at) costs[at] += tile.least[at];
  for (const Stream& stream : inside.streams) {
    if (stream.moved) continue;
    const std::uint32_t certain = stream.flow->slides() ? stream.flow->certain() : stream.flow->relevant();
    double trips = 1;
    for (const hierarchy::Loop& loop : task.buffer.loops) {
      if ((certain >> loop.dim & 1) != 0) trips *= static_cast<double>(loop.trips);
    }
    const bool moves = trips > 1;
    for (const hierarchy::Loop& loop : task.outermost.loops) {
      if (moves || (certain >> loop.dim & 1) != 0) trips *= static_cast<double>(loop.trips);
    }
    const double words = stream.full * (trips - 1);
    for (std::size_t at = 0; at < model_.prices.count(); ++at) costs[at] += words * (stream.below[at] + stream.above[at]);
  }
  return bound(costs, inside);
}

// `base` outlives the task.
void Search::set_task(const Inside& inside, Outside& outside, const BufferTile& tile, Costs& base, Orders::Task& task) {
  bool inner_sums = false;
  for (std::size_t tensor = 0; tensor < model_.flows.size(); ++tensor) {
    if (!model_.is_output(tensor)) continue;
    for (const hierarchy::Loop& loop : task.buffer.loops)
      inner_sums = inner_sums || !model_.flows[tensor].is_relevant(loop.dim);
  }
  outside.set(tile.extents, inner_sums);
  base = inside.base;
  for (std::size_t at = 0; at < model_.prices.count(); ++at) base[at] += outside.base()[at];
  task.base = &base;
  task.compute_cycles = inside.compute_cycles;
  task.leakage = inside.leakage;
  for (const Stream& stream : inside.streams) task.both.push_back(&stream);
  for (const Stream& stream : outside.streams()) task.last.push_back(&stream);
  orders_.set(task);
}

void Search::look_at(const Inside& inside, Outside& outside, const BufferTile& tile) {
  Orders::Task task;
  if (!set_blocks(inside, outside, tile, task)) return;
  if (options_.bounds.pairs && is_worse(pair_bound(inside, tile, task))) return;
  Costs base;
  set_task(inside, outside, tile, base, task);
  if (options_.bounds.paths && is_worse(orders_.bound(orders_.least()))) return;
  judge_orders(inside, task);
}

void Search::judge_orders(const Inside& inside, const Orders::Task& task) {
  const std::size_t outermost = model_.level_count - 1;
  if (arrangements_.empty()) arrangements_ = choices_.arrangements(inside.mapping);
  orders_.search(incumbent_, certificate_.nodes,
                 [&](const std::vector<std::uint8_t>& buffer, const std::vector<std::uint8_t>& last) {
                   for (Mapping mapping : arrangements_) {
                     for (const bool outer : {false, true}) {
                       hierarchy::Block& block = mapping.levels[outer ? outermost : outermost - 1].temporal;
                       const auto& order = outer ? last : buffer;
                       for (const hierarchy::Loop& loop : (outer ? task.outermost : task.buffer).loops)
                         block.factors[loop.dim] = loop.trips;
                       std::size_t at = 0;
                       for (const std::uint8_t dim : order) block.order[at++] = dim;
                       for (std::uint8_t dim = 0; dim < model_.dim_count; ++dim) {
                         if (std::ranges::find(order, dim) == order.end()) block.order[at++] = dim;
                       }
                     }
                     judge(mapping);
                   }
                 });
}

}  // namespace

Answer find_optimum(const Question& question, const Options& options) { return Search(question, options).run(); }

}  // namespace tilewright::optimum
