// Model hierarchy against the walk of every iteration with explicit buffers.
#include "tilewright/hierarchy/evaluator.hpp"

#include "example_machine.hpp"
#include "hierarchy_walk.hpp"
#include "random_case.hpp"
#include "tilewright/hierarchy/mapping_text.hpp"

namespace tilewright::hierarchy {
namespace {

void expect_walked(int cases, Factors factors, std::string_view stream) {
  Rng rng(7, stream);
  int different = 0, slid = 0;
  for (int number = 0; number < cases && different < 5; ++number) {
    const Case drawn = random_case(rng, factors);
    Evaluator evaluator(drawn.problem, drawn.machine, {.judge = Judge::Hierarchy});
    ASSERT_TRUE(std::holds_alternative<Cost>(evaluator.evaluate(drawn.mapping)));
    const Analysis& analysis = evaluator.analysis();
    const Walk walked = walk(drawn.problem, drawn.mapping);
    bool equal = walked.steps == analysis.compute_cycles && walked.computes == analysis.computes;
    std::string table;
    for (std::size_t level = 0; level < walked.levels.size(); ++level) {
      for (std::size_t tensor = 0; tensor < drawn.problem.tensors.size(); ++tensor) {
        const TensorCounts& ours = analysis.levels[level].tensors[tensor];
        const WalkCounts& theirs = walked.levels[level][tensor];
        const bool same = ours.reads == theirs.reads && ours.fills == theirs.fills && ours.updates == theirs.updates &&
                          ours.tile == theirs.tile;
        equal = equal && same;
        if (!same) {
          table += fmt::format("{} {}: reads {} walked {}, fills {} walked {}, updates {} walked {}, tile {} walked {}\n",
                               drawn.machine.levels[level].name, drawn.problem.tensors[tensor].name, ours.reads,
                               theirs.reads, ours.fills, theirs.fills, ours.updates, theirs.updates, ours.tile, theirs.tile);
        }
      }
    }
    slid += drawn.problem.dims.find('R') != std::string::npos ? 1 : 0;
    if (equal) continue;
    ++different;
    ADD_FAILURE() << "case " << number << ", bounds " << fmt::format("{}", fmt::join(drawn.problem.bounds, " "))
                  << ", steps " << analysis.compute_cycles << " walked " << walked.steps << "\n"
                  << to_text(drawn.mapping, drawn.problem, drawn.machine) << table;
  }
  EXPECT_GT(slid, cases / 4);
}

TEST(HierarchyJudge, EqualsTheWalkOfEveryIteration) { expect_walked(5000, Factors::Exact, "exact"); }

TEST(HierarchyJudge, EqualsTheWalkWithRaggedTiles) { expect_walked(5000, Factors::Ragged, "ragged"); }

TEST(HierarchyJudge, TheWorkedExampleDiffersInWhatDramWritesAndRegistersDrain) {
  Evaluator evaluator(example_problem(), example_machine(), {.judge = Judge::Hierarchy});
  const Cost cost = std::get<Cost>(evaluator.evaluate(example_mapping()));
  EXPECT_EQ(cost.cycles, Cycles{8192});
  const std::vector<LevelAnalysis>& levels = evaluator.analysis().levels;
  EXPECT_EQ(levels[1].tensors[0].reads, 16384);      // as Timeloop
  EXPECT_EQ(levels[0].tensors[0].fills, 16 * 4096);  // of all 16 copies
  EXPECT_EQ(levels[2].tensors[1].reads, 16384);
  // Timeloop: 7936 per copy; here each of the 256 words of a copy is also read when it leaves.
  EXPECT_EQ(levels[0].tensors[2].reads, 16 * (7936 + 256));
}

}  // namespace
}  // namespace tilewright::hierarchy
