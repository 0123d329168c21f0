#include "tilewright/search/pareto.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tilewright/base/rng.hpp"

namespace tilewright {
namespace {

Objective named(const char* text) { return *objective_named(text); }

Metrics random_metrics(Rng& rng) {
  return {.latency = 1.0 + static_cast<double>(rng.below(12)),
          .energy = 1.0 + static_cast<double>(rng.below(12)),
          .area = 1.0 + static_cast<double>(rng.below(4)),
          .power = 1};
}

void power_is_energy_by_time(Metrics& sums) { sums.power = sums.energy / sums.latency; }

// The terms nobody beats, the slow and obvious way.
std::set<Score> undominated(const std::vector<Score>& all) {
  std::set<Score> front;
  for (const Score& one : all) {
    if (std::ranges::none_of(all, [&](const Score& other) { return dominates(other, one); })) front.insert(one);
  }
  return front;
}

TEST(Pareto, AFrontHoldsWhatNobodyBeatsAndTheFirstOfEquals) {
  const Objective objective = named("pareto:latency,energy");
  Rng rng(1, "front");
  for (int round = 0; round < 50; ++round) {
    std::vector<FrontMember> front;
    std::vector<Score> all;
    std::map<Score, std::int64_t> first;
    for (std::int64_t sample = 1; sample <= 60; ++sample) {
      const Outcome outcome{true, 0, random_metrics(rng)};
      all.push_back(terms_of(objective, outcome.metrics));
      first.emplace(all.back(), sample);
      add_to_front(front, {{}, outcome, all.back(), sample});
    }
    std::vector<Score> found;
    for (const FrontMember& member : front) {
      found.push_back(member.terms);
      EXPECT_EQ(member.sample, first.at(member.terms));
    }
    const std::set<Score> expected = undominated(all);
    EXPECT_EQ(found, std::vector<Score>(expected.begin(), expected.end()));
  }
}

struct Combination {
  Metrics sums;
  std::vector<std::size_t> choice;
};
std::vector<Combination> combinations(std::span<const FrontLayer> layers) {
  std::vector<Combination> all(1);
  for (const FrontLayer& layer : layers) {
    std::vector<Combination> longer;
    for (const Combination& one : all) {
      for (std::size_t choice = 0; choice < layer.front.size(); ++choice) {
        longer.push_back(one);
        accumulate(longer.back().sums, layer.front[choice], layer.count);
        longer.back().choice.push_back(choice);
      }
    }
    all = std::move(longer);
  }
  for (Combination& one : all) power_is_energy_by_time(one.sums);
  return all;
}

std::vector<FrontLayer> random_layers(Rng& rng) {
  std::vector<FrontLayer> layers(3);
  for (FrontLayer& layer : layers) {
    layer.count = 1.0 + static_cast<double>(rng.below(3));
    for (int i = 0; i < 6; ++i) layer.front.push_back(random_metrics(rng));
  }
  return layers;
}

TEST(Pareto, ANetworksFrontIsThatOfAllCombinations) {
  Rng rng(2, "network");
  for (const char* text : {"pareto:latency,energy", "pareto:latency,energy,area", "pareto:latency,power", "pareto:edp,area",
                           "pareto:latency,power,area", "pareto:throughput,energy"}) {
    const Objective objective = named(text);
    for (int round = 0; round < 30; ++round) {
      const std::vector<FrontLayer> layers = random_layers(rng);
      std::vector<Score> all;
      for (Combination& one : combinations(layers)) all.push_back(terms_of(objective, one.sums));
      const NetworkFront network = network_front(layers, objective, power_is_energy_by_time);
      EXPECT_EQ(network.bound, 1);
      std::vector<Score> found;
      for (const NetworkMember& member : network.members) {
        found.push_back(member.terms);
        Metrics sums;
        for (std::size_t i = 0; i < layers.size(); ++i) {
          accumulate(sums, layers[i].front[member.choice[i]], layers[i].count);
        }
        power_is_energy_by_time(sums);
        EXPECT_EQ(terms_of(objective, sums), member.terms) << "the choice is what it claims";
      }
      const std::set<Score> expected = undominated(all);
      EXPECT_EQ(found, std::vector<Score>(expected.begin(), expected.end())) << text;
    }
  }
}

TEST(Pareto, AThinnedFrontKeepsItsBound) {
  Rng rng(3, "thin");
  const Objective objective = named("pareto:latency,energy");
  int thinned = 0;
  for (int round = 0; round < 30; ++round) {
    const std::vector<FrontLayer> layers = random_layers(rng);
    const NetworkFront network = network_front(layers, objective, power_is_energy_by_time, 3);
    EXPECT_LE(network.members.size(), 3U);
    thinned += network.bound > 1 ? 1 : 0;
    for (const Combination& one : combinations(layers)) {
      EXPECT_TRUE(std::ranges::any_of(network.members, [&](const NetworkMember& member) {
        return member.metrics.latency <= network.bound * one.sums.latency * (1 + 1e-12) &&
               member.metrics.energy <= network.bound * one.sums.energy * (1 + 1e-12);
      }));
    }
  }
  EXPECT_GT(thinned, 5);
}

TEST(Pareto, ALayerWithoutAMappingLeavesNoFront) {
  EXPECT_TRUE(
      network_front(std::vector<FrontLayer>(2), named("pareto:latency,energy"), power_is_energy_by_time).members.empty());
}

}  // namespace
}  // namespace tilewright
