#include "tilewright/hierarchy/relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "tilewright/hierarchy/loops.hpp"

namespace tilewright::hierarchy {
namespace {

using What = MachineChange::What;

constexpr std::size_t kMostMoves = 64;  // prime factors

std::int64_t rounded_up(std::int64_t number, std::int64_t multiple) { return (number + multiple - 1) / multiple * multiple; }

// Room for every copy in use. A mesh divides that of the level inside it, so levels are widened from the outside inwards.
void widen(Machine& machine, const Loops& loops) {
  std::int64_t outside_x = 1, outside_y = 1;
  const auto set = [&](auto& part, std::int64_t used_x, std::int64_t used_y) {
    const std::int64_t x = rounded_up(std::max(part.mesh_x, used_x), outside_x);
    const std::int64_t y = rounded_up(std::max(part.mesh_y(), used_y), outside_y);
    part.instances = x * y;
    part.mesh_x = x;
    outside_x = x;
    outside_y = y;
  };
  for (std::size_t index = machine.levels.size(); index-- > 0;) {
    set(machine.levels[index], loops.used_x[index], loops.used_y[index]);
  }
  set(machine.mac, loops.mac_x, loops.mac_y);
}

// Gives way to one fault.
void yield_to(const Infeasible& fault, Machine& machine) {
  StorageLevel& level = machine.levels[fault.level];
  if (fault.reason == Infeasible::Reason::Capacity) {
    level.capacity = static_cast<std::int64_t>(std::ceil(static_cast<double>(fault.need) * level.multiple_buffering));
    while (*level.usable() < fault.need) ++*level.capacity;
  } else {
    const auto usable = static_cast<double>(*level.usable()), used = static_cast<double>(fault.limit);
    level.min_utilization = used / usable;
    while (level.min_utilization * usable > used) level.min_utilization = std::nextafter(level.min_utilization, 0);
  }
}

std::vector<MachineChange> changes_of(const Machine& from, const Machine& to) {
  std::vector<MachineChange> changes;
  const auto compare = [&](What what, std::uint8_t level, double before, double after) {
    if (before != after) changes.push_back({what, level, before, after});
  };
  const auto compare_meshes = [&](std::uint8_t level, const auto& before, const auto& after) {
    compare(What::Columns, level, static_cast<double>(before.mesh_x), static_cast<double>(after.mesh_x));
    compare(What::Rows, level, static_cast<double>(before.mesh_y()), static_cast<double>(after.mesh_y()));
  };
  compare_meshes(kMacLevel, from.mac, to.mac);
  for (std::uint8_t index = 0; index < from.levels.size(); ++index) {
    const StorageLevel &before = from.levels[index], &after = to.levels[index];
    compare_meshes(index, before, after);
    if (before.capacity) {
      compare(What::Capacity, index, static_cast<double>(*before.capacity), static_cast<double>(*after.capacity));
    }
    compare(What::Utilization, index, before.min_utilization, after.min_utilization);
  }
  return changes;
}

std::int64_t least_prime(std::int64_t number) {
  for (std::int64_t prime = 2; prime * prime <= number; ++prime) {
    if (number % prime == 0) return prime;
  }
  return number;
}

// All moves of one prime factor: out of a block of loops, into another in time.
std::vector<LoopMove> moves_of(const Mapping& mapping, const Problem& problem) {
  std::vector<LoopMove> moves;
  for (std::uint8_t from = 0; from < mapping.levels.size(); ++from) {
    for (const bool spread : {true, false}) {
      const Block& block = spread ? mapping.levels[from].spatial : mapping.levels[from].temporal;
      for (std::uint8_t dim = 0; dim < problem.dims.size(); ++dim) {
        if (block.factors[dim] == 1) continue;
        for (std::uint8_t to = 0; to < mapping.levels.size(); ++to) {
          if (spread || to != from) moves.push_back({dim, least_prime(block.factors[dim]), from, to, spread});
        }
      }
    }
  }
  return moves;
}

Mapping with_move(Mapping mapping, const LoopMove& move) {
  LevelMapping& from = mapping.levels[move.from];
  (move.was_spread ? from.spatial : from.temporal).factors[move.dim] /= move.factor;
  mapping.levels[move.to].temporal.factors[move.dim] *= move.factor;
  return mapping;
}

// Factors that went the same way are one.
void add_move(std::vector<LoopMove>& moves, const LoopMove& move) {
  for (LoopMove& known : moves) {
    LoopMove same = known;
    same.factor = move.factor;
    if (same != move) continue;
    known.factor *= move.factor;
    return;
  }
  moves.push_back(move);
}

void find_moves(Relaxation& relaxation, const Problem& problem, const Machine& machine, Judge judge,
                const std::optional<Restriction>& restriction) {
  std::vector<LoopMove> moves;
  double excess = excess_of(relaxation.fitting);
  for (std::size_t step = 0; step < kMostMoves && excess > 0; ++step) {
    std::optional<LoopMove> best;
    Mapping mapping;
    std::tuple<double, double> least{excess, 0};
    std::optional<Cost> cost;
    for (const LoopMove& move : moves_of(relaxation.moved, problem)) {
      const Mapping candidate = with_move(relaxation.moved, move);
      if (restriction && violation(*restriction, candidate, problem, machine)) continue;
      const Fitting fitting = least_machine(candidate, problem, machine, judge);
      const double left = excess_of(fitting);
      const std::tuple rank{left, left == 0 ? fitting.cost->edp() : 0.0};
      if (rank >= least || left >= excess) continue;
      best = move;
      least = rank;
      mapping = candidate;
      cost = fitting.cost;
    }
    if (!best) return;
    add_move(moves, *best);
    relaxation.moved = mapping;
    excess = std::get<0>(least);
    if (excess > 0) continue;
    relaxation.moves = std::move(moves);
    relaxation.with_moves = cost;
    return;
  }
}

}  // namespace

std::string_view name_of(What what) {
  switch (what) {
    case What::Capacity:
      return "capacity";
    case What::Columns:
      return "columns";
    case What::Rows:
      return "rows";
    case What::Utilization:
      return "min_utilization";
  }
  return "?";
}

double excess_of(const Fitting& fitting) {
  double excess = 0;
  for (const MachineChange& change : fitting.changes) excess += std::abs(std::log((change.to + 1) / (change.from + 1)));
  return excess;
}

Fitting least_machine(const Mapping& mapping, const Problem& problem, const Machine& machine, Judge judge) {
  Fitting fitting{machine, {}, {}};
  Loops loops;
  set_loops(loops, mapping, problem.dims.size());
  widen(fitting.machine, loops);
  while (!fitting.cost && fitting.machine.mac.instances <= kMostMacs) {
    const Evaluation evaluation = Evaluator(problem, fitting.machine, {.judge = judge}).evaluate(mapping);
    if (const auto* fault = std::get_if<Infeasible>(&evaluation)) {
      yield_to(*fault, fitting.machine);
    } else {
      fitting.cost = std::get<Cost>(evaluation);
    }
  }
  fitting.changes = changes_of(machine, fitting.machine);
  return fitting;
}

std::optional<Relaxation> relax(const Mapping& mapping, const Problem& problem, const Machine& machine, Judge judge,
                                const std::optional<Restriction>& restriction) {
  const Evaluation evaluation = Evaluator(problem, machine, {.judge = judge}).evaluate(mapping);
  const auto* why = std::get_if<Infeasible>(&evaluation);
  if (why == nullptr) return std::nullopt;
  Relaxation relaxation{*why, least_machine(mapping, problem, machine, judge), {}, mapping, {}};
  find_moves(relaxation, problem, machine, judge, restriction);
  return relaxation;
}

}  // namespace tilewright::hierarchy
