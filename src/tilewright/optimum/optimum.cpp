#include "tilewright/optimum/optimum.hpp"

#include <algorithm>
#include <cmath>

#include "tilewright/optimum/outside.hpp"

namespace tilewright::optimum {

using hierarchy::Extents;
using hierarchy::Mapping;

namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr double kAlmost = 1 - 1e-11;

// Insides by the thousand: factors and orders of their blocks in a row.
class Packed {
 public:
  Packed(std::size_t dims, std::size_t outermost) : dims_(dims), outermost_(outermost) {}
  void add(double least, const Mapping& mapping) {
    ranks_.emplace_back(least, static_cast<std::uint32_t>(ranks_.size()));
    for (std::size_t level = 0; level < outermost_; ++level) {
      for (std::size_t dim = 0; dim < dims_; ++dim) {
        numbers_.push_back(static_cast<std::int32_t>(mapping.levels[level].spatial.factors[dim]));
        if (level + 1 == outermost_) continue;
        numbers_.push_back(static_cast<std::int32_t>(mapping.levels[level].temporal.factors[dim]));
        numbers_.push_back(mapping.levels[level].temporal.order[dim]);
      }
    }
  }
  void sort() { std::ranges::sort(ranks_); }
  std::size_t size() const { return ranks_.size(); }
  double least(std::size_t at) const { return ranks_[at].first; }
  void set(std::size_t at, Mapping& mapping) const {
    const std::size_t width = dims_ * (3 * (outermost_ - 1) + 1);
    const std::int32_t* next = numbers_.data() + ranks_[at].second * width;
    for (std::size_t level = 0; level < outermost_; ++level) {
      for (std::size_t dim = 0; dim < dims_; ++dim) {
        mapping.levels[level].spatial.factors[dim] = *next++;
        if (level + 1 == outermost_) continue;
        mapping.levels[level].temporal.factors[dim] = *next++;
        mapping.levels[level].temporal.order[dim] = static_cast<std::uint8_t>(*next++);
      }
    }
  }

 private:
  std::size_t dims_, outermost_;
  std::vector<std::pair<double, std::uint32_t>> ranks_;
  std::vector<std::int32_t> numbers_;
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
    for (const auto& keeps : choices_.keeps()) {
      Mapping mapping;
      for (const hierarchy::TensorMask mask : keeps) {
        hierarchy::LevelMapping level;
        level.keeps = mask;
        mapping.levels.push_back(level);
      }
      const std::size_t outermost = model_.level_count - 1;
      choices_.spreads(mapping, outermost, outermost, [&] {
        const auto [least, finished] = group(mapping);
        lowest = std::min(lowest, least);
        whole = whole && finished;
        return true;
      });
    }
    Answer answer;
    answer.mapping = best_;
    answer.cost = cost_;
    answer.certificate = certificate_;
    answer.certificate.incumbent = incumbent_;
    answer.certificate.closed = whole ? Closed::Exhausted : Closed::Insides;
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

  // All mappings that keep what `mapping` keeps, and spread the outermost level as it does.
  Closing group(const Mapping& mapping);
  bool gather(Mapping& mapping, const Costs& outer, Packed& insides);
  // False when it was stopped.
  bool pair_up(const Inside& inside, Outside& outside, const std::vector<BufferTile>& tiles);
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
};

double Search::bound(const Costs& costs, const Inside& inside) const {
  const double cycles = std::max(inside.compute_cycles, std::ceil(model_.prices.cycles(costs) * kAlmost));
  const double energy = (costs[0] + inside.leakage * cycles) * kAlmost;
  if (cycles > options_.limits.cycles || energy > options_.limits.energy) return kNone;
  return value_of(options_.goal, energy, cycles);
}

bool Search::gather(Mapping& mapping, const Costs& outer, Packed& insides) {
  const std::size_t outermost = model_.level_count - 1;
  Inside inside;
  return choices_.spreads(mapping, 0, outermost - 1, [&] {
    return choices_.tilings(mapping, outermost - 1, [&] {
      inside.mapping = mapping;
      build(model_, loops_, inside);
      Costs costs = inside.least;
      for (std::size_t at = 0; at < model_.prices.count(); ++at) costs[at] += outer[at];
      insides.add(options_.bounds.insides ? bound(costs, inside) : 0, mapping);
      return static_cast<std::int64_t>(insides.size()) <= options_.insides && !stopped();
    });
  });
}

Search::Closing Search::group(const Mapping& mapping) {
  const std::size_t outermost = model_.level_count - 1;
  Outside outside(model_, mapping);
  std::vector<BufferTile> tiles = outside.tiles(choices_, orders_);
  if (tiles.empty()) return {};
  const auto key = [&](const BufferTile& tile) {
    return options_.goal == Goal::Latency ? model_.prices.cycles(tile.least) : tile.least[0];
  };
  std::ranges::stable_sort(tiles, {}, key);
  Costs outer = tiles.front().least;
  for (const BufferTile& tile : tiles) {
    for (std::size_t at = 0; at < model_.prices.count(); ++at) outer[at] = std::min(outer[at], tile.least[at]);
  }
  Packed insides(model_.dim_count, outermost);
  Mapping work = mapping;
  if (!gather(work, outer, insides)) return {0, false};
  insides.sort();
  Inside inside;
  for (std::size_t at = 0; at < insides.size(); ++at) {
    if (is_worse(insides.least(at))) break;
    if (stopped()) return {insides.least(at), false};
    inside.mapping = mapping;
    insides.set(at, inside.mapping);
    build(model_, loops_, inside);
    if (!pair_up(inside, outside, tiles)) return {insides.least(at), false};
  }
  return {};
}

bool Search::pair_up(const Inside& inside, Outside& outside, const std::vector<BufferTile>& tiles) {
  const double cycles = std::max(inside.compute_cycles, std::ceil(model_.prices.cycles(inside.least) * kAlmost));
  arrangements_.clear();
  for (const BufferTile& tile : tiles) {
    // The tiles come by rising cost, so what is too dear stays so.
    const double least =
        options_.goal == Goal::Latency
            ? std::max(cycles, model_.prices.cycles(tile.least) * kAlmost)
            : value_of(options_.goal, (inside.least[0] + tile.least[0] + inside.leakage * cycles) * kAlmost, cycles);
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

void Search::look_at(const Inside& inside, Outside& outside, const BufferTile& tile) {
  Orders::Task task;
  if (!set_blocks(inside, outside, tile, task)) return;
  if (options_.bounds.pairs && is_worse(pair_bound(inside, tile, task))) return;
  bool inner_sums = false;
  for (std::size_t tensor = 0; tensor < model_.flows.size(); ++tensor) {
    if (!model_.is_output(tensor)) continue;
    for (const hierarchy::Loop& loop : task.buffer.loops)
      inner_sums = inner_sums || !model_.flows[tensor].is_relevant(loop.dim);
  }
  outside.set(tile.extents, inner_sums);
  Costs base = inside.base;
  for (std::size_t at = 0; at < model_.prices.count(); ++at) base[at] += outside.base()[at];
  task.base = &base;
  task.compute_cycles = inside.compute_cycles;
  task.leakage = inside.leakage;
  for (const Stream& stream : inside.streams) task.both.push_back(&stream);
  for (const Stream& stream : outside.streams()) task.last.push_back(&stream);
  orders_.set(task);
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
