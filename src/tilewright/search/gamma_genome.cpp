#include "tilewright/search/gamma_genome.hpp"

#include <algorithm>
#include <utility>

namespace tilewright {
namespace {

std::size_t at(Slot slot) { return static_cast<std::size_t>(slot); }

template <typename T>
const T& pick(const std::vector<T>& all, Rng& rng) {
  return all[static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(all.size())))];
}

std::int32_t draw_up_to(std::int32_t most, Rng& rng) { return static_cast<std::int32_t>(rng.between(1, most)); }

std::int32_t draw_divisor(std::int32_t number, Rng& rng) {
  std::vector<std::int32_t> divisors;
  for (std::int32_t low = 1; low <= number / low; ++low) {
    if (number % low != 0) continue;
    divisors.push_back(low);
    if (low != number / low) divisors.push_back(number / low);
  }
  return pick(divisors, rng);
}

std::int32_t draw_tile(std::int32_t most, const GenomeForm& form, Rng& rng) {
  return form.divisors ? draw_divisor(most, rng) : draw_up_to(most, rng);
}

void shuffle_loops(GenomeLevel& level, const GenomeForm& form, Rng& rng) {
  std::copy(form.dims.begin(), form.dims.end(), level.order.begin());
  for (std::size_t left = form.dims.size(); left > 1; --left) {
    std::swap(level.order[left - 1], level.order[static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(left)))]);
  }
}

// The index whose value is nearest to `value`; values ascend.
std::int32_t index_of(const MappingSpace& space, std::size_t parameter, double value) {
  std::int32_t low = 0;
  std::int32_t high = space.parameters()[parameter].value_count - 1;
  while (low < high) {
    const std::int32_t middle = low + (high - low) / 2;
    if (space.value(parameter, middle) < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low > 0 && value - space.value(parameter, low - 1) <= space.value(parameter, low) - value) return low - 1;
  return low;
}

std::int32_t whole_value(const MappingSpace& space, std::size_t parameter, std::int32_t index) {
  return static_cast<std::int32_t>(space.value(parameter, index));
}

void write_level(Point& point, const GenomeLevel& level, std::size_t depth, const GenomeForm& form) {
  const MappingSpace& space = form.space;
  const MappingSpace::LevelPlaces& places = space.places(depth);
  if (places.parallel) {
    const Slot spread = form.depthwise && level.parallel == Slot::K ? Slot::C : level.parallel;
    point[*places.parallel] = std::max(form.parallel_index[depth][at(spread)], 0);
  }
  if (places.cluster) point[*places.cluster] = index_of(space, *places.cluster, level.units);
  auto priority = static_cast<std::int32_t>(space.slots(depth).size());
  for (std::size_t rank = 0; rank < form.dims.size(); ++rank) {
    const std::size_t slot = at(level.order[rank]);
    if (const auto order = places.order[slot]) point[*order] = --priority;
    if (const auto tile = places.tile[slot]) point[*tile] = index_of(space, *tile, level.tile[slot]);
  }
}

// What is evaluated is what is inherited: genes that could not be written as they are take the point's value. K that stands
// for C stays K.
void read_level(GenomeLevel& level, const Point& point, const Point& wanted, std::size_t depth, const GenomeForm& form) {
  const MappingSpace& space = form.space;
  const MappingSpace::LevelPlaces& places = space.places(depth);
  if (places.parallel && point[*places.parallel] != wanted[*places.parallel]) {
    for (const Slot slot : form.spreadable[depth]) {
      if (form.parallel_index[depth][at(slot)] == point[*places.parallel]) level.parallel = slot;
    }
  }
  if (places.cluster) level.units = whole_value(space, *places.cluster, point[*places.cluster]);
  for (const Slot slot : form.dims) {
    if (const auto tile = places.tile[at(slot)]) level.tile[at(slot)] = whole_value(space, *tile, point[*tile]);
  }
}

}  // namespace

GenomeForm::GenomeForm(const MappingSpace& mapping_space, bool spread_kernel)
    : space(mapping_space),
      dims{Slot::K, Slot::C, Slot::Y, Slot::X, Slot::R, Slot::S},
      pes(static_cast<std::int32_t>(mapping_space.accelerator().pes)),
      constrained(mapping_space.options().tiles == Tiles::Gamma),
      divisors(mapping_space.options().tiles == Tiles::Divisors),
      depthwise(mapping_space.nest().kind == NestKind::Depthwise),
      search_pes(mapping_space.pes_place().has_value()) {
  for (const Slot slot : space.slots()) {
    if (std::ranges::find(dims, slot) == dims.end()) dims.push_back(slot);
  }
  for (std::size_t depth = 0; depth < space.most_levels(); ++depth) {
    auto& indices = parallel_index.emplace_back();
    indices.fill(-1);
    const auto place = space.places(depth).parallel;
    if (!place) continue;
    for (std::int32_t index = 0; index < space.parameters()[*place].value_count; ++index) {
      const std::string name = space.value_name(*place, index);
      for (const Slot slot : dims) {
        if (name_of(slot) == name) indices[at(slot)] = index;
      }
    }
  }
  for (const Slot slot : dims) {
    const auto tile = space.places(0).tile[at(slot)];
    size[at(slot)] = tile ? whole_value(space, *tile, space.parameters()[*tile].value_count - 1) : space.size_of(slot);
  }
  for (std::size_t depth = 0; depth < space.most_levels(); ++depth) {
    auto& slots = spreadable.emplace_back();
    for (const Slot slot : dims) {
      const bool kernel = slot == Slot::R || slot == Slot::S;
      const bool stands_for_another = depthwise && slot == Slot::K;
      if ((parallel_index[depth][at(slot)] >= 0 || stands_for_another) && (!kernel || spread_kernel)) slots.push_back(slot);
    }
    if (slots.empty()) slots.push_back(dims.front());  // nothing to choose
  }
}

Genome draw_genome(const GenomeForm& form, Rng& rng) {
  GenomeLevel outer;
  outer.parallel = pick(form.spreadable[0], rng);
  outer.units = draw_up_to(form.pes, rng);
  for (const Slot slot : form.dims) outer.tile[at(slot)] = draw_tile(form.size[at(slot)], form, rng);
  shuffle_loops(outer, form, rng);
  Genome genome{outer};
  while (genome.size() < form.space.options().least_levels) grow(genome, form, rng);
  conform(genome, form);
  return genome;
}

void set_unit_tiles(Genome& genome) {
  for (GenomeLevel& level : genome) level.tile.fill(1);
}

void cross(Genome& one, Genome& other, const GenomeForm& form, Rng& rng) {
  const std::size_t slot = at(pick(form.dims, rng));
  for (std::size_t depth = 0; depth < std::min(one.size(), other.size()); ++depth) {
    std::swap(one[depth].tile[slot], other[depth].tile[slot]);
  }
}

void swap_two_loops(Genome& genome, const GenomeForm& form, Rng& rng) {
  GenomeLevel& level = genome[static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(genome.size())))];
  const auto loops = static_cast<std::int64_t>(form.dims.size());
  const auto one = static_cast<std::size_t>(rng.below(loops));
  const auto other = static_cast<std::size_t>(rng.below(loops));
  std::swap(level.order[one], level.order[other]);
}

void redraw_gene(Genome& genome, const GenomeForm& form, Rng& rng) {
  const std::size_t genes = form.dims.size() + 1;
  const auto gene = static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(genome.size() * genes)));
  const std::size_t depth = gene / genes;
  GenomeLevel& level = genome[depth];
  if (gene % genes > 0) {
    const std::size_t slot = at(form.dims[gene % genes - 1]);
    level.tile[slot] = draw_tile(depth == 0 ? form.size[slot] : genome[depth - 1].tile[slot], form, rng);
    return;
  }
  level.parallel = pick(form.spreadable[depth], rng);
  if (depth == 0) return;
  const std::int32_t pes = form.search_pes ? std::max(genome[0].units, std::int32_t{1}) : form.pes;
  level.units = draw_divisor(std::min(genome[depth - 1].tile[at(level.parallel)], pes), rng);
}

void redraw_pes(Genome& genome, const GenomeForm& form, bool afresh, Rng& rng) {
  if (genome.size() == 1) {
    if (afresh) genome[0].units = draw_up_to(form.pes, rng);
    return;
  }
  const std::int32_t cluster = genome[1].units;
  std::int32_t clusters = genome[0].units / cluster;
  if (afresh) {
    // The upper half of what the machine allows and the dimension can use.
    const std::size_t slot = at(genome[1].parallel);
    const std::int32_t tile = genome[0].tile[slot];
    const std::int32_t most = std::min(std::max(form.pes / cluster, 1), (form.size[slot] + tile - 1) / tile);
    clusters = static_cast<std::int32_t>(rng.between(std::max(most / 2, 1), most));
  }
  genome[0].units = std::min(form.pes, clusters * cluster);
}

void swap_parallel(Genome& genome, const GenomeForm& form) {
  if (genome.size() < 2) return;
  const auto can_spread = [&](std::size_t depth, Slot slot) {
    return std::ranges::find(form.spreadable[depth], slot) != form.spreadable[depth].end();
  };
  if (can_spread(0, genome[1].parallel) && can_spread(1, genome[0].parallel)) {
    std::swap(genome[0].parallel, genome[1].parallel);
  }
}

void grow(Genome& genome, const GenomeForm& form, Rng& rng) {
  if (genome.size() >= form.space.most_levels()) return;
  GenomeLevel level;
  level.parallel = pick(form.spreadable[genome.size()], rng);
  const std::int32_t outer_tile = genome.back().tile[at(level.parallel)];
  level.units = draw_up_to(form.search_pes ? outer_tile : std::min(outer_tile, form.pes), rng);
  level.tile.fill(1);
  shuffle_loops(level, form, rng);
  genome.push_back(level);
}

void age(Genome& genome, const GenomeForm& form) {
  if (genome.size() > form.space.options().least_levels) genome.pop_back();
}

void conform(Genome& genome, const GenomeForm& form) {
  for (std::size_t depth = 0; depth < genome.size(); ++depth) {
    for (const Slot slot : form.dims) {
      std::int32_t& tile = genome[depth].tile[at(slot)];
      if (!form.space.places(depth).tile[at(slot)]) tile = form.size[at(slot)];
      if (depth > 0) tile = std::min(tile, genome[depth - 1].tile[at(slot)]);
    }
  }
}

Genome genome_of(const Point& point, const GenomeForm& form) {
  const MappingSpace& space = form.space;
  Genome genome(space.level_count(point));
  for (std::size_t depth = 0; depth < genome.size(); ++depth) {
    const MappingSpace::LevelPlaces& places = space.places(depth);
    GenomeLevel& level = genome[depth];
    if (places.parallel) {
      for (const Slot slot : form.spreadable[depth]) {
        if (form.parallel_index[depth][at(slot)] == point[*places.parallel]) level.parallel = slot;
      }
    }
    if (places.cluster) level.units = whole_value(space, *places.cluster, point[*places.cluster]);
    for (const Slot slot : form.dims) level.tile[at(slot)] = space.tile_of(point, depth, slot);
    std::copy(form.dims.begin(), form.dims.end(), level.order.begin());
    const auto priority = [&](Slot slot) {
      const auto order = places.order[at(slot)];
      return order ? point[*order] : -1;
    };
    std::stable_sort(level.order.begin(), level.order.begin() + static_cast<std::ptrdiff_t>(form.dims.size()),
                     [&](Slot one, Slot other) { return priority(one) > priority(other); });
  }
  if (const auto place = space.pes_place()) genome[0].units = whole_value(space, *place, point[*place]);
  return genome;
}

Point to_point(Genome& genome, const GenomeForm& form) {
  const MappingSpace& space = form.space;
  Point point(space.parameters().size(), 0);
  if (const auto place = space.levels_place()) point[*place] = index_of(space, *place, static_cast<double>(genome.size()));
  if (const auto place = space.pes_place()) point[*place] = index_of(space, *place, genome[0].units);
  for (std::size_t depth = 0; depth < genome.size(); ++depth) write_level(point, genome[depth], depth, form);
  const Point wanted = point;
  thread_local Choices choices;
  for (std::size_t parameter = 0; parameter < point.size(); ++parameter) {
    space.choices(point, parameter, choices);
    point[parameter] = choices.nearest(point[parameter]);
  }
  for (std::size_t depth = 0; depth < genome.size(); ++depth) read_level(genome[depth], point, wanted, depth, form);
  if (const auto place = space.pes_place()) genome[0].units = whole_value(space, *place, point[*place]);
  space.canonicalise(point);
  return point;
}

}  // namespace tilewright
