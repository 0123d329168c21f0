#include <gtest/gtest.h>
#include <cstdio>
#include "brute_force.hpp"
#include "random_question.hpp"
#include "tilewright/hierarchy/mapping_text.hpp"
#include "tilewright/optimum/optimum.hpp"
namespace tilewright::optimum {
TEST(Debug, One) {
  const int wanted = std::atoi(std::getenv("NUMBER"));
  Rng rng(3, "brute-force");
  for (int number = 0; number <= wanted; ++number) {
    const RandomQuestion drawn = random_question(rng);
    if (number < wanted) continue;
    for (const Goal goal : {Goal::Latency, Goal::Energy, Goal::Edp}) {
      hierarchy::Evaluator evaluator(drawn.problem, drawn.machine, {.judge = drawn.judge});
      hierarchy::Mapping best;
      double value = 1e300;
      for_all_mappings(drawn.problem, drawn.machine, drawn.restriction, [&](const hierarchy::Mapping& mapping) {
        const auto evaluation = evaluator.evaluate(mapping);
        if (const auto* cost = std::get_if<hierarchy::Cost>(&evaluation)) {
          if (value_of(goal, *cost) < value) value = value_of(goal, *cost), best = mapping;
        }
        return true;
      });
      std::printf("%.9g\n%s\n", value, to_text(best, drawn.problem, drawn.machine).c_str());
      for (const auto& t : drawn.problem.tensors) {
        std::printf("%s:", t.name.c_str());
        for (const auto& r : t.ranks) {
          std::printf(" [");
          for (const auto& x : r) std::printf("%c*%d ", drawn.problem.dims[x.dim], (int)x.coefficient);
          std::printf("]");
        }
        std::printf("\n");
      }
      for (int off = 0; off < 6; ++off) {
        Options options;
        options.goal = goal;
        if (off == 1) options.bounds.insides = false;
        if (off == 2) options.bounds.pairs = false;
        if (off == 3) options.bounds.paths = false;
        if (off == 4) options.bounds.orders = false;
        if (off == 5) options.bounds = {false, false, false, false};
        const Answer a = find_optimum({drawn.problem, drawn.machine, drawn.judge, drawn.restriction}, options);
        std::printf("off %d: %.9g nodes %d evals %d\n", off, a.certificate.incumbent, (int)a.certificate.nodes,
                    (int)a.certificate.evaluations);
      }
    }
  }
}
}  // namespace tilewright::optimum
