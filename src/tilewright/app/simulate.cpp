#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include <unistd.h>

#include <fmt/format.h>

#include "tilewright/app/command_line.hpp"
#include "tilewright/app/commands.hpp"
#include "tilewright/app/print.hpp"
#include "tilewright/app/verb.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/report/simulate_result.hpp"
#include "tilewright/study/simulate_command.hpp"
#include "tilewright/vta/disassembly.hpp"
#include "tilewright/vta/dram.hpp"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

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

std::optional<vta::Fault> time_streams(const vta::Program& program, Simulation& simulation) {
  const vta::Encoding encoding(simulation.machine);
  const vta::DramRange dram = dram_of(program);
  vta::TimingSimulator simulator(simulation.machine, simulation.timing);
  for (const vta::Section& section : program.sections) {
    if (section.kind != vta::SectionKind::Stream) continue;
    const auto index = static_cast<std::int64_t>(simulation.streams.size());
    StreamResult& stream = simulation.streams.emplace_back();
    std::optional<vta::Fault> fault = vta::decode_stream(section.bytes, encoding, stream.instructions);
    // Execution has checked the rest, with the data.
    if (!fault && !simulation.execution) fault = check_stream(stream.instructions, simulation.machine, dram);
    if (!fault) {
      stream.timing = simulator.run(stream.instructions, &stream.spans);
      fault = stream.timing.fault;
    }
    if (fault) {
      fault->stream = index;
      return fault;
    }
  }
  if (simulation.streams.empty()) {
    vta::Fault fault;
    fault.kind = vta::FaultKind::BadSection;
    fault.sentence = "there is no stream of instructions, expected at least one";
    return fault;
  }
  return {};
}

// On a terminal one line that is rewritten: a legal program can take minutes.
vta::Execution execute_with_progress(const vta::Program& program, const vta::Machine& machine) {
  bool shown = false;
  vta::ExecutionOptions options;
  if (isatty(STDERR_FILENO) != 0) {
    options.progress = [&shown](std::int64_t done, std::int64_t all) {
      say(fmt::format("\r{:.0f} % of {} steps\x1b[K", 100.0 * static_cast<double>(done) / static_cast<double>(all),
                      with_thousands(all)));
      shown = true;
    };
  }
  vta::Execution execution = vta::execute(program, machine, options);
  if (shown) say("\r\x1b[K");
  return execution;
}

void simulate(const SimulateArguments& arguments, const vta::Program& program, Simulation& simulation) {
  if (!arguments.timing_only) {
    simulation.execution = execute_with_progress(program, simulation.machine);
    simulation.fault = simulation.execution->fault;
    if (simulation.fault) return;
  }
  if (arguments.functional_only) return;
  const std::optional<vta::Fault> fault = time_streams(program, simulation);
  (simulation.execution ? simulation.timing_remark : simulation.fault) = fault;
}

Result<Done> check_arguments(const SimulateArguments& arguments) {
  if (arguments.program.empty()) {
    return invalid("the program is missing, expected a file that tilewright compile wrote: tilewright simulate PROGRAM");
  }
  if (arguments.functional_only && arguments.timing_only) {
    return invalid("--functional-only and --timing-only are both given, expected one of them");
  }
  if (arguments.timing_only && !arguments.dump.empty()) {
    return invalid("--dump needs the results, which --timing-only does not compute, expected one of them");
  }
  if (arguments.functional_only && !arguments.timeline.empty()) {
    return invalid("--timeline needs cycles, which --functional-only does not count, expected one of them");
  }
  if (arguments.listing && arguments.json) return invalid("--listing and --json are both given, expected one of them");
  const std::string extension = fs::path(arguments.timeline).extension().string();
  if (!arguments.timeline.empty() && extension != ".svg" && extension != ".html") {
    return invalid(fmt::format("--timeline is '{}', expected a file that ends with .svg or .html", arguments.timeline));
  }
  for (const auto& [flag, path] : {std::pair("--dump", arguments.dump), {"--timeline", arguments.timeline}}) {
    std::error_code status;
    if (!path.empty() && fs::equivalent(path, arguments.program, status)) {
      return invalid(fmt::format("{} is '{}', the program itself, expected another file", flag, path));
    }
    const fs::path folder = fs::path(path).parent_path();
    if (!folder.empty() && !fs::is_directory(folder, status)) {
      return invalid(fmt::format("{} is '{}', but there is no directory '{}'", flag, path, folder.string()));
    }
  }
  TW_TRY([[maybe_unused]] const vta::PhysicalOptions physical, vta::check(arguments.physical));
  return Done{};
}

// All files after everything else has worked, so that nothing is half written.
Result<Done> write_outputs(const SimulateArguments& arguments, const Simulation& simulation) {
  if (!arguments.dump.empty()) {
    const std::vector<std::uint8_t> bytes = vta::to_bytes({simulation.execution->dumps});
    const std::string_view content{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    TW_TRY([[maybe_unused]] const Done written, write_file(arguments.dump, content));
  }
  if (!arguments.timeline.empty() && simulation.has_cycles()) {
    const bool html = fs::path(arguments.timeline).extension() == ".html";
    TW_TRY([[maybe_unused]] const Done written,
           write_file(arguments.timeline, html ? timeline_page(simulation) : timeline_svg(simulation)));
  }
  return Done{};
}

int report_fault(const SimulateArguments& arguments, const Simulation& simulation) {
  if (arguments.json) print(to_json(simulation));
  report(invalid(fmt::format("{}: {}", arguments.program, vta::to_text(*simulation.fault))));
  return vta::exit_code(simulation.fault->kind);
}

Result<int> simulate(const SimulateArguments& arguments) {
  TW_TRY([[maybe_unused]] const Done fine, check_arguments(arguments));
  Simulation simulation{.program = arguments.program,
                        .machine_name = arguments.machine,
                        .machine = {},
                        .timing = {},
                        .physical = arguments.physical,
                        .fault = {},
                        .execution = {},
                        .streams = {},
                        .timing_remark = {}};
  TW_TRY(simulation.timing, timing_options(arguments.core, arguments.timing));
  TW_TRY(simulation.machine, vta::read_machine(arguments.machine));
  TW_TRY(const std::string file, read_file(arguments.program, kMostProgramBytes));
  const Result<vta::Program> program = vta::program_from_bytes(as_bytes(file), arguments.program);
  if (!program) {
    simulation.fault = container_fault(program.error(), arguments.program);
    return report_fault(arguments, simulation);
  }
  if (arguments.listing) print((vta::listing(*program, simulation.machine) + "\n"));
  simulate(arguments, *program, simulation);
  if (simulation.fault) return report_fault(arguments, simulation);
  TW_TRY([[maybe_unused]] const Done written, write_outputs(arguments, simulation));
  print(arguments.json ? to_json(simulation) : to_text(simulation));
  return kExitDone;
}

}  // namespace

Result<vta::TimingOptions> timing_options(const std::string& core, vta::TimingOptions options) {
  const std::array<std::string, 2> names{std::string(vta::name_of(vta::Core::Sequential)),
                                         std::string(vta::name_of(vta::Core::Pipelined))};
  const auto name = std::ranges::find(names, core);
  if (name == names.end()) {
    const std::string hint = did_you_mean(core, names);
    return invalid(fmt::format("--core is '{}', expected {}{}", core, join(names, " or "), hint));
  }
  options.core = name == names.begin() ? vta::Core::Sequential : vta::Core::Pipelined;
  return vta::check(options, "memory");
}

int run_simulate(const SimulateArguments& arguments) {
  const Result<int> code = simulate(arguments);
  return code ? *code : report(code.error());
}

Verb simulate_verb() {
  const auto arguments = std::make_shared<SimulateArguments>();
  return {.name = "simulate",
          .summary = "execute and time a program of a VTA-class machine",
          .options = {},
          .footer = "",
          .run = [arguments] { return run_simulate(*arguments); },
          .add = [arguments](CLI::App& verb) { add_simulate_options(verb, *arguments); }};
}

}  // namespace tilewright
