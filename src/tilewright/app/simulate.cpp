#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "tilewright/app/command_line.hpp"
#include "tilewright/app/terminal.hpp"
#include "tilewright/app/verb.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/report/simulation.hpp"
#include "tilewright/study/stop_signal.hpp"
#include "tilewright/vta/disassembly.hpp"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

struct SimulateArguments {
  SimulateOptions options;
  std::string dump;      // a container with the program's dump regions after it ran; empty = none
  std::string timeline;  // .svg or .html; empty = none
  bool listing = false;
  bool json = false;
};

Result<Done> check_outputs(const SimulateArguments& arguments) {
  const SimulateOptions& options = arguments.options;
  if (options.timing_only && !arguments.dump.empty()) {
    return invalid("--dump needs the results, which --timing-only does not compute, expected one of them");
  }
  if (options.functional_only && !arguments.timeline.empty()) {
    return invalid("--timeline needs cycles, which --functional-only does not count, expected one of them");
  }
  if (arguments.listing && arguments.json) return invalid("--listing and --json are both given, expected one of them");
  const std::string extension = fs::path(arguments.timeline).extension().string();
  if (!arguments.timeline.empty() && extension != ".svg" && extension != ".html") {
    return invalid(fmt::format("--timeline is '{}', expected a file that ends with .svg or .html", arguments.timeline));
  }
  for (const auto& [flag, path] : {std::pair("--dump", arguments.dump), {"--timeline", arguments.timeline}}) {
    std::error_code status;
    if (!path.empty() && fs::equivalent(path, options.program, status)) {
      return invalid(fmt::format("{} is '{}', the program itself, expected another file", flag, path));
    }
    const fs::path folder = fs::path(path).parent_path();
    if (!folder.empty() && !fs::is_directory(folder, status)) {
      return invalid(fmt::format("{} is '{}', but there is no directory '{}'", flag, path, folder.string()));
    }
  }
  return Done{};
}

// All files after everything else has worked, so that nothing is half written.
Result<Done> write_outputs(const SimulateArguments& arguments, const SimulationStudy& study) {
  if (!arguments.dump.empty()) {
    const std::vector<std::uint8_t> bytes = vta::to_bytes({study.execution->dumps});
    const std::string_view content{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    TW_TRY([[maybe_unused]] const Done written, write_file(arguments.dump, content));
  }
  if (!arguments.timeline.empty() && study.has_cycles()) {
    const bool html = fs::path(arguments.timeline).extension() == ".html";
    TW_TRY([[maybe_unused]] const Done written,
           write_file(arguments.timeline, html ? timeline_page(study) : timeline_svg(study)));
  }
  return Done{};
}

// Exit code 2, 4 or 5 when the program cannot run (vta::exit_code).
Result<int> simulate_and_tell(const SimulateArguments& arguments) {
  TW_TRY([[maybe_unused]] const Done fine, check_outputs(arguments));
  TW_TRY(const SimulationJob job, read_simulation_job(arguments.options));
  ThreadPool threads(1);
  ProgressLine line;
  RunContext context{.threads = threads, .progress = line.progress(), .stop = listen_for_stop()};
  if (arguments.listing && job.program) print(vta::listing(*job.program, job.machine) + "\n");
  TW_TRY(const SimulationStudy study, simulate(job, arguments.options, context));
  line.end();
  if (study.fault) {
    if (arguments.json) print(to_json(study));
    report(invalid(fmt::format("{}: {}", arguments.options.program, vta::to_text(*study.fault))));
    return vta::exit_code(study.fault->kind);
  }
  TW_TRY([[maybe_unused]] const Done written, write_outputs(arguments, study));
  print(arguments.json ? to_json(study) : to_text(study));
  return kExitDone;
}

}  // namespace

Verb simulate_verb() {
  const auto arguments = std::make_shared<SimulateArguments>();
  OptionTable table = options_of(arguments->options);
  const OptionTraits results{.group = "Results", .recorded = false};
  table.insert(table.end(), {{"dump", &arguments->dump, "write the program's dump regions into this file", results},
                             {"timeline", &arguments->timeline, "draw who worked when: a .svg or .html file", results},
                             {"listing", &arguments->listing, "show the instructions first", results},
                             {"json", &arguments->json, "everything as JSON", results}});
  const std::string conv3 = "tilewright simulate runs/compiled/05_conv3.vtaprog --machine runs/compiled/machine.json";
  return {.name = "simulate",
          .summary = "execute and time a program of a VTA-class machine",
          .options = std::move(table),
          .footer =
              "Exit codes: 0 done; 2 wrong input, or a program that is malformed or reaches outside a memory; 4 it hangs\n"
              "or FINISH is not last; 5 tokens are left over; 130 stopped by Ctrl-C, nothing written.\n" +
              examples_text(
                  {{conv3, "a program of the second example of compile"}, {conv3 + " --timeline conv3.svg", "also drawn"}}),
          .run = [arguments] {
            const Result<int> code = simulate_and_tell(*arguments);
            return code ? *code : report(code.error());
          }};
}

}  // namespace tilewright
