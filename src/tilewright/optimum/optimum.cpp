#include "tilewright/optimum/search.hpp"

#include <algorithm>
#include <cmath>

namespace tilewright::optimum {

using hierarchy::Extents;
using hierarchy::Mapping;

namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr double kAlmost = 1 - 1e-11;  // sums in another order differ in the last digits

}  // namespace

Search::Search(const Question& question, const Options& options)
    : model_(question),
      options_(options),
      choices_(model_),
      orders_(model_, options.goal, options.limits),
      evaluator_(question.problem, question.machine, {.judge = question.judge}) {
  orders_.order_bounds = options.bounds.orders;
  incumbent_ = options.incumbent;
  orders_.stop = [this] { return stopped(); };
}

// By rising floor, so that what is not looked at in the end bounds as much as it can.
std::vector<std::unique_ptr<Search::Group>> Search::groups() const {
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
    TW_ASSERT(!std::isnan(floor.cycles) && !std::isnan(floor.energy));
    if (std::isinf(floor.cycles)) continue;  // nothing fits
    choices_.spreads(mapping, outermost, outermost, [&] {
      groups.push_back(std::make_unique<Group>(model_, mapping, Inner::Known));
      groups.back()->floor = floor;
      return true;
    });
  }
  std::ranges::stable_sort(groups, {},
                           [&](const std::unique_ptr<Group>& group) { return group->floor.value(options_.goal); });
  return groups;
}

// The best of the starts, and a bound that needs no search.
Answer Search::floor_only() const {
  Answer answer{.certificate = certificate_, .mapping = best_, .cost = cost_};
  answer.certificate.incumbent = incumbent_;
  answer.certificate.closed = Closed::Traffic;
  const Floor floor = floor_of({model_.problem, model_.machine, model_.judge, model_.restriction});
  answer.certificate.lower_bound = std::min(floor.value(options_.goal), incumbent_);
  return answer;
}

Answer Search::run() {
  for (const Mapping& start : options_.starts) judge(start);
  if (!model_.is_countable()) return floor_only();
  bool whole = true;
  double lowest = kNone;
  const std::vector<std::unique_ptr<Group>> groups = this->groups();
  for (std::size_t index = 0; index < groups.size(); ++index) {
    const double least = groups[index]->floor.value(options_.goal);
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

bool Search::stopped() {
  if (certificate_.nodes >= options_.nodes) return true;
  if (options_.stop && ++asked_ % 256 == 0 && options_.stop()) stop_ = true;
  return stop_;
}

void Search::judge(const Mapping& mapping) {
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

Search::Closing Search::go_inside(const std::vector<std::unique_ptr<Group>>& groups) {
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

Answer find_optimum(const Question& question, const Options& options) { return Search(question, options).run(); }

}  // namespace tilewright::optimum
