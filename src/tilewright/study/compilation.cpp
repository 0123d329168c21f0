#include "tilewright/study/compilation.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/study/compilation_parts.hpp"
#include "tilewright/study/program_folder.hpp"
#include "tilewright/study/run_directory.hpp"
#include "tilewright/study/stop_heard.hpp"

namespace tilewright {
namespace {

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
                         const std::vector<std::int8_t>& expected, const vta::ExecutionOptions& options,
                         vta::StepRun& step) {
  const vta::Execution execution = vta::execute(built.program, machine, options);
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

// The reference's results; when one step was asked for, only what it needs.
QuantisedTensors reference_results(const std::vector<std::int8_t>& input, ThreadPool& threads,
                                   const CompilationStudy& study) {
  if (!study.only) return run(study.network, input, threads);
  const std::vector<bool> needed = steps_needed(study.network, *study.only);
  QuantisedTensors tensors(study.network.steps.size());
  tensors[0] = input;
  for (std::size_t index = 1; index <= *study.only; ++index) {
    if (needed[index]) tensors[index] = run_step(study.network, index, tensors, threads);
  }
  return tensors;
}

// Each program by itself, fed with the reference's results: for one step, and where nothing is executed.
void run_apart(const std::vector<std::int8_t>& input, const vta::ExecutionOptions& execution, const OnProgram& on_program,
               ThreadPool& threads, CompilationStudy& study) {
  const QuantisedTensors expected = reference_results(input, threads, study);
  study.run.steps.resize(expected.size());
  for (std::size_t index = 1; index < expected.size(); ++index) {
    if (!study.plan.steps[index].schedule) continue;
    const vta::LayerProgram built = vta::step_program(study.network, study.plan, index, expected);
    vta::StepRun& step = study.run.steps[index];
    describe(built.program, study.plan.machine, study.timing, step);
    if (study.verified) execute_and_compare(built, study.plan.machine, expected[index], execution, step);
    on_program(index, built.program);
  }
}

void run_whole(const std::vector<std::int8_t>& input, const vta::ExecutionOptions& execution, const OnProgram& on_program,
               ThreadPool& threads, CompilationStudy& study) {
  vta::RunOptions options;
  options.timing = study.timing;
  options.execution = execution;
  options.on_program = [&](std::size_t step, const vta::Program& program, const vta::StepRun&) {
    on_program(step, program);
  };
  study.run = vta::run_network(study.network, study.plan, input, options, threads);
}

CompilationStudy study_of(CompilationJob job, const CompileOptions& options) {
  CompilationStudy study;
  study.machine_name = options.machine;
  study.network = std::move(job.network);
  study.plan = std::move(job.plan);
  study.only = job.only;
  study.timing = options.timing;
  study.seed = options.seed;
  study.calibration = std::move(job.calibration);
  study.verified = !options.no_verify;
  return study;
}

Result<Done> write_results(const CompilationStudy& study, const CompileOptions& options) {
  if (options.write_outputs.empty()) return Done{};
  const TensorShape& shape = study.network.steps.back().shape;
  const std::int64_t rows = shape.batch / study.network.steps[0].shape.batch;  // vectors per image
  NumberArray array{{study.accuracy->images, shape.channels}, study.accuracy->results};
  if (rows > 1) array.shape.insert(array.shape.begin() + 1, rows);
  if (shape.height * shape.width > 1) array.shape.insert(array.shape.end(), {shape.height, shape.width});
  return write_file(options.write_outputs, to_npy(array));
}

}  // namespace

std::vector<bool> steps_needed(const QuantisedNetwork& network, std::size_t step) {
  std::vector<bool> needed(network.steps.size(), false);
  needed[step] = true;
  for (std::size_t index = step + 1; index-- > 0;) {
    if (!needed[index]) continue;
    for (const std::size_t input : network.steps[index].inputs) needed[input] = true;
  }
  return needed;
}

Result<CompilationStudy> compile(CompilationJob job, const CompileOptions& options, RunContext& context,
                                 const WriteFiles& before_manifest) {
  TW_TRY([[maybe_unused]] const vta::TimingOptions timing, vta::check(options.timing, "memory"));
  if (context.directory != nullptr) {
    TW_TRY(const std::string record, compile_record(options, job.plan.machine));
    TW_TRY([[maybe_unused]] const Done begun, context.directory->begin_or_continue(record));
  }
  CompilationStudy study = study_of(std::move(job), options);
  ProgramFolder folder(context.directory, "");
  std::int64_t done = 0;
  const auto on_program = [&](std::size_t step, const vta::Program& program) {
    folder.add(vta::program_file(study.network, step), program, study.plan.machine);
    ++done;
    context.progress.tell([&] {
      return ProgressState{.title = printable(study.network.name),
                           .done = done,
                           .all = static_cast<std::int64_t>(study.plan.program_count()),
                           .unit = "programs",
                           .words = printable(study.network.steps[step].name),
                           .lines = {}};
    });
    if (context.stop.asked()) throw Stopped{};
  };
  vta::ExecutionOptions execution;
  execution.progress = [&](std::int64_t, std::int64_t) {
    if (context.stop.asked()) throw Stopped{};
  };
  const StopHeard heard(context);
  const bool apart = study.only || !study.verified;
  const Calibrated& calibration = study.calibration;
  const std::vector<std::int8_t> input =
      calibration.first.empty() ? random_input(study.network, study.seed) : calibration.first;
  (apart ? run_apart : run_whole)(input, execution, on_program, context.threads, study);
  if (calibration.images.count > 0) {
    study.accuracy = accuracy_of(*calibration.real, study.network, calibration.images, calibration.labels, context.threads);
    TW_TRY([[maybe_unused]] const Done written, write_results(study, options));
  }
  if (context.directory != nullptr) {
    TW_TRY([[maybe_unused]] const Done machine,
           write_file(context.directory->path() / "machine.json", vta::to_json(study.plan.machine)));
    if (before_manifest) {
      TW_TRY([[maybe_unused]] const Done told, before_manifest(study, context.directory->path()));
    }
  }
  TW_TRY([[maybe_unused]] const std::size_t programs, folder.close(to_json(study)));
  return study;
}

std::vector<std::size_t> worst_steps(const CompilationStudy& study) {
  std::vector<std::size_t> worst;
  for (std::size_t index = 0; study.accuracy && index < study.network.steps.size(); ++index) {
    const StepKind kind = study.network.steps[index].kind;
    if (kind != StepKind::MaxPool && kind != StepKind::Flatten && kind != StepKind::Concat) worst.push_back(index);
  }
  std::ranges::stable_sort(worst, {}, [&](std::size_t index) { return study.accuracy->noise_ratio[index]; });
  return worst;
}

std::string verification_line(const CompilationStudy& study) {
  const vta::NetworkRun& run = study.run;
  if (!run.is_equal()) return "NOT EQUAL: " + vta::verification(study.network, run);
  if (!study.verified) return "not verified: the programs were not executed";
  if (run.compared() == 0) return "not verified: no step runs on the machine";
  return fmt::format("verified: {} elements of {} {} equal", with_thousands(run.elements()), run.compared(),
                     run.compared() == 1 ? "step" : "steps");
}

std::string to_json(const CompilationStudy& study) {
  std::string text = vta::manifest_json(study.network, study.plan, study.run,
                                        {.seed = study.seed,
                                         .timing = study.timing,
                                         .input_low = study.calibration.input.low,
                                         .input_high = study.calibration.input.high,
                                         .input_assumed = study.calibration.range_is_assumed,
                                         .calibration = study.calibration.by,
                                         .calibration_images = study.calibration.calibrated_on,
                                         .accuracy = study.accuracy ? &*study.accuracy : nullptr,
                                         .worst = worst_steps(study)});
  const vta::NetworkRun& run = study.run;
  if (!run.is_equal() || (study.verified && !study.only)) return text;
  // Not every step was compared, or none.
  const std::string head = "\"verification\": ";
  const std::size_t begin = text.find(head + "{") + head.size(), end = text.find('}', begin);
  const std::string compared = fmt::format(R"({{"elements": {}, "differences": 0, "equal": true, "sentence": "{}"}})",
                                           run.elements(), verification_line(study));
  return text.replace(begin, end + 1 - begin, study.verified ? compared : "null");
}

}  // namespace tilewright
