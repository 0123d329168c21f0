#include "tilewright/study/design_job.hpp"

#include <fmt/format.h>

namespace tilewright {

std::vector<const DesignSpace*> DesignJob::spaces() const {
  std::vector<const DesignSpace*> spaces;
  for (const DesignProblem* problem : design_problems()) spaces.push_back(problem->space.get());
  return spaces;
}

std::vector<Proposal> DesignJob::known() const {
  std::vector<Proposal> known;
  const std::vector<const DesignProblem*> problems = design_problems();
  for (std::size_t i = 0; i < problems.size(); ++i) {
    for (const Point& point : problems[i]->known) known.push_back({i, point});
  }
  return known;
}

SearchTask task_of(const DesignJob& job) {
  SearchTask task{.title = fmt::format("{} on {}", job.network_name, job.machine_name),
                  .names = {},
                  .spaces = job.spaces(),
                  .objective = job.options.objective,
                  .known = job.known()};
  for (const DesignProblem* problem : job.design_problems()) task.names.push_back(problem->name);
  return task;
}

}  // namespace tilewright
