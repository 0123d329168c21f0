#include "tilewright/space/mapping_key.hpp"

#include <array>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "tilewright/space/design_bytes.hpp"

namespace tilewright {
namespace {

template <typename T>
void append_raw(const T& number, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

}  // namespace

void append_mapping(const Mapping& mapping, std::int64_t pes, std::string& bytes) {
  append_varint(static_cast<std::uint64_t>(pes), bytes);
  append_varint(mapping.levels.size(), bytes);
  for (const MappingLevel& level : mapping.levels) {
    append_varint(static_cast<std::uint64_t>(level.cluster_size), bytes);
    append_varint(level.directives.size(), bytes);
    for (const Directive& directive : level.directives) {
      const bool spatial = directive.kind == Directive::Kind::Spatial;
      const bool moves_whole = directive.offset == directive.size;
      bytes.push_back(static_cast<char>(static_cast<int>(directive.dim) | (spatial ? 0x40 : 0) | (moves_whole ? 0x20 : 0)));
      append_varint(static_cast<std::uint64_t>(directive.size), bytes);
      if (!moves_whole) append_varint(static_cast<std::uint64_t>(directive.offset), bytes);
    }
  }
}

std::optional<MappingDesign> mapping_design(std::string_view bytes) {
  ByteReader reader(bytes);
  MappingDesign design;
  design.pes = static_cast<std::int64_t>(reader.varint());
  const std::uint64_t levels = reader.varint();
  if (levels > kMaxLevels) return std::nullopt;
  for (std::uint64_t number = 0; number < levels; ++number) {
    MappingLevel level;
    level.cluster_size = static_cast<std::int32_t>(reader.varint());
    const std::uint64_t directives = reader.varint();
    if (directives > kMaxDirectives) return std::nullopt;
    for (std::uint64_t i = 0; i < directives; ++i) {
      const std::uint8_t head = reader.byte();
      if ((head & 0x1f) >= kDimCount) return std::nullopt;
      Directive directive{(head & 0x40) != 0 ? Directive::Kind::Spatial : Directive::Kind::Temporal,
                          static_cast<Dim>(head & 0x1f)};
      directive.size = static_cast<std::int32_t>(reader.varint());
      directive.offset = (head & 0x20) != 0 ? directive.size : static_cast<std::int32_t>(reader.varint());
      level.directives.push_back(directive);
    }
    design.mapping.levels.push_back(level);
  }
  return reader.ended_well() ? std::optional(design) : std::nullopt;
}

std::uint64_t mapping_problem_key(const Nest& nest, const Accelerator& accelerator, const EvaluateOptions& options,
                                  bool gamma_rules) {
  std::string bytes;
  append_raw(kModelVersion, bytes);
  for (const std::int64_t number :
       {static_cast<std::int64_t>(nest.kind), static_cast<std::int64_t>(nest.batched), nest.declared_input,
        nest.declared_weight, accelerator.l1.value, accelerator.l2.value, accelerator.noc.bandwidth, accelerator.noc.hops,
        accelerator.noc.hop_latency, accelerator.offchip_bandwidth, accelerator.simd_lanes,
        static_cast<std::int64_t>(options.model), static_cast<std::int64_t>(options.constraints),
        static_cast<std::int64_t>(gamma_rules)}) {
    append_raw(number, bytes);
  }
  for (const std::int32_t size : nest.size) append_raw(size, bytes);
  for (const std::int32_t stride : nest.stride) append_raw(stride, bytes);
  const EnergyTable& energy = accelerator.energy;
  const AreaTable& area = accelerator.area;
  const auto figure = [](const std::optional<SquareMicrometres>& known) { return known ? known->value : -1; };
  for (const double number :
       {energy.mac.value, energy.l1_access.value, energy.l2_access.value, figure(area.pe), figure(area.buffer_byte),
        figure(area.l1_byte), accelerator.leakage.value, accelerator.clock_ghz}) {
    append_raw(number, bytes);
  }
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace tilewright
