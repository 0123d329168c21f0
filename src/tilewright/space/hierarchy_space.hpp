// The mappings of one problem on a machine with memory levels as a design space.
//
//   keep.Weights@L2    whether the level keeps the tensor, where the restriction leaves it free
//   place.K#0          the block that the first prime factor of dimension K goes to, the innermost block first: along X or Y
//                      inside a level, or in time at it; equal primes are told apart by nothing and stand in rising blocks
//   order.K@L2         rank of the loop in time at the level, 0 = innermost; ties in the order of the dimensions
//   spread.K@L2        rank along its axis inside the level, where neighbours matter
//
// So moving one prime from one block to another is one change. Masks ask whether what is placed so far fits with everything
// else outside; as tiles only grow, no mapping that fits is lost. Factors are exact: ragged tiles are not in the space.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/hierarchy/evaluator.hpp"
#include "tilewright/hierarchy/restriction.hpp"
#include "tilewright/hierarchy/tile_needs.hpp"
#include "tilewright/space/design_space.hpp"

namespace tilewright {

struct HierarchySpaceOptions {
  hierarchy::Judge judge = hierarchy::Judge::Hierarchy;
  std::optional<hierarchy::Restriction> restriction = {};  // nothing = what the machine itself demands
};

class HierarchySpace final : public DesignSpace {
 public:
  // Problem and machine have passed check(). An Error when the judge does not count such a problem, or when the restriction
  // leaves no mapping.
  static Result<std::unique_ptr<HierarchySpace>> make(std::string name, hierarchy::Problem problem,
                                                      hierarchy::Machine machine, const HierarchySpaceOptions& options);

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

  hierarchy::Mapping mapping(PointView point) const;
  void set_mapping(PointView point, hierarchy::Mapping& mapping) const;  // the same without copies
  // The point that means `mapping`, if the space has one.
  std::optional<Point> point_of(const hierarchy::Mapping& mapping) const;

  // A point made greedily: primes of the dimensions in the order of `wishes`, each into the first block that takes it, all
  // others outermost; loops of a block in the order of `inside`, the innermost first. Empty wishes give the outermost
  // mapping.
  struct Wish {
    std::uint8_t dim = 0;
    std::uint8_t level = 0;
    enum class Where : std::uint8_t { X, Y, Spread, Time } where = Where::Time;  // Spread: X, or else Y
    std::int64_t most = 0;                                                       // factor; 0 = as much as fits
  };
  Point greedy(std::span<const Wish> wishes, std::span<const std::uint8_t> inside) const;

  // For those who place factors by themselves: a point's entry at `parameter` is an index into places().
  enum class Axis : std::uint8_t { X, Y, Time };
  struct Place {
    std::uint8_t level = 0;
    Axis axis = Axis::Time;
    bool operator==(const Place&) const = default;
  };
  struct Prime {
    std::size_t parameter = 0;
    std::uint8_t dim = 0;
    std::int64_t prime = 1;
  };
  const std::vector<Place>& places() const { return places_; }  // the innermost first
  std::vector<Prime> primes() const;                            // by dimension, the largest first
  const std::vector<std::int32_t>& allowed_places(std::uint8_t dim) const { return allowed_[dim]; }
  // Puts the loops of every block in the order of `inside`, the innermost first.
  void set_ranks(Point& point, std::span<const std::uint8_t> inside) const;

  const hierarchy::Problem& problem() const { return problem_; }
  const hierarchy::Machine& machine() const { return machine_; }
  const hierarchy::Restriction& restriction() const { return restriction_; }
  hierarchy::Judge judge() const { return judge_; }

 private:
  struct Meaning {
    enum class Kind : std::uint8_t { Keep, Prime, Order, Spread } kind;
    std::uint8_t level = 0;
    std::uint8_t dim = 0;    // or the tensor, of Keep
    std::int64_t prime = 1;  // of Prime
  };
  using LevelFactors = std::array<std::array<std::int64_t, hierarchy::kMostDims>, 3>;  // by axis and dimension
  using Factors = std::array<LevelFactors, hierarchy::kMostLevels>;

  HierarchySpace(std::string name, hierarchy::Problem problem, hierarchy::Machine machine,
                 const HierarchySpaceOptions& options);
  Result<Done> lay_out();
  Result<Done> add_keeps();
  void set_places();
  Result<Done> add_primes(std::uint8_t dim);
  void add_ranks(std::uint8_t level, bool spatial);
  void set_features();
  void set_key();
  void add(const Meaning& meaning, std::string name, ParameterKind kind, Role role, std::int32_t value_count);

  const hierarchy::BlockRestriction& restriction_of(const Place& place) const;
  std::optional<Axis> fixed_axis(std::uint8_t level, std::uint8_t dim) const;
  bool spreads_in_fixed_order(std::uint8_t level) const;
  bool can_stand(std::uint8_t dim, std::uint8_t level, bool spatial) const;
  bool has_neighbours(std::uint8_t level) const;

  // What is decided of one level, and what follows from it.
  struct LevelState {
    std::array<std::array<std::int64_t, hierarchy::kMostDims>, 3> factors;  // by axis and dimension
    hierarchy::Extents tile;                                                // here and inside
    hierarchy::PerTensor<std::int64_t> words;                               // of the tile, where there is a limit
    std::array<std::int64_t, 2> copies;                                     // in use of what is inside, by axis
    hierarchy::TensorMask keeps = 0;
  };
  // What keeps and primes say that are decided so far.
  struct Prefix final : ChoicesMemo {
    explicit Prefix(const HierarchySpace& of) : ChoicesMemo(of.serial_), levels(of.undecided_) {}
    Point entries;
    std::vector<LevelState> levels;
  };
  void set_undecided();
  void set_outline();
  void place(Prefix& prefix, const Place& place, const Meaning& meaning) const;
  void add_entry(Prefix& prefix, std::int32_t entry) const;
  const Prefix& prefix_of(PointView point, std::size_t end, Choices& choices) const;

  using Ranks = std::array<std::int32_t, hierarchy::kMostDims>;
  // Dimensions with more than one trip, by level and axis.
  using Standing = std::array<std::array<std::uint16_t, 3>, hierarchy::kMostLevels>;
  Standing standing(PointView point) const;
  void keep_choices(const Prefix& prefix, const Meaning& meaning, Choices& choices) const;
  hierarchy::PerTensor<std::int64_t> words_with(const LevelState& level, const Meaning& meaning,
                                                hierarchy::TensorMask keeps) const;
  std::uint32_t levels_with_room(const Prefix& prefix, const Meaning& meaning, hierarchy::TileNeeds::Outputs outputs) const;
  bool has_copies(const Prefix& prefix, const Place& place, std::int64_t prime) const;
  bool takes(const Prefix& prefix, std::uint32_t room, const Place& place, const Meaning& meaning) const;
  void prime_choices(const Prefix& prefix, const Meaning& meaning, Choices& choices) const;
  static bool stands(const LevelState& level, const Meaning& rank);
  void set_order(hierarchy::Block& block, const Ranks& ranks, std::uint32_t last) const;
  bool set_places(Point& point, const hierarchy::Mapping& mapping) const;

  std::string name_;
  hierarchy::Problem problem_;
  hierarchy::Machine machine_;
  hierarchy::Judge judge_;
  hierarchy::Restriction restriction_;
  hierarchy::TileNeeds needs_;
  std::vector<Place> places_;  // the innermost first
  std::vector<Parameter> parameters_;
  std::vector<Meaning> meanings_;
  std::vector<std::vector<std::int32_t>> allowed_;  // by dimension: indices into places_
  struct Group {                                    // rank parameters of one block
    std::size_t begin = 0, end = 0;
    std::uint8_t level = 0;
    bool spatial = false;
  };
  std::vector<Group> groups_;
  std::vector<std::uint8_t> group_of_;                       // by parameter, for ranks
  std::size_t rank_begin_ = 0;                               // keeps and primes stand before the ranks
  std::vector<std::pair<std::size_t, std::size_t>> primes_;  // parameters of each dimension: begin, end
  Factors fixed_{};                                          // what the restriction demands; 1 elsewhere
  std::vector<hierarchy::TensorMask> kept_;                  // by level: what is kept in any case
  std::vector<LevelState> undecided_;                        // by level: before the first parameter
  hierarchy::Mapping outline_;                               // of the restriction's factors alone
  Standing fixed_standing_{};
  std::array<std::array<Ranks, 2>, hierarchy::kMostLevels> outline_ranks_;         // by level, in time and in space
  std::array<std::array<std::int64_t, 2>, hierarchy::kMostLevels> most_copies_{};  // of what is inside a level, by axis
  // How a tile of a tensor grows with a dimension.
  enum class Growth : std::uint8_t { None, Factor, Window };
  std::array<std::array<Growth, hierarchy::kMostDims>, hierarchy::kMostTensors> growth_{};
  bool is_checked_ = false;  // the restriction asks for more than parameters and masks give
  std::vector<float> features_;
  std::uint64_t key_ = 0;
  std::uint64_t serial_;  // in the process
};

}  // namespace tilewright
