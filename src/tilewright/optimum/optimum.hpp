// The proven optimum of one problem on one machine (docs/optimum.md).
//
//   const Answer answer = find_optimum({problem, machine, judge, restriction}, {.goal = Goal::Edp});
//
// Every mapping that the restriction allows is an inside (inside.hpp), a tile of the buffer (outside.hpp) and two orders
// (orders.hpp). Insides are taken in the order of what they cost at least, tiles likewise, orders by a shortest path; what
// cannot be better than the best mapping known is left out. What is left is judged by hierarchy::Evaluator.
#pragma once

#include <functional>
#include <optional>

#include "tilewright/optimum/goal.hpp"
#include "tilewright/optimum/question.hpp"

namespace tilewright::optimum {

struct Options {
  Goal goal = Goal::Edp;
  Limits limits = {};
  std::int64_t nodes = std::numeric_limits<std::int64_t>::max();  // at most so many: the same answer everywhere
  std::int64_t few_insides = 300'000;  // so many are looked at one by one even where several blocks lie inside the buffer's
  std::int64_t insides = 3'000'000;    // more are not looked at one by one
  std::function<bool()> stop = {};     // asked now and then; what is proven by then is told
  std::function<void(const Certificate&)> progress = {};       // told now and then
  std::vector<hierarchy::Mapping> starts = {};                 // known mappings; those that break a rule are left out
  double incumbent = std::numeric_limits<double>::infinity();  // only what is better is looked for
  // Test hooks: the optimum has to stay without any of them.
  struct Bounds {
    bool insides = true, pairs = true, paths = true, orders = true;
  } bounds = {};
};

struct Answer {
  Certificate certificate;
  std::optional<hierarchy::Mapping> mapping;  // nothing: none was found that is better than the incumbent
  std::optional<hierarchy::Cost> cost;
};

// The judge does not refuse the problem; the machine has two levels or more.
Answer find_optimum(const Question& question, const Options& options);

}  // namespace tilewright::optimum
