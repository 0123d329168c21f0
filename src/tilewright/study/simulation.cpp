#include "tilewright/study/simulation.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/study/machine_options.hpp"
#include "tilewright/vta/dram.hpp"

namespace tilewright {
namespace {

constexpr std::int64_t kMostProgramBytes = std::int64_t{1} << 30;

std::span<const std::uint8_t> as_bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// A damaged container as a Fault: the Error's message is `verdict: where: sentence`.
vta::Fault container_fault(const Error& error, const std::string& where) {
  vta::Fault fault;
  const std::size_t colon = error.message.find(": ");
  const std::string sentence = error.message.substr(colon + 2);
  for (const vta::FaultKind kind :
       {vta::FaultKind::BadMagic, vta::FaultKind::Truncated, vta::FaultKind::BadSection, vta::FaultKind::BadChecksum}) {
    if (error.message.substr(0, colon) == vta::name_of(kind)) fault.kind = kind;
  }
  fault.sentence = sentence.starts_with(where) ? sentence.substr(where.size() + 2) : sentence;
  return fault;
}

vta::DramRange dram_of(const vta::Program& program) {
  vta::DramRange range{vta::kDramBegin, vta::kDramBegin};
  for (const vta::Section& section : program.sections) {
    range.end =
        std::max(range.end, std::min(section.address, vta::kDramMostEnd) + std::min(section.size, vta::kDramMostEnd));
  }
  range.end = std::min((range.end + 4095) / 4096 * 4096, vta::kDramMostEnd);
  return range;
}

// What can be said about a stream without its data.
std::optional<vta::Fault> check_stream(const std::vector<vta::Instruction>& stream, const vta::Machine& machine,
                                       const vta::DramRange& dram) {
  for (std::size_t i = 0; i < stream.size(); ++i) {
    if (auto fault = vta::check_instruction(stream[i], machine, dram)) {
      fault->instruction = static_cast<std::int64_t>(i);
      return fault;
    }
  }
  return vta::follow_tokens(stream).fault;
}

std::optional<vta::Fault> time_streams(const vta::Program& program, const StopToken& stop, SimulationStudy& study) {
  const vta::Encoding encoding(study.machine);
  const vta::DramRange dram = dram_of(program);
  vta::TimingSimulator simulator(study.machine, study.timing);
  for (const vta::Section& section : program.sections) {
    if (section.kind != vta::SectionKind::Stream) continue;
    if (stop.asked()) throw Stopped{};
    const auto index = static_cast<std::int64_t>(study.streams.size());
    StreamResult& stream = study.streams.emplace_back();
    std::optional<vta::Fault> fault = vta::decode_stream(section.bytes, encoding, stream.instructions);
    // Execution has checked the rest, with the data.
    if (!fault && !study.execution) fault = check_stream(stream.instructions, study.machine, dram);
    if (!fault) {
      stream.timing = simulator.run(stream.instructions, &stream.spans);
      fault = stream.timing.fault;
    }
    if (fault) {
      fault->stream = index;
      return fault;
    }
  }
  if (study.streams.empty()) {
    vta::Fault fault;
    fault.kind = vta::FaultKind::BadSection;
    fault.sentence = "there is no stream of instructions, expected at least one";
    return fault;
  }
  return {};
}

vta::Execution execute(const vta::Program& program, const vta::Machine& machine, const RunContext& context) {
  vta::ExecutionOptions options;
  options.progress = [&](std::int64_t done, std::int64_t all) {
    if (context.stop.asked()) throw Stopped{};
    context.progress.tell(
        [&] { return ProgressState{.title = {}, .done = done, .all = all, .unit = "steps", .words = {}, .lines = {}}; });
  };
  return vta::execute(program, machine, options);
}

}  // namespace

OptionTable options_of(SimulateOptions& options) {
  OptionTable table = {{"program", &options.program, "a .vtaprog file, as compile writes them", {.positional = true}},
                       {"machine", &options.machine, "zoo:vta, or a JSON file with VTA's LOG_* keys"}};
  for (const OptionTable& more : {options_of(options.timing), options_of(options.physical, "Power and heat")}) {
    table.insert(table.end(), more.begin(), more.end());
  }
  const OptionTraits results{.group = "Results"};
  table.push_back({"functional_only", &options.functional_only, "execute, count no cycles", results});
  table.push_back({"timing_only", &options.timing_only, "count cycles, compute nothing", results});
  return table;
}

Result<SimulationJob> read_simulation_job(const SimulateOptions& options) {
  if (options.program.empty()) {
    return invalid("the program is missing, expected a file that tilewright compile wrote: tilewright simulate PROGRAM");
  }
  SimulationJob job;
  TW_TRY(job.machine, vta::read_machine(options.machine));
  TW_TRY(const std::string file, read_file(options.program, kMostProgramBytes));
  Result<vta::Program> program = vta::program_from_bytes(as_bytes(file), options.program);
  if (program) {
    job.program = std::move(program).value();
  } else {
    job.fault = container_fault(program.error(), options.program);
  }
  return job;
}

Result<SimulationStudy> simulate(const SimulationJob& job, const SimulateOptions& options, RunContext& context) {
  if (options.functional_only && options.timing_only) {
    return invalid("--functional-only and --timing-only are both given, expected one of them");
  }
  SimulationStudy study;
  study.program = options.program;
  study.machine_name = options.machine;
  study.machine = job.machine;
  TW_TRY(study.physical, vta::check(options.physical));
  TW_TRY(study.timing, vta::check(options.timing, "memory"));
  study.fault = job.fault;
  if (study.fault) return study;
  if (!options.timing_only) {
    study.execution = execute(*job.program, study.machine, context);
    study.fault = study.execution->fault;
    if (study.fault) return study;
  }
  if (options.functional_only) return study;
  const std::optional<vta::Fault> fault = time_streams(*job.program, context.stop, study);
  (study.execution ? study.timing_remark : study.fault) = fault;
  return study;
}

vta::Timing total_of(const std::vector<StreamResult>& streams) {
  vta::Timing total;
  for (const StreamResult& stream : streams) {
    const vta::Timing& t = stream.timing;
    for (std::size_t module = 0; module < t.modules.size(); ++module) {
      total.modules[module].busy += t.modules[module].busy;
      total.modules[module].token_stall += t.modules[module].token_stall;
      total.modules[module].bus_stall += t.modules[module].bus_stall;
      total.modules[module].instructions += t.modules[module].instructions;
    }
    for (std::size_t buffer = 0; buffer < t.bytes.size(); ++buffer) total.bytes[buffer] += t.bytes[buffer];
    for (const auto member :
         {&vta::Timing::cycles, &vta::Timing::gemm_cycles, &vta::Timing::alu_cycles, &vta::Timing::gemm_steps,
          &vta::Timing::alu_steps, &vta::Timing::reset_steps, &vta::Timing::alu_tensor_steps, &vta::Timing::fetch_bytes,
          &vta::Timing::read_bursts, &vta::Timing::read_beats, &vta::Timing::write_bursts, &vta::Timing::write_beats,
          &vta::Timing::read_busy, &vta::Timing::write_busy}) {
      total.*member += t.*member;
    }
  }
  return total;
}

}  // namespace tilewright
