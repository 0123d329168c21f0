// Twins: two runs of one seed that are equal in everything, but one learns and the other does not (its learning rate is 0).
// A test that claims learning compares them on several seeds, so that it cannot pass without it.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tilewright {

struct Twins {
  std::vector<double> learning, still;  // what runs were worth, by seed: the more the better
};

inline std::string text_of(const std::vector<double>& values) {
  std::ostringstream text;
  for (const double value : values) text << value << ' ';
  return text.str();
}

// worth(seed, learns) for seeds 1 … count. --gtest_output=xml shows the values as properties called after `what`.
template <typename Worth>
Twins twins(const std::string& what, std::uint64_t count, const Worth& worth) {
  Twins runs;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    runs.learning.push_back(worth(seed, true));
    runs.still.push_back(worth(seed, false));
  }
  testing::Test::RecordProperty(what + " learning", text_of(runs.learning));
  testing::Test::RecordProperty(what + " still", text_of(runs.still));
  return runs;
}

// With every seed the twin that learns is ahead by more than `margin`.
inline void expect_ahead(const Twins& runs, double margin) {
  for (std::size_t i = 0; i < runs.still.size(); ++i) {
    EXPECT_GT(runs.learning[i], runs.still[i] + margin) << "seed " << i + 1;
  }
}

}  // namespace tilewright
