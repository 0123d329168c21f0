#include "tilewright/study/mapping_job.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/space/archgym_space.hpp"

namespace tilewright {
namespace {

MappingSpaceOptions space_options(const MappingOptions& options) {
  MappingSpaceOptions space;
  space.evaluate = {.model = options.model, .constraints = options.constraints};
  space.tiles = options.tiles;
  if (options.levels) {
    space.least_levels = options.levels->least;
    space.most_levels = options.levels->most;
  }
  space.search_pes = options.search_pes;
  // MAESTRO enforces no limit; a search needs those that GAMMA adds.
  space.gamma_rules = is_maestro(options.model);
  return space;
}

// What the space of a problem tells of its points; the space outlives it.
template <typename Space>
void read_points_of(MappingProblem& problem, std::unique_ptr<Space> space, const Accelerator& machine) {
  const Space* const view = space.get();
  problem.mapping = [view](PointView point) { return view->mapping(point); };
  problem.machine = [view, machine](PointView point) {
    Accelerator its = machine;
    its.pes = view->pes(point);
    return its;
  };
  problem.space = std::move(space);
}

// `where` says which machine and network, in sentences.
Result<MappingJob> make_job(Network network, Accelerator accelerator, const MappingOptions& options,
                            const MappingInputs& where, ThreadPool& threads) {
  if (options.judge || !options.restrict_to.empty() || !options.energies.empty() || !options.bits.empty()) {
    return invalid(
        "--model hierarchy, --model timeloop, --restrict, --energies and --bits are for machines with memory levels, "
        "expected "
        "them to be left out");
  }
  MappingJob job;
  job.inputs = where;
  job.options = options;
  TW_TRY(job.options.objective.limits, limits_from(options));
  TW_TRY(job.accelerator, within_limits(std::move(accelerator), options, where.hardware));
  if (!is_maestro(options.model)) {
    TW_TRY([[maybe_unused]] const Done known, check_area(job.options.objective, job.accelerator, where.hardware));
  }
  job.network = std::move(network);
  job.network_name = printable(job.network.name);
  job.machine_name = printable(job.accelerator.name);
  if (job.network.layers.empty()) {
    return invalid(fmt::format("{}: has no layer to map, only {}", where.network,
                               job.network.others.empty() ? "inputs" : names_of(job.network.others)));
  }
  std::vector<LayerGroup> groups = distinct_layers(job.network);
  if (!options.layer.empty()) {
    TW_TRY(const std::size_t index, find_layer(job.network, options.layer));
    groups = {{index, job.network.layers[index].count, {index}}};
  }
  job.coverage = coverage_of(job.network, groups);
  for (const LayerGroup& group : groups) {
    const Layer& layer = job.network.layers[group.first].layer;
    MappingProblem& problem = job.problems.emplace_back();
    problem.name = printable(layer.name);
    problem.count = group.count;
    problem.layer = layer;
    for (const std::size_t member : group.members) {
      problem.members.push_back(printable(job.network.layers[member].layer.name));
    }
    TW_TRY(problem.nest, nest_of(layer));
  }
  threads.for_each(job.problems.size(), [&](std::size_t i, std::size_t) { prepare(job.problems[i], job); });
  return job;
}

}  // namespace

Result<Done> check_area(const Objective& objective, const Accelerator& accelerator, const std::string& where) {
  if (!needs_area(objective) || accelerator.area.known()) return Done{};
  return invalid(
      fmt::format("{} needs an area, but {} gives no figures for one, expected area: {{pe_um2: …, "
                  "buffer_byte_um2: …}} in the machine file",
                  objective.limits.area ? "--max-area" : "--objective " + name_of(objective), printable(where)));
}

Result<Accelerator> within_limits(Accelerator accelerator, const LimitOptions& options, const std::string& where) {
  LimitOptions checked = options;
  TW_TRY([[maybe_unused]] const Done ranges, check_ranges(options_of(checked)));
  if (options.max_pes) accelerator.pes = std::min(accelerator.pes, *options.max_pes);
  if (options.max_l1) accelerator.l1.value = std::min(accelerator.l1.value, *options.max_l1);
  if (options.max_l2) accelerator.l2.value = std::min(accelerator.l2.value, *options.max_l2);
  // Fewer processing elements may not make whole clusters.
  return check(std::move(accelerator), where + " within the limits");
}

void prepare(MappingProblem& problem, const MappingJob& job) {
  const MappingSpaceOptions options = space_options(job.options);
  problem.classics =
      classics_of(problem.nest, job.accelerator, {options.evaluate, options.gamma_rules, job.options.objective});
  const std::string name = fmt::format("{}/{}", job.network_name, problem.name);
  if (job.options.space == SpaceKind::Archgym) {
    ArchgymOptions gym{.evaluate = options.evaluate};
    gym.gamma_rules = options.gamma_rules;
    auto space = std::make_unique<ArchgymSpace>(name, problem.nest, job.accelerator, gym);
    const Accelerator machine = space->basis().accelerator();
    return read_points_of(problem, std::move(space), machine);
  }
  auto space =
      job.options.levels
          ? std::make_unique<MappingSpace>(name, problem.nest, job.accelerator, options)
          : std::make_unique<MappingSpace>(space_with(problem.classics, name, problem.nest, job.accelerator, options));
  if (!job.options.no_classics) problem.known = points_of(problem.classics, *space);
  const Accelerator machine = space->accelerator();
  read_points_of(problem, std::move(space), machine);
}

Result<MappingJob> mapping_job(Network network, Accelerator accelerator, const MappingOptions& options,
                               ThreadPool& threads) {
  const MappingInputs names{.network = network.name, .hardware = accelerator.name};
  TW_TRY(MappingJob job, make_job(std::move(network), std::move(accelerator), options, names, threads));
  job.inputs = {};
  return job;
}

Result<MappingJob> read_mapping_job(const MappingInputs& inputs, const MappingOptions& options, ThreadPool& threads) {
  if (inputs.network.empty()) return invalid("the network is missing, expected zoo:NAME or a file");
  if (inputs.hardware.empty()) return invalid("--hardware is missing, expected zoo:NAME or a file");
  TW_TRY(Accelerator accelerator, read_accelerator(inputs.hardware));
  TW_TRY(const ReadOptions read, read_options(inputs.batch, inputs.dims));
  TW_TRY(Network network, read_network(inputs.network, read));
  return make_job(std::move(network), std::move(accelerator), options, inputs, threads);
}

}  // namespace tilewright
