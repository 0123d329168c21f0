// Where a loop can stand while a level runs: at its first tile, at one of the steady ones, at a last, incomplete one.
#pragma once

#include <cstdint>

#include "tilewright/cost/plan.hpp"

namespace tilewright {

// The course of a loop over a dimension of a given size.
struct LoopCourse {
  std::int64_t steady = 0;   // steps between the first tile and the edge
  bool has_edge = false;     // an incomplete tile follows
  bool unrolled = false;     // the first tile covers the whole dimension
  bool init_edge = false;    // the first tile is itself incomplete
  bool edge_ragged = false;  // spatial: at the edge, the last busy unit has less than a full tile

  bool active() const { return steady > 0 || has_edge; }
  bool init_ragged(const Loop& loop) const { return loop.spatial && init_edge; }
};

inline LoopCourse course_of(const Loop& loop, std::int64_t size, std::int64_t units) {
  const std::int64_t m = loop.size, o = loop.offset;
  LoopCourse course;
  if (!loop.spatial) {
    course.unrolled = size <= m;
    course.init_edge = size < m;
    if (course.unrolled) return course;
    course.steady = (size - m) / o;
    course.has_edge = course.steady * o + m < size;
    return course;
  }
  const std::int64_t covered = m + o * (units - 1);
  course.unrolled = size <= covered;
  course.init_edge = size < covered;
  if (course.unrolled) return course;
  const std::int64_t steps = ((size - m) / o + 1) / units - 1;
  course.steady = steps > 0 ? steps : 0;
  course.has_edge = (steps + 1) * o * units + covered > size && steps * o * units + covered != size;
  if (course.has_edge) {
    const std::int64_t rest = size - (steps + 1) * o * units;
    const std::int64_t busy = rest < m ? 1 : (rest - m) / o + 1;
    course.edge_ragged = (busy - 1) * o + m < rest;
  }
  return course;
}

struct LoopState {
  enum class Position : std::uint8_t { Init, Steady, Edge };
  Position position = Position::Init;
  bool unrolled = false;
  bool init_edge = false;
  bool ragged = false;
  std::int64_t count = 1;

  bool is_edge() const { return position == Position::Edge || init_edge; }
};

using LoopStates = InlineVector<LoopState, 3>;  // in the order Init, Steady, Edge

inline LoopStates states_of(const Loop& loop, std::int64_t size, std::int64_t units) {
  const LoopCourse course = course_of(loop, size, units);
  LoopStates states;
  states.push_back({LoopState::Position::Init, course.unrolled, course.init_edge, course.init_ragged(loop), 1});
  if (course.steady > 0) states.push_back({LoopState::Position::Steady, false, false, false, course.steady});
  if (course.has_edge) states.push_back({LoopState::Position::Edge, false, false, course.edge_ragged, 1});
  return states;
}

}  // namespace tilewright
