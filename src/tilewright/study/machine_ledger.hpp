// The best of every layer on every machine that was measured.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tilewright/search/search_loop.hpp"

namespace tilewright {

// The answer is the machine on which the whole network takes the fewest cycles, among those on which every layer was
// measured. Of equal ones the smaller machine, then the earlier.
class MachineLedger {
 public:
  // How often the network has each layer, and how many entries of a point, at its beginning, name the machine.
  MachineLedger(std::vector<std::int64_t> counts, std::size_t hardware) : counts_(std::move(counts)), hardware_(hardware) {}

  void consider(std::size_t layer, const Point& point, const Outcome& outcome);

  struct Answer {
    double cycles = 0;  // of the network, every layer as often as it is there
    double area = 0;
    std::vector<Best> layers;
  };
  const std::optional<Answer>& answer() const { return answer_; }
  // (measurements of all layers so far, cycles of the network) of every new best.
  const std::vector<std::pair<std::int64_t, double>>& curve() const { return curve_; }
  std::size_t machines() const { return entries_.size(); }     // with something feasible
  std::size_t complete_machines() const { return complete_; }  // with all layers

 private:
  struct Entry {
    std::vector<std::optional<Best>> layers;
    std::size_t found = 0;
  };
  std::vector<std::int64_t> counts_;
  std::size_t hardware_;
  std::map<Point, Entry> entries_;
  std::size_t complete_ = 0;
  std::int64_t measurements_ = 0;
  std::optional<Answer> answer_;
  std::vector<std::pair<std::int64_t, double>> curve_;
};

}  // namespace tilewright
