#include "tilewright/study/any_job.hpp"

namespace tilewright {

Result<AnyJob> read_any_job(const MappingInputs& inputs, const MappingOptions& options, ThreadPool& threads,
                            const MappingOptions& plain) {
  TW_TRY(const bool levels, has_memory_levels(inputs.hardware, options));
  if (levels) {
    TW_TRY(HierarchyJob job, read_hierarchy_job(inputs, options, threads, plain));
    return AnyJob(std::move(job));
  }
  TW_TRY(MappingJob job, read_mapping_job(inputs, options, threads));
  return AnyJob(std::move(job));
}

}  // namespace tilewright
