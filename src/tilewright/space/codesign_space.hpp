// Machine and schedule of one layer as a design space: what the co-optimising compiler searches.
//
//   hardware    batch, block_in, block_out (powers of two); by option inp_buffer, wgt_buffer, acc_buffer
//   scheduling  h_threading, oc_threading
//   tile        tile_b, tile_h, tile_w, tile_ci, tile_co: divisors of the layer in the machine's blocks, so their choices
//               depend on the hardware before them
//
// A point is measured by generating its program and timing it. Latency is in cycles, energy in nJ, power in mW, area in
// areas of the default machine. Machines that cannot be encoded are no choices; points that exceed a limit or do not fit the
// buffers are infeasible, each with its reason.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/space/design_space.hpp"
#include "tilewright/vta/cost.hpp"
#include "tilewright/vta/generator.hpp"
#include "tilewright/vta/machine.hpp"
#include "tilewright/vta/schedule.hpp"
#include "tilewright/vta/timing.hpp"
#include "tilewright/workload/layer.hpp"

namespace tilewright {

struct CodesignSpaceOptions {
  std::vector<int> log_batches = {0, 1, 2};
  std::vector<int> log_blocks_in = {3, 4, 5, 6};
  std::vector<int> log_blocks_out = {3, 4, 5, 6};
  bool search_buffers = false;  // inp, wgt and acc buffers: a quarter to twice the default's bytes each
  std::vector<int> threads = {1, 2};
  vta::Machine base;           // what is not searched
  bool fixed_machine = false;  // `base` is the machine: hardware parameters have one value
  vta::TimingOptions timing;
  vta::PhysicalOptions physical;
  vta::Finishing finishing = {.bias = true, .shift = 8};  // of the layer that is timed
  double area_budget = 1;                                 // times the default machine's
  bool mask_area = false;   // machines over the budget are no choices, as far as others are left, instead of infeasible
  double most_watts = 0;    // 0 = no limit
  double most_celsius = 0;  // 0 = no limit
  // A measurement is given up after so many times serial_cycles; 0 = never. Tiny tiles make programs of millions of
  // instructions, which nobody would run.
  double give_up = 4;
};

// Outcome::reason. The first are vta::MisfitKind's.
enum class CodesignReason : std::uint8_t {
  TileRange,
  Threads,
  InpOverflow,
  WgtOverflow,
  AccOverflow,
  UopOverflow,
  Field,
  Unsupported,
  NotEncodable,
  OverArea,
  OverPower,
  OverTemperature,
  GivenUp,
  Fault,  // the stream did not end
};
std::string_view name_of(CodesignReason reason);  // "tile-range", …

// DesignSpace::problem_key: of the layer's shape and the options that are not part of a design.
std::uint64_t codesign_problem_key(const Layer& layer, const CodesignSpaceOptions& options);

// Roughly the cycles of a program that does one thing after the other, but each only once: what
// CodesignSpaceOptions::give_up multiplies.
double serial_cycles(const Layer& layer, const vta::Machine& machine, const CodesignSpaceOptions& options);

class CodesignSpace final : public DesignSpace {
 public:
  CodesignSpace(std::string name, const Layer& layer, const CodesignSpaceOptions& options);

  const std::string& name() const override { return name_; }  // of the layer
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

  vta::Machine machine(PointView point) const;
  vta::Schedule schedule(PointView point) const;
  // The point that means these, if the space has one.
  std::optional<Point> point_of(const vta::Machine& machine, const vta::Schedule& schedule) const;

  // How far a point is beyond its limits, for penalties while learning; all 0 for a feasible one. The entries need not be
  // legal, only below their value_count.
  struct Excess {
    double area = 0;     // area / budget - 1
    double buffers = 0;  // sum over buffers of need / capacity - 1
    bool encodable = true;
  };
  Excess excess(PointView point) const;

  // What no program of an encodable point can be faster than, without generating it: its busiest module never waits.
  double least_cycles(PointView point) const;

  // The schedule on the machine of `hardware` (a point's first entries) that the compiler would choose without measuring
  // anything: the fewest cycles by its estimate. Nothing when none fits.
  struct Estimated {
    Point point;
    double cycles = 0;
  };
  std::optional<Estimated> estimated_best(PointView hardware) const;

  const Layer& layer() const { return layer_; }
  const CodesignSpaceOptions& options() const { return options_; }
  std::size_t hardware_parameters() const { return hardware_; }  // they come first

 private:
  static constexpr std::size_t kTiles = 5;
  using Extents = std::array<std::int64_t, kTiles>;  // of the layer in blocks: batch, rows, columns, in, out

  // One combination of hardware entries.
  struct Site {
    vta::Machine machine;
    bool encodable = false;
    double area = 0;    // relative; 0 when the buffers have not even one element
    double serial = 0;  // cycles
    Extents extents{};
  };

  void add_hardware();
  void add_sites();
  void add_tiles();
  std::size_t site_index(PointView point) const;
  const Site& site(PointView point) const { return sites_[site_index(point)]; }
  std::size_t first_tile() const { return hardware_ + 2; }

  friend class CodesignEvaluator;

  std::string name_;
  Layer layer_;
  CodesignSpaceOptions options_;
  std::vector<Parameter> parameters_;
  std::vector<std::vector<std::int64_t>> values_;  // of each parameter; what hardware entries mean is their logarithm
  std::vector<Site> sites_;
  std::vector<std::vector<char>> open_;  // per hardware parameter and prefix of entries: some encodable machine begins so
  std::vector<float> features_;
  std::uint64_t key_ = 0;
  std::size_t hardware_ = 0;
};

}  // namespace tilewright
