// Which parameters the space of a problem has, and what it is called.
#include <algorithm>
#include <atomic>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/checksum.hpp"
#include "tilewright/hierarchy/machine_yaml.hpp"
#include "tilewright/hierarchy/mapping_text.hpp"
#include "tilewright/hierarchy/problem_json.hpp"
#include "tilewright/space/design_bytes.hpp"
#include "tilewright/space/hierarchy_space.hpp"

namespace tilewright {

using hierarchy::BlockRestriction;
using hierarchy::Judge;
using hierarchy::LevelRestriction;
using hierarchy::TensorMask;

namespace {

constexpr std::uint64_t kOutcomeVersion = 1;  // changes when outcomes of the same design do

// Rising.
std::vector<std::int64_t> primes_of(std::int64_t number) {
  std::vector<std::int64_t> primes;
  for (std::int64_t prime = 2; prime * prime <= number; ++prime) {
    for (; number % prime == 0; number /= prime) primes.push_back(prime);
  }
  if (number > 1) primes.push_back(number);
  return primes;
}

bool slides(const hierarchy::Problem& problem) {
  return std::ranges::any_of(problem.tensors, [](const hierarchy::Tensor& tensor) {
    return std::ranges::any_of(tensor.ranks, [](const auto& rank) { return rank.size() > 1; });
  });
}

// Where loops lie besides factors: an order that names some dimensions only, with axes left free, is more than ranks give.
bool has_loose_order(const BlockRestriction& spatial, std::size_t dim_count) {
  const std::size_t named = spatial.innermost.size() + spatial.outermost.size();
  return named > 1 && !(spatial.innermost.size() == dim_count && spatial.split);
}

std::uint64_t next_serial() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

float log2_of(double number, double bits) { return static_cast<float>(std::log2(std::max(1.0, number)) / bits); }

}  // namespace

Result<std::unique_ptr<HierarchySpace>> HierarchySpace::make(std::string name, hierarchy::Problem problem,
                                                             hierarchy::Machine machine,
                                                             const HierarchySpaceOptions& options) {
  if (auto refused = hierarchy::refusal(options.judge, problem)) return invalid(fmt::format("{}: {}", name, *refused));
  std::unique_ptr<HierarchySpace> space(
      new HierarchySpace(std::move(name), std::move(problem), std::move(machine), options));
  TW_TRY([[maybe_unused]] const Done laid_out, space->lay_out());
  return space;
}

HierarchySpace::HierarchySpace(std::string name, hierarchy::Problem problem, hierarchy::Machine machine,
                               const HierarchySpaceOptions& options)
    : name_(std::move(name)),
      problem_(std::move(problem)),
      machine_(std::move(machine)),
      judge_(options.judge),
      restriction_(options.restriction ? *options.restriction : hierarchy::restriction_of(machine_, problem_)),
      needs_(problem_, machine_, judge_),
      serial_(next_serial()) {}

Result<Done> HierarchySpace::lay_out() {
  TW_TRY([[maybe_unused]] const Done kept, add_keeps());
  set_places();
  for (std::uint8_t dim = 0; dim < problem_.dims.size(); ++dim) {
    TW_TRY([[maybe_unused]] const Done placed, add_primes(dim));
  }
  rank_begin_ = parameters_.size();
  is_checked_ = restriction_.least_parallelism > 0;
  for (std::uint8_t level = 0; level < machine_.levels.size(); ++level) {
    add_ranks(level, false);
    if (!spreads_in_fixed_order(level) && has_neighbours(level)) add_ranks(level, true);
    const LevelRestriction& restricted = restriction_.levels[level];
    is_checked_ = is_checked_ || has_loose_order(restricted.spatial, problem_.dims.size());
    for (const BlockRestriction* block : {&restricted.spatial, &restricted.temporal}) {
      is_checked_ = is_checked_ || std::ranges::any_of(block->at_most, [](std::int64_t most) { return most != 0; });
    }
  }
  set_undecided();
  set_outline();
  set_features();
  set_key();
  return Done{};
}

void HierarchySpace::add(const Meaning& meaning, std::string name, ParameterKind kind, Role role, std::int32_t value_count) {
  parameters_.push_back({std::move(name), kind, role, value_count});
  meanings_.push_back(meaning);
}

// The outermost level keeps what it may.
Result<Done> HierarchySpace::add_keeps() {
  const auto all = static_cast<TensorMask>((1u << problem_.tensors.size()) - 1);
  for (std::uint8_t level = 0; level < machine_.levels.size(); ++level) {
    const LevelRestriction& restricted = restriction_.levels[level];
    const bool outermost = level + 1u == machine_.levels.size();
    kept_.push_back(outermost ? static_cast<TensorMask>(all & ~restricted.bypasses) : restricted.keeps);
    for (std::uint8_t tensor = 0; tensor < problem_.tensors.size(); ++tensor) {
      const bool passes = (restricted.bypasses >> tensor & 1) != 0;
      if (outermost && passes) {
        return invalid(fmt::format("{}: {} passes by the outermost level '{}', expected it to be kept there", name_,
                                   problem_.tensors[tensor].name, machine_.levels[level].name));
      }
      if (outermost || passes || (restricted.keeps >> tensor & 1) != 0) continue;
      add({Meaning::Kind::Keep, level, tensor},
          fmt::format("keep.{}@{}", problem_.tensors[tensor].name, machine_.levels[level].name), ParameterKind::Categorical,
          Role::Scheduling, 2);
    }
  }
  return Done{};
}

void HierarchySpace::set_places() {
  for (std::uint8_t level = 0; level < machine_.levels.size(); ++level) {
    const bool fans = machine_.fan_x(level) * machine_.fan_y(level) > 1;
    const std::int64_t columns = level == 0 ? machine_.mac.mesh_x : machine_.levels[level - 1].mesh_x;
    const std::int64_t rows = level == 0 ? machine_.mac.mesh_y() : machine_.levels[level - 1].mesh_y();
    if (fans && columns > 1) places_.push_back({level, Axis::X});
    if (fans && rows > 1) places_.push_back({level, Axis::Y});
    places_.push_back({level, Axis::Time});
  }
}

const BlockRestriction& HierarchySpace::restriction_of(const Place& place) const {
  const LevelRestriction& level = restriction_.levels[place.level];
  return place.axis == Axis::Time ? level.temporal : level.spatial;
}

std::optional<HierarchySpace::Axis> HierarchySpace::fixed_axis(std::uint8_t level, std::uint8_t dim) const {
  const BlockRestriction& spatial = restriction_.levels[level].spatial;
  const auto at = std::ranges::find(spatial.innermost, dim) - spatial.innermost.begin();
  if (!spatial.split || at == std::ssize(spatial.innermost)) return std::nullopt;
  return at < *spatial.split ? Axis::X : Axis::Y;
}

bool HierarchySpace::spreads_in_fixed_order(std::uint8_t level) const {
  const BlockRestriction& spatial = restriction_.levels[level].spatial;
  return spatial.split && spatial.innermost.size() == problem_.dims.size();
}

Result<Done> HierarchySpace::add_primes(std::uint8_t dim) {
  for (auto& level : fixed_) {
    for (auto& axis : level) axis[dim] = 1;
  }
  std::int64_t left = problem_.bounds[dim];
  const auto wrong = [&](std::uint8_t level, const std::string& what) {
    return invalid(fmt::format("{}: level '{}' has to cut {} into {}, expected divisors of {} in all", name_,
                               machine_.levels[level].name, problem_.dims[dim], what, problem_.bounds[dim]));
  };
  std::vector<std::int32_t>& allowed = allowed_.emplace_back();
  for (std::uint8_t level = 0; level < machine_.levels.size(); ++level) {
    for (const bool spatial : {true, false}) {
      const BlockRestriction& block = spatial ? restriction_.levels[level].spatial : restriction_.levels[level].temporal;
      const std::int64_t exactly = block.exactly[dim];
      if (exactly <= 1) continue;
      if (left % exactly != 0) return wrong(level, fmt::format("{}", exactly));
      left /= exactly;
      Axis axis = Axis::Time;
      if (spatial) axis = fixed_axis(level, dim).value_or(machine_.fan_x(level) >= exactly ? Axis::X : Axis::Y);
      fixed_[level][static_cast<std::size_t>(axis)][dim] = exactly;
    }
  }
  for (std::size_t index = 0; index < places_.size(); ++index) {
    const Place& place = places_[index];
    const BlockRestriction& block = restriction_of(place);
    if (block.exactly[dim] != 0 || block.at_most[dim] == 1) continue;
    if (place.axis != Axis::Time && fixed_axis(place.level, dim).value_or(place.axis) != place.axis) continue;
    allowed.push_back(static_cast<std::int32_t>(index));
  }
  if (left > 1 && allowed.empty()) {
    return invalid(fmt::format("{}: the restriction cuts {} into {} in all, expected {}", name_, problem_.dims[dim],
                               problem_.bounds[dim] / left, problem_.bounds[dim]));
  }
  primes_.emplace_back(parameters_.size(), parameters_.size());
  std::vector<std::int64_t> primes = primes_of(left);
  std::ranges::reverse(primes);  // the large ones have the fewest places
  for (std::size_t number = 0; number < primes.size(); ++number) {
    add({Meaning::Kind::Prime, 0, dim, primes[number]}, fmt::format("place.{}#{}", problem_.dims[dim], number),
        ParameterKind::Categorical, Role::Tile, static_cast<std::int32_t>(places_.size()));
  }
  primes_.back().second = parameters_.size();
  return Done{};
}

bool HierarchySpace::can_stand(std::uint8_t dim, std::uint8_t level, bool spatial) const {
  const auto& fixed = fixed_[level];
  if (spatial ? fixed[0][dim] * fixed[1][dim] > 1 : fixed[2][dim] > 1) return true;
  if (primes_[dim].first == primes_[dim].second) return false;
  return std::ranges::any_of(allowed_[dim], [&](std::int32_t index) {
    const Place& place = places_[static_cast<std::size_t>(index)];
    return place.level == level && (place.axis != Axis::Time) == spatial;
  });
}

// Whether it matters which copies lie side by side.
bool HierarchySpace::has_neighbours(std::uint8_t level) const {
  const hierarchy::StorageLevel& storage = machine_.levels[level];
  if (storage.energy_per_hop.value > 0 || storage.router_energy.value > 0) return true;
  return judge_ == Judge::Timeloop && storage.links && slides(problem_);
}

void HierarchySpace::add_ranks(std::uint8_t level, bool spatial) {
  const BlockRestriction& wanted = spatial ? restriction_.levels[level].spatial : restriction_.levels[level].temporal;
  std::vector<std::uint8_t> dims;
  for (std::uint8_t dim = 0; dim < problem_.dims.size(); ++dim) {
    const bool named = std::ranges::find(wanted.innermost, dim) != wanted.innermost.end() ||
                       std::ranges::find(wanted.outermost, dim) != wanted.outermost.end();
    if (!named && can_stand(dim, level, spatial)) dims.push_back(dim);
  }
  if (dims.size() < 2) return;
  const std::size_t begin = parameters_.size();
  for (const std::uint8_t dim : dims) {
    add({spatial ? Meaning::Kind::Spread : Meaning::Kind::Order, level, dim},
        fmt::format("{}.{}@{}", spatial ? "spread" : "order", problem_.dims[dim], machine_.levels[level].name),
        ParameterKind::Ordinal, Role::Order, static_cast<std::int32_t>(dims.size()));
  }
  group_of_.resize(parameters_.size(), static_cast<std::uint8_t>(groups_.size()));
  groups_.push_back({begin, parameters_.size(), level, spatial});
}

void HierarchySpace::set_features() {
  constexpr double kBits = 12;  // of a large dimension: puts most logarithms between 0 and 1
  for (const char letter : std::string_view("RSPQCKNGM")) {
    const auto dim = problem_.dim_named(letter);
    features_.push_back(dim ? log2_of(static_cast<double>(problem_.bounds[*dim]), kBits) : 0.0F);
  }
  for (std::size_t tensor = 0; tensor < 3; ++tensor) {
    const bool there = tensor < problem_.tensors.size();
    features_.push_back(
        there ? log2_of(static_cast<double>(footprint(problem_.tensors[tensor], problem_.bounds.data())), 2 * kBits) : 0.0F);
  }
  features_.push_back(slides(problem_) ? 1.0F : 0.0F);
  features_.push_back(log2_of(static_cast<double>(computes(problem_)), 32));
  features_.push_back(log2_of(static_cast<double>(machine_.mac.instances), kBits));
}

void HierarchySpace::set_key() {
  hierarchy::Machine nameless = machine_;
  nameless.name.clear();
  nameless.source.clear();
  key_ = checksum(fmt::format("{} {} {}\n{}\n{}", kOutcomeVersion, static_cast<int>(judge_), restriction_.least_parallelism,
                              problem_text(), to_yaml(nameless)));
}

std::string HierarchySpace::problem_text() const {
  nlohmann::ordered_json json = to_json(problem_);
  json["model"] = tilewright::name(judge_);
  return json.dump();
}

void HierarchySpace::append_design(PointView point, std::string& bytes) const {
  const hierarchy::Mapping mapping = canonical(this->mapping(point), problem_);
  for (const hierarchy::LevelMapping& level : mapping.levels) {
    append_varint(level.keeps, bytes);
    for (const hierarchy::Block* block : {&level.spatial, &level.temporal}) {
      std::uint64_t loops = 0;
      for (std::size_t dim = 0; dim < problem_.dims.size(); ++dim) loops += block->factors[dim] > 1 ? 1 : 0;
      append_varint(loops, bytes);
      for (std::size_t at = 0; at < problem_.dims.size(); ++at) {
        const std::uint8_t dim = block->order[at];
        if (block->factors[dim] == 1) continue;
        append_varint(std::uint64_t{dim} * 2 + (at < block->split ? 0 : 1), bytes);
        append_varint(static_cast<std::uint64_t>(block->factors[dim]), bytes);
      }
    }
  }
}

namespace {

std::optional<hierarchy::Mapping> mapping_of_design(std::string_view bytes, std::size_t level_count, std::size_t dim_count) {
  ByteReader reader(bytes);
  hierarchy::Mapping mapping;
  for (std::size_t index = 0; index < level_count; ++index) {
    hierarchy::LevelMapping level;
    level.keeps = static_cast<TensorMask>(reader.varint());
    for (hierarchy::Block* block : {&level.spatial, &level.temporal}) {
      const std::uint64_t loops = reader.varint();
      if (loops > dim_count) return std::nullopt;
      std::uint8_t along_x = 0;
      for (std::uint64_t at = 0; at < loops; ++at) {
        const std::uint64_t head = reader.varint();
        if (head / 2 >= dim_count) return std::nullopt;
        const auto dim = static_cast<std::uint8_t>(head / 2);
        block->factors[dim] = static_cast<std::int64_t>(reader.varint());
        const auto place = std::ranges::find(block->order, dim);
        if (place < block->order.begin() + static_cast<std::ptrdiff_t>(at)) return std::nullopt;  // named twice
        std::rotate(block->order.begin() + static_cast<std::ptrdiff_t>(at), place, place + 1);
        if (head % 2 == 0) along_x = static_cast<std::uint8_t>(at + 1);
      }
      if (block == &level.spatial) block->split = along_x;
    }
    mapping.levels.push_back(level);
  }
  return reader.ended_well() ? std::optional(mapping) : std::nullopt;
}

}  // namespace

std::optional<Point> HierarchySpace::point_of_design(std::string_view bytes) const {
  const auto mapping = mapping_of_design(bytes, machine_.levels.size(), problem_.dims.size());
  return mapping ? point_of(*mapping) : std::nullopt;
}

std::string HierarchySpace::design_text(std::string_view bytes) const {
  const auto mapping = mapping_of_design(bytes, machine_.levels.size(), problem_.dims.size());
  if (!mapping) return "";
  std::string text = to_text(*mapping, problem_, machine_);
  std::ranges::replace(text, '\n', ';');
  return text;
}

}  // namespace tilewright
