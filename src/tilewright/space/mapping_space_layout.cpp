// How a mapping space is laid out: which parameters there are, and their values.
#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/space/mapping_key.hpp"
#include "tilewright/space/mapping_space.hpp"

namespace tilewright {
namespace {

constexpr std::array kSlots = {Slot::K, Slot::C, Slot::Y, Slot::X, Slot::R, Slot::S, Slot::N, Slot::G};

// A machine that is built in clusters has a list of cluster sizes; above so many units they are divisors of the whole.
constexpr std::int32_t kMostListedPes = 1 << 20;

std::vector<std::int32_t> divisors_of(std::int32_t number) {
  std::vector<std::int32_t> small, large;
  for (std::int32_t divisor = 1; divisor <= number / divisor; ++divisor) {
    if (number % divisor != 0) continue;
    small.push_back(divisor);
    if (divisor != number / divisor) large.push_back(number / divisor);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

// Cut within the clusters a machine is built in, or made of whole ones.
bool nests(std::int32_t size, const std::vector<std::int64_t>& built) {
  return built.empty() || std::ranges::any_of(built, [&](std::int64_t b) { return size % b == 0 || b % size == 0; });
}

// Sequences of `levels` numbers of 1 … count, none larger than the one before it.
double chain_count(std::int64_t count, std::size_t levels) {
  long double product = 1;
  for (std::size_t level = 0; level < levels; ++level) {
    product *= static_cast<long double>(count) + static_cast<long double>(level);
    product /= static_cast<long double>(level + 1);
  }
  return static_cast<double>(product);
}

// Pairs of whole numbers whose product is at most `most`: the sum of most / i, which takes few different values.
double pair_count(std::int64_t most) {
  double pairs = 0;
  for (std::int64_t i = 1; i <= most;) {
    const std::int64_t quotient = most / i, last = most / quotient;
    pairs += static_cast<double>(quotient * (last - i + 1));
    i = last + 1;
  }
  return pairs;
}

float log2_of(double number, double scale) { return static_cast<float>(std::log2(std::max(1.0, number)) / scale); }

}  // namespace

bool is_diagonal(const MappingLevel& level) {
  const auto spreads = [&](Dim dim) {
    return std::ranges::any_of(level.directives, [&](const Directive& directive) {
      return directive.kind == Directive::Kind::Spatial && directive.dim == dim && directive.size == 1;
    });
  };
  return level.directives.size() == 2 && spreads(Dim::Y) && spreads(Dim::R);
}

std::string_view name_of(Slot slot) {
  constexpr std::string_view kNames[] = {"K", "C", "Y", "X", "R", "S", "N", "G"};
  return kNames[index(slot)];
}

MappingSpace::MappingSpace(std::string name, const Nest& nest, const Accelerator& accelerator,
                           const MappingSpaceOptions& options, std::span<const Mapping> contained)
    : name_(std::move(name)), nest_(nest), accelerator_(accelerator), options_(options) {
  TW_ASSERT(options.least_levels >= 1 && options.least_levels <= options.most_levels && options.most_levels <= 3);
  set_dims();
  contain(contained);
  set_values();
  add_parameters();
  set_features();
  key_ = mapping_problem_key(nest_, accelerator_, options_.evaluate, options_.gamma_rules);
}

void MappingSpace::set_dims() {
  const bool product = nest_.kind == NestKind::MatrixMultiply;
  const auto set = [&](Slot slot, Dim dim) {
    if (nest_.has(dim)) dims_[index(slot)] = {dim, 1};
  };
  set(Slot::K, product ? Dim::N : Dim::K);
  set(Slot::C, product ? Dim::K : Dim::C);
  set(Slot::Y, product ? Dim::M : Dim::OutY);
  set(Slot::G, Dim::G);
  if (!product) {
    set(Slot::X, Dim::OutX);
    set(Slot::R, Dim::R);
    set(Slot::S, Dim::S);
    set(Slot::N, Dim::N);
  }
  for (const Slot slot : kSlots) {
    const auto dim = dims_[index(slot)].dim;
    sizes_[index(slot)] = dim ? nest_[*dim] : 1;
  }
  if (product) return;
  for (const auto& [slot, input] : {std::pair(Slot::Y, Dim::Y), std::pair(Slot::X, Dim::X)}) {
    if (options_.tiles == Tiles::Gamma) {
      sizes_[index(slot)] = nest_[input];
    } else {
      sizes_[index(slot)] = static_cast<std::int32_t>(outputs_along(nest_, input));
      dims_[index(slot)].stride = std::max(1, nest_.stride[static_cast<std::size_t>(input)]);
    }
  }
}

void MappingSpace::contain(std::span<const Mapping> mappings) {
  contained_tiles_.resize(options_.most_levels);
  const auto add = [](std::vector<std::int32_t>& values, std::int32_t value) {
    const auto place = std::ranges::lower_bound(values, value);
    if (place == values.end() || *place != value) values.insert(place, value);
  };
  for (const Mapping& mapping : mappings) {
    for (std::size_t number = 0; number < std::min(mapping.levels.size(), options_.most_levels); ++number) {
      const MappingLevel& level = mapping.levels[number];
      if (number > 0) add(contained_clusters_, level.cluster_size);
      has_diagonal_ = has_diagonal_ || (number > 0 && tilewright::is_diagonal(level));
      for (const Directive& directive : level.directives) {
        for (const Slot slot : kSlots) {
          if (dims_[index(slot)].dim != directive.dim || slot == Slot::R || slot == Slot::S) continue;
          add(contained_tiles_[number][index(slot)],
              std::min((directive.size - 1) / dims_[index(slot)].stride + 1, sizes_[index(slot)]));
        }
      }
    }
  }
}

bool MappingSpace::is_contained(std::size_t level, Slot slot, std::int32_t tile) const {
  return std::ranges::binary_search(contained_tiles_[level][index(slot)], tile);
}

void MappingSpace::set_values() {
  for (const Slot slot : kSlots) {
    const std::int32_t size = sizes_[index(slot)];
    const bool kernel = slot == Slot::R || slot == Slot::S;
    std::vector<std::int32_t>& values = tile_values_[index(slot)];
    if (kernel && (options_.tiles == Tiles::Gamma || is_maestro(options_.evaluate.model))) {
      values = {size};
    } else if (kernel || options_.tiles == Tiles::Divisors) {
      values = divisors_of(size);
      std::set<std::int32_t> all(values.begin(), values.end());
      for (const auto& of_level : contained_tiles_) all.insert(of_level[index(slot)].begin(), of_level[index(slot)].end());
      values.assign(all.begin(), all.end());
    }
  }
  slots_.resize(options_.most_levels);
  for (std::size_t level = 0; level < options_.most_levels; ++level) {
    for (const Slot slot : kSlots) {
      if (can_cut(level, slot)) slots_[level].push_back(slot);
    }
  }
  const auto pes = static_cast<std::int32_t>(accelerator_.pes);
  if (options_.tiles == Tiles::Divisors) {
    std::set<std::int32_t> sizes;
    for (const std::int32_t size : divisors_of(pes)) sizes.insert(size);
    for (const Slot slot : kSlots) {
      for (const std::int32_t size : divisors_of(sizes_[index(slot)])) {
        if (size <= pes) sizes.insert(size);
      }
    }
    std::erase_if(sizes, [&](std::int32_t size) { return !nests(size, accelerator_.clusters); });
    sizes.insert(contained_clusters_.begin(), contained_clusters_.end());
    cluster_values_.assign(sizes.begin(), sizes.end());
    pes_values_ = divisors_of(pes);
  } else if (!accelerator_.clusters.empty()) {
    if (pes <= kMostListedPes) {
      for (std::int32_t size = 1; size <= pes; ++size) cluster_values_.push_back(size);
    } else {
      cluster_values_ = divisors_of(pes);
    }
    std::erase_if(cluster_values_, [&](std::int32_t size) {
      return !nests(size, accelerator_.clusters) && !std::ranges::binary_search(contained_clusters_, size);
    });
  }
}

bool MappingSpace::can_cut(std::size_t level, Slot slot) const {
  const auto& values = tile_values_[index(slot)];
  if ((values.empty() ? static_cast<std::size_t>(sizes_[index(slot)]) : values.size()) < 2) return false;
  if (slot != Slot::R && slot != Slot::S) return true;
  // The parts of a cut kernel reach outputs that are a stride apart, which no model of ours joins.
  const std::int32_t stride = dims_[index(slot == Slot::R ? Slot::Y : Slot::X)].stride;
  return level > 0 && (stride == 1 || is_maestro(options_.evaluate.model));
}

std::size_t MappingSpace::add(Meaning meaning, std::string name, ParameterKind kind, Role role, std::int32_t value_count) {
  meanings_.push_back(meaning);
  parameters_.push_back({std::move(name), kind, role, value_count});
  return parameters_.size() - 1;
}

void MappingSpace::add_parameters() {
  using Kind = Meaning::Kind;
  const auto pes = static_cast<std::int32_t>(accelerator_.pes);
  if (options_.most_levels > options_.least_levels) {
    levels_place_ = add({Kind::Levels}, "levels", ParameterKind::Ordinal, Role::Parallelism,
                        static_cast<std::int32_t>(options_.most_levels - options_.least_levels + 1));
  }
  if (options_.search_pes && pes > 1) {
    const std::int32_t count = pes_values_.empty() ? pes : static_cast<std::int32_t>(pes_values_.size());
    pes_place_ = add({Kind::Pes}, "pes", ParameterKind::Ordinal, Role::Parallelism, count);
  }
  places_.resize(options_.most_levels);
  for (std::size_t level = 0; level < options_.most_levels; ++level) {
    LevelPlaces& places = places_[level];
    const auto slot_count = static_cast<std::int32_t>(slots_[level].size());
    if (level > 0 && has_diagonal_) {
      places.diagonal =
          add({Kind::Diagonal, level}, fmt::format("diagonal@{}", level), ParameterKind::Categorical, Role::Parallelism, 2);
    }
    if (slot_count > 1) {
      places.parallel = add({Kind::Parallel, level}, fmt::format("parallel@{}", level), ParameterKind::Categorical,
                            Role::Parallelism, slot_count);
    }
    const std::int32_t clusters = cluster_values_.empty() ? pes : static_cast<std::int32_t>(cluster_values_.size());
    if (level > 0 && clusters > 1) {
      places.cluster =
          add({Kind::Cluster, level}, fmt::format("cluster@{}", level), ParameterKind::Ordinal, Role::Parallelism, clusters);
    }
    for (const Slot slot : slots_[level]) {
      if (slot_count < 2) break;
      places.order[index(slot)] = add({Kind::Order, level, slot}, fmt::format("order.{}@{}", name_of(slot), level),
                                      ParameterKind::Ordinal, Role::Order, slot_count);
    }
    for (const Slot slot : slots_[level]) {
      const auto& values = tile_values_[index(slot)];
      const std::int32_t count = values.empty() ? sizes_[index(slot)] : static_cast<std::int32_t>(values.size());
      places.tile[index(slot)] = add({Kind::Tile, level, slot}, fmt::format("tile.{}@{}", name_of(slot), level),
                                     ParameterKind::Ordinal, Role::Tile, count);
    }
  }
}

void MappingSpace::set_features() {
  constexpr double kBits = 12;  // of a large dimension: puts most logarithms between 0 and 1
  for (const Slot slot : kSlots) features_.push_back(log2_of(sizes_[index(slot)], kBits));
  for (const Slot slot : {Slot::Y, Slot::X}) features_.push_back(log2_of(dims_[index(slot)].stride, 2));
  for (const NestKind kind : {NestKind::Convolution, NestKind::Depthwise, NestKind::Grouped, NestKind::MatrixMultiply}) {
    features_.push_back(nest_.kind == kind ? 1.0F : 0.0F);
  }
  features_.push_back(log2_of(static_cast<double>(macs(nest_).value), 32));
  features_.push_back(log2_of(static_cast<double>(accelerator_.pes), kBits));
  features_.push_back(log2_of(static_cast<double>(accelerator_.l1.value), kBits));
  features_.push_back(log2_of(static_cast<double>(accelerator_.l2.value), 2 * kBits));
  features_.push_back(log2_of(static_cast<double>(accelerator_.noc.bandwidth), 2 * kBits));
  features_.push_back(log2_of(static_cast<double>(accelerator_.offchip_bandwidth), 2 * kBits));
  features_.push_back(log2_of(static_cast<double>(accelerator_.clusters.empty() ? 1 : accelerator_.clusters.back()), kBits));
}

double MappingSpace::log10_size() const {
  double total = 0;
  const auto count_of = [](const std::vector<std::int32_t>& values, std::int64_t whole) {
    return values.empty() ? static_cast<double>(whole) : static_cast<double>(values.size());
  };
  if (pes_place_) total += std::log10(count_of(pes_values_, accelerator_.pes));
  double designs = 0;
  for (std::size_t levels = options_.least_levels; levels <= options_.most_levels; ++levels) {
    double log = 0;
    for (const Slot slot : slots_[levels - 1]) {  // chains of tiles, from level to level no larger
      const auto& values = tile_values_[index(slot)];
      if (values.empty()) {
        log += std::log10(chain_count(sizes_[index(slot)], levels));
        continue;
      }
      const std::size_t count = values.size();
      std::vector<double> chains(count, can_cut(0, slot) ? 1 : 0);  // that end at the value
      chains.back() = 1;
      for (std::size_t level = 1; level < levels; ++level) {
        std::vector<double> next(count, 0);
        for (std::size_t outer = 0; outer < count; ++outer) {
          for (std::size_t inner = 0; inner <= outer; ++inner) {
            if (values[outer] % values[inner] == 0) next[inner] += chains[outer];
          }
        }
        chains = next;
      }
      double sum = 0;
      for (const double chain : chains) sum += chain;
      log += std::log10(sum);
    }
    for (std::size_t level = 0; level < levels; ++level) {  // orders, and the dimension that is spread
      const double slot_count = std::max<double>(1, static_cast<double>(slots_[level].size()));
      log += std::log10(slot_count) + std::lgamma(slot_count + 1) / std::log(10.0);
    }
    // Cluster sizes whose product the machine has room for; a search over the machine counts the largest one.
    double clusters = 1;
    if (levels > 1) {
      if (levels == 2) clusters = count_of(cluster_values_, accelerator_.pes);
      if (levels == 3) {
        clusters = cluster_values_.empty() ? pair_count(accelerator_.pes) : 0;
        for (const std::int32_t size : cluster_values_) {
          const std::int64_t room = accelerator_.pes / size;
          clusters += static_cast<double>(std::ranges::upper_bound(cluster_values_, room) - cluster_values_.begin());
        }
      }
    }
    log += std::log10(std::max(1.0, clusters));
    designs += std::pow(10.0, log);
  }
  return total + std::log10(designs);
}

}  // namespace tilewright
