// The state of the grouped evaluation (stance_groups.hpp), shared by the file that prepares a level and the one that runs
// it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "tilewright/cost/loop_states.hpp"
#include "tilewright/cost/stance_groups.hpp"
#include "tilewright/cost/tile_factors.hpp"

namespace tilewright {
namespace stance_groups {

inline constexpr std::size_t kMostLoops = 12;
inline constexpr std::size_t kMostBits = 8;  // loops of a level that can be at an edge or not
inline constexpr std::size_t kMasks = std::size_t{1} << kMostBits;
inline constexpr std::size_t kMostKeyBits = 10;  // to tell the sizes apart that the loops of a level can meet
inline constexpr std::size_t kKeys = std::size_t{1} << kMostKeyBits;

// A loop at work on one of the sizes that the level above can give it.
struct LoopVariant {
  std::int64_t size = 0;
  LoopCourse course;
  LoopTiles tiles;                               // of the exact model only, like
  std::int64_t edge_units = 1;                   // E, should the loop be the spatial one
  std::uint32_t full_child = 0, edge_child = 0;  // what its full and edge tiles set in the key of the level below
};
inline constexpr std::size_t kMostVariants = 4;

struct LevelLoop {
  std::array<LoopVariant, kMostVariants> variants;
  std::size_t variant_count = 0;
  unsigned shift = 0;  // where a key says which variant it is
  std::uint32_t digits = 0;

  const LoopVariant& of(std::uint32_t key) const { return variants[key >> shift & digits]; }
};

struct LevelTable {
  std::size_t loop_count = 0;
  std::array<LevelLoop, kMostLoops> loops;
};

// Result of a level below the top for one key.
struct Inner {
  std::uint64_t stamp = 0;
  std::int64_t runtime = 0;
  std::int64_t leaf_macs = 0;
  double utilisation = 0;
  bool starts = false;          // its first stance is counted
  std::uint32_t first_key = 0;  // the key its first stance gives the level below it
};

}  // namespace stance_groups

struct StanceGroups::Workspace {
  static constexpr std::size_t kMostLoops = stance_groups::kMostLoops, kMostBits = stance_groups::kMostBits;
  static constexpr std::size_t kMasks = stance_groups::kMasks, kKeys = stance_groups::kKeys;
  using Inner = stance_groups::Inner;
  using LevelTable = stance_groups::LevelTable;

  const Plan* plan = nullptr;
  MachineRates rates;
  bool detailed = false;
  bool skips = true;  // stances without a result are not counted (all models but the oldest)
  std::uint64_t stamp = 0;
  bool not_grouped = false;
  std::optional<Infeasible> failure;
  std::array<LevelTable, kMaxLevels> tables;
  std::array<LevelPlan, kMaxLevels> actual;  // exact: a level with the tiles of the sizes it works on at the moment
  std::array<std::array<Inner, kKeys>, kMaxLevels> known;

  // One level at work: everything a group needs, by active loop and mask.
  struct Step {
    std::size_t active_count = 0;
    std::array<std::size_t, kMostLoops> active;         // loop indices
    std::array<std::int64_t, kMostLoops> steady;        // by active
    std::array<std::uint32_t, kMostLoops> toggle;       // by active: its bit in a mask, 0 if it has no edge
    std::array<std::uint32_t, kMostBits> toggle_child;  // by bit: what it changes in the key of the level below
    std::size_t toggle_count = 0;
    std::uint32_t spatial_toggle = 0;
    std::uint32_t first_key = 0;      // of the level below, all loops at their first tiles, the spatial loop's a full one
    std::uint32_t spatial_child = 0;  // what an edge tile of the spatial loop changes in a key
    std::array<bool, 2> spatial_edge{}, spatial_ragged{};
    std::array<std::int64_t, 2> first_in{};                                   // by operand, in the very first stance
    std::array<std::array<std::array<std::int64_t, 2>, 2>, kMostLoops> in{};  // [active][at edge of spatial][operand]
    std::array<std::array<std::int64_t, 2>, kMostLoops> in_delay{};
    std::array<bool, kMostLoops> starved{};
    std::array<std::int64_t, kMasks> egress, path, macs;
    std::array<std::int64_t, kMasks> compute;
    std::array<long double, kMasks> units_busy;

    std::size_t at(std::uint32_t mask) const { return (mask & spatial_toggle) != 0 ? 1 : 0; }
  };
  std::array<Step, kMaxLevels> steps;

  const LevelPlan& level_at(std::size_t number) const {
    return exact() && number > 0 ? actual[number] : plan->levels[number];
  }
  bool exact() const { return plan->model == Model::Exact; }
  void prepare_tables();
  void add_variant(std::size_t number, std::size_t loop, std::int64_t size, std::uint32_t& position);
  void set_actual_tiles(std::size_t number, std::uint32_t key);
  void prepare_step(std::size_t number, std::uint32_t key);
  void prepare_ingress(std::size_t number, const std::array<const LoopCourse*, kMostLoops>& courses, const Spatial& spatial);
  std::uint32_t inner_key(const Step& step, std::uint32_t mask) const;
  void compute_inner(std::size_t number, std::uint32_t mask, std::int64_t& leaf);
  const Inner& inner(std::size_t number, std::uint32_t key);
  Analysis top();
  void top_needs(Analysis& result);
  void order_pass(std::size_t number, Analysis& result);
  bool stopped() const { return not_grouped || failure.has_value(); }
  bool counted(std::int64_t path) const { return path > 0 || !skips; }
};

}  // namespace tilewright
