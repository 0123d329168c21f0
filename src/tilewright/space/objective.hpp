// What a search minimises, and the limits its answer must keep.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/space/outcome.hpp"

namespace tilewright {

enum class Metric : std::uint8_t { Latency, Energy, Edp, Throughput, Area, Power };
std::string_view name_of(Metric metric);                 // "latency", …
std::string_view unit_of(Metric metric);                 // "cycles", "nJ", "nJ·cycles", "MACs/cycle", "um²", "mW"
double value_of(Metric metric, const Metrics& metrics);  // an area must be known

// Smaller is better, compared from the first entry to the last; unused entries are 0.
inline constexpr std::size_t kMostObjectives = 3;
using Score = std::array<double, kMostObjectives>;

// Hard limits beyond the machine's own; nothing = no limit.
struct Limits {
  std::optional<double> latency, energy, area, power;  // cycles, nJ, um², mW
  bool operator==(const Limits&) const = default;
};

struct Objective {
  enum class Form : std::uint8_t {
    Single,         // the one metric
    Weighted,       // product of metrics to the power of their weights: a sum on the logarithmic scale, free of units
    Lexicographic,  // the first metric, ties by the next
    Pareto,         // all of them: a front. Where one answer is wanted, the one whose product of metrics is least
  };
  struct Term {
    Metric metric = Metric::Edp;
    double weight = 1;  // Weighted only
    bool operator==(const Term&) const = default;
  };
  Form form = Form::Single;
  std::vector<Term> terms = std::vector<Term>(1);
  Limits limits;
  bool operator==(const Objective&) const = default;
};

// "edp", "weighted:latency=2,energy=1", "lexicographic:latency,energy", "pareto:latency,energy". An Error names the nearest
// metric.
Result<Objective> objective_named(std::string_view text);
std::string name_of(const Objective& objective);  // what objective_named reads back, without the limits

// Throughput counts as its inverse, so that smaller is better.
Score score_of(const Objective& objective, const Metrics& metrics);
// Each term by itself; smaller is better in every entry. For at most kMostObjectives terms.
Score terms_of(const Objective& objective, const Metrics& metrics);

// Whether a search for it needs machines whose area is known.
bool needs_area(const Objective& objective);

// The first limit that is broken: "power".
std::optional<std::string_view> broken_limit(const Limits& limits, const Metrics& metrics);

// The limits there are. Their flag is --max-METRIC.
std::vector<std::pair<Metric, double>> limits_of(const Limits& limits);
// By how much the limits would have to give: the largest value by its limit. At most 1 when all are kept; 0 without limits.
double excess_of(const Limits& limits, const Metrics& metrics);

}  // namespace tilewright
