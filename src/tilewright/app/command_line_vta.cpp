#include "tilewright/app/command_line.hpp"

#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tilewright/study/compile_command.hpp"
#include "tilewright/study/simulate_command.hpp"

namespace tilewright {
namespace {

// The machine's memory and core, as compile and simulate time programs with them.
void add_timing_options(CLI::App& verb, std::string& core, vta::TimingOptions& timing) {
  const std::string group = "Core and memory";
  verb.add_option("--core", core, "sequential (RTL of 2019 to 2021, cycle for cycle) or pipelined (since 2021)")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--read-latency", timing.read_latency, "cycles from a read command to its first data")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--write-latency", timing.write_latency, "cycles from the last data of a write to its acknowledge")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--bus-bytes", timing.bus_bytes, "per cycle and direction")->capture_default_str()->group(group);
  verb.add_option("--burst-bytes", timing.burst_bytes, "a burst never crosses a multiple of it")
      ->capture_default_str()
      ->group(group);
}

}  // namespace

void add_simulate_options(CLI::App& verb, SimulateArguments& simulate) {
  verb.add_option("program", simulate.program, "a .vtaprog file, as compile writes them");
  verb.add_option("--machine", simulate.machine, "zoo:vta, or a JSON file with VTA's LOG_* keys")->capture_default_str();
  add_timing_options(verb, simulate.core, simulate.timing);

  const std::string physical = "Power and heat";
  verb.add_option("--clock-mhz", simulate.physical.clock_mhz, "for time and power; cycles do not depend on it")
      ->capture_default_str()
      ->group(physical);
  verb.add_option("--ambient-celsius", simulate.physical.ambient_celsius, "around the package")
      ->capture_default_str()
      ->group(physical);
  verb.add_option("--kelvin-per-watt", simulate.physical.kelvin_per_watt, "thermal resistance from junction to ambient")
      ->capture_default_str()
      ->group(physical);

  const std::string results = "Results";
  verb.add_flag("--functional-only", simulate.functional_only, "execute, count no cycles")->group(results);
  verb.add_flag("--timing-only", simulate.timing_only, "count cycles, compute nothing")->group(results);
  verb.add_option("--dump", simulate.dump, "write the program's dump regions into this file")->group(results);
  verb.add_option("--timeline", simulate.timeline, "draw who worked when: a .svg or .html file")->group(results);
  verb.add_flag("--listing", simulate.listing, "show the instructions first")->group(results);
  verb.add_flag("--json", simulate.json, "everything as JSON")->group(results);
  verb.footer(
      "Exit codes: 0 done; 2 wrong input, or a program that is malformed or reaches outside a memory; 4 it hangs\n"
      "or FINISH is not last; 5 tokens are left over.\n" +
      examples_text(
          {{"tilewright simulate runs/compiled/05_conv3.vtaprog --machine runs/compiled/machine.json",
            "a program of the second example of compile"},
           {"tilewright simulate runs/compiled/05_conv3.vtaprog --machine runs/compiled/machine.json --timeline conv3.svg",
            "also drawn"}}));
}

void add_compile_options(CLI::App& verb, CompileArguments& compile) {
  verb.add_option("network", compile.network,
                  "zoo:NAME (seeded weights), a network file (same), or an ONNX model (its own)");
  verb.add_option("--machine", compile.machine, "zoo:vta, or a JSON file with VTA's LOG_* keys")->capture_default_str();
  verb.add_option("--schedules", compile.schedules, "default, a file of tiles and threads by layer, or a manifest.json")
      ->capture_default_str();
  verb.add_option("--layer", compile.layer, "name of one step; without it, all steps");
  verb.add_option("--batch", compile.batch, "images")->capture_default_str()->check(CLI::Range(1, 1 << 16));
  add_dim_option(verb, compile.dims);
  verb.add_option("--input-size", compile.input_size, "rows and columns of the input; default: the network's own")
      ->check(CLI::Range(1, 1 << 16));
  verb.add_option("--input-range", compile.input_range,
                  "LO,HI of the real numbers it will be fed, like 0,255; default -1,1, an assumption");
  verb.add_option("--seed", compile.seed, "of weights and input; the same seed gives the same bytes")->capture_default_str();
  add_timing_options(verb, compile.core, compile.timing);

  const std::string results = "Results";
  verb.add_flag("--no-verify", compile.no_verify, "do not execute the programs")->group(results);
  verb.add_option("-o,--output", compile.output, "directory for programs, manifest.json, machine.json, listing.txt")
      ->group(results);
  verb.add_option("--threads", compile.threads, "0 = all")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024))
      ->group(results);
  verb.add_flag("--json", compile.json, "everything as JSON")->group(results);
  verb.footer(
      "Exit codes: 0 done; 2 wrong input; 3 a program computes other numbers than the reference arithmetic.\n" +
      examples_text({{"tilewright compile zoo:alexnet --input-size 64 -o runs/alexnet64", "a whole network, verified"},
                     {"tilewright compile zoo:alexnet --layer conv3 -o runs/compiled", "one layer"}}));
}

}  // namespace tilewright
