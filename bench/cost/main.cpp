// How long does one evaluation take? Usage: bench_cost [--maestro PROGRAM] [--samples N]
//
// In process, one core, every mapping different, nothing remembered between mappings. With --maestro, the real program runs
// beside ours on a sample of the same mappings; the cycles of both are compared before any time is printed.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <sstream>
#include <string>

#include <unistd.h>

#include <fmt/format.h>

#include "cost/cases.hpp"
#include "cost/maestro_process.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/cost/batch.hpp"
#include "tilewright/cost/evaluator.hpp"
#include "tilewright/cost/plan.hpp"
#include "tilewright/cost/stance_walk.hpp"

namespace tilewright::bench {
namespace {

using Columns = EvaluateOptions::Columns;

double clock_seconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

std::size_t count_of(const std::vector<LayerCases>& cases) {
  std::size_t count = 0;
  for (const LayerCases& layer : cases) count += layer.mappings.size();
  return count;
}

// Best of five rounds over all cases, in microseconds of processor time per mapping.
template <typename Evaluate>
double microseconds(const std::vector<LayerCases>& cases, const Evaluate& evaluate) {
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const double start = clock_seconds(CLOCK_THREAD_CPUTIME_ID);
    for (const LayerCases& layer : cases) evaluate(layer);
    best = std::min(best, clock_seconds(CLOCK_THREAD_CPUTIME_ID) - start);
  }
  return best * 1e6 / static_cast<double>(count_of(cases));
}

double evaluator_microseconds(const std::vector<LayerCases>& cases, Model model, Columns columns) {
  return microseconds(cases, [&](const LayerCases& layer) {
    Evaluator evaluator(layer.nest, gamma_machine(), {model, Constraints::Hard, columns});
    for (const Mapping& mapping : layer.mappings) {
      const Evaluation evaluation = evaluator.evaluate(mapping);
      asm volatile("" : : "m"(evaluation));
    }
  });
}

double walk_microseconds(const std::vector<LayerCases>& cases) {
  const Accelerator machine = gamma_machine();
  const MachineRates rates{machine.noc.bandwidth, machine.noc.latency(), machine.offchip_bandwidth, machine.simd_lanes};
  Plan plan;
  return microseconds(cases, [&](const LayerCases& layer) {
    for (const Mapping& mapping : layer.mappings) {
      if (make_plan(plan, layer.nest, mapping, machine.pes, Model::Maestro)) continue;
      const auto result = walk_stances(plan, rates);
      asm volatile("" : : "m"(result));
    }
  });
}

struct PeerTimes {
  double cpu_ms = 0;
  std::size_t runs = 0;
  std::size_t different = 0;
};

PeerTimes peer_times(const std::string& program, const std::vector<LayerCases>& cases, std::size_t samples) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("tilewright_bench_{}", getpid());
  std::filesystem::create_directories(folder);
  PeerTimes times;
  for (std::size_t i = 0; i < samples; ++i) {
    const LayerCases& layer = cases[i % cases.size()];
    const Mapping& mapping = layer.mappings[i / cases.size() % layer.mappings.size()];
    const ProcessRun run = run_maestro(program, folder, layer.nest, mapping, gamma_machine());
    const Evaluation ours = evaluate(mapping, layer.nest, gamma_machine(), Model::Maestro);
    const auto* cost = std::get_if<Cost>(&ours);
    times.different += (cost != nullptr ? std::optional(cost->runtime.value) : std::nullopt) != run.runtime ? 1 : 0;
    times.cpu_ms += run.cpu_seconds * 1e3;
    ++times.runs;
  }
  std::filesystem::remove_all(folder);
  times.cpu_ms /= static_cast<double>(times.runs);
  return times;
}

std::string case_line(const LayerCases& layer, const Mapping& mapping) {
  std::string dims, dataflow;
  for (const Dim dim : {Dim::K, Dim::C, Dim::Y, Dim::X, Dim::R, Dim::S}) {
    if (layer.nest.has(dim)) dims += fmt::format("{}[\"{}\",{}]", dims.empty() ? "" : ",", name_of(dim), layer.nest[dim]);
  }
  for (std::size_t i = 0; i < mapping.levels.size(); ++i) {
    if (i > 0) dataflow += fmt::format(",[\"C\",{},\"P\"]", mapping.levels[i].cluster_size);
    for (const Directive& d : mapping.levels[i].directives) {
      dataflow += fmt::format("{}[\"{}\",{},{},\"{}\"]", dataflow.empty() ? "" : ",",
                              d.kind == Directive::Kind::Spatial ? "S" : "T", d.size, d.offset, name_of(d.dim));
    }
  }
  return fmt::format(
      "{{\"id\":\"{}\",\"hw\":{{\"num_pes\":168,\"noc_bw\":81920000,\"noc_hops\":1,\"hop_latency\":1,\"offchip_bw\":"
      "2147483647,\"via\":\"cli\"}},"
      "\"layers\":[{{\"name\":\"A\",\"type\":\"{}\",\"stride\":{{}},\"dims\":[{}],\"dataflow\":[{}]}}]}}\n",
      layer.name, layer.nest.kind == NestKind::Depthwise ? "DSCONV" : "CONV", dims, dataflow);
}

void print_batch(const std::vector<LayerCases>& cases) {
  std::string lines;
  for (const LayerCases& layer : cases) {
    for (const Mapping& mapping : layer.mappings) lines += case_line(layer, mapping);
  }
  fmt::print("\nevaluate --batch, JSON lines in and out, {} cases of two levels\n", count_of(cases));
  for (const std::size_t threads : {1u, 2u}) {
    for (const Model model : {Model::Sound, Model::Maestro}) {
      double best = 1e9;
      for (int round = 0; round < 3; ++round) {
        std::istringstream in(lines);
        std::ostringstream out;
        const double start = clock_seconds(CLOCK_MONOTONIC);
        evaluate_batch(in, out, {model, Constraints::Hard}, threads);
        best = std::min(best, clock_seconds(CLOCK_MONOTONIC) - start);
      }
      fmt::print("  {} thread{}  {:<8} {:>10} cases/s\n", threads, threads == 1 ? " " : "s", name_of(model),
                 with_thousands(static_cast<std::int64_t>(static_cast<double>(count_of(cases)) / best)));
    }
  }
}

int run(int argc, char** argv) {
  std::string program;
  std::size_t samples = 60;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) == "--maestro") {
      program = argv[i + 1];
    } else if (std::string(argv[i]) == "--samples" && parse_integer(argv[i + 1]).value_or(0) > 0) {
      samples = static_cast<std::size_t>(*parse_integer(argv[i + 1]));
    } else {
      fmt::print(stderr, "bench_cost: '{} {}' is not known, expected --maestro PROGRAM or --samples N\n", argv[i],
                 argv[i + 1]);
      return 2;
    }
  }
  fmt::print("one evaluation, one core, mean over random GAMMA-style mappings, microseconds of processor time\n\n");
  fmt::print("{:<8} {:>8} {:>14} {:>11} {:>14} {:>13} {:>10}", "levels", "mappings", "sound, search", "sound, all",
             "exact, search", "maestro, all", "stance walk");
  fmt::print("{}\n", program.empty() ? "" : "   real MAESTRO, process      ratio");
  bool equal = true;
  for (const std::int64_t levels : {1, 2, 3}) {
    const std::vector<LayerCases> cases = gamma_cases(levels, 400);
    const double all = evaluator_microseconds(cases, Model::Maestro, Columns::All);
    fmt::print("{:<8} {:>8} {:>14.2f} {:>11.2f} {:>14.2f} {:>13.2f} {:>10.2f}", levels, count_of(cases),
               evaluator_microseconds(cases, Model::Sound, Columns::Search),
               evaluator_microseconds(cases, Model::Sound, Columns::All),
               evaluator_microseconds(cases, Model::Exact, Columns::Search), all, walk_microseconds(cases));
    if (!program.empty()) {
      const PeerTimes peer = peer_times(program, cases, samples);
      equal = equal && peer.different == 0;
      fmt::print("   {:>17.2f} ms {:>12.0f}x", peer.cpu_ms, peer.cpu_ms * 1e3 / all);
      if (peer.different > 0) fmt::print("  {} of {} runs differ in cycles", peer.different, peer.runs);
    }
    fmt::print("\n");
  }
  print_batch(gamma_cases(2, 400));
  return equal ? 0 : 1;
}

}  // namespace
}  // namespace tilewright::bench

int main(int argc, char** argv) { return tilewright::bench::run(argc, argv); }
