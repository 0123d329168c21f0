#include "tilewright/marl/samplers.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tilewright/marl/priority_tree.hpp"
#include "tilewright/marl/samplers_prioritized.hpp"

namespace tilewright {
namespace {

using testing::Each;

struct Drawn {
  std::vector<std::uint32_t> indices;
  std::vector<float> weights;
};

Drawn draw(Sampler& sampler, const ReplayPosition& position, std::size_t count, Rng& rng) {
  Drawn drawn;
  drawn.weights = {42};  // a sampler without weights must clear it
  sampler.draw(position, count, rng, drawn.indices, drawn.weights);
  EXPECT_EQ(drawn.indices.size(), count);
  EXPECT_TRUE(std::ranges::all_of(drawn.indices, [&](std::uint32_t age) { return age < position.size; }));
  EXPECT_TRUE(drawn.weights.empty() || drawn.weights.size() == count);
  return drawn;
}

ReplayPosition filled(std::size_t size) { return {size, size, size}; }

// Whether counts of independent draws agree with their expected shares: chi-square, within five standard deviations.
void expect_distribution(const std::vector<double>& counts, const std::vector<double>& shares) {
  const double draws = std::accumulate(counts.begin(), counts.end(), 0.0);
  const double total = std::accumulate(shares.begin(), shares.end(), 0.0);
  double chi_square = 0, freedom = -1;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = draws * shares[i] / total;
    if (expected == 0) {
      EXPECT_EQ(counts[i], 0);
      continue;
    }
    chi_square += (counts[i] - expected) * (counts[i] - expected) / expected;
    ++freedom;
  }
  EXPECT_LE(chi_square, freedom + 5 * std::sqrt(2 * freedom));
  EXPECT_GE(chi_square, freedom - 5 * std::sqrt(2 * freedom));  // too even is not chance either
}

TEST(UniformSampler, DrawsEveryAgeAlike) {
  const auto sampler = make_sampler({SamplerKind::Uniform, 1}, 100);
  Rng rng(1, "draws");
  std::vector<double> counts(100);
  for (int i = 0; i < 200; ++i) {
    for (const std::uint32_t index : draw(*sampler, filled(100), 512, rng).indices) ++counts[index];
  }
  expect_distribution(counts, std::vector<double>(100, 1));
  EXPECT_TRUE(draw(*sampler, filled(100), 5, rng).weights.empty());
}

TEST(UniformSampler, DrawsWhatTheStreamSays) {
  const auto sampler = make_sampler({SamplerKind::Uniform, 1}, 1000);
  for (const std::uint64_t start : {0u, 1u}) {
    Rng rng(1, "draws"), copy(1, "draws");
    rng.seek(start);
    copy.seek(start);
    for (const std::uint32_t index : draw(*sampler, filled(1000), 77, rng).indices) EXPECT_EQ(index, copy.below(1000));
    EXPECT_EQ(rng.position(), copy.position());
  }
}

// Algorithm 1, written out: the transitions that one reference contributes.
std::vector<std::uint32_t> neighbours(std::int64_t reference, std::int64_t size, std::int64_t n) {
  std::vector<std::uint32_t> result;
  for (std::int64_t j = std::max<std::int64_t>(0, reference - n); j < std::min(size, reference + n + 1); ++j) {
    if (j != reference) result.push_back(static_cast<std::uint32_t>(j));
  }
  return result;
}

TEST(NeighborSampler, FollowsAlgorithmOne) {
  const auto sampler = make_sampler({SamplerKind::Neighbor, 3}, 50);
  Rng rng(2, "draws"), references(2, "draws");
  const Drawn drawn = draw(*sampler, filled(50), 1024, rng);
  EXPECT_TRUE(drawn.weights.empty());
  std::vector<std::uint32_t> expected;
  std::size_t used = 0;
  for (; expected.size() < 1024; ++used) {
    for (const std::uint32_t j : neighbours(references.below(50), 50, 3)) expected.push_back(j);
  }
  expected.resize(1024);
  EXPECT_EQ(drawn.indices, expected);
  EXPECT_GE(used, 171u);  // ⌈1024/6⌉ when no reference lies at an end
  EXPECT_LT(used, 200u);
}

// Each place of the batch has its own distribution; two references always fill 2n places, so all pairs of them give it.
TEST(NeighborSampler, MarginalsAreThoseOfAllReferences) {
  constexpr std::int64_t kSize = 20;
  for (const std::int64_t n : {1, 3, 30}) {
    const auto count = static_cast<std::size_t>(2 * std::min(n, kSize - 1));
    std::vector<std::vector<double>> shares(count, std::vector<double>(kSize)), counts = shares;
    for (std::int64_t pair = 0; pair < kSize * kSize; ++pair) {
      std::vector<std::uint32_t> batch = neighbours(pair / kSize, kSize, n);
      for (const std::uint32_t j : neighbours(pair % kSize, kSize, n)) batch.push_back(j);
      for (std::size_t place = 0; place < count; ++place) ++shares[place][batch[place]];
    }
    const auto sampler = make_sampler({SamplerKind::Neighbor, static_cast<std::size_t>(n)}, kSize);
    Rng rng(4, "draws");
    for (int i = 0; i < 20'000; ++i) {
      const Drawn drawn = draw(*sampler, filled(kSize), count, rng);
      for (std::size_t place = 0; place < count; ++place) ++counts[place][drawn.indices[place]];
    }
    for (std::size_t place = 0; place < count; ++place) expect_distribution(counts[place], shares[place]);
  }
}

TEST(RunSampler, DrawsRunsOfConsecutiveTransitions) {
  const auto sampler = make_sampler({SamplerKind::Run, 16}, 100);
  Rng rng(3, "draws");
  std::vector<double> starts(100);
  for (int i = 0; i < 500; ++i) {
    const Drawn drawn = draw(*sampler, filled(100), 104, rng);  // six whole runs and half a one
    EXPECT_TRUE(drawn.weights.empty());
    for (std::size_t at = 0; at < drawn.indices.size(); ++at) {
      if (at % 16 == 0) {
        ++starts[drawn.indices[at]];
      } else {
        EXPECT_EQ(drawn.indices[at], drawn.indices[at - 1] + 1);
      }
    }
  }
  std::vector<double> shares(100);
  std::fill_n(shares.begin(), 85, 1);  // 0 … 100-16
  expect_distribution(starts, shares);
}

TEST(Samplers, MemoriesSmallerThanNAreNoTrap) {
  Rng rng(3, "draws");
  for (const char* name :
       {"uniform", "neighbor:1", "neighbor:1000000", "run:1", "run:7", "run:1000000", "prioritized", "reuse:1", "reuse:3"}) {
    const auto sampler = make_sampler(*parse_sampler(name), 10);
    for (std::size_t size = 1; size <= 10; ++size) {
      for (const std::size_t count : {1u, 2u, 25u}) {
        const Drawn drawn = draw(*sampler, {size, 10, size}, count, rng);
        if (size == 1) {
          EXPECT_THAT(drawn.indices, Each(0u)) << name;
        }
        if (sampler->wants_feedback()) sampler->feedback({size, 10, size}, drawn.indices, std::vector<float>(count, 0.5f));
      }
    }
  }
}

TEST(PriorityTree, FindsSlotsInProportionToTheirWeights) {
  for (const std::size_t slots : {1u, 16u, 17u, 300u, 5000u}) {
    PriorityTree tree(slots);
    Rng rng(6, "weights");
    std::vector<float> weights(slots);
    const auto expect_whole = [&] {
      double before = 0;
      float least = std::numeric_limits<float>::infinity();
      for (std::size_t slot = 0; slot < slots; ++slot) {
        EXPECT_EQ(tree.weight(slot), weights[slot]);
        if (weights[slot] == 0) continue;
        least = std::min(least, weights[slot]);
        // Quarters add up without rounding.
        EXPECT_EQ(tree.find(before), slot);
        before += static_cast<double>(weights[slot]);
        EXPECT_EQ(tree.find(before - 0.125), slot);
      }
      EXPECT_EQ(tree.sum(), before);
      EXPECT_EQ(tree.least(), least);
      if (before > 0) {
        EXPECT_GT(tree.weight(tree.find(before + 1)), 0) << "beyond the end";
      }
    };
    expect_whole();
    for (int round = 0; round < 4; ++round) {
      std::vector<std::size_t> changed;
      std::vector<float> changed_weights;
      for (std::size_t i = 0; i < slots; ++i) {
        const auto slot = static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(slots)));
        weights[slot] = static_cast<float>(rng.below(8)) * 0.25f;
        changed.push_back(slot);
        changed_weights.push_back(weights[slot]);
        if (round % 2 == 0) tree.set(slot, weights[slot]);
      }
      if (round % 2 == 1) tree.set(changed, changed_weights);
      expect_whole();
    }
  }
}

// Six transitions with known errors.
struct Prioritized {
  std::unique_ptr<Sampler> sampler = make_sampler({SamplerKind::Prioritized, 1}, 8);
  ReplayPosition position{6, 8, 6};
  std::vector<float> errors = {0, 0.5f, 1, 4, 9, 0.01f};
  Prioritized() {
    Rng rng(1, "first");
    draw(*sampler, position, 1, rng);
    const std::vector<std::uint32_t> ages = {0, 1, 2, 3, 4, 5};
    sampler->feedback(position, ages, errors);
  }
  std::vector<double> shares() const {
    std::vector<double> result;
    for (const float error : errors) result.push_back(std::pow(static_cast<double>(error) + 1e-6, 0.6));
    return result;
  }
};

TEST(PrioritizedSampler, DrawsByThePowerOfTheError) {
  Prioritized p;
  Rng rng(5, "draws");
  std::vector<double> counts(6);
  for (int i = 0; i < 300; ++i) {
    for (const std::uint32_t index : draw(*p.sampler, p.position, 500, rng).indices) ++counts[index];
  }
  expect_distribution(counts, p.shares());
}

TEST(PrioritizedSampler, WeightsUndoTheShareOfThePriority) {
  Prioritized p;
  Rng rng(5, "draws");
  const Drawn drawn = draw(*p.sampler, p.position, 2000, rng);
  const std::vector<double> shares = p.shares();
  const double total = std::accumulate(shares.begin(), shares.end(), 0.0);
  const double beta = 0.5 + 0.5 / 15'000;  // the second draw
  double most = 0;
  for (const double share : shares) most = std::max(most, std::pow(6 * share / total, -beta));
  for (std::size_t i = 0; i < drawn.indices.size(); ++i) {
    EXPECT_NEAR(drawn.weights[i], std::pow(6 * shares[drawn.indices[i]] / total, -beta) / most, 1e-6);
  }
}

TEST(PrioritizedSampler, BetaGrowsToOne) {
  Prioritized p;
  Rng rng(5, "draws");
  const std::vector<double> shares = p.shares();
  const auto weight_of_largest = [&] {
    while (true) {
      const Drawn drawn = draw(*p.sampler, p.position, 1, rng);
      if (drawn.indices[0] == 4) return static_cast<double>(drawn.weights[0]);
    }
  };
  EXPECT_NEAR(weight_of_largest(), std::pow(shares[0] / shares[4], 0.5), 1e-4);
  for (int i = 0; i < 15'000; ++i) draw(*p.sampler, p.position, 1, rng);
  EXPECT_NEAR(weight_of_largest(), shares[0] / shares[4], 1e-7);
}

TEST(PrioritizedSampler, NewTransitionsHaveTheLargestPrioritySeen) {
  Prioritized p;
  Rng rng(5, "draws");
  // Two more fill the ring, a third one overwrites age 0: the ages of the others go down by one.
  const ReplayPosition position{8, 8, 9};
  std::vector<double> shares = p.shares();
  const double largest = shares[4];
  shares.erase(shares.begin());
  shares.insert(shares.end(), 3, largest);
  std::vector<double> counts(8);
  for (int i = 0; i < 300; ++i) {
    for (const std::uint32_t index : draw(*p.sampler, position, 500, rng).indices) ++counts[index];
  }
  expect_distribution(counts, shares);
}

TEST(PrioritizedSampler, NothingDrawnYetIsUniform) {
  const auto sampler = make_sampler({SamplerKind::Prioritized, 1}, 50);
  Rng rng(5, "draws");
  std::vector<double> counts(30);
  for (int i = 0; i < 100; ++i) {
    const Drawn drawn = draw(*sampler, {30, 50, 77}, 100, rng);  // a memory restored from its newest 30
    EXPECT_THAT(drawn.weights, Each(1.0f));
    for (const std::uint32_t index : drawn.indices) ++counts[index];
  }
  expect_distribution(counts, std::vector<double>(30, 1));
}

TEST(PrioritizedSampler, AnEmptiedMemoryIsANewBeginning) {
  Prioritized p;
  Rng rng(5, "draws");
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(draw(*p.sampler, {2, 8, 2}, 10, rng).weights, Each(1.0f));
  }
}

TEST(PrioritizedSampler, SurvivesErrorsThatAreNoNumbers) {
  Prioritized p;
  Rng rng(5, "draws");
  const std::vector<std::uint32_t> ages = {0, 1};
  p.sampler->feedback(p.position, ages,
                      std::vector<float>{std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()});
  p.errors[0] = p.errors[1] = 9;
  std::vector<double> counts(6);
  for (int i = 0; i < 100; ++i) {
    for (const std::uint32_t index : draw(*p.sampler, p.position, 500, rng).indices) ++counts[index];
  }
  expect_distribution(counts, p.shares());
}

TEST(ReuseSampler, WithoutAWindowIsPrioritized) {
  const auto reuse = make_sampler(*parse_sampler("reuse:1"), 40),
             prioritized = make_sampler(*parse_sampler("prioritized"), 40);
  Rng rng(7, "draws"), same(7, "draws");
  for (std::size_t added = 20; added < 90; ++added) {
    const ReplayPosition position{std::min<std::size_t>(added, 40), 40, added};
    const Drawn a = draw(*reuse, position, 16, rng), b = draw(*prioritized, position, 16, same);
    EXPECT_EQ(a.indices, b.indices);
    EXPECT_EQ(a.weights, b.weights);
    std::vector<float> errors;
    for (const std::uint32_t index : a.indices) errors.push_back(static_cast<float>((index + added) % 7));
    reuse->feedback(position, a.indices, errors);
    prioritized->feedback(position, b.indices, errors);
  }
}

TEST(ReuseSampler, KeepsTheMostImportantHalfForAWindow) {
  const auto sampler = make_sampler(*parse_sampler("reuse:3"), 100);
  Rng rng(8, "draws");
  std::size_t added = 100;
  std::vector<float> priorities(1000, 1);  // by transition number
  for (int window = 0; window < 20; ++window) {
    std::multimap<std::uint64_t, float> kept;
    for (int update = 0; update < 3; ++update, added += 2) {
      const ReplayPosition position{100, 100, added};
      const std::uint64_t oldest = added - 100;
      const Drawn drawn = draw(*sampler, position, 20, rng);
      if (update == 0) {
        std::vector<std::size_t> order(20);
        std::iota(order.begin(), order.end(), 0u);
        std::ranges::stable_sort(order, std::greater{},
                                 [&](std::size_t i) { return priorities[oldest + drawn.indices[i]]; });
        for (std::size_t i = 0; i < 10; ++i) kept.emplace(oldest + drawn.indices[order[i]], drawn.weights[order[i]]);
      } else {
        std::erase_if(kept, [&](const auto& entry) { return entry.first < oldest; });  // overwritten meanwhile
        std::multimap<std::uint64_t, float> first_of_batch;
        for (std::size_t i = 0; i < kept.size(); ++i) first_of_batch.emplace(oldest + drawn.indices[i], drawn.weights[i]);
        EXPECT_EQ(first_of_batch, kept);
      }
      std::vector<float> errors;
      for (const std::uint32_t index : drawn.indices) {
        errors.push_back(static_cast<float>((oldest + index) * 37 % 11) / 4);
        priorities[oldest + index] = errors.back();
      }
      sampler->feedback(position, drawn.indices, errors);
      const float largest = *std::ranges::max_element(priorities);
      std::fill_n(priorities.begin() + static_cast<std::ptrdiff_t>(added), 2, std::max(1.0f, largest));
    }
  }
}

TEST(Samplers, GoOnAsTheyWouldHaveAfterSavingAndLoading) {
  for (const char* name : {"uniform", "neighbor:3", "run:5", "prioritized", "reuse:4"}) {
    const auto original = make_sampler(*parse_sampler(name), 30);
    Rng rng(9, "draws");
    const auto step = [](Sampler& sampler, std::size_t added, Rng& stream) {
      const ReplayPosition position{std::min<std::size_t>(added, 30), 30, added};
      const Drawn drawn = draw(sampler, position, 12, stream);
      std::vector<float> errors;
      for (const std::uint32_t index : drawn.indices) errors.push_back(static_cast<float>((index * added) % 13) * 0.3f);
      if (sampler.wants_feedback()) sampler.feedback(position, drawn.indices, errors);
      return drawn;
    };
    for (std::size_t added = 10; added < 60; added += 3) {
      step(*original, added, rng);
      TensorFile file;
      original->save("agent3.sampler", file);
      const auto file_again = from_safetensors(to_safetensors(file), "again");
      ASSERT_TRUE(file_again);
      const auto resumed = make_sampler(*parse_sampler(name), 30);
      ASSERT_TRUE(resumed->load("agent3.sampler", *file_again));
      Rng ahead = rng, same = rng;
      const auto undisturbed = make_sampler(*parse_sampler(name), 30);
      ASSERT_TRUE(undisturbed->load("agent3.sampler", file));
      for (std::size_t more = added + 2; more < added + 20; more += 3) {
        const Drawn a = step(*undisturbed, more, ahead), b = step(*resumed, more, same);
        EXPECT_EQ(a.indices, b.indices) << name;
        EXPECT_EQ(a.weights, b.weights) << name;
      }
    }
  }
}

TEST(Samplers, AResumedRunDrawsWhatAnUninterruptedOneDoes) {
  for (const char* name : {"prioritized", "reuse:4"}) {
    const auto run = [&](bool interrupted) {
      auto sampler = make_sampler(*parse_sampler(name), 30);
      Rng rng(9, "draws");
      std::vector<std::uint32_t> all;
      for (std::size_t added = 10; added < 70; added += 3) {
        const ReplayPosition position{std::min<std::size_t>(added, 30), 30, added};
        const Drawn drawn = draw(*sampler, position, 12, rng);
        std::vector<float> errors;
        for (const std::uint32_t index : drawn.indices) errors.push_back(static_cast<float>((index * added) % 13) * 0.3f);
        sampler->feedback(position, drawn.indices, errors);
        all.insert(all.end(), drawn.indices.begin(), drawn.indices.end());
        if (!interrupted) continue;
        TensorFile file;
        sampler->save("s", file);
        sampler = make_sampler(*parse_sampler(name), 30);
        EXPECT_TRUE(sampler->load("s", file));
      }
      return all;
    };
    EXPECT_EQ(run(false), run(true));
  }
}

TEST(Samplers, RefuseWhatTheyDidNotSave) {
  Prioritized p;
  TensorFile file;
  p.sampler->save("s", file);
  const auto message = [&](const auto& damage) {
    TensorFile damaged = file;
    damage(damaged);
    const auto sampler = make_sampler({SamplerKind::Prioritized, 1}, 8);
    const auto loaded = sampler->load("s", damaged);
    return loaded ? "" : loaded.error().message;
  };
  EXPECT_EQ(message([](TensorFile&) {}), "");
  EXPECT_EQ(message([](TensorFile& f) { f.tensors.erase("s.draws"); }), "there is no tensor 's.draws'");
  EXPECT_EQ(message([](TensorFile& f) { f.put("s.end", std::int64_t{900}); }),
            "s: priorities are of the transitions 0 to 900, expected at most 8 of them");
  EXPECT_EQ(message([](TensorFile& f) { f.put("s.first", std::int64_t{-1}); }),
            "s: priorities are of the transitions -1 to 6, expected at most 8 of them");
  EXPECT_EQ(message([](TensorFile& f) { f.put("s.draws_left", std::int64_t{1}); }),
            "s: 1 draws are left of the window, expected 0 to 0");
  EXPECT_EQ(message([](TensorFile& f) { f.put("s.priorities", std::vector<float>(6, -1.0f)); }),
            "s: a priority is not a number above zero, expected all to be");
  EXPECT_EQ(message([](TensorFile& f) { f.put("s.priorities", std::vector<float>(5, 1.0f)); }),
            "tensor 's.priorities' has 5 numbers, expected 6");
  EXPECT_EQ(message([](TensorFile& f) {
              f.put("s.kept", std::vector<std::int64_t>{6});
              f.put("s.kept_weights", std::vector<float>{1});
            }),
            "s: a kept transition is not below 6, expected all to be");
}

TEST(ParseSampler, ReadsNamesAndNumbers) {
  for (const char* name : {"uniform", "neighbor:3", "neighbor:16", "run:3", "run:64", "prioritized", "reuse:4"}) {
    const auto spec = parse_sampler(name);
    ASSERT_TRUE(spec);
    EXPECT_EQ(to_string(*spec), name);
  }
  EXPECT_EQ(to_string(*parse_sampler("neighbor")), "neighbor:3");
  EXPECT_EQ(to_string(*parse_sampler("run")), "run:3");
  EXPECT_EQ(to_string(*parse_sampler("reuse")), "reuse:4");
}

TEST(ParseSampler, SaysWhatIsWrong) {
  const auto message = [](const char* text) { return parse_sampler(text).error().message; };
  EXPECT_EQ(message("neighbor:0"), "sampler is 'neighbor:0', expected 'neighbor:N' with N from 1 to 1000000");
  for (const char* text : {"run:", "run:-1", "run:x", "run:3:4", "run:1000001", "run:99999999999999999999", "run: 3"}) {
    EXPECT_THAT(message(text), testing::HasSubstr("expected 'run:N' with N from 1 to 1000000")) << text;
  }
  EXPECT_EQ(message("uniform:3"), "sampler is 'uniform:3', expected 'uniform', which takes no number");
  EXPECT_EQ(
      message("neighbour:3"),
      "sampler is 'neighbour:3', expected uniform, neighbor:N, run:N, prioritized or reuse:N (did you mean 'neighbor'?)");
  EXPECT_EQ(message(""), "sampler is '', expected uniform, neighbor:N, run:N, prioritized or reuse:N");
}

}  // namespace
}  // namespace tilewright
