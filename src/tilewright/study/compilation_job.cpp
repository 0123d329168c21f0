// What is compiled, of what files, and how that is written down.
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/checksum.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/study/common_options.hpp"
#include "tilewright/study/compilation_parts.hpp"
#include "tilewright/study/machine_options.hpp"
#include "tilewright/study/run_directory.hpp"
#include "tilewright/study/stop_heard.hpp"
#include "tilewright/vta/schedule_json.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;
constexpr double kMostSize = 1 << 16;  // of images, and of their rows and columns

Result<std::size_t> step_named(const QuantisedNetwork& network, const vta::NetworkPlan& plan, const std::string& name) {
  std::vector<std::string> names;
  for (std::size_t index = 1; index < network.steps.size(); ++index) {
    names.push_back(network.steps[index].name);
    if (names.back() != name) continue;
    if (plan.steps[index].schedule) return index;
    return invalid(
        fmt::format("step '{}' is the host's, expected one of the machine's: {}", name, plan.steps[index].reason));
  }
  return Error{ErrorCode::NotFound, fmt::format("'{}' is no step of {}, expected one of its {}{}", name, network.name,
                                                names.size(), did_you_mean(name, names))};
}

// Leaves only one step to the machine.
void keep_only(std::size_t kept, CompilationJob& job) {
  job.only = kept;
  for (std::size_t index = 1; index < job.plan.steps.size(); ++index) {
    vta::StepPlan& step = job.plan.steps[index];
    if (index == kept) continue;
    step.schedule.reset();
    step.reason = "only another step was asked for";
  }
}

// "LO,HI"; empty where nobody said.
Worded worded_range(std::optional<InputRange>& range) {
  return {[&range] { return range ? fmt::format("{},{}", range->low, range->high) : std::string(); },
          [&range](const std::string& text) -> Result<Done> {
            TW_TRY(range, input_range_from(text, "--input-range"));
            return Done{};
          },
          {}};
}

Result<Done> check_accuracy_options(const CompileOptions& options) {
  if (!options.calibration.empty() && options.input_range) {
    return invalid("--input-range and --calibration are both given, expected one: data shows its own range");
  }
  if (options.write_outputs.empty()) return Done{};
  if (options.calibration.empty() && options.labels.empty()) {
    return invalid("--write-outputs has no images to answer, expected --calibration or --labels with it");
  }
  if (std::filesystem::path(options.write_outputs).extension() == ".npy") return Done{};
  return invalid(
      fmt::format("--write-outputs is '{}', expected a name that ends with .npy", printable(options.write_outputs)));
}

}  // namespace

OptionTable options_of(CompileOptions& options) {
  const OptionTraits run{.group = "Results"};
  const std::string_view accuracy = "Accuracy";
  OptionTable table = {
      {"network",
       &options.network,
       "zoo:NAME (seeded weights), a network file (same), or an ONNX model (its own)",
       {.positional = true}},
      {"machine", &options.machine, "zoo:vta, or a JSON file with VTA's LOG_* keys"},
      {"schedules", &options.schedules, "default, a file of tiles and threads by layer, or a manifest.json"},
      {"layer", &options.layer, "name of one step; without it, all steps"},
      {"batch", &options.batch, "images", {.least = 1, .most = kMostSize}},
      dim_field(options.dims),
      {"input_size",
       &options.input_size,
       "rows and columns of the input; 0, the default: the network's own",
       {.least = 0, .most = kMostSize, .default_is_said = true}},
      {"input_range",
       worded_range(options.input_range),
       "LO,HI of the real numbers it will be fed, like 0,255; default -1,1, an assumption",
       {.default_is_said = true}},
      {"calibration",
       &options.calibration,
       "FILE.npz, FILE.npy or a folder: images by the input's name or X, by which scales are chosen",
       {.group = accuracy}},
      {"calibration_method", worded(options.ranges.method), "how far the integers of a tensor reach", {.group = accuracy}},
      {"percentile",
       &options.ranges.percentile,
       "percent of a channel's values that stay, with that method",
       {.group = accuracy, .least = 50, .most = 100}},
      {"labels", &options.labels, "the same with images X and classes y: how often integers are right", {.group = accuracy}},
      {"seed", &options.seed, "of weights and input; the same seed gives the same bytes"}};
  const OptionTable timing = options_of(options.timing);
  table.insert(table.end(), timing.begin(), timing.end());
  table.push_back({"no_verify", &options.no_verify, "do not execute the programs", run});
  table.push_back({"write_outputs",
                   &options.write_outputs,
                   "FILE.npy for what the integers answer to the images, in real numbers",
                   {.group = "Results", .recorded = false}});
  return table;
}

Result<std::string> compile_record(const CompileOptions& options, const vta::Machine& machine) {
  Json inputs{{"machine", checksum_text(checksum(vta::to_json(machine)))}};
  for (const auto& [name, source] : {std::pair("network", options.network),
                                     {"schedules", options.schedules},
                                     {"calibration", options.calibration},
                                     {"labels", options.labels}}) {
    std::error_code status;
    if (!std::filesystem::is_regular_file(source, status)) continue;  // of the zoo, the default ones, or a folder
    TW_TRY(const std::uint64_t content, file_checksum(source));
    inputs[name] = checksum_text(content);
  }
  CompileOptions recorded = options;
  const Json json{{"format", kRunFormat},
                  {"verb", "compile"},
                  {"version", TILEWRIGHT_VERSION},
                  {"command", options.command},
                  {"arguments", to_json(options_of(recorded))},
                  {"inputs", inputs}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<CompilationJob> compilation_job(QuantisedNetwork network, const vta::Machine& machine,
                                       const vta::ScheduleChoice& schedules, const std::string& layer) {
  CompilationJob job;
  job.network = std::move(network);
  TW_TRY(job.plan, vta::plan_network(job.network, machine, schedules));
  if (!layer.empty()) {
    TW_TRY(const std::size_t step, step_named(job.network, job.plan, layer));
    keep_only(step, job);
  }
  return job;
}

Result<CompilationJob> read_compilation_job(const CompileOptions& options, RunContext& context) {
  if (options.network.empty()) {
    return invalid("the network is missing, expected zoo:NAME or a file: tilewright compile NETWORK");
  }
  TW_TRY([[maybe_unused]] const vta::TimingOptions timing, vta::check(options.timing, "memory"));
  TW_TRY([[maybe_unused]] const Done fits, check_accuracy_options(options));
  TW_TRY(const vta::Machine machine, read_compiled_machine(options.machine));
  QuantiseOptions quantise;
  quantise.seed = options.seed;
  quantise.batch = options.batch;
  TW_TRY(quantise.dims, dims_from(options.dims));
  quantise.height = quantise.width = options.input_size;
  if (options.input_range) quantise.input = *options.input_range;
  const StopHeard heard(context);
  TW_TRY(Draft draft, read_draft(options.network, quantise));
  CalibrationFiles files{.calibration = options.calibration,
                         .labels = options.labels,
                         .choice = {.ranges = options.ranges},
                         .seed = options.seed,
                         .range_is_told = options.input_range.has_value(),
                         .saturated = quantise.saturated};
  TW_TRY(Calibrated calibrated, calibrate(std::move(draft), files, context.threads));
  QuantisedNetwork network = std::move(calibrated.network);
  vta::ScheduleChoice chosen;
  if (options.schedules != "default") {
    TW_TRY(chosen, read_schedules(options.schedules, network));
  }
  TW_TRY(CompilationJob job, compilation_job(std::move(network), machine, chosen, options.layer));
  job.calibration = std::move(calibrated);
  return job;
}

Result<vta::ScheduleChoice> read_schedules(const std::string& file, const QuantisedNetwork& network) {
  TW_TRY(const std::string text, read_file(file));
  TW_TRY(const vta::Schedules schedules, vta::schedules_from_json(text, file));
  std::vector<std::string> names;
  for (const QuantisedStep& step : network.steps) {
    if (step.kind == StepKind::Product && !step.is_average) names.push_back(step.layer.name);
  }
  const std::set<std::string> known(names.begin(), names.end());
  for (const auto& [name, schedule] : schedules) {
    if (known.contains(name)) continue;
    return invalid(fmt::format("{}: layer '{}' is none of {}, expected one of its {} layers{}", file,
                               printable(name.substr(0, 60)), network.name, names.size(), did_you_mean(name, names)));
  }
  return vta::ScheduleChoice([schedules](const Layer& layer) -> std::optional<vta::Schedule> {
    const auto found = schedules.find(layer.name);
    return found == schedules.end() ? std::nullopt : std::optional(found->second);
  });
}

}  // namespace tilewright
