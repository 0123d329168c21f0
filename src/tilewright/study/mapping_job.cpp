#include "tilewright/study/mapping_job.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

// "auto", "2", or "1-3".
Result<Done> read_levels(const std::string& text, MappingSpaceOptions& options) {
  if (text == "auto") return Done{};
  const std::vector<std::string_view> parts = split(text, '-');
  const auto least = parse_integer(parts.front()), most = parse_integer(parts.back());
  if (parts.size() > 2 || !least || !most || *least < 1 || *most > 3 || *least > *most) {
    return invalid(fmt::format("--levels is '{}', expected auto, 1, 2, 3, or a range like 1-3", printable(text)));
  }
  options.least_levels = static_cast<std::size_t>(*least);
  options.most_levels = static_cast<std::size_t>(*most);
  return Done{};
}

Result<MappingSpaceOptions> space_options(const MappingArguments& arguments, const MappingJob& job) {
  MappingSpaceOptions options;
  options.evaluate = job.evaluate();
  TW_TRY(options.tiles, named<Tiles>(arguments.tiles));
  TW_TRY([[maybe_unused]] const Done levels, read_levels(arguments.levels, options));
  options.search_pes = arguments.search_pes;
  // MAESTRO enforces no limit; a search needs those that GAMMA adds.
  options.gamma_rules = is_maestro(job.model);
  return options;
}

void prepare(MappingProblem& problem, const MappingArguments& arguments, const MappingSpaceOptions& options,
             const MappingJob& job) {
  problem.classics = classics_of(problem.nest, job.accelerator, {options.evaluate, options.gamma_rules, job.objective});
  const std::string name = fmt::format("{}/{}", job.network_name, problem.name);
  if (arguments.space == "archgym") {
    ArchgymOptions gym{.evaluate = options.evaluate};
    gym.gamma_rules = options.gamma_rules;
    problem.space = std::make_unique<ArchgymSpace>(name, problem.nest, job.accelerator, gym);
    return;
  }
  auto space =
      arguments.levels == "auto"
          ? std::make_unique<MappingSpace>(space_with(problem.classics, name, problem.nest, job.accelerator, options))
          : std::make_unique<MappingSpace>(name, problem.nest, job.accelerator, options);
  if (!arguments.no_classics) problem.known = points_of(problem.classics, *space);
  problem.space = std::move(space);
}

}  // namespace

Result<Limits> limits_from(const LimitArguments& arguments) {
  for (const auto& [flag, limit] : {std::pair("--max-latency", arguments.max_latency),
                                    {"--max-energy", arguments.max_energy},
                                    {"--max-area", arguments.max_area},
                                    {"--max-power", arguments.max_power}}) {
    if (limit && !(*limit > 0)) return invalid(fmt::format("{} is {}, expected more than 0", flag, *limit));
  }
  return Limits{arguments.max_latency, arguments.max_energy, arguments.max_area, arguments.max_power};
}

Result<Done> check_area(const Objective& objective, const Accelerator& accelerator, const std::string& where) {
  if (!needs_area(objective) || accelerator.area.known()) return Done{};
  return invalid(
      fmt::format("{} needs an area, but {} gives no figures for one, expected area: {{pe_um2: …, "
                  "buffer_byte_um2: …}} in the machine file",
                  objective.limits.area ? "--max-area" : "--objective " + name_of(objective), printable(where)));
}

Result<Accelerator> within_limits(Accelerator accelerator, const LimitArguments& arguments, const std::string& where) {
  for (const auto& [flag, limit] :
       {std::pair("--max-pes", arguments.max_pes), {"--max-l1", arguments.max_l1}, {"--max-l2", arguments.max_l2}}) {
    if (limit && *limit < 1) return invalid(fmt::format("{} is {}, expected at least 1", flag, *limit));
  }
  if (arguments.max_pes) accelerator.pes = std::min(accelerator.pes, *arguments.max_pes);
  if (arguments.max_l1) accelerator.l1.value = std::min(accelerator.l1.value, *arguments.max_l1);
  if (arguments.max_l2) accelerator.l2.value = std::min(accelerator.l2.value, *arguments.max_l2);
  // Fewer processing elements may not make whole clusters.
  return check(std::move(accelerator), where + " within the limits");
}

Mapping MappingProblem::mapping(PointView point) const {
  if (const auto* gym = dynamic_cast<const ArchgymSpace*>(space.get())) return gym->mapping(point);
  return static_cast<const MappingSpace&>(*space).mapping(point);
}

Accelerator MappingProblem::machine(PointView point) const {
  if (const auto* gym = dynamic_cast<const ArchgymSpace*>(space.get())) {
    Accelerator machine = gym->basis().accelerator();
    machine.pes = gym->pes(point);
    return machine;
  }
  const auto& mappings = static_cast<const MappingSpace&>(*space);
  Accelerator machine = mappings.accelerator();
  machine.pes = mappings.pes(point);
  return machine;
}

std::vector<Proposal> MappingJob::known() const {
  std::vector<Proposal> known;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    for (const Point& point : problems[i].known) known.push_back({i, point});
  }
  return known;
}

std::vector<const DesignSpace*> MappingJob::spaces() const {
  std::vector<const DesignSpace*> spaces;
  for (const MappingProblem& problem : problems) spaces.push_back(problem.space.get());
  return spaces;
}

Result<Done> prepare(MappingProblem& problem, const MappingArguments& arguments, const MappingJob& job) {
  TW_TRY(const MappingSpaceOptions options, space_options(arguments, job));
  prepare(problem, arguments, options, job);
  return Done{};
}

constexpr std::string_view kPesSearched = ", processing elements searched";

std::string space_text(const MappingArguments& arguments) {
  if (arguments.space == "archgym") return "archgym";
  return fmt::format("{} with tiles {}, levels {}{}", arguments.space, arguments.tiles, arguments.levels,
                     arguments.search_pes ? kPesSearched : "");
}

MappingArguments space_arguments(const std::string& text) {
  MappingArguments arguments;
  const auto word = [&text](std::string_view before) {  // what follows `before`, up to the next comma or space
    const std::size_t begin = text.find(before);
    if (begin == std::string::npos) return std::string();
    const std::string after = text.substr(begin + before.size());
    return after.substr(0, after.find_first_of(", "));
  };
  arguments.space = word("");
  if (arguments.space == "archgym") return arguments;
  arguments.tiles = word(" with tiles ");
  arguments.levels = word(", levels ");
  arguments.search_pes = text.ends_with(kPesSearched);
  return arguments;
}

Result<MappingJob> read_mapping_job(const MappingArguments& arguments, ThreadPool& threads) {
  if (arguments.network.empty()) return invalid("the network is missing, expected zoo:NAME or a file");
  if (arguments.hardware.empty()) return invalid("--hardware is missing, expected zoo:NAME or a file");
  MappingJob job;
  TW_TRY(job.model, named<Model>(arguments.model));
  TW_TRY(job.constraints, named<Constraints>(arguments.constraints));
  TW_TRY(job.objective, objective_named(arguments.objective));
  TW_TRY(job.objective.limits, limits_from(arguments));
  TW_TRY(const MappingSpaceOptions options, space_options(arguments, job));
  const std::vector<std::string> spaces = {"mapping", "archgym"};
  if (std::ranges::find(spaces, arguments.space) == spaces.end()) {
    return invalid(fmt::format("space '{}' is not known{}, expected mapping or archgym", printable(arguments.space),
                               did_you_mean(arguments.space, spaces)));
  }
  TW_TRY(Accelerator accelerator, read_accelerator(arguments.hardware));
  TW_TRY(job.accelerator, within_limits(std::move(accelerator), arguments, arguments.hardware));
  if (!is_maestro(job.model)) {
    TW_TRY([[maybe_unused]] const Done known, check_area(job.objective, job.accelerator, arguments.hardware));
  }
  TW_TRY(const ReadOptions read, read_options(arguments.batch, arguments.dims));
  TW_TRY(job.network, read_network(arguments.network, read));
  job.network_name = printable(job.network.name);
  if (job.network.layers.empty()) {
    return invalid(fmt::format("{}: has no layer to map, only {}", arguments.network,
                               job.network.others.empty() ? "inputs" : names_of(job.network.others)));
  }

  std::vector<LayerGroup> groups = distinct_layers(job.network);
  if (!arguments.layer.empty()) {
    TW_TRY(const std::size_t index, find_layer(job.network, arguments.layer));
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
  threads.for_each(job.problems.size(),
                   [&](std::size_t i, std::size_t) { prepare(job.problems[i], arguments, options, job); });
  return job;
}

}  // namespace tilewright
