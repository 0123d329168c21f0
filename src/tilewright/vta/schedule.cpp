#include "tilewright/vta/schedule.hpp"

#include <fmt/format.h>

#include "tilewright/vta/generator_loops.hpp"

namespace tilewright::vta {

std::string to_text(const Schedule& s) {
  return fmt::format("b{} h{} w{} ci{} co{} threads {}x{}", s.tile_b, s.tile_h, s.tile_w, s.tile_ci, s.tile_co,
                     s.h_threading, s.oc_threading);
}

BlockedShape blocked(const Layer& layer, const Machine& machine) {
  const ElementLoops loops = element_loops(layer, machine);
  return {.batch_blocks = loops.batch,
          .in_blocks = loops.in_blocks,
          .out_blocks = loops.out_blocks,
          .out_height = loops.out_height,
          .out_width = loops.out_width};
}

std::string Misfit::sentence() const {
  switch (kind) {
    case MisfitKind::TileRange:
      return fmt::format("a tile is {}, expected 1 to {}", need, limit);
    case MisfitKind::Threads:
      return fmt::format("there are {} virtual threads, expected 1 to {}", need, limit);
    case MisfitKind::InpOverflow:
      return fmt::format("the input tiles need {} elements, expected at most {}", need, limit);
    case MisfitKind::WgtOverflow:
      return fmt::format("the weight tiles need {} elements, expected at most {}", need, limit);
    case MisfitKind::AccOverflow:
      return fmt::format("the accumulator tiles need {} elements, expected at most {}", need, limit);
    case MisfitKind::UopOverflow:
      return fmt::format("a kernel needs {} micro-ops, expected at most {}", need, limit);
    case MisfitKind::Field:
      return fmt::format("a field of an instruction would be {}, expected at most {}", need, limit);
    case MisfitKind::Length:
      return fmt::format("the program would have {} instructions or more, expected at most {}", need, limit);
    case MisfitKind::Unsupported:
      return "the instruction set has no form for this operator, expected conv, depthwise, fc or matmul";
  }
  return "";
}

std::optional<Misfit> misfit(const Layer& layer, const Machine& machine, const Schedule& schedule) {
  return misfit(element_loops(layer, machine), machine, schedule);
}

}  // namespace tilewright::vta
