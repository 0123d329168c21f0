// How long does one update of all agents take? Usage: bench_marl_update [--agents 3,6,12,24,48] [--layout state] …
//
// MADDPG or MASAC at the sizes of simple_tag, a memory filled with random transitions, batch 1024. Processor time of all
// threads, next to the time that the arithmetic alone takes at the 88 GFLOP/s that a large matrix product reaches on the
// machine for which docs/performance.md was written.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "marl/predator_prey.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/marl/algorithms.hpp"

namespace tilewright::bench {
namespace {

struct Options {
  std::vector<std::size_t> agents = {3, 6, 12, 24, 48};
  std::string algorithm = "maddpg", layout = "state", semantics = "shared", sampler = "uniform";
  std::size_t threads = 1, updates = 0, transitions = 100'000, batch = 1024;
  bool json = false;
};

constexpr double kGflopPerSecond = 88;
constexpr Phase kPhases[] = {Phase::Sampling, Phase::TargetQ, Phase::QLoss, Phase::PLoss, Phase::TargetUpdate};

double seconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Multiplications and additions without which an update cannot be had: K inputs of a critic, O of an actor.
double update_gflop(const EnvironmentSpec& spec, const Options& options) {
  const auto agents = static_cast<double>(spec.agent_count()), batch = static_cast<double>(options.batch);
  const auto actions = static_cast<double>(spec.action_size());
  const bool folded = options.layout == "state";
  const double K = static_cast<double>(folded ? spec.state_size() : spec.observation_size()) + actions;
  const auto O = static_cast<double>(spec.agents.front().observation_size);
  const double H = 64, A = 5, critics = options.algorithm == "masac" ? 2 : 1;
  const auto pass = [&](double inputs, double outputs) { return 2 * batch * (inputs * H + H * H + H * outputs); };
  const double target_actors = (options.semantics == "openai" ? agents : 1) * pass(O, A);
  const double targets = critics * pass(K, 1) + (critics - 1) * pass(O, A);
  const double critic_step = critics * (2 * pass(K, 1) + 2 * batch * (H * H + H));
  const double actor_step =
      pass(O, A) + pass(K, 1) + 2 * batch * (H + H * H + A * H) + pass(O, A) + 2 * batch * (H * H + A * H);
  return agents * (target_actors + targets + critic_step + actor_step) * 1e-9;
}

// What memory adds: Adam streams at least first and second moments and weights of parameters that no cache holds.
double adam_floor_ms(const EnvironmentSpec& spec, const Options& options) {
  const auto inputs = static_cast<double>(spec.observation_size() + spec.action_size());
  const double critics = options.algorithm == "masac" ? 2 : 1;
  const double parameters = critics * static_cast<double>(spec.agent_count()) * 64 * inputs;
  return parameters * 16 < 32e6 ? 0 : parameters * 1.25e-6;
}

struct Timing {
  double median_ms = 0, best_ms = 0, wall_ms = 0;
  std::vector<double> phase_ms;
};

Result<Timing> measure(const EnvironmentSpec& spec, const Options& options) {
  AlgorithmOptions algorithm;
  OffPolicyOptions& learning = algorithm.off_policy;
  TW_TRY(learning.layout, parse_layout(options.layout));
  TW_TRY(learning.semantics, parse_semantics(options.semantics));
  TW_TRY(learning.sampler, parse_sampler(options.sampler));
  learning.batch = options.batch;
  learning.capacity = options.transitions + 1'000;
  learning.warm_up = 1;
  learning.update_every = 1;
  ThreadPool threads(options.threads);
  Profile profile(options.threads);
  TW_TRY(const Algorithm chosen, named<Algorithm>(options.algorithm));
  TW_TRY(const std::unique_ptr<Learner> learner, make_learner(chosen, spec, algorithm, 1, threads, profile));
  if (learner->replay() == nullptr) return invalid(options.algorithm + " has no replay memory, expected maddpg or masac");
  constexpr std::size_t kChunk = 1'000;
  for (std::size_t added = 0; added < options.transitions; added += kChunk)
    learner->replay()->add(RandomExperience(spec, kChunk, added).view());

  const RandomExperience one(spec, 1, 0);
  const std::size_t agents = spec.agent_count();
  const std::size_t updates =
      options.updates > 0 ? options.updates : std::clamp<std::size_t>(1'500 / (agents * agents), 7, 60);
  learner->learn(one.view());  // touches every page
  const ProfileTotals before = profile.totals();
  std::vector<double> cpu, wall;
  for (std::size_t i = 0; i < updates; ++i) {
    const double cpu_start = seconds(CLOCK_PROCESS_CPUTIME_ID), wall_start = seconds(CLOCK_MONOTONIC);
    learner->learn(one.view());
    cpu.push_back((seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_start) * 1e3);
    wall.push_back((seconds(CLOCK_MONOTONIC) - wall_start) * 1e3);
  }
  const ProfileTotals after = profile.totals();
  Timing timing;
  std::ranges::sort(cpu);
  timing = {
      .median_ms = cpu[cpu.size() / 2], .best_ms = cpu.front(), .wall_ms = *std::ranges::min_element(wall), .phase_ms = {}};
  for (const Phase phase : kPhases)
    timing.phase_ms.push_back((after[phase].cpu_seconds - before[phase].cpu_seconds) * 1e3 / static_cast<double>(updates));
  return timing;
}

void print_json(std::size_t agents, const Timing& timing, double gflop, double floor_ms, const Options& options) {
  std::string phases;
  for (std::size_t p = 0; p < std::size(kPhases); ++p)
    phases += fmt::format("{}\"{}\": {:.4f}", p == 0 ? "" : ", ", to_string(kPhases[p]), timing.phase_ms[p]);
  fmt::print(
      "{{\"agents\": {}, \"algorithm\": \"{}\", \"layout\": \"{}\", \"semantics\": \"{}\", \"sampler\": \"{}\", "
      "\"threads\": {}, \"median_ms\": {:.4f}, \"best_ms\": {:.4f}, \"wall_ms\": {:.4f}, \"gflop\": {:.4f}, "
      "\"floor_ms\": {:.4f}, \"phase_ms\": {{{}}}}}\n",
      agents, options.algorithm, options.layout, options.semantics, options.sampler, options.threads, timing.median_ms,
      timing.best_ms, timing.wall_ms, gflop, floor_ms, phases);
}

int run(const Options& options) {
  if (!options.json) {
    fmt::print(
        "{}, replay {}, {} semantics, sampler {}, {} thread(s); milliseconds of processor time per update of all\n"
        "     N   median     best    wall | sampling  target Q    Q loss    P loss   targets |  GFLOP GFLOP/s  floor  "
        "best/floor\n",
        options.algorithm, options.layout, options.semantics, options.sampler, options.threads);
  }
  for (const std::size_t agents : options.agents) {
    const EnvironmentSpec spec = predator_prey(agents);
    const Result<Timing> measured = measure(spec, options);
    if (!measured) {
      fmt::print(stderr, "{}\n", measured.error().message);
      return 1;
    }
    const Timing& timing = *measured;
    const double gflop = update_gflop(spec, options);
    const double floor_ms = gflop / kGflopPerSecond * 1e3 + adam_floor_ms(spec, options);
    if (options.json) {
      print_json(agents, timing, gflop, floor_ms, options);
    } else {
      fmt::print("{:6} {:8.2f} {:8.2f} {:7.2f} |", agents, timing.median_ms, timing.best_ms, timing.wall_ms);
      for (const double ms : timing.phase_ms) fmt::print(" {:8.2f} ", ms);
      fmt::print("|{:7.2f} {:7.1f} {:6.1f} {:11.2f}\n", gflop, gflop / timing.best_ms * 1e3, floor_ms,
                 timing.best_ms / floor_ms);
    }
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace tilewright::bench

int main(int argc, char** argv) {
  tilewright::bench::Options options;
  CLI::App app("Times updates of MADDPG and MASAC");
  app.add_option("--agents", options.agents, "numbers of agents")->delimiter(',');
  app.add_option("--algorithm", options.algorithm, "maddpg or masac");
  app.add_option("--layout", options.layout, "state, joint or per-agent");
  app.add_option("--semantics", options.semantics, "shared or openai");
  app.add_option("--sampler", options.sampler, "uniform, neighbor:N, run:N, prioritized or reuse:N");
  app.add_option("--threads", options.threads, "threads");
  app.add_option("--updates", options.updates, "updates to time; 0 = by the number of agents");
  app.add_option("--transitions", options.transitions, "in the replay memory");
  app.add_option("--batch", options.batch, "samples per batch");
  app.add_flag("--json", options.json, "one JSON object per line");
  CLI11_PARSE(app, argc, argv);
  return tilewright::bench::run(options);
}
