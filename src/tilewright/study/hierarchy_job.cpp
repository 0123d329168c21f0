#include "tilewright/study/hierarchy_job.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/base/yaml.hpp"
#include "tilewright/hierarchy/machine_yaml.hpp"
#include "tilewright/hierarchy/timeloop_yaml.hpp"
#include "tilewright/space/hierarchy_outcome.hpp"
#include "tilewright/study/loop_network.hpp"
#include "tilewright/zoo/zoo.hpp"

namespace tilewright {
namespace {

Result<Done> check_options(const MappingOptions& options, const MappingOptions& plain) {
  const auto refuse = [](std::string_view what) {
    return invalid(fmt::format("{} does not go with machines of memory levels, expected it to be left out", what));
  };
  if (options.model_of_arrays || options.model != plain.model) {
    return refuse(fmt::format("--model {}", name_of(options.model)));
  }
  if (options.space != plain.space) return refuse("--space");
  if (options.tiles != plain.tiles) return refuse("--tiles");
  if (options.levels != plain.levels) return refuse("--levels");
  if (options.search_pes) return refuse("--search-pes");
  if (options.constraints != plain.constraints) return refuse("--constraints");
  if (options.max_pes || options.max_l1 || options.max_l2) return refuse("--max-pes, --max-l1 or --max-l2");
  return Done{};
}

// Everything that follows from network, machine, options and restriction.
Result<HierarchyJob> made(HierarchyJob job, LoopNetwork network, ThreadPool& threads) {
  TW_TRY(job.options.objective.limits, limits_from(job.options));
  job.network_name = std::move(network.name);
  job.network_text = std::move(network.text);
  job.machine_name = printable(job.machine.name);
  job.coverage = std::move(network.coverage);
  for (LoopLayer& layer : network.layers) {
    HierarchyProblem& problem = job.problems.emplace_back();
    problem.name = std::move(layer.name);
    problem.count = layer.count;
    problem.members = std::move(layer.members);
    HierarchySpaceOptions options{.judge = *job.options.judge};
    if (!job.restriction.empty()) {
      TW_TRY(options.restriction,
             hierarchy::restriction_from_timeloop(job.restriction, job.options.restrict_to, layer.problem, job.machine));
    }
    TW_TRY(problem.space, HierarchySpace::make(fmt::format("{}/{}", job.network_name, problem.name),
                                               std::move(layer.problem), job.machine, options));
  }
  if (needs_area(job.options.objective) && !area_of(job.machine)) {
    return invalid(
        fmt::format("the objective or a limit needs an area, but {} gives none for every level, expected area in "
                    "the machine file",
                    printable(job.inputs.hardware.empty() ? job.machine_name : job.inputs.hardware)));
  }
  threads.for_each(job.problems.size(), [&](std::size_t i, std::size_t) {
    HierarchyProblem& problem = job.problems[i];
    problem.classics = classics_of(problem.mappings(), job.options.objective);
    if (job.options.no_classics) return;
    for (const HierarchyClassic& classic : problem.classics) problem.known.push_back(classic.point);
  });
  return job;
}

// The options as the job has them.
Result<HierarchyJob> begun(const MappingOptions& options, const MappingOptions& plain) {
  TW_TRY([[maybe_unused]] const Done checked, check_options(options, plain));
  HierarchyJob job;
  job.options = options;
  job.options.levels = {};
  if (!options.judge) job.options.judge = hierarchy::Judge::Hierarchy;
  if (!options.restrict_to.empty()) {
    TW_TRY(job.restriction, read_file(options.restrict_to));
  }
  return job;
}

}  // namespace

Result<bool> has_memory_levels(const std::string& hardware, const LevelOptions& options) {
  if (options.judge || !options.restrict_to.empty() || !options.energies.empty() || !options.bits.empty()) return true;
  if (is_zoo_source(hardware)) {
    const std::string_view name = std::string_view(hardware).substr(4);
    const bool leveled = static_cast<bool>(zoo_text("machines", name)),
               flat = static_cast<bool>(zoo_text("accelerators", name));
    if (leveled || flat) return leveled && !flat;
    std::vector<std::string> names = zoo_names("accelerators");
    for (std::string& other : zoo_names("machines")) names.push_back(std::move(other));
    std::string hint = did_you_mean(name, names);
    if (hint.empty()) hint = fmt::format(" (there are: {})", join(names, ", "));
    return Error{ErrorCode::NotFound, fmt::format("zoo:{}: no such machine{}", name, hint)};
  }
  TW_TRY(const bool timeloop, has_top_key(hardware, {"architecture", "arch"}));
  if (timeloop) return true;
  TW_TRY(const bool ours, has_top_key(hardware, {"format"}));
  if (!ours) return false;  // whoever reads it tells
  TW_TRY(const std::string text, read_file(hardware));
  TW_TRY(const Yaml root, parse_yaml(text, hardware));
  return root.find("format")->scalar == "tilewright-accelerator-2";
}

Result<HierarchyJob> hierarchy_job(const Network& network, hierarchy::Machine machine, const MappingOptions& options,
                                   ThreadPool& threads) {
  const std::string where = machine.name;
  TW_TRY(HierarchyJob job, begun(options, {}));
  TW_TRY(job.machine, with_bits(std::move(machine), options.bits, *job.options.judge, where));
  TW_TRY(LoopNetwork loops, loop_network(network, options.layer, Alike::Together, network.name));
  return made(std::move(job), std::move(loops), threads);
}

Result<HierarchyJob> read_hierarchy_job(const MappingInputs& inputs, const MappingOptions& options, ThreadPool& threads,
                                        const MappingOptions& plain) {
  if (inputs.network.empty()) return invalid("the network is missing, expected zoo:NAME or a file");
  if (inputs.hardware.empty()) return invalid("--hardware is missing, expected zoo:NAME or a file");
  TW_TRY(HierarchyJob job, begun(options, plain));
  job.inputs = inputs;
  TW_TRY(job.machine, hierarchy::read_machine(inputs.hardware, options.energies));
  TW_TRY(job.machine, with_bits(std::move(job.machine), options.bits, *job.options.judge, inputs.hardware));
  TW_TRY(LoopNetwork loops, read_loop_network(inputs, options.layer, Alike::Together));
  return made(std::move(job), std::move(loops), threads);
}

}  // namespace tilewright
