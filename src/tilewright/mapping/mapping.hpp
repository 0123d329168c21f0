// A mapping: how the loops of a nest are cut into tiles, ordered, and spread over the machine, in data-centric directives.
//
// Level 0 is the outermost: its directives, from the outer loop to the inner one, walk the whole nest and deal tiles out to
// an array of clusters. Each further level works inside one cluster of the level above, down to the processing elements. A
// directive (size, offset) gives `size` indices of its dimension at a time and moves on by `offset`.
#pragma once

#include <cstdint>
#include <string>

#include "tilewright/base/inline_vector.hpp"
#include "tilewright/base/result.hpp"
#include "tilewright/workload/nest.hpp"

namespace tilewright {

struct Directive {
  enum class Kind : std::uint8_t { Temporal, Spatial };
  Kind kind = Kind::Temporal;
  Dim dim = Dim::K;
  std::int32_t size = 1;
  std::int32_t offset = 1;
  bool operator==(const Directive&) const = default;
};

inline constexpr std::size_t kMaxLevels = 4;
inline constexpr std::size_t kMaxDirectives = 20;  // of one level, those inherited from the level above included

enum class ClusterKind : std::uint8_t { Physical, Logical };

struct MappingLevel {
  std::int32_t cluster_size = 0;  // units in one cluster of this level; 0 at level 0, whose array is what the PEs allow
  ClusterKind cluster_kind = ClusterKind::Physical;  // recorded, no effect on cost
  InlineVector<Directive, kMaxDirectives> directives;
  bool operator==(const MappingLevel&) const = default;
};

struct Mapping {
  InlineVector<MappingLevel, kMaxLevels> levels;
  bool operator==(const Mapping&) const = default;
};

// Text forms; reading back what was written gives an equal mapping. `where` is what error sentences call the text.
Result<Mapping> mapping_from_yaml(const std::string& text, const std::string& where);
std::string to_yaml(const Mapping& mapping);

// The directives of a `.m` file's Dataflow block, without the enclosing Layer.
std::string to_maestro(const Mapping& mapping);

// Reads a mapping file for the layer called `layer_name`: ours (.yaml) or a `.m` file. In a `.m` file the layer of that name
// is taken, or its only layer.
Result<Mapping> read_mapping(const std::string& path, const std::string& layer_name);

// The mapping as loops a person can read: sizes, tile counts and remainders filled in from `nest`, and how many clusters
// `pes` processing elements make when that is given. Loops of a single step are left out; what they hold is in the tile that
// closes each level. Rows and columns are outputs where a whole filter is at hand, inputs where it is not.
std::string to_loop_nest(const Mapping& mapping, const Nest& nest, std::int64_t pes = 0);

}  // namespace tilewright
