// The mapping space of ArchGym's MAESTRO environment as it is meant to be: seventeen parameters, all of them read.
//
//   seed_l2   order of the six loops of the outer level       seed_l1   of the inner level
//   ckxy_l2   dimension spread over the clusters              ckxy_l1   over the units of a cluster
//   s_l2 … y_l2   tiles of the outer level                    s_l1 … y_l1   of the inner level, no larger than the outer
//   ones num_pe    processing elements, up to the machine's
//
// A seed is the number of a permutation in lexicographic order: 0 is S R K C X Y from the outermost loop to the innermost,
// 719 is Y X C K R S. Kernel tiles are S - 1 or S, R - 1 or R, where that is at least 1. The gym has no parameter for the
// units of a cluster and draws them; here a cluster has as many units as the spread dimension has inner tiles in an outer
// one, at most num_pe. Batch and groups, which the gym's layers do not have, are walked one index at a time around
// everything else.
//
// The program as published searches something else: its decoder gives nearly all actions the same mapping, draws the outer
// tiles at random, ignores k_l1 … y_l1, always runs 1024 processing elements, and cuts kernels to 1.
#pragma once

#include <array>

#include "tilewright/space/mapping_space.hpp"

namespace tilewright {

struct ArchgymOptions {
  EvaluateOptions evaluate;
  bool input_tiles = false;  // rows and columns up to the input's, as in the gym: MAESTRO then counts work that is not there
  bool gamma_rules = false;  // as in MappingSpaceOptions
};

class ArchgymSpace final : public DesignSpace {
 public:
  ArchgymSpace(std::string name, const Nest& nest, const Accelerator& accelerator, const ArchgymOptions& options);

  const std::string& name() const override { return basis_.name(); }
  const std::vector<Parameter>& parameters() const override { return parameters_; }
  void choices(PointView point, std::size_t parameter, Choices& choices) const override;
  double value(std::size_t parameter, std::int32_t index) const override;
  std::string value_name(std::size_t parameter, std::int32_t index) const override;
  void canonicalise(std::span<std::int32_t> point) const override;
  std::unique_ptr<PointEvaluator> evaluator() const override;
  std::string reason_name(std::uint8_t reason) const override { return basis_.reason_name(reason); }
  const std::vector<float>& features() const override { return basis_.features(); }
  void append_design(PointView point, std::string& bytes) const override;
  std::optional<Point> point_of_design(std::string_view bytes) const override;
  std::string design_text(std::string_view bytes) const override;
  std::uint64_t problem_key() const override { return basis_.problem_key(); }
  std::string problem_text() const override { return basis_.problem_text(); }
  double log10_size() const override;

  Mapping mapping(PointView point) const;
  std::int64_t pes(PointView point) const;
  // The space of all mappings of the same problem.
  const MappingSpace& basis() const { return basis_; }

 private:
  bool stands(PointView point, std::size_t level, Slot slot) const;
  std::int32_t tile_of(PointView point, std::size_t level, Slot slot) const;
  void add_loop(MappingLevel& level, Slot slot, std::int32_t tile, bool spread) const;

  MappingSpace basis_;
  std::vector<Parameter> parameters_;
  std::array<std::int32_t, kSlotCount> least_tile_{};  // of the kernel; 1 elsewhere
  std::array<std::optional<Dim>, kSlotCount> dims_{};  // as the nest calls it, if it has it
  std::array<std::int32_t, kSlotCount> stride_{};      // of outputs, in the units directives are written in
  std::vector<std::int32_t> spreadable_;               // indices of ckxy the nest has
};

}  // namespace tilewright
