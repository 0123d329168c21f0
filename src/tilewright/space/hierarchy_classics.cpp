#include "tilewright/space/hierarchy_classics.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/space/hierarchy_tiles.hpp"

namespace tilewright {
namespace {

using hierarchy::Problem;
using hierarchy::TensorKind;
using Dims = std::vector<std::uint8_t>;
using Wish = HierarchySpace::Wish;

// Dimensions of the problem, those that tensors of the kind have or have not.
Dims dims_of(const Problem& problem, TensorKind kind, bool has) {
  std::uint32_t relevant = 0;
  for (const hierarchy::Tensor& tensor : problem.tensors) {
    if (tensor.kind != kind) continue;
    for (const auto& rank : tensor.ranks) {
      for (const hierarchy::Term& term : rank) relevant |= std::uint32_t{1} << term.dim;
    }
  }
  Dims dims;
  for (std::uint8_t dim = 0; dim < problem.dims.size(); ++dim) {
    if (((relevant >> dim & 1) != 0) == has) dims.push_back(dim);
  }
  return dims;
}

Dims common(const Dims& a, const Dims& b) {
  Dims both;
  std::ranges::copy_if(a, std::back_inserter(both), [&](std::uint8_t dim) { return std::ranges::find(b, dim) != b.end(); });
  return both;
}

Dims joined(Dims a, const Dims& b) {
  for (const std::uint8_t dim : b) {
    if (std::ranges::find(a, dim) == a.end()) a.push_back(dim);
  }
  return a;
}

// The longest loop first: it fills an array best.
Dims by_length(Dims dims, const Problem& problem) {
  std::ranges::stable_sort(dims, std::ranges::greater{}, [&](std::uint8_t dim) { return problem.bounds[dim]; });
  return dims;
}

Dims named(const Problem& problem, std::string_view letters) {
  Dims dims;
  for (const char letter : letters) {
    if (const auto dim = problem.dim_named(letter)) dims.push_back(*dim);
  }
  return dims;
}

struct Rule {
  std::string_view name;
  Dims x, y;    // spread, the first one first
  Dims inside;  // loops of every level, the innermost first
  Dims always;  // spread as far as there is room, whatever it costs
};

std::vector<Rule> rules_of(const Problem& problem) {
  const Dims reduced = dims_of(problem, TensorKind::Output, false);  // summed over
  const Dims weights = dims_of(problem, TensorKind::Weight, true);
  const Dims not_weights = dims_of(problem, TensorKind::Weight, false);
  const Dims outputs = dims_of(problem, TensorKind::Output, true);
  const Dims channels_out = by_length(common(weights, outputs), problem);   // K of a convolution
  const Dims channels_in = by_length(common(weights, reduced), problem);    // C, R, S
  const Dims positions = by_length(common(not_weights, outputs), problem);  // P, Q, N
  std::vector<Rule> rules = {
      {"weight-stationary",
       joined(channels_out, channels_in),
       joined(channels_in, channels_out),
       joined(not_weights, weights),
       {}},
      {"output-stationary", joined(positions, channels_out), joined(channels_out, positions), joined(reduced, outputs), {}},
      {"input-stationary",
       joined(channels_in, positions),
       joined(positions, channels_in),
       joined(channels_out, dims_of(problem, TensorKind::Input, true)),
       {}},
      {"nvdla-like", channels_out, channels_in, joined(positions, weights), {}},
      {"tpu-like", channels_out, named(problem, "CK"), joined(positions, joined(channels_in, channels_out)), {}},
  };
  const Dims rows = named(problem, "SQ");
  if (rows.size() == 2) {  // a convolution: kernel rows below each other, rows of outputs side by side
    rules.push_back({"row-stationary",
                     joined({rows[1]}, channels_out),
                     joined({rows[0]}, named(problem, "CK")),
                     joined(named(problem, "RPC"), joined(channels_out, outputs)),
                     {rows[0]}});
  }
  return rules;
}

constexpr std::array<ClassicInfo, 6> kClassics = {
    {{"weight-stationary", "output and input channels are spread, weights stay while outputs go by"},
     {"output-stationary", "positions and output channels are spread, a sum stays until it is whole"},
     {"input-stationary", "input channels and positions are spread, inputs stay while output channels go by"},
     {"nvdla-like", "output channels along X, input channels and kernel along Y, weights stay"},
     {"tpu-like", "output channels along X, input channels along Y, positions go by"},
     {"row-stationary", "kernel rows below each other, output rows side by side; convolutions only"}}};

Point point_of(const Rule& rule, const HierarchySpace& space, const Objective& objective) {
  std::vector<Wish> wishes;  // the array full, then tiles as large as fit, from the innermost level outwards
  const auto levels = static_cast<std::uint8_t>(space.machine().levels.size());
  for (std::uint8_t level = levels; level-- > 0;) {
    for (const std::uint8_t dim : rule.x) wishes.push_back({dim, level, Wish::Where::X});
    for (const std::uint8_t dim : rule.y) wishes.push_back({dim, level, Wish::Where::Y});
  }
  for (std::uint8_t level = 0; level + 1 < levels; ++level) {
    for (const std::uint8_t dim : rule.inside) wishes.push_back({dim, level, Wish::Where::Time});
  }
  return best_tiles(space, {rule.x, rule.y, rule.inside, rule.always}, objective,
                    {space.greedy(wishes, rule.inside), space.greedy({}, rule.inside)});
}

}  // namespace

std::span<const ClassicInfo> hierarchy_classics() { return kClassics; }

Result<Point> classic_named(const HierarchySpace& space, std::string_view name, const Objective& objective) {
  for (const Rule& rule : rules_of(space.problem())) {
    if (rule.name == name) return point_of(rule, space, objective);
  }
  std::vector<std::string> names;
  for (const ClassicInfo& classic : kClassics) names.emplace_back(classic.name);
  if (std::ranges::find(names, name) != names.end()) {
    return invalid(fmt::format("dataflow '{}' is for convolutions, expected another one", name));
  }
  return invalid(fmt::format("dataflow '{}' is not known{}, expected one of {}", printable(name), did_you_mean(name, names),
                             join(names, ", ")));
}

std::vector<HierarchyClassic> classics_of(const HierarchySpace& space, const Objective& objective) {
  std::vector<HierarchyClassic> classics;
  for (const Rule& rule : rules_of(space.problem())) {
    Point point = point_of(rule, space, objective);
    const auto same = [&](const HierarchyClassic& classic) { return classic.point == point; };
    if (std::ranges::none_of(classics, same)) classics.push_back({rule.name, std::move(point)});
  }
  return classics;
}

}  // namespace tilewright
