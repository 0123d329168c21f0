// Runs of a comparison as pieces of work that are done once: what a run depends on, and what it leaves behind. Neither tells
// who else is compared, so runs serve every comparison that has them.
#pragma once

#include <cstdint>

#include <nlohmann/json_fwd.hpp>

#include "tilewright/study/comparison_run.hpp"

namespace tilewright {

// Tasks are numbered: the targets' searches layer by layer, then the runs as ComparisonRuns has them.
ComparisonRuns planned_runs(const ComparisonPlan& plan);
std::size_t task_count(const ComparisonRuns& runs);
std::int64_t samples_of_task(const ComparisonPlan& plan, const ComparisonRuns& runs, std::size_t task);

// What the tasks of a plan have in common: network, machine, objective, space.
nlohmann::ordered_json common_facts(const ComparisonPlan& plan);
// Everything the task depends on; `common` is the above.
nlohmann::ordered_json asked_of(const ComparisonPlan& plan, const ComparisonRuns& runs, std::size_t task,
                                const nlohmann::ordered_json& common);

// What a finished task has found, as far as a summary needs it, and back. False when the document is of something else.
nlohmann::ordered_json result_of(const ComparisonRuns& runs, std::size_t task);
bool take_result(ComparisonRuns& runs, std::size_t task, const nlohmann::ordered_json& result);

}  // namespace tilewright
