#include "tilewright/study/design_job.hpp"

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/study/loop_network.hpp"

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

std::string explain_command(const DesignJob& job, const std::string& layer) {
  std::string command = "tilewright explain --network " + shell_word(job.inputs.network);
  const Result<bool> whole = has_top_key(job.inputs.network, {"problem"});  // Timeloop's has one layer
  if (!whole || !*whole) command += " --layer " + shell_word(layer);
  command += " --hardware " + shell_word(job.inputs.hardware);
  if (job.inputs.batch != 1) command += fmt::format(" --batch {}", job.inputs.batch);
  for (const std::string& dim : job.inputs.dims) command += " --dim " + shell_word(dim);
  // Explain knows the default and these.
  if (!job.options.judge && job.options.model == Model::Exact) command += " --model exact";
  if (job.options.judge) command += fmt::format(" --model {}", name(*job.options.judge));
  MappingOptions asked = job.options;
  for (const OptionTable& table :
       {options_of(static_cast<LevelOptions&>(asked)), options_of(static_cast<LimitOptions&>(asked))}) {
    for (const OptionField& field : table) {
      const auto value = value_text(field);
      if (value && !value->empty()) command += fmt::format(" {} {}", flag_of(field), shell_word(*value));
    }
  }
  return command;
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
