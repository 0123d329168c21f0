// The directory of a `codesign` run:
//
//   run.json          what was asked for: enough to do it again     programs/     a .vtaprog per program, and manifest.json
//   store.sqlite      every measured point                          listing.txt   their instructions
//   machine.json      the machine                                   layers.csv    a line per layer
//   schedules.json    for `compile --schedules`                     convergence.csv, calibration.csv
//   result.json       everything, as --json prints it               report.html
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/agents/all_searchers.hpp"
#include "tilewright/app/codesign_result.hpp"
#include "tilewright/app/commands.hpp"
#include "tilewright/app/map_result.hpp"
#include "tilewright/app/map_run.hpp"
#include "tilewright/app/run_format.hpp"
#include "tilewright/app/stop_signal.hpp"
#include "tilewright/app/train_outputs.hpp"
#include "tilewright/app/train_progress.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/marl/checkpoint.hpp"
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
               {"search_buffers", a.search_buffers},
               {"core", a.core},
               {"read_latency", a.timing.read_latency},
               {"write_latency", a.timing.write_latency},
               {"bus_bytes", a.timing.bus_bytes},
               {"burst_bytes", a.timing.burst_bytes},
               {"clock_mhz", a.physical.clock_mhz},
               {"ambient_celsius", a.physical.ambient_celsius},
               {"kelvin_per_watt", a.physical.kelvin_per_watt},
               {"search", a.search},
               {"measurements", a.measurements},
               {"seed", a.seed},
               {"settings", a.settings},
               {"optimum", a.optimum},
               {"no_verify", a.no_verify},
               {"store", a.store}};
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
  const auto take_if = [&json](const char* name, std::optional<double>& value) {
    if (json.contains(name)) value = json.at(name).get<double>();
  };
  take("network", a.network);
  take("layer", a.layer);
  take("operators", a.operators);
  take("machine", a.machine);
  take("search_buffers", a.search_buffers);
  take("core", a.core);
  take("read_latency", a.timing.read_latency);
  take("write_latency", a.timing.write_latency);
  take("bus_bytes", a.timing.bus_bytes);
  take("burst_bytes", a.timing.burst_bytes);
  take("clock_mhz", a.physical.clock_mhz);
  take("ambient_celsius", a.physical.ambient_celsius);
  take("kelvin_per_watt", a.physical.kelvin_per_watt);
  take("search", a.search);
  take("measurements", a.measurements);
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
  const auto hash = [](const std::string& content) { return fmt::format("{:016x}", checksum(content)); };
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
  std::optional<RunLock> lock;
  std::optional<StoredMemory> memory;
};

Result<CodesignRun> open_codesign_run(const CodesignArguments& arguments, const CodesignJob& job) {
  CodesignRun run;
  const fs::path directory = arguments.output;
  if (!arguments.output.empty()) {
    const std::string record = codesign_run_json(arguments, job);
    TW_TRY([[maybe_unused]] const Done same, check_same_record(directory, record));
    TW_TRY(RunLock lock, RunLock::take(directory));
    run.lock.emplace(std::move(lock));
    std::error_code status;
    if (!fs::exists(directory / "run.json", status)) {
      TW_TRY([[maybe_unused]] const Done written, write_file(directory / "run.json", record));
    }
  }
  const fs::path path = !arguments.store.empty() ? fs::path(arguments.store) : directory / "store.sqlite";
  if (arguments.store.empty() && arguments.output.empty()) return run;
  TW_TRY(Store store, Store::open(path));
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
    if (shown_) std::fputs("\r\x1b[K", stderr);
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
    fmt::print(stderr, "{}{}{}", terminal_ ? "\r" : "", text, terminal_ ? "\x1b[K" : "\n");
    std::fflush(stderr);
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

// Programs and their listing, one at a time. An empty directory writes nothing.
class ProgramFolder {
 public:
  explicit ProgramFolder(const fs::path& directory) : directory_(directory) {
    std::error_code ignored;
    if (!directory_.empty()) fs::remove_all(directory_ / "programs", ignored);  // of an interrupted run
    if (!directory_.empty()) fs::create_directories(directory_ / "programs", ignored);
  }

  void add(const std::string& name, const vta::Program& program, const vta::Machine& machine) {
    ++count_;
    if (directory_.empty()) return;
    const std::vector<std::uint8_t> bytes = vta::to_bytes(program);
    write(fs::path("programs") / name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    listing_ += fmt::format("{}\n{}\n", name, vta::listing(program, machine));
  }
  void write(const fs::path& name, std::string_view content) {
    if (directory_.empty() || error_) return;
    const Result<Done> written = write_file(directory_ / name, content);
    if (!written) error_ = written.error();
  }
  Result<std::size_t> close() {
    write("listing.txt", listing_);
    if (error_) return *error_;
    return count_;
  }

 private:
  fs::path directory_;
  std::string listing_;
  std::size_t count_ = 0;
  std::optional<Error> error_;  // the first; nothing is written after it
};

CodesignCheck check_whole(const QuantisedNetwork& network, const vta::NetworkPlan& plan, const CodesignResult& result,
                          ThreadPool& threads, ProgramFolder& folder) {
  vta::RunOptions options;
  options.timing = result.options.timing;
  options.on_program = [&](std::size_t step, const vta::Program& program, const vta::StepRun&) {
    folder.add(vta::program_file(network, step), program, plan.machine);
  };
  const vta::NetworkRun run = vta::run_network(network, plan, random_input(network, result.seed), options, threads);
  folder.write("programs/manifest.json",
               vta::manifest_json(network, plan, run, {.seed = result.seed, .timing = result.options.timing}));
  CodesignCheck check{.executed = true, .equal = run.is_equal(), .whole = true, .sentence = {}, .cycles = run.cycles()};
  check.sentence =
      fmt::format("{}: {}; all programs together, pools and sums included, take {} cycles",
                  check.equal ? "verified" : "NOT EQUAL", vta::verification(network, run), with_thousands(run.cycles()));
  return check;
}

// Random data for one layer, and a shift that brings its sums into the range of the result without clipping most of them.
struct LayerData {
  std::vector<std::int8_t> input, weight;
  std::vector<std::int32_t> bias;
  vta::Finishing finishing;

  LayerData(const Layer& layer, Rng rng, vta::Finishing wanted) : finishing(wanted) {
    const TensorSizes sizes = tensor_sizes(layer);
    const auto fill = [&rng](auto& values, std::int64_t count, std::int64_t least, std::int64_t most) {
      values.resize(static_cast<std::size_t>(count));
      for (auto& value : values) {
        value = static_cast<std::remove_reference_t<decltype(value)>>(rng.between(least, most));
      }
    };
    fill(input, sizes.input.value, -128, 127);
    fill(weight, sizes.weight.value, -128, 127);
    const double products = static_cast<double>(layer.kernel_height * layer.kernel_width * layer.in_channels) /
                            static_cast<double>(layer.groups);
    const double spread = 74.0 * 74.0 * std::sqrt(products);  // 74: standard deviation of uniform int8 numbers
    finishing.shift = std::max(0, static_cast<int>(std::lround(std::log2(spread / 48))));
    fill(bias, layer.out_channels, -std::int64_t{16} << finishing.shift, std::int64_t{16} << finishing.shift);
  }
  vta::PlainData plain() const { return {.input = input, .weight = weight, .bias = bias}; }
};

CodesignCheck check_layers_apart(const CodesignResult& result, const std::string& why, ThreadPool& threads,
                                 ProgramFolder& folder) {
  struct Outcome {
    vta::LayerProgram built;
    std::int64_t elements = 0, differences = 0;
    std::string trouble;
  };
  std::vector<Outcome> outcomes(result.layers.size());
  threads.for_each(result.layers.size(), [&](std::size_t i, std::size_t) {
    const CodesignedLayer& layer = result.layers[i];
    Outcome& outcome = outcomes[i];
    const LayerData data(layer.layer, Rng(result.seed, "codesign data").fork(layer.name, i), result.options.finishing);
    outcome.built = vta::layer_program(layer.layer, *result.machine, layer.found->schedule, data.finishing, data.plain());
    const vta::Execution execution = vta::execute(outcome.built.program, *result.machine);
    const std::vector<std::int8_t> expected = vta::reference(layer.layer, data.finishing, data.plain());
    outcome.elements = static_cast<std::int64_t>(expected.size());
    if (execution.fault || execution.dumps.size() != 1) {
      outcome.trouble = execution.fault ? vta::to_text(*execution.fault) : "the program has no single result";
      return;
    }
    if (!vta::guards_intact(outcome.built, execution.dumps[0])) outcome.trouble = "bytes around the result were changed";
    const std::vector<std::int8_t> is = vta::plain_output(outcome.built, execution.dumps[0]);
    for (std::size_t e = 0; e < expected.size(); ++e) outcome.differences += is[e] == expected[e] ? 0 : 1;
    if (outcome.differences > 0) outcome.trouble = fmt::format("{} elements differ", with_thousands(outcome.differences));
  });
  std::int64_t elements = 0;
  std::string trouble;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    elements += outcomes[i].elements;
    if (trouble.empty() && !outcomes[i].trouble.empty()) {
      trouble = fmt::format("layer '{}': {}", result.layers[i].name, outcomes[i].trouble);
    }
    folder.add(file_name_of(i, result.layers[i].name) + ".vtaprog", outcomes[i].built.program, *result.machine);
  }
  CodesignCheck check{.executed = true, .equal = trouble.empty(), .whole = false, .sentence = {}};
  check.sentence = trouble.empty()
                       ? fmt::format(
                             "verified: {} elements of {} {} on random data, each layer by itself ({}): all equal "
                             "to the reference arithmetic",
                             with_thousands(elements), outcomes.size(), outcomes.size() == 1 ? "layer" : "layers", why)
                       : "NOT EQUAL: " + trouble;
  return check;
}

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

Result<int> show_codesign_settings(const CodesignArguments& arguments) {
  Settings settings;
  for (const std::string& setting : arguments.settings) {
    TW_TRY([[maybe_unused]] const Done added, add_setting(settings, setting));
  }
  TW_TRY(const auto fields, settings_in_force(arguments.search, settings));
  for (const SettingValue& field : fields) {
    fmt::print("{:<28} {:<12} {}\n", fmt::format("{}.{}", arguments.search, field.name), field.value, field.meaning);
  }
  return kExitDone;
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
    CodesignProgressLine progress(job, arguments.measurements);
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
    TW_TRY(result.check, check_codesign(arguments, result, threads, arguments.output));
  }
  if (!arguments.output.empty()) {
    TW_TRY([[maybe_unused]] const Done written, write_codesign(result, job, arguments.output));
  }
  std::fputs(arguments.json ? to_json(result).c_str() : to_text(result).c_str(), stdout);
  fmt::print(stderr, "{} measurements in {:.1f} s{}, all in {:.1f} s{}\n", with_thousands(totals_of(result).measurements),
             searched, known > 0 ? fmt::format(" ({} points known before)", with_thousands(known)) : "", seconds(),
             arguments.output.empty() ? "" : fmt::format("; results in {}", arguments.output));
  if (result.interrupted) return kExitInterrupted;
  if (!result.machine) return kExitInfeasible;
  return result.check.executed && !result.check.equal ? kExitDiffers : kExitDone;
}

}  // namespace

Result<CodesignCheck> check_codesign(const CodesignArguments& arguments, const CodesignResult& result, ThreadPool& threads,
                                     const fs::path& directory) {
  if (arguments.no_verify) {
    return CodesignCheck{.executed = false, .equal = false, .sentence = "not verified: the programs were not executed"};
  }
  ProgramFolder folder(directory);
  const vta::ScheduleChoice chosen = [&result](const Layer& layer) -> std::optional<vta::Schedule> {
    for (const CodesignedLayer& one : result.layers) {
      if (one.found && same_shape(one.layer, layer)) return one.found->schedule;
    }
    return std::nullopt;
  };
  CodesignCheck check;
  std::string why = "only this one was asked for";
  std::optional<QuantisedNetwork> network;
  if (arguments.layer.empty()) {
    Result<QuantisedNetwork> built = read_quantised(arguments.network, {.seed = arguments.seed}, threads);
    if (built) network = std::move(built).value();
    if (!network) why = "the network is not built as a whole: " + built.error().message;
  }
  if (network) {
    TW_TRY(const vta::NetworkPlan plan, vta::plan_network(*network, *result.machine, chosen));
    check = check_whole(*network, plan, result, threads, folder);
  } else {
    check = check_layers_apart(result, why, threads, folder);
  }
  TW_TRY(check.programs, folder.close());
  return check;
}

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

int run_codesign(const CodesignArguments& arguments) {
  const Result<int> code = arguments.show_settings ? show_codesign_settings(arguments) : codesign(arguments);
  return code ? *code : report(code.error());
}

}  // namespace tilewright
