// best.csv: the best objective known for each layer, by whom, and its design. Comparisons in the same directory read it and
// add to it, so that "best known" grows with everything that was tried.
//
//   problem,objective,layer,value,searcher,seed,budget,sample,design
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/base/result.hpp"

namespace tilewright {

struct KnownBest {
  std::string problem;    // its key in hexadecimal: layer, machine, model
  std::string objective;  // with the limits
  std::string layer;
  double value = 0;  // what is minimised
  std::string searcher;
  std::uint64_t seed = 0;
  std::int64_t budget = 0, sample = 0;  // found by this sample of a run with this budget
  std::string design;                   // "parallel@0=K tile.K@0=8 …"
  bool operator==(const KnownBest&) const = default;
};

std::string best_csv(const std::vector<KnownBest>& best);
// An Error says which line is wrong. `where` is what it calls the file.
Result<std::vector<KnownBest>> read_best_csv(const std::string& text, const std::string& where);

// The entries of the file, none when there is no file.
Result<std::vector<KnownBest>> read_best_file(const std::filesystem::path& path);

// Puts an entry in, in place of one of the same problem and objective that is worse. Order of first appearance is kept.
void keep_better(std::vector<KnownBest>& best, const KnownBest& entry);
const KnownBest* find_best(const std::vector<KnownBest>& best, const std::string& problem, const std::string& objective);

}  // namespace tilewright
