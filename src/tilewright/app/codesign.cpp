// The directory of a `codesign` run:
//
//   run.json          what was asked for, checksums of the rest     programs/     a .vtaprog per program, and manifest.json
//   store.sqlite      every measured point                          listing.txt   their instructions
//   machine.json      the machine                                   layers.csv    a line per layer
//   schedules.json    for `compile --schedules`                     convergence.csv, calibration.csv
//   result.json       everything, as --json prints it               report.html
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>

#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/app/command_line.hpp"
#include "tilewright/app/commands.hpp"
#include "tilewright/app/print.hpp"
#include "tilewright/app/settings_text.hpp"
#include "tilewright/app/train_progress.hpp"
#include "tilewright/app/verb.hpp"
#include "tilewright/base/checksum.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/study/codesign_result.hpp"
#include "tilewright/study/map_result.hpp"
#include "tilewright/study/run_directory.hpp"
#include "tilewright/study/stop_signal.hpp"
#include "tilewright/vta/disassembly.hpp"
#include "tilewright/vta/network_manifest.hpp"
#include "tilewright/vta/reference.hpp"
#include "tilewright/workload/quantised_build.hpp"

namespace tilewright {
namespace {

namespace fs = std::filesystem;
using RunJson = nlohmann::ordered_json;

template <typename T>
void put_if(RunJson& json, const char* name, const std::optional<T>& value) {
  if (value) json[name] = *value;
}

RunJson arguments_json(const CodesignArguments& a) {
  RunJson json{{"network", a.network},
               {"layer", a.layer},
               {"operators", a.operators},
               {"machine", a.machine},
               {"fixed_buffers", a.fixed_buffers},
               {"core", a.core},
               {"read_latency", a.timing.read_latency},
               {"write_latency", a.timing.write_latency},
               {"bus_bytes", a.timing.bus_bytes},
               {"burst_bytes", a.timing.burst_bytes},
               {"clock_mhz", a.physical.clock_mhz},
               {"ambient_celsius", a.physical.ambient_celsius},
               {"kelvin_per_watt", a.physical.kelvin_per_watt},
               {"search", a.search},
               {"seed", a.seed},
               {"settings", a.settings},
               {"optimum", a.optimum},
               {"no_verify", a.no_verify},
               {"store", a.store}};
  if (!a.dims.empty()) json["dims"] = a.dims;
  put_if(json, "measurements", a.measurements);
  put_if(json, "area_budget", a.area_budget);
  put_if(json, "max_power", a.max_power);
  put_if(json, "max_temperature", a.max_temperature);
  return json;
}

CodesignArguments arguments_from(const RunJson& json) {
  CodesignArguments a;
  const auto take = [&json](const char* name, auto& value) {
    using Value = std::remove_reference_t<decltype(value)>;
    if (json.contains(name)) value = json.at(name).get<Value>();
  };
  const auto take_if = [&json]<typename Value>(const char* name, std::optional<Value>& value) {
    if (json.contains(name)) value = json.at(name).get<Value>();
  };
  take("network", a.network);
  take("dims", a.dims);
  take("layer", a.layer);
  take("operators", a.operators);
  take("machine", a.machine);
  take("fixed_buffers", a.fixed_buffers);
  take("core", a.core);
  take("read_latency", a.timing.read_latency);
  take("write_latency", a.timing.write_latency);
  take("bus_bytes", a.timing.bus_bytes);
  take("burst_bytes", a.timing.burst_bytes);
  take("clock_mhz", a.physical.clock_mhz);
  take("ambient_celsius", a.physical.ambient_celsius);
  take("kelvin_per_watt", a.physical.kelvin_per_watt);
  take("search", a.search);
  take_if("measurements", a.measurements);
  take("seed", a.seed);
  take("settings", a.settings);
  take("optimum", a.optimum);
  take("no_verify", a.no_verify);
  take("store", a.store);
  take_if("area_budget", a.area_budget);
  take_if("max_power", a.max_power);
  take_if("max_temperature", a.max_temperature);
  return a;
}

std::string codesign_run_json(const CodesignArguments& arguments, const CodesignJob& job) {
  const auto hash = [](const std::string& content) { return checksum_text(checksum(content)); };
  const RunJson json{
      {"format", kRunFormat},
      {"verb", "codesign"},
      {"version", TILEWRIGHT_VERSION},
      {"command", arguments.command},
      {"arguments", arguments_json(arguments)},
      {"inputs", {{"network", hash(to_yaml(job.network))}, {"machine", hash(vta::to_json(job.options.base))}}}};
  return json.dump(1, ' ', false, RunJson::error_handler_t::replace) + "\n";
}

struct CodesignRun {
  std::optional<RunDirectory> directory;
  std::optional<StoredMemory> memory;
};

Result<CodesignRun> open_codesign_run(const CodesignArguments& arguments, const CodesignJob& job) {
  CodesignRun run;
  if (!arguments.output.empty()) {
    TW_TRY(RunDirectory directory, RunDirectory::open(arguments.output));
    TW_TRY([[maybe_unused]] const Done begun, directory.begin_or_continue(codesign_run_json(arguments, job)));
    run.directory.emplace(std::move(directory));
  }
  if (arguments.store.empty() && arguments.output.empty()) return run;
  TW_TRY(Store store,
         Store::open(!arguments.store.empty() ? fs::path(arguments.store) : run.directory->path() / kStoreFile));
  TW_TRY(StoredMemory memory, StoredMemory::open(std::move(store), job.spaces()));
  run.memory.emplace(std::move(memory));
  return run;
}

// On a terminal one line that is rewritten, elsewhere a line every few seconds.
class CodesignProgressLine {
 public:
  CodesignProgressLine(const CodesignJob& job, std::int64_t measurements)
      : job_(job), all_(measurements * static_cast<std::int64_t>(job.layers.size())), next_(start_ + every()) {}
  ~CodesignProgressLine() {
    if (shown_) say("\r\x1b[K");
  }

  void show(const SearchLoop& loop, const MachineLedger& machines) {
    const Clock::time_point now = Clock::now();
    if (now < next_) return;
    next_ = now + every();
    std::int64_t done = 0;
    for (const Ledger& ledger : loop.ledgers()) done += ledger.samples;
    const double seconds = std::chrono::duration<double>(now - start_).count();
    const double left = done > 0 ? seconds / static_cast<double>(done) * static_cast<double>(all_ - done) : 0;
    const std::string best = machines.answer() ? with_thousands(std::llround(machines.answer()->cycles)) + " cycles"
                                               : "no machine for all layers yet";
    const std::string text =
        fmt::format("{}: {:.0f} % of {} measurements, {} of {} machines on all layers, best {}, {} left", job_.network_name,
                    100.0 * static_cast<double>(done) / static_cast<double>(all_), with_thousands(all_),
                    machines.complete_machines(), machines.machines(), best, clock_text(left));
    say(fmt::format("{}{}{}", terminal_ ? "\r" : "", text, terminal_ ? "\x1b[K" : "\n"));
    shown_ = terminal_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::chrono::milliseconds every() const { return std::chrono::milliseconds(terminal_ ? 200 : 5'000); }

  const CodesignJob& job_;
  std::int64_t all_;
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  bool shown_ = false;
  Clock::time_point start_ = Clock::now(), next_;
};

Result<Done> write_codesign(const CodesignResult& result, const CodesignJob& job, const fs::path& directory) {
  TW_TRY([[maybe_unused]] const Done a, write_file(directory / "layers.csv", layers_csv(result)));
  TW_TRY([[maybe_unused]] const Done b, write_file(directory / "convergence.csv", convergence_csv(result)));
  TW_TRY([[maybe_unused]] const Done c, write_file(directory / "calibration.csv", calibration_csv(result)));
  TW_TRY([[maybe_unused]] const Done d, write_file(directory / "report.html", to_html(result)));
  if (result.machine) {
    TW_TRY([[maybe_unused]] const Done e, write_file(directory / "machine.json", vta::to_json(*result.machine)));
    TW_TRY([[maybe_unused]] const Done f, write_file(directory / "schedules.json", schedules_json(result, job.network)));
  }
  return write_file(directory / "result.json", to_json(result));
}

Result<Done> check_unless_stopped(const CodesignArguments& arguments, ThreadPool& threads, CodesignResult& result) {
  threads.stop_when(stop_asked);
  try {
    if (result.interrupted) throw Stopped{};
    TW_TRY(result.check, check_codesign(arguments, result, threads, arguments.output));
  } catch (const Stopped&) {
    result.interrupted = true;
    result.check = {
        .executed = false, .equal = false, .sentence = "not verified: stopped before the programs were executed"};
  }
  threads.stop_when(nullptr);
  return Done{};
}

Result<int> codesign(const CodesignArguments& arguments) {
  TW_TRY(const CodesignJob job, read_codesign_job(arguments));
  listen_for_stop();  // from here on there is something to keep
  TW_TRY(CodesignRun run, open_codesign_run(arguments, job));
  const std::int64_t known = run.memory ? run.memory->known() : 0;
  ThreadPool threads(static_cast<std::size_t>(arguments.threads));
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&start] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  auto search = [&] {
    CodesignProgressLine progress(job, measurements_of(arguments, job));
    return search_codesign(job, arguments, threads, run.memory ? &*run.memory : nullptr,
                           [&](const SearchLoop& loop, const MachineLedger& machines) {
                             progress.show(loop, machines);
                             return !stop_asked();
                           });
  }();
  if (!search) return search.error();
  CodesignResult result = std::move(search).value();
  const double searched = seconds();
  if (result.machine) {
    TW_TRY([[maybe_unused]] const Done checked, check_unless_stopped(arguments, threads, result));
  }
  if (run.directory) {
    TW_TRY([[maybe_unused]] const Done written, write_codesign(result, job, run.directory->path()));
    run.memory.reset();  // the store is a whole file once it is closed
    TW_TRY([[maybe_unused]] const Done ended, run.directory->end());
  }
  print(arguments.json ? to_json(result) : to_text(result));
  say(fmt::format("{} measurements in {:.1f} s{}, all in {:.1f} s{}\n", with_thousands(totals_of(result).measurements),
                  searched, known > 0 ? fmt::format(" ({} points known before)", with_thousands(known)) : "", seconds(),
                  arguments.output.empty() ? "" : fmt::format("; results in {}", arguments.output)));
  if (result.interrupted) return kExitInterrupted;
  if (!result.machine) return kExitInfeasible;
  return result.check.executed && !result.check.equal ? kExitDiffers : kExitDone;
}

}  // namespace

Result<CodesignArguments> read_codesign_run(const fs::path& directory) {
  const fs::path path = directory / "run.json";
  TW_TRY(const std::string text, read_file(path));
  const RunJson json = RunJson::parse(text, nullptr, false);
  try {
    CodesignArguments arguments = arguments_from(json.at("arguments"));
    arguments.command = json.at("command").get<std::vector<std::string>>();
    arguments.output = directory.string();
    return arguments;
  } catch (const RunJson::exception& failure) {
    return invalid(fmt::format("{}: is damaged ({})", path.string(), failure.what()));
  }
}

Result<Done> check_same_codesign(const fs::path& directory, const CodesignArguments& arguments, const CodesignJob& job) {
  return check_same_run(directory, codesign_run_json(arguments, job));
}

int run_codesign(const CodesignArguments& arguments) {
  const Result<int> code =
      arguments.show_settings ? show_settings(arguments.search, arguments.settings) : codesign(arguments);
  return code ? *code : report(code.error());
}

Verb codesign_verb(const Command& command) {
  const auto arguments = std::make_shared<CodesignArguments>();
  arguments->command = command;
  return {.name = "codesign",
          .summary = "one machine for a network and a schedule for every layer, together",
          .options = {},
          .footer = "",
          .run = [arguments] { return run_codesign(*arguments); },
          .add = [arguments](CLI::App& verb) { add_codesign_options(verb, *arguments); }};
}

}  // namespace tilewright
