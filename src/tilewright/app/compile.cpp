#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>

#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/app/command_line.hpp"
#include "tilewright/app/commands.hpp"
#include "tilewright/app/print.hpp"
#include "tilewright/app/verb.hpp"
#include "tilewright/base/checksum.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/study/compile_command.hpp"
#include "tilewright/study/compile_result.hpp"
#include "tilewright/study/machine_options.hpp"
#include "tilewright/study/run_directory.hpp"
#include "tilewright/study/simulate_command.hpp"
#include "tilewright/vta/disassembly.hpp"
#include "tilewright/workload/quantised_build.hpp"

namespace tilewright {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char *kManifest = "manifest.json", *kMachine = "machine.json", *kListing = "listing.txt";

Result<std::string> compile_run_json(const CompileArguments& arguments, const vta::Machine& machine) {
  Json inputs{{"machine", checksum_text(checksum(vta::to_json(machine)))}};
  for (const auto& [name, source] : {std::pair("network", arguments.network), {"schedules", arguments.schedules}}) {
    std::error_code status;
    if (!fs::is_regular_file(source, status)) continue;  // of the zoo, or the default ones
    TW_TRY(const std::uint64_t content, file_checksum(source));
    inputs[name] = checksum_text(content);
  }
  const Json json{{"format", kRunFormat},
                  {"verb", "compile"},
                  {"version", TILEWRIGHT_VERSION},
                  {"command", arguments.command},
                  {"arguments",
                   {{"network", arguments.network},
                    {"machine", arguments.machine},
                    {"schedules", arguments.schedules},
                    {"layer", arguments.layer},
                    {"seed", arguments.seed},
                    {"batch", arguments.batch},
                    {"input_size", arguments.input_size},
                    {"core", arguments.core},
                    {"read_latency", arguments.timing.read_latency},
                    {"write_latency", arguments.timing.write_latency},
                    {"bus_bytes", arguments.timing.bus_bytes},
                    {"burst_bytes", arguments.timing.burst_bytes},
                    {"no_verify", arguments.no_verify}}},
                  {"inputs", inputs}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The directory of a compilation, one program at a time. The manifest comes last: where it is, everything is.
class CompiledFiles {
 public:
  // An empty name writes nothing.
  explicit CompiledFiles(fs::path directory) : directory_(std::move(directory)) {}

  Result<Done> open(const CompileArguments& arguments, const Compilation& compilation) {
    if (directory_.empty()) return Done{};
    TW_TRY(RunDirectory run, RunDirectory::open(directory_));
    TW_TRY(const std::string record, compile_run_json(arguments, compilation.plan.machine));
    TW_TRY([[maybe_unused]] const Done begun, run.begin_or_continue(record));
    std::error_code ignored;
    fs::remove(directory_ / kManifest, ignored);
    run_.emplace(std::move(run));
    return Done{};
  }

  void add(const std::string& name, const vta::Program& program, const vta::Machine& machine) {
    if (directory_.empty() || error_) return;
    const std::vector<std::uint8_t> bytes = vta::to_file(program);
    write(name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    listing_ += fmt::format("{}\n{}\n", name, vta::listing(program, machine));
  }

  Result<Done> close(const Compilation& compilation) {
    if (directory_.empty()) return Done{};
    write(kMachine, vta::to_json(compilation.plan.machine));
    write(kListing, listing_);
    write(kManifest, manifest_of(compilation));
    if (error_) return *error_;
    return run_->end();
  }

 private:
  void write(const std::string& name, std::string_view content) {
    if (error_) return;
    const Result<Done> written = write_file(directory_ / name, content);
    if (!written) error_ = written.error();
  }

  fs::path directory_;
  std::optional<RunDirectory> run_;
  std::string listing_;
  std::optional<Error> error_;  // the first; nothing is written after it
};

class CompileProgress {
 public:
  explicit CompileProgress(std::size_t count) : count_(count) {}
  void show(const std::string& name) {
    ++done_;
    if (live_) say(fmt::format("\r{} of {} programs: {}\x1b[K", done_, count_, printable(name)));
  }
  ~CompileProgress() {
    if (live_ && done_ > 0) say("\r\x1b[K");
  }

 private:
  bool live_ = isatty(STDERR_FILENO) != 0;
  std::size_t count_, done_ = 0;
};

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

std::uint64_t fnv1a(std::span<const std::uint8_t> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

void describe(const vta::Program& program, const vta::Machine& machine, const vta::TimingOptions& options,
              vta::StepRun& step) {
  const std::vector<std::uint8_t> file = vta::to_file(program);
  step.on_machine = true;
  step.program_bytes = file.size();
  step.program_hash = fnv1a(file);
  for (const vta::Section& section : program.sections) {
    if (section.kind == vta::SectionKind::MicroOps) step.uops += static_cast<std::int64_t>(section.size / 4);
  }
  for (const std::vector<vta::Instruction>& stream : vta::streams_of(program, machine)) {
    step.instructions += static_cast<std::int64_t>(stream.size());
    step.timing = vta::time_stream(stream, machine, options);
  }
  step.fault = step.timing.fault;
}

void execute_and_compare(const vta::LayerProgram& built, const vta::Machine& machine,
                         const std::vector<std::int8_t>& expected, vta::StepRun& step) {
  const vta::Execution execution = vta::execute(built.program, machine);
  step.profile = execution.profile;
  step.elements = static_cast<std::int64_t>(expected.size());
  if (execution.fault) step.fault = execution.fault;
  std::vector<std::int8_t> result;
  if (!step.fault && execution.dumps.size() == 1) {
    step.guards_intact = vta::guards_intact(built, execution.dumps[0]);
    result = vta::plain_output(built, execution.dumps[0]);
  }
  result.resize(expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!step.fault && result[i] == expected[i]) continue;
    ++step.differences;
    if (!step.first) step.first = vta::Difference{i, result[i], expected[i]};
  }
}

using OnProgram = std::function<void(std::size_t step, const vta::Program& program)>;

// Each program by itself, fed with the reference's results: for one step, and where nothing is executed.
void run_apart(const std::vector<std::int8_t>& input, const OnProgram& on_program, ThreadPool& pool,
               Compilation& compilation) {
  const QuantisedTensors expected = run(compilation.network, input, pool);
  compilation.run.steps.resize(expected.size());
  for (std::size_t index = 1; index < expected.size(); ++index) {
    if (!compilation.plan.steps[index].schedule) continue;
    const vta::LayerProgram built = vta::step_program(compilation.network, compilation.plan, index, expected);
    vta::StepRun& step = compilation.run.steps[index];
    describe(built.program, compilation.plan.machine, compilation.timing, step);
    if (compilation.verified) execute_and_compare(built, compilation.plan.machine, expected[index], step);
    on_program(index, built.program);
  }
}

void run_whole(const std::vector<std::int8_t>& input, const OnProgram& on_program, ThreadPool& pool,
               Compilation& compilation) {
  vta::RunOptions options;
  options.timing = compilation.timing;
  options.on_program = [&](std::size_t step, const vta::Program& program, const vta::StepRun&) {
    on_program(step, program);
  };
  compilation.run = vta::run_network(compilation.network, compilation.plan, input, options, pool);
}

// Leaves only one step to the machine.
void keep_only(std::size_t kept, Compilation& compilation) {
  compilation.only = kept;
  for (std::size_t index = 1; index < compilation.plan.steps.size(); ++index) {
    vta::StepPlan& step = compilation.plan.steps[index];
    if (index == kept) continue;
    step.schedule.reset();
    step.reason = "only another step was asked for";
  }
}

Result<Compilation> plan(const CompileArguments& arguments, ThreadPool& pool) {
  Compilation compilation;
  compilation.machine_name = arguments.machine;
  compilation.seed = arguments.seed;
  compilation.verified = !arguments.no_verify;
  TW_TRY(compilation.timing, timing_options(arguments.core, arguments.timing));
  TW_TRY(const vta::Machine machine, read_compiled_machine(arguments.machine));
  QuantiseOptions quantise;
  quantise.seed = arguments.seed;
  quantise.batch = arguments.batch;
  TW_TRY(quantise.dims, dims_from(arguments.dims));
  quantise.height = quantise.width = arguments.input_size;
  if (!arguments.input_range.empty()) {
    TW_TRY(compilation.input, input_range_from(arguments.input_range, "--input-range"));
    compilation.input_assumed = false;
  }
  quantise.input = compilation.input;
  TW_TRY(compilation.network, read_quantised(arguments.network, quantise, pool));
  vta::ScheduleChoice chosen;
  if (arguments.schedules != "default") {
    TW_TRY(chosen, read_schedules(arguments.schedules, compilation.network));
  }
  TW_TRY(compilation.plan, vta::plan_network(compilation.network, machine, chosen));
  if (!arguments.layer.empty()) {
    TW_TRY(const std::size_t step, step_named(compilation.network, compilation.plan, arguments.layer));
    keep_only(step, compilation);
  }
  return compilation;
}

Result<int> compile(const CompileArguments& arguments) {
  if (arguments.network.empty()) {
    return invalid("the network is missing, expected zoo:NAME or a file: tilewright compile NETWORK");
  }
  const auto start = std::chrono::steady_clock::now();
  ThreadPool pool(static_cast<std::size_t>(arguments.threads));
  TW_TRY(Compilation compilation, plan(arguments, pool));
  CompiledFiles files(arguments.output);
  TW_TRY([[maybe_unused]] const Done opened, files.open(arguments, compilation));
  {
    CompileProgress progress(compilation.plan.program_count());
    const auto on_program = [&](std::size_t step, const vta::Program& program) {
      files.add(vta::program_file(compilation.network, step), program, compilation.plan.machine);
      progress.show(compilation.network.steps[step].name);
    };
    const bool apart = compilation.only || !compilation.verified;
    (apart ? run_apart : run_whole)(random_input(compilation.network, compilation.seed), on_program, pool, compilation);
  }
  TW_TRY([[maybe_unused]] const Done closed, files.close(compilation));
  print(arguments.json ? manifest_of(compilation) : to_text(compilation));
  say(fmt::format("{} cycles, compiled{} in {:.1f} s{}\n", with_thousands(compilation.run.cycles()),
                  compilation.verified && compilation.run.is_equal() ? " and verified" : "",
                  std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
                  arguments.output.empty() ? "" : fmt::format("; results in {}", arguments.output)));
  return compilation.run.is_equal() ? kExitDone : kExitDiffers;
}

}  // namespace

int run_compile(const CompileArguments& arguments) {
  const Result<int> code = compile(arguments);
  return code ? *code : report(code.error());
}

Verb compile_verb(const Command& command) {
  const auto arguments = std::make_shared<CompileArguments>();
  arguments->command = command;
  return {.name = "compile",
          .summary = "a whole network as programs of a VTA-class machine, verified",
          .options = {},
          .footer = "",
          .run = [arguments] { return run_compile(*arguments); },
          .add = [arguments](CLI::App& verb) { add_compile_options(verb, *arguments); }};
}

}  // namespace tilewright
