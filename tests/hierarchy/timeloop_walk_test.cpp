// The closed form against the walk it stands for, also where no record of the real program goes: negative coefficients,
// spreading right above the MACs, meshes wider than what is used.
#include "timeloop_walk.hpp"

#include "random_case.hpp"
#include "tilewright/hierarchy/mapping_text.hpp"

namespace tilewright::hierarchy {
namespace {

TEST(TimeloopWalk, EqualsTheClosedForm) {
  Rng rng(3, "walk");
  int different = 0, with_links = 0, with_mixed_groups = 0;
  for (int number = 0; number < 12000 && different < 5; ++number) {
    Case drawn = random_case(rng, Factors::Exact);
    for (auto& rank : drawn.problem.tensors[1].ranks) {
      for (Term& term : rank) term.coefficient *= rng.below(4) == 0 ? -1 : 1;
    }
    // From some level inwards, twice as many columns or rows as the mapping uses.
    const auto inside = static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(drawn.machine.levels.size())));
    const std::int64_t wider = rng.between(1, 2), taller = rng.between(1, 2);
    const auto widen = [&](auto& part) { part.mesh_x *= wider, part.instances *= wider * taller; };
    widen(drawn.machine.mac);
    for (std::size_t level = 0; level < inside; ++level) widen(drawn.machine.levels[level]);
    for (StorageLevel& level : drawn.machine.levels) level.technology = Technology::Sram;  // keeps records as counted
    for (LevelMapping& level : drawn.mapping.levels) level.keeps = kAllTensors;
    Evaluator evaluator(*check(drawn.problem, "walk"), *check(drawn.machine, "walk"),
                        {.detail = EvaluateOptions::Detail::All});
    ASSERT_TRUE(std::holds_alternative<Cost>(evaluator.evaluate(drawn.mapping)));
    for (std::size_t tensor = 0; tensor < drawn.problem.tensors.size(); ++tensor) {
      const std::vector<WalkedNetwork> walked = walk_as_timeloop(drawn.problem, drawn.machine, drawn.mapping, tensor);
      for (std::size_t level = 0; level < walked.size(); ++level) {
        const NetworkCounts& ours = evaluator.analysis().levels[level].networks[tensor];
        bool equal = ours.links == walked[level].links && ours.records.size() == walked[level].records.size();
        for (const Record& record : ours.records) {
          const auto found = walked[level].records.find({record.multicast, record.scatter});
          equal = equal && found != walked[level].records.end() && found->second.first == record.accesses &&
                  std::abs(found->second.second - record.hops) <= 1e-9 * (1 + record.hops);
        }
        with_links += ours.links > 0 ? 1 : 0;
        with_mixed_groups += ours.records.size() > 1 ? 1 : 0;
        if (equal) continue;
        std::string table;
        for (const Record& record : ours.records)
          table += fmt::format("ours {} {}: {} {}\n", record.multicast, record.scatter, record.accesses, record.hops);
        for (const auto& [signature, counted] : walked[level].records)
          table += fmt::format("walked {} {}: {} {}\n", signature.first, signature.second, counted.first, counted.second);
        ++different;
        ADD_FAILURE() << "case " << number << " level " << level << " " << drawn.problem.tensors[tensor].name << " links "
                      << ours.links << " walked " << walked[level].links << "\n"
                      << table << to_text(drawn.mapping, drawn.problem, drawn.machine);
      }
    }
  }
  EXPECT_GT(with_links, 100);
  EXPECT_GT(with_mixed_groups, 100);
}

}  // namespace
}  // namespace tilewright::hierarchy
