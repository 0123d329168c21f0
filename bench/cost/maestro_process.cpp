#include "cost/maestro_process.hpp"

#include <chrono>
#include <cstdio>
#include <fstream>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"

namespace tilewright::bench {
namespace {

std::string to_file(const Nest& nest, const Mapping& mapping) {
  std::string dims;
  for (const Dim dim : {Dim::K, Dim::C, Dim::Y, Dim::X, Dim::R, Dim::S}) {
    if (nest.has(dim)) dims += fmt::format("{}{}: {}", dims.empty() ? "" : ", ", name_of(dim), nest[dim]);
  }
  const char* type = nest.kind == NestKind::Depthwise ? "DSCONV" : "CONV";
  return fmt::format("Network n {{\nLayer A {{\nType: {}\nDimensions {{ {} }}\nDataflow {{\n{}}}\n}}\n}}\n", type, dims,
                     to_maestro(mapping));
}

std::optional<std::int64_t> runtime_in(const std::filesystem::path& csv) {
  std::ifstream stream(csv);
  std::string line;
  if (!std::getline(stream, line) || !std::getline(stream, line)) return std::nullopt;
  const auto parts = split(line, ',');
  return parts.size() > 3 ? parse_integer(trim(parts[3])) : std::nullopt;
}

double seconds(const timeval& time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6; }

}  // namespace

ProcessRun run_maestro(const std::filesystem::path& program, const std::filesystem::path& folder, const Nest& nest,
                       const Mapping& mapping, const Accelerator& accelerator) {
  std::filesystem::remove(folder / "m.csv");
  std::ofstream(folder / "m.m") << to_file(nest, mapping);
  const std::string arguments[] = {program,
                                   "--Mapping_file=m.m",
                                   fmt::format("--num_pes={}", accelerator.pes),
                                   fmt::format("--noc_bw_cstr={}", accelerator.noc.bandwidth),
                                   fmt::format("--noc_hops={}", accelerator.noc.hops),
                                   fmt::format("--noc_hop_latency={}", accelerator.noc.hop_latency),
                                   fmt::format("--offchip_bw_cstr={}", accelerator.offchip_bandwidth),
                                   "--print_res=false"};
  char* argv[std::size(arguments) + 1] = {};
  for (std::size_t i = 0; i < std::size(arguments); ++i) argv[i] = const_cast<char*>(arguments[i].c_str());

  const auto start = std::chrono::steady_clock::now();
  std::fflush(nullptr);  // or the child would print our buffered lines again
  const pid_t child = fork();
  if (child == 0) {
    if (chdir(folder.c_str()) != 0 || std::freopen("/dev/null", "w", stdout) == nullptr ||
        std::freopen("/dev/null", "w", stderr) == nullptr)
      _exit(127);
    execv(argv[0], argv);
    _exit(127);
  }
  rusage usage{};
  int status = 0;
  wait4(child, &status, 0, &usage);
  ProcessRun run;
  run.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  run.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  run.runtime = runtime_in(folder / "m.csv");
  return run;
}

}  // namespace tilewright::bench
