#include <filesystem>

#include <fmt/format.h>

#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/base/yaml.hpp"
#include "tilewright/hierarchy/machine_yaml.hpp"
#include "tilewright/hierarchy/timeloop_yaml.hpp"
#include "tilewright/space/hierarchy_outcome.hpp"
#include "tilewright/study/hierarchy_mapping.hpp"
#include "tilewright/zoo/zoo.hpp"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

bool is_yaml(const std::string& source) {
  const std::string ending = fs::path(source).extension().string();
  return ending == ".yaml" || ending == ".yml";
}

// Timeloop's files are told by their top keys.
Result<bool> has_key(const std::string& source, std::initializer_list<std::string_view> keys) {
  if (is_zoo_source(source) || !is_yaml(source)) return false;
  TW_TRY(const std::string text, read_file(source));
  TW_TRY(const Yaml root, parse_yaml(text, source));
  for (const std::string_view key : keys) {
    if (root.find(key) != nullptr) return true;
  }
  return false;
}

Result<Done> check_options(const MappingOptions& options) {
  const MappingOptions plain;
  const auto refuse = [](std::string_view what) {
    return invalid(fmt::format("{} does not go with machines of memory levels, expected it to be left out", what));
  };
  if (options.model != plain.model) return refuse(fmt::format("--model {}", name_of(options.model)));
  if (options.space != plain.space) return refuse("--space");
  if (options.tiles != plain.tiles) return refuse("--tiles");
  if (options.levels) return refuse("--levels");
  if (options.search_pes) return refuse("--search-pes");
  if (options.constraints != plain.constraints) return refuse("--constraints");
  if (options.max_pes || options.max_l1 || options.max_l2) return refuse("--max-pes, --max-l1 or --max-l2");
  if (options.objective.form == Objective::Form::Pareto) return refuse("--objective pareto");
  return Done{};
}

Result<Done> add_problem(HierarchyJob& job, HierarchyProblem problem, hierarchy::Problem loops) {
  HierarchySpaceOptions options{.judge = *job.options.judge};
  if (!job.restriction.empty()) {
    TW_TRY(options.restriction,
           hierarchy::restriction_from_timeloop(job.restriction, job.options.restrict_to, loops, job.machine));
  }
  TW_TRY(problem.space,
         HierarchySpace::make(fmt::format("{}/{}", job.network_name, problem.name), std::move(loops), job.machine, options));
  job.problems.push_back(std::move(problem));
  return Done{};
}

Result<Done> add_network(HierarchyJob& job, const Network& network) {
  job.network_name = printable(network.name);
  job.network_text = to_yaml(network);
  if (network.layers.empty()) {
    return invalid(fmt::format("{}: has no layer to map, only {}", job.inputs.network,
                               network.others.empty() ? "inputs" : names_of(network.others)));
  }
  std::vector<LayerGroup> groups = distinct_layers(network);
  if (!job.options.layer.empty()) {
    TW_TRY(const std::size_t index, find_layer(network, job.options.layer));
    groups = {{index, network.layers[index].count, {index}}};
  }
  job.coverage = coverage_of(network, groups);
  for (const LayerGroup& group : groups) {
    const Layer& layer = network.layers[group.first].layer;
    HierarchyProblem problem{
        .name = printable(layer.name), .count = group.count, .members = {}, .space = {}, .classics = {}};
    for (const std::size_t member : group.members) problem.members.push_back(printable(network.layers[member].layer.name));
    TW_TRY(hierarchy::Problem loops, hierarchy::problem_of(layer));
    TW_TRY([[maybe_unused]] const Done added, add_problem(job, std::move(problem), std::move(loops)));
  }
  return Done{};
}

Result<Done> add_timeloop_problem(HierarchyJob& job) {
  TW_TRY(job.network_text, read_file(job.inputs.network));
  TW_TRY(hierarchy::Problem loops, hierarchy::problem_from_timeloop(job.network_text, job.inputs.network));
  if (!job.options.layer.empty())
    return invalid("--layer does not go with a problem of Timeloop's, expected it to be left out");
  job.network_name = printable(fs::path(job.inputs.network).stem().string());
  job.coverage.macs = {computes(loops)};
  HierarchyProblem problem{.name = job.network_name, .members = {job.network_name}, .space = {}, .classics = {}};
  return add_problem(job, std::move(problem), std::move(loops));
}

}  // namespace

Result<bool> has_memory_levels(const std::string& hardware, const MappingOptions& options) {
  if (options.judge || !options.restrict_to.empty() || !options.energies.empty() || !options.bits.empty()) return true;
  if (is_zoo_source(hardware)) {
    const std::string_view name = std::string_view(hardware).substr(4);
    const bool leveled = static_cast<bool>(zoo_text("machines", name)),
               flat = static_cast<bool>(zoo_text("accelerators", name));
    return leveled && !flat;
  }
  if (!is_yaml(hardware)) return false;
  std::error_code status;
  if (!fs::exists(hardware, status)) return false;  // whoever reads it tells
  TW_TRY(const std::string text, read_file(hardware));
  TW_TRY(const Yaml root, parse_yaml(text, hardware));
  const Yaml* format = root.find("format");
  return root.find("architecture") != nullptr || root.find("arch") != nullptr ||
         (format != nullptr && format->scalar == "tilewright-accelerator-2");
}

Result<HierarchyJob> read_hierarchy_job(const MappingInputs& inputs, const MappingOptions& options, ThreadPool& threads) {
  if (inputs.network.empty()) return invalid("the network is missing, expected zoo:NAME or a file");
  if (inputs.hardware.empty()) return invalid("--hardware is missing, expected zoo:NAME or a file");
  TW_TRY([[maybe_unused]] const Done checked, check_options(options));
  HierarchyJob job;
  job.inputs = inputs;
  job.options = options;
  if (!job.options.judge) job.options.judge = hierarchy::Judge::Hierarchy;
  TW_TRY(job.options.objective.limits, limits_from(options));
  TW_TRY(job.machine, hierarchy::read_machine(inputs.hardware, options.energies));
  if (!options.bits.empty() && *job.options.judge == hierarchy::Judge::Timeloop) {
    return invalid("--bits does not go with --model timeloop, which counts words, expected --model hierarchy");
  }
  if (!options.bits.empty()) {
    TW_TRY(job.machine.bits, hierarchy::element_bits(options.bits, job.machine.bits));
    TW_TRY(job.machine, check(std::move(job.machine), inputs.hardware));
  }
  if (!options.restrict_to.empty()) {
    TW_TRY(job.restriction, read_file(options.restrict_to));
  }
  TW_TRY(const bool timeloop, has_key(inputs.network, {"problem"}));
  if (timeloop) {
    TW_TRY([[maybe_unused]] const Done added, add_timeloop_problem(job));
  } else {
    TW_TRY(const ReadOptions read, read_options(inputs.batch, inputs.dims));
    TW_TRY(const Network network, read_network(inputs.network, read));
    TW_TRY([[maybe_unused]] const Done added, add_network(job, network));
  }
  if (needs_area(job.options.objective) && !area_of(job.machine)) {
    return invalid(
        fmt::format("the objective or a limit needs an area, but {} gives none for every level, expected area in "
                    "the machine file",
                    printable(inputs.hardware)));
  }
  threads.for_each(job.problems.size(),
                   [&](std::size_t i, std::size_t) { job.problems[i].classics = classics_of(*job.problems[i].space); });
  return job;
}

}  // namespace tilewright
