// How many steps of a particle world does one core make per second? Usage: bench_particle [--seconds S]
//
// Steps include physics, rewards, observations and resets; actions are one-hot and drawn beforehand. Predator-prey with
// random prey. Processor time of the thread, best of three rounds.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tilewright/base/rng.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/particle/particle_environment.hpp"

namespace tilewright::bench {
namespace {

constexpr std::size_t kWorlds = 16;

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// One-hot movements for all worlds, a few steps' worth.
std::vector<std::vector<float>> random_actions(const EnvironmentSpec& spec) {
  Rng rng(1, "bench");
  std::vector<std::vector<float>> steps(7, std::vector<float>(kWorlds * spec.action_size()));
  for (std::vector<float>& actions : steps) {
    for (std::size_t i = 0; i < actions.size(); i += 5) actions[i + static_cast<std::size_t>(rng.below(5))] = 1;
  }
  return steps;
}

double steps_per_second(ParticleEnvironment& environment, double seconds) {
  const std::vector<std::vector<float>> actions = random_actions(environment.spec());
  double best = 0;
  for (int round = 0; round < 3; ++round) {
    std::uint64_t episode = 0, steps = 0;
    const double start = thread_seconds();
    double now = start;
    while (now - start < seconds) {
      environment.reset(episode);
      episode += kWorlds;
      for (std::size_t t = 0; t < environment.spec().episode_length; ++t) {
        environment.step(actions[(episode + t) % actions.size()]);
        asm volatile("" : : "m"(*environment.arrays().observations.data()) : "memory");
      }
      steps += kWorlds * environment.spec().episode_length;
      now = thread_seconds();
    }
    best = std::max(best, static_cast<double>(steps) / (now - start));
  }
  return best;
}

int run(double seconds) {
  fmt::print("{:<14} {:>4} {:>14} {:>14} {:>12} {:>12}\n", "scenario", "N", "exact steps/s", "fast steps/s", "exact us",
             "fast us");
  for (const char* scenario : {"simple_tag", "simple_spread"}) {
    for (const std::size_t agents : {3U, 6U, 12U, 24U, 48U}) {
      double speed[2] = {};
      for (const Contacts contacts : {Contacts::Exact, Contacts::Fast}) {
        const auto environment = make_particle_environment(
            {.scenario = scenario, .contacts = contacts, .agents = agents, .worlds = kWorlds, .seed = 1});
        if (!environment) {
          fmt::print(stderr, "bench_particle: {}\n", environment.error().message);
          return 1;
        }
        speed[contacts == Contacts::Fast] = steps_per_second(**environment, seconds);
      }
      fmt::print("{:<14} {:>4} {:>14} {:>14} {:>12.3f} {:>12.3f}\n", scenario, agents,
                 with_thousands(static_cast<std::int64_t>(speed[0])), with_thousands(static_cast<std::int64_t>(speed[1])),
                 1e6 / speed[0], 1e6 / speed[1]);
    }
  }
  return 0;
}

}  // namespace
}  // namespace tilewright::bench

int main(int argument_count, char** arguments) {
  double seconds = 0.3;
  if (argument_count == 3 && std::string_view(arguments[1]) == "--seconds") {
    seconds = std::atof(arguments[2]);
  } else if (argument_count != 1) {
    std::fprintf(stderr, "usage: bench_particle [--seconds S]\n");
    return 2;
  }
  return tilewright::bench::run(seconds);
}
