// A job of either kind of machine: read here, so that no verb has to tell the kinds apart.
#pragma once

#include <variant>

#include "tilewright/study/hierarchy_job.hpp"
#include "tilewright/study/mapping_job.hpp"

namespace tilewright {

using AnyJob = std::variant<MappingJob, HierarchyJob>;

// `plain` is what the options are where nobody says anything; whoever says what does not go with the machine is told so.
Result<AnyJob> read_any_job(const MappingInputs& inputs, const MappingOptions& options, ThreadPool& threads,
                            const MappingOptions& plain = {});

// What both kinds have in common.
inline const DesignJob& common(const AnyJob& job) {
  return std::visit([](const DesignJob& one) -> const DesignJob& { return one; }, job);
}

}  // namespace tilewright
