// How fast are the two simulators? Usage: bench_vta [--rounds N]
//
// Programs of the golden set and the layers of ResNet-18 with default schedules on the default machine; one thread,
// processor time, median over N rounds (50). Cycles are compared with the recorded RTL, results with the recorded dumps,
// before their time counts.
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tilewright/vta/functional.hpp"
#include "tilewright/vta/generator.hpp"
#include "tilewright/vta/stream_check.hpp"
#include "tilewright/vta/timing.hpp"
#include "tilewright/workload/network.hpp"
#include "vta/golden.hpp"

namespace tilewright::vta {
namespace {

using Stream = std::vector<Instruction>;

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Median of `rounds`, each long enough for the clock.
template <typename Work>
double seconds_of(std::size_t rounds, int repeats, const Work& work) {
  std::vector<double> seconds(rounds);
  for (double& second : seconds) {
    const double begin = thread_seconds();
    for (int i = 0; i < repeats; ++i) work();
    second = (thread_seconds() - begin) / repeats;
  }
  std::ranges::nth_element(seconds, seconds.begin() + static_cast<std::ptrdiff_t>(rounds / 2));
  return seconds[rounds / 2];
}

[[noreturn]] void give_up(const std::string& sentence) {
  fmt::print(stderr, "bench_vta: {}\n", sentence);
  std::exit(1);
}

Stream first_stream(const GoldenCase& golden) {
  const Program program = program_from_bytes(golden.program, golden.name).value();
  Stream stream;
  for (const Section& section : program.sections) {
    if (section.kind != SectionKind::Stream) continue;
    if (decode_stream(section.bytes, Encoding(golden.machine), stream)) give_up(golden.name + " does not decode");
    break;
  }
  return stream;
}

void time_both_cores(const std::string& name, const Stream& stream, std::size_t rounds) {
  fmt::print("{:<24}{:>8}", name, stream.size());
  for (const Core core : {Core::Sequential, Core::Pipelined}) {
    TimingSimulator simulator({}, {.core = core});
    const Timing timing = simulator.run(stream);
    if (timing.fault) give_up(name + ": " + timing.fault->sentence);
    const double seconds = seconds_of(rounds, 20, [&] { simulator.run(stream); });
    fmt::print("{:>12}{:>10.1f}{:>8.1f}", timing.cycles, 1e6 * seconds, 1e9 * seconds / static_cast<double>(stream.size()));
    if (core == Core::Pipelined) fmt::print("{:>9}", timing.read_bursts + timing.write_bursts);
  }
  fmt::print("\n");
}

void check_cycles(const GoldenCase& golden) {
  const GoldenRun& run = golden.runs.at(0);
  const Timing timing =
      time_stream(first_stream(golden), {},
                  {.core = Core::Sequential, .read_latency = run.read_latency, .write_latency = run.write_latency});
  if (timing.cycles != run.stream_cycles.at(0))
    give_up(fmt::format("{} takes {} cycles, expected {}", golden.name, timing.cycles, run.stream_cycles.at(0)));
}

void check_pipelined_cycles() {
  for (const GoldenPipelined& golden : golden_pipelined()) {
    for (const GoldenPipelined::Run& run : golden.runs) {
      const Timing timing = time_stream(golden.stream, golden_pipelined_machine(),
                                        {.read_latency = run.read_latency, .write_latency = run.write_latency});
      if (timing.cycles != run.cycles)
        give_up(fmt::format("{} takes {} cycles, expected {}", golden.name, timing.cycles, run.cycles));
    }
  }
}

void time_timing(std::size_t rounds) {
  check_pipelined_cycles();
  fmt::print(
      "timing only             instructions    sequential cycles, us, ns each     pipelined cycles, us, ns each, bursts\n");
  for (const char* name : {"gen_mix_b", "gen_mix_c", "micro_queue_full", "net_resnet18_c4", "net_resnet18_c5"}) {
    check_cycles(golden_case(name));
    time_both_cores(name, first_stream(golden_case(name)), rounds);
  }
  const Network network = read_network("zoo:resnet18").value();
  Code code;
  for (const LayerGroup& group : distinct_layers(network)) {
    const Layer& layer = network.layers[group.first].layer;
    const std::optional<Schedule> schedule = default_schedule(layer, {});
    if (!schedule) continue;
    generate(layer, {}, *schedule, {.shift = 8}, {.weight = 1 << 22, .output = 1 << 24, .uops = 1 << 26}, code);
    time_both_cores(layer.name, code.instructions, rounds);
  }
}

void time_functional(std::size_t rounds) {
  fmt::print("\nfunctional                      MMAC        ms    GMAC/s\n");
  for (const char* name : {"gen_conv3x3_a", "net_resnet18_c4", "net_resnet18_c5"}) {
    const GoldenCase& golden = golden_case(name);
    const Program program = program_from_bytes(golden.program, name).value();
    const Program expected = program_from_bytes(golden.expected, name).value();
    const Execution execution = execute(program, golden.machine);
    if (execution.fault) give_up(fmt::format("{}: {}", name, execution.fault->sentence));
    for (std::size_t i = 0; i < expected.sections.size(); ++i)
      if (execution.dumps.at(i).bytes != expected.sections[i].bytes)
        give_up(fmt::format("{} computes something else", name));
    const double macs = static_cast<double>(execution.profile.gemm_steps * golden.machine.macs_per_step());
    const double seconds = seconds_of(std::max<std::size_t>(rounds / 10, 1), 1, [&] { execute(program, golden.machine); });
    fmt::print("{:<26}{:>10.1f}{:>10.2f}{:>10.2f}\n", name, 1e-6 * macs, 1e3 * seconds, 1e-9 * macs / seconds);
  }
}

}  // namespace
}  // namespace tilewright::vta

int main(int argc, char** argv) {
  long rounds = 50;
  if (argc == 3 && std::string(argv[1]) == "--rounds") rounds = std::strtol(argv[2], nullptr, 10);
  if ((argc != 1 && argc != 3) || rounds < 1) {
    fmt::print(stderr, "Usage: bench_vta [--rounds N]\n");
    return 2;
  }
  tilewright::vta::time_timing(static_cast<std::size_t>(rounds));
  tilewright::vta::time_functional(static_cast<std::size_t>(rounds));
  return 0;
}
