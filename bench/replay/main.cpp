// What does a mini-batch of 1024 cost? Usage: bench_replay [--gib SIZE] [--rounds N]
//
// Predator-prey sizes, one thread, replay memories of SIZE GiB (1), each draw with fresh indices, so that what is gathered
// is not in any cache; processor time, median over N rounds (100). Every batch is compared with what was stored before its
// time counts.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tilewright/base/rng.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/marl/replay.hpp"
#include "tilewright/marl/samplers.hpp"
#include "tilewright/nn/mlp.hpp"

namespace tilewright::bench {
namespace {

constexpr std::size_t kBatch = 1024;
constexpr std::size_t kWorlds = 64;

struct Options {
  double gib = 1;
  std::size_t rounds = 100;
};

// Predators, prey, obstacles.
struct Sizes {
  std::size_t predators, prey, obstacles;
};
constexpr Sizes kSizes[] = {{3, 1, 2}, {6, 2, 3}, {12, 4, 4}, {24, 8, 8}, {48, 16, 16}};

// simple_tag with prey that nobody trains. State: velocities and positions of predators and prey, positions of obstacles.
EnvironmentSpec tag_spec(const Sizes& sizes) {
  EnvironmentSpec spec;
  const std::size_t movers = sizes.predators + sizes.prey;
  ObservationTable table{.state_size = 4 * movers + 2 * sizes.obstacles, .entries = {}};
  const auto velocity = [](std::size_t mover) { return static_cast<std::int32_t>(2 * mover); };
  const auto position = [&](std::size_t body) { return static_cast<std::int32_t>(2 * (movers + body)); };
  for (std::size_t agent = 0; agent < sizes.predators; ++agent) {
    const std::size_t begin = table.entries.size();
    const auto see = [&](std::int32_t plus, std::int32_t minus) {
      for (const std::int32_t axis : {0, 1}) {
        table.entries.push_back({plus + axis, minus == ObservationEntry::kNone ? minus : minus + axis});
      }
    };
    see(velocity(agent), ObservationEntry::kNone);
    see(position(agent), ObservationEntry::kNone);
    for (std::size_t o = 0; o < sizes.obstacles; ++o) see(position(movers + o), position(agent));
    for (std::size_t other = 0; other < movers; ++other) {
      if (other != agent) see(position(other), position(agent));
    }
    for (std::size_t p = 0; p < sizes.prey; ++p) see(velocity(sizes.predators + p), ObservationEntry::kNone);
    spec.agents.push_back({fmt::format("predator_{}", agent), "predators", table.entries.size() - begin, {{5}, 0}});
  }
  spec.table = std::move(table);
  return spec;
}

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

// Transition t holds random numbers that repeat every kWorlds transitions, and the reward t (in 24 bits) for every agent.
float reward_of(std::uint64_t number) { return static_cast<float>(number % (1 << 24)); }

void fill(Replay& replay, const EnvironmentSpec& spec) {
  Rng rng(1, "experience");
  const auto random = [&](std::size_t count) {
    std::vector<float> values(kWorlds * count);
    for (float& value : values) value = static_cast<float>(rng.uniform());
    return values;
  };
  const auto observations = random(spec.observation_size()), states = random(spec.state_size());
  const auto actions = random(spec.action_size());
  std::vector<float> rewards(kWorlds * spec.agent_count());
  const std::vector<std::uint8_t> flags(rewards.size()), live(kWorlds, 1);
  Experience experience;
  experience.world_count = kWorlds;
  experience.observations = experience.next_observations = observations;
  experience.states = experience.next_states = states;
  experience.actions = actions;
  experience.rewards = rewards;
  experience.terminated = experience.truncated = flags;
  experience.live = live;
  // Past the end once, so that ages and places differ.
  while (replay.added() < replay.capacity() + replay.capacity() / 3) {
    for (std::size_t i = 0; i < rewards.size(); ++i) rewards[i] = reward_of(replay.added() + i / spec.agent_count());
    replay.add(experience);
  }
}

void check(const Replay& replay, const Batch& batch) {
  const std::uint64_t oldest = replay.added() - replay.size();
  for (std::size_t agent = 0; agent < batch.rewards.rows(); ++agent) {
    for (std::size_t i = 0; i < batch.rows; ++i) {
      if (batch.rewards.row(agent)[i] == reward_of(oldest + batch.indices[i])) continue;
      fmt::print(stderr, "bench_replay: row {} of a batch is not the transition that was drawn\n", i);
      std::exit(1);
    }
  }
}

struct Times {
  double draw = 0, gather = 0;  // microseconds
  double megabytes_per_second = 0;
};

Times measure(const Replay& replay, const std::string& sampler_name, std::size_t rounds) {
  const auto sampler = make_sampler(*parse_sampler(sampler_name), replay.capacity());
  Rng rng(2, sampler_name);
  Batch batch = replay.make_batch(kBatch);
  std::vector<double> draws, gathers;
  double bytes = 0;
  for (std::size_t round = 0; round < rounds + 3; ++round) {
    const double begin = thread_seconds();
    sampler->draw({replay.size(), replay.capacity(), replay.added()}, kBatch, rng, batch.indices, batch.weights);
    const double drawn = thread_seconds();
    bytes = static_cast<double>(replay.gather(batch));
    const double gathered = thread_seconds();
    check(replay, batch);
    if (round < 3) continue;  // the batch's own pages are new
    draws.push_back((drawn - begin) * 1e6);
    gathers.push_back((gathered - drawn) * 1e6);
  }
  const double gather = median(gathers);
  return {median(draws), gather, bytes / gather};
}

void print_gathers(const Options& options, Pages pages) {
  const std::vector<std::string> samplers = {"uniform", "neighbor:3", "run:3", "run:16"};
  fmt::print("\ngather, {} pages                     µs (MB/s) by sampler\n{:>3}  {:<9}  {:>8}  {:>12}",
             pages == Pages::Huge ? "huge" : "4 KiB", "N", "layout", "B/row", "transitions");
  for (const std::string& name : samplers) fmt::print("  {:>15}", name);
  fmt::print("\n");
  for (const Sizes& sizes : kSizes) {
    if (sizes.predators > 24) continue;
    const EnvironmentSpec spec = tag_spec(sizes);
    for (const ReplayLayout layout : {ReplayLayout::PerAgent, ReplayLayout::Joint, ReplayLayout::State}) {
      const std::size_t row = Replay(spec, layout, 1).bytes_per_transition();
      const auto capacity = static_cast<std::size_t>(options.gib * 1073741824.0) / row;
      Replay replay(spec, layout, capacity, pages);
      fill(replay, spec);
      fmt::print("{:>3}  {:<9}  {:>8}  {:>12}", sizes.predators, to_string(layout), row,
                 with_thousands(static_cast<std::int64_t>(capacity)));
      for (const std::string& name : samplers) {
        const Times times = measure(replay, name, options.rounds);
        fmt::print("  {:>15}", fmt::format("{:.0f} ({:.0f})", times.gather, times.megabytes_per_second));
      }
      fmt::print("\n");
      std::fflush(stdout);
    }
  }
}

void print_draws(const Options& options) {
  const EnvironmentSpec spec = tag_spec(kSizes[0]);
  Replay replay(spec, ReplayLayout::State, 1'000'000);
  fill(replay, spec);
  fmt::print("\ndrawing {} of 1,000,000                    µs\n", kBatch);
  for (const std::string name : {"uniform", "neighbor:3", "run:3", "run:16", "prioritized", "reuse:4"}) {
    fmt::print("  {:<12} {:>30.1f}\n", name, measure(replay, name, options.rounds).draw);
  }
}

void print_observations(const Options& options) {
  fmt::print("\nobservations of all agents out of {} states, current and next, in tiles of {}\n{:>3}  {:>8}  {:>8}  {:>8}\n",
             kBatch, kTileRows, "N", "columns", "ms", "GB/s");
  for (const Sizes& sizes : kSizes) {
    const EnvironmentSpec spec = tag_spec(sizes);
    const Representation representation(spec, ReplayLayout::State);
    const std::size_t columns = spec.agents[0].observation_size;
    const Matrix rows(kBatch, representation.size() + spec.action_size());
    Matrix scratch(kTileRows, columns);
    std::vector<double> times;
    for (std::size_t round = 0; round < std::max<std::size_t>(3, options.rounds / 4); ++round) {
      const double begin = thread_seconds();
      for (std::size_t agent = 0; agent < 2 * spec.agent_count(); ++agent) {
        for (std::size_t first = 0; first < kBatch; first += kTileRows) {
          const ConstView tile = rows.view().row_range(first, std::min(kTileRows, kBatch - first));
          const ConstView view = representation.observations(agent / 2, tile, scratch);
          asm volatile("" : : "r"(view.data) : "memory");
        }
      }
      times.push_back(thread_seconds() - begin);
    }
    const double seconds = median(times);
    const double bytes = static_cast<double>(2 * kBatch * spec.observation_size() * sizeof(float));
    fmt::print("{:>3}  {:>8}  {:>8.3f}  {:>8.1f}\n", sizes.predators, columns, seconds * 1e3, bytes / seconds * 1e-9);
  }
}

int run(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
    const double number = std::atof(value.c_str());
    if (name == "--gib" && number > 0 && number <= 64) {
      options.gib = number;
    } else if (name == "--rounds" && number >= 1 && number <= 1e6) {
      options.rounds = static_cast<std::size_t>(number);
    } else {
      fmt::print(stderr, "bench_replay: '{} {}' is not known, expected --gib SIZE or --rounds N\n", name, value);
      return 2;
    }
  }
  fmt::print("mini-batches of {} from {} GiB, one thread, processor time, median of {}\n", kBatch, options.gib,
             options.rounds);
  print_draws(options);
  print_observations(options);
  print_gathers(options, Pages::Huge);
  print_gathers(options, Pages::Small);
  return 0;
}

}  // namespace
}  // namespace tilewright::bench

int main(int argc, char** argv) { return tilewright::bench::run(argc, argv); }
