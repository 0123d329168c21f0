// From stored designs back to points and to words.
#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/space/codesign_space.hpp"
#include "tilewright/space/design_bytes.hpp"
#include "tilewright/space/mapping_key.hpp"
#include "tilewright/space/mapping_space.hpp"

namespace tilewright {
namespace {

struct CodesignDesign {
  vta::Machine machine;
  vta::Schedule schedule;
};

// The order is that of CodesignSpace::append_design.
std::optional<CodesignDesign> codesign_design(std::string_view bytes) {
  ByteReader reader(bytes);
  CodesignDesign design;
  vta::Machine& m = design.machine;
  for (int* log : {&m.log_inp_width, &m.log_wgt_width, &m.log_acc_width, &m.log_batch, &m.log_block_in, &m.log_block_out,
                   &m.log_uop_buffer, &m.log_inp_buffer, &m.log_wgt_buffer, &m.log_acc_buffer}) {
    *log = static_cast<int>(reader.varint());
  }
  vta::Schedule& s = design.schedule;
  for (std::int64_t* tile : {&s.tile_b, &s.tile_h, &s.tile_w, &s.tile_ci, &s.tile_co}) {
    *tile = static_cast<std::int64_t>(reader.varint());
  }
  for (int* threads : {&s.h_threading, &s.oc_threading}) *threads = static_cast<int>(reader.varint());
  return reader.ended_well() ? std::optional(design) : std::nullopt;
}

}  // namespace

std::optional<Point> MappingSpace::point_of_design(std::string_view bytes) const {
  const std::optional<MappingDesign> design = mapping_design(bytes);
  if (!design) return std::nullopt;
  std::optional<Point> point = point_of(design->mapping);
  if (!point) return std::nullopt;
  if (pes_place_) {
    const auto index =
        pes_values_.empty() ? design->pes - 1 : std::ranges::find(pes_values_, design->pes) - pes_values_.begin();
    if (index < 0 || index >= parameters_[*pes_place_].value_count) return std::nullopt;
    (*point)[*pes_place_] = static_cast<std::int32_t>(index);
    if (!is_legal(*this, *point)) return std::nullopt;
  }
  return pes(*point) == design->pes ? point : std::nullopt;
}

std::string MappingSpace::design_text(std::string_view bytes) const {
  const std::optional<MappingDesign> design = mapping_design(bytes);
  if (!design) return "";
  std::string text = to_maestro(design->mapping);
  std::ranges::replace(text, '\n', ' ');
  return fmt::format("{} PEs: {}", design->pes, trim(text));
}

std::optional<Point> CodesignSpace::point_of_design(std::string_view bytes) const {
  const std::optional<CodesignDesign> design = codesign_design(bytes);
  return design ? point_of(design->machine, design->schedule) : std::nullopt;
}

std::string CodesignSpace::design_text(std::string_view bytes) const {
  const std::optional<CodesignDesign> design = codesign_design(bytes);
  if (!design) return "";
  const vta::Machine& m = design->machine;
  const auto kib = [](int log) { return static_cast<double>(std::int64_t{1} << log) / 1024; };
  return fmt::format("{} x {} x {}, KiB uop {} inp {} wgt {} acc {}: {}", m.batch(), m.block_in(), m.block_out(),
                     kib(m.log_uop_buffer), kib(m.log_inp_buffer), kib(m.log_wgt_buffer), kib(m.log_acc_buffer),
                     to_text(design->schedule));
}

}  // namespace tilewright
