// The mappings of one layer on one machine as a design space.
//
// For each cluster level: which dimension is spread over the array (parallel@L), one priority per dimension (order.D@L;
// loops run from the highest priority, outermost, to the lowest, ties in the order of the dimensions), the tile of each
// dimension (tile.D@L, at most the tile of the level above), and for levels below the outermost the units of a cluster
// (cluster@L). Dimensions that cannot be cut have no parameters and stand innermost, whole. Kernels are whole at the
// outermost level, where cutting them would count outputs wrongly, and cut evenly or not at all inside. Where a machine is
// built in clusters, clusters of a mapping are parts or multiples of those. Names are by slot, so that layers of all kinds
// share them: a matrix multiply calls its columns K, its inner dimension C and its rows Y, as GAMMA does; N is the batch, G
// the groups.
//
// A space can be asked to contain given mappings, such as the classic dataflows: it then has their tiles and clusters too,
// at their level, and where one of them spreads input rows and kernel rows together over the innermost clusters, unit by
// unit (row stationary), so can any point whose clusters make one output row (diagonal@L); all other loops then pass through
// the level.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/cost/evaluator.hpp"
#include "tilewright/hardware/accelerator.hpp"
#include "tilewright/mapping/mapping.hpp"
#include "tilewright/space/design_space.hpp"

namespace tilewright {

// The loops of a mapping space by the part they play.
enum class Slot : std::uint8_t { K, C, Y, X, R, S, N, G };
inline constexpr std::size_t kSlotCount = 8;
constexpr std::size_t index(Slot slot) { return static_cast<std::size_t>(slot); }
std::string_view name_of(Slot slot);

enum class Tiles : std::uint8_t {
  Any,       // all sizes
  Divisors,  // sizes that divide the dimension, each level's dividing the one above
  Gamma,     // GAMMA's rule: as Any, with kernel rows and columns always whole and rows and columns up to the input's
};
template <>
struct Names<Tiles> {
  static constexpr std::string_view kWhat = "tiles";
  static constexpr NameTable<Tiles, 3> kTable = {
      {{Tiles::Any, "any"}, {Tiles::Divisors, "divisors"}, {Tiles::Gamma, "gamma"}}};
};
constexpr std::string_view name_of(Tiles tiles) { return name(tiles); }

struct MappingSpaceOptions {
  Tiles tiles = Tiles::Any;
  std::size_t least_levels = 2;  // 1 … 3
  std::size_t most_levels = 2;   // more than least_levels: the number of levels is a parameter too ("levels")
  bool search_pes = false;       // the number of processing elements, up to the machine's, is a parameter ("pes")
  EvaluateOptions evaluate;      // model and constraints
  // Rejects points by GAMMA's own test instead of the model's audit and limits (maestro models only): runtime and buffer
  // needs of at least 1, needs within the machine's L1 and L2.
  bool gamma_rules = false;
};

// Whether a level spreads input rows and kernel rows together, unit by unit, and leaves all else as it is.
bool is_diagonal(const MappingLevel& level);

class MappingSpace final : public DesignSpace {
 public:
  MappingSpace(std::string name, const Nest& nest, const Accelerator& accelerator, const MappingSpaceOptions& options,
               std::span<const Mapping> contained = {});

  const std::string& name() const override { return name_; }
  const std::vector<Parameter>& parameters() const override { return parameters_; }
  void choices(PointView point, std::size_t parameter, Choices& choices) const override;
  double value(std::size_t parameter, std::int32_t index) const override;
  std::string value_name(std::size_t parameter, std::int32_t index) const override;
  void canonicalise(std::span<std::int32_t> point) const override;
  std::unique_ptr<PointEvaluator> evaluator() const override;
  std::string reason_name(std::uint8_t reason) const override;
  const std::vector<float>& features() const override { return features_; }
  void append_design(PointView point, std::string& bytes) const override;
  std::optional<Point> point_of_design(std::string_view bytes) const override;
  std::string design_text(std::string_view bytes) const override;
  std::uint64_t problem_key() const override { return key_; }
  std::string problem_text() const override;
  double log10_size() const override;

  // The mapping a point stands for, and the machine it runs on when the number of processing elements is searched.
  Mapping mapping(PointView point) const;
  std::int64_t pes(PointView point) const;

  const Nest& nest() const { return nest_; }
  const Accelerator& accelerator() const { return accelerator_; }
  const MappingSpaceOptions& options() const { return options_; }

  // Where things are, for searchers that know mappings: indices into parameters(), or nothing where there is no choice.
  struct LevelPlaces {
    std::optional<std::size_t> diagonal, parallel, cluster;
    std::array<std::optional<std::size_t>, kSlotCount> order, tile;
  };
  std::size_t most_levels() const { return options_.most_levels; }
  const LevelPlaces& places(std::size_t level) const { return places_[level]; }
  std::optional<std::size_t> levels_place() const { return levels_place_; }
  std::optional<std::size_t> pes_place() const { return pes_place_; }
  const std::vector<Slot>& slots() const {
    return slots_.back();
  }  // dimensions that can be cut at some level, in slot order
  const std::vector<Slot>& slots(std::size_t level) const { return slots_[level]; }  // … at this level
  // What the dimension's tiles are counted in, all of it: outputs for Y and X (inputs by GAMMA's rule); 1 where there is
  // none.
  std::int32_t size_of(Slot slot) const { return sizes_[static_cast<std::size_t>(slot)]; }
  std::size_t level_count(PointView point) const;
  std::int32_t tile_of(PointView point, std::size_t level, Slot slot) const;
  // The point that means `mapping`, if the space has one. A mapping of fewer levels is taken with one-unit levels inside,
  // and a dimension that a level leaves out as whole there.
  std::optional<Point> point_of(const Mapping& mapping) const;

 private:
  struct Meaning {
    enum class Kind : std::uint8_t { Levels, Pes, Diagonal, Parallel, Cluster, Order, Tile } kind;
    std::size_t level = 0;
    Slot slot = Slot::K;
  };
  struct SlotDim {
    std::optional<Dim> dim;
    std::int32_t stride = 1;  // of outputs, in the units directives are written in
  };
  using SlotTiles = std::array<std::int64_t, kSlotCount>;
  enum class Buffer : std::uint8_t { L1, L2 };

  bool set_level(Point& point, std::size_t number, const MappingLevel& level) const;
  void set_dims();
  void contain(std::span<const Mapping> mappings);
  void set_values();
  void add_parameters();
  void set_features();
  std::size_t add(Meaning meaning, std::string name, ParameterKind kind, Role role, std::int32_t value_count);
  bool has_buffer_masks() const;
  bool is_diagonal(PointView point, std::size_t level) const;
  bool is_contained(std::size_t level, Slot slot, std::int32_t tile) const;
  std::int32_t last_fitting(PointView point, const Meaning& meaning, std::int32_t most) const;
  void tile_choices(PointView point, const Meaning& meaning, Choices& choices) const;
  void cluster_choices(PointView point, const Meaning& meaning, Choices& choices) const;
  double bytes_needed(const SlotTiles& tiles, Buffer buffer) const;
  bool can_cut(std::size_t level, Slot slot) const;
  std::int32_t tile_value(Slot slot, std::int32_t index) const;
  std::int32_t cluster_value(std::int32_t index) const;
  std::int32_t order_of(PointView point, std::size_t level, Slot slot) const;
  // Slots from the outermost loop of a level to the innermost.
  InlineVector<Slot, kSlotCount> loop_order(PointView point, std::size_t level) const;

  std::string name_;
  Nest nest_;
  Accelerator accelerator_;
  MappingSpaceOptions options_;
  std::vector<Parameter> parameters_;
  std::vector<Meaning> meanings_;
  std::vector<LevelPlaces> places_;
  std::optional<std::size_t> levels_place_, pes_place_;
  std::vector<std::vector<Slot>> slots_;  // by level
  std::array<SlotDim, kSlotCount> dims_{};
  std::array<std::int32_t, kSlotCount> sizes_{};
  std::array<std::vector<std::int32_t>, kSlotCount> tile_values_;  // ascending; empty = 1 … size
  std::vector<std::int32_t> cluster_values_;                       // ascending; empty = 1 … processing elements
  std::vector<std::int32_t> pes_values_;                           // likewise
  // Of the mappings the space was asked to contain.
  std::vector<std::array<std::vector<std::int32_t>, kSlotCount>> contained_tiles_;  // by level, ascending
  std::vector<std::int32_t> contained_clusters_;
  bool has_diagonal_ = false;  // one of them spreads input rows and kernel rows together
  std::vector<float> features_;
  std::uint64_t key_ = 0;
};

}  // namespace tilewright
