// GAMMA's genome, and what happens to it: drawing, crossing, redrawing, growing, and being written as a point of a space.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "tilewright/space/mapping_space.hpp"

namespace tilewright {

struct GenomeLevel {
  Slot parallel = Slot::K;                      // the dimension spread over the array
  std::int32_t units = 1;                       // of a cluster; at level 0 the processing elements, where they are searched
  std::array<Slot, kSlotCount> order{};         // the first GenomeForm::dims.size() entries, outermost loop first
  std::array<std::int32_t, kSlotCount> tile{};  // indexed by Slot
  auto operator<=>(const GenomeLevel&) const = default;
};
using Genome = std::vector<GenomeLevel>;

// What genomes may hold in a space. K, C, Y, X, R and S are always genes, as in the original, whatever their size: so the
// share of draws that falls on each stays the same.
struct GenomeForm {
  GenomeForm(const MappingSpace& mapping_space, bool spread_kernel);

  const MappingSpace& space;
  std::vector<Slot> dims;
  std::vector<std::vector<Slot>> spreadable;    // per level
  std::array<std::int32_t, kSlotCount> size{};  // largest tile
  std::int32_t pes = 1;                         // of the machine
  bool constrained = false;  // whole kernels: the original then swaps no spread dimensions and keeps levels
  bool divisors = false;     // tiles divide the tile of the level above
  bool depthwise = false;    // K stands for C where it is spread
  bool search_pes = false;
  std::vector<std::array<std::int32_t, kSlotCount>> parallel_index;  // per level: of each slot in parallel@L, or -1
};

Genome draw_genome(const GenomeForm& form, Rng& rng);
void set_unit_tiles(Genome& genome);

// Exchanges the tiles of one dimension on all levels that both have.
void cross(Genome& one, Genome& other, const GenomeForm& form, Rng& rng);
void swap_two_loops(Genome& genome, const GenomeForm& form, Rng& rng);
void redraw_gene(Genome& genome, const GenomeForm& form, Rng& rng);
// With `afresh` another multiple of the cluster, else the multiple below the present number.
void redraw_pes(Genome& genome, const GenomeForm& form, bool afresh, Rng& rng);
// Of the outer two levels.
void swap_parallel(Genome& genome, const GenomeForm& form);
void grow(Genome& genome, const GenomeForm& form, Rng& rng);
void age(Genome& genome, const GenomeForm& form);
// Clips inner tiles to outer ones; dimensions that the space does not cut are whole.
void conform(Genome& genome, const GenomeForm& form);

// The genome that a point of the space was, or could have been, made from.
Genome genome_of(const Point& point, const GenomeForm& form);

// The legal, canonical point. Genes the space has no such value for become what the point says.
Point to_point(Genome& genome, const GenomeForm& form);

}  // namespace tilewright
