// How one layer is cut into tiles that fit the machine's buffers, and how many virtual threads take turns so that loading
// one tile overlaps computing another. Tiles need not divide the layer: remainder tiles are smaller.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tilewright/vta/machine.hpp"
#include "tilewright/workload/layer.hpp"

namespace tilewright::vta {

struct Schedule {
  std::int64_t tile_b = 1;   // blocks of BATCH images
  std::int64_t tile_h = 1;   // rows of the result
  std::int64_t tile_w = 1;   // columns of the result
  std::int64_t tile_ci = 1;  // blocks of BLOCK_IN input channels
  std::int64_t tile_co = 1;  // blocks of BLOCK_OUT output channels
  int h_threading = 1;       // virtual threads along rows
  int oc_threading = 1;      // virtual threads along output channels; h_threading * oc_threading is 1 to 4

  bool operator==(const Schedule&) const = default;
};
std::string to_text(const Schedule& schedule);  // "b1 h14 w14 ci1 co4 threads 1x2"

// The layer in the machine's units.
struct BlockedShape {
  std::int64_t batch_blocks = 1, in_blocks = 1, out_blocks = 1;  // per group for grouped convolutions
  std::int64_t out_height = 1, out_width = 1;
};
BlockedShape blocked(const Layer& layer, const Machine& machine);

enum class MisfitKind : std::uint8_t {
  TileRange,
  Threads,
  InpOverflow,
  WgtOverflow,
  AccOverflow,
  UopOverflow,
  Field,
  Unsupported,
  Length  // of the program
};
struct Misfit {
  MisfitKind kind = MisfitKind::TileRange;
  std::int64_t need = 0, limit = 0;
  std::string sentence() const;  // "the input tile needs 3072 elements, expected at most 2048"
};

// Why no program can be generated; nothing when one can. Fast: no allocation.
std::optional<Misfit> misfit(const Layer& layer, const Machine& machine, const Schedule& schedule);

}  // namespace tilewright::vta
