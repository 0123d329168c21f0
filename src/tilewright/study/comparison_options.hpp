// What a comparison of searchers is asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/base/options.hpp"

namespace tilewright {

enum class Ablation : std::uint8_t { Assignment, Learner, Critic, Explore, Transfer };
template <>
struct Names<Ablation> {
  static constexpr std::string_view kWhat = "ablation";
  static constexpr NameTable<Ablation, 5> kTable = {{{Ablation::Assignment, "assignment"},
                                                     {Ablation::Learner, "learner"},
                                                     {Ablation::Critic, "critic"},
                                                     {Ablation::Explore, "explore"},
                                                     {Ablation::Transfer, "transfer"}}};
};

// A search per layer whose best is the target T1.
struct ComparisonTarget {
  std::string searcher;
  std::int64_t samples = 0;
};
std::string text_of(const ComparisonTarget& target);  // "random:100000"

struct ComparisonOptions {
  std::vector<std::string> searches = {};  // the first is compared with every other; none = all but those for who asks.
                                           // agents+team is the team of `from`, and joins as the first when it is not there
  std::optional<Ablation> ablate = {};     // instead, variants of agents
  std::string transfer_from = {};          // the network whose clusters Ablation::Transfer takes over
  std::string from = {};                   // a trained team: its folder, or the directory of a run of map
  std::vector<std::string> settings = {};  // hyper-parameters: "gamma.population=100"
  std::optional<std::int64_t> samples = {};  // per layer; nothing = the largest budget, or 2000
  std::vector<std::int64_t> budgets = {};    // each has runs of its own, so that searchers can plan for it; none = `samples`
  std::int64_t seeds = 20;                   // runs of each searcher
  std::uint64_t seed = 1;                    // the first of them
  std::optional<ComparisonTarget> target = {};
};
OptionTable options_of(ComparisonOptions& options);

}  // namespace tilewright
