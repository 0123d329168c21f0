#include "tilewright/space/codesign_space.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tilewright {
namespace {

struct HardwareKnob {
  const char* name;
  int vta::Machine::*log;
};
constexpr std::array kCoreKnobs = {HardwareKnob{"batch", &vta::Machine::log_batch},
                                   HardwareKnob{"block_in", &vta::Machine::log_block_in},
                                   HardwareKnob{"block_out", &vta::Machine::log_block_out}};
constexpr std::array kBufferKnobs = {HardwareKnob{"inp_buffer", &vta::Machine::log_inp_buffer},
                                     HardwareKnob{"wgt_buffer", &vta::Machine::log_wgt_buffer},
                                     HardwareKnob{"acc_buffer", &vta::Machine::log_acc_buffer}};
constexpr const char* kTileNames[] = {"tile_b", "tile_h", "tile_w", "tile_ci", "tile_co"};

const HardwareKnob& knob(std::size_t parameter) {
  return parameter < kCoreKnobs.size() ? kCoreKnobs[parameter] : kBufferKnobs[parameter - kCoreKnobs.size()];
}

std::vector<std::int64_t> ascending(std::vector<std::int64_t> values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::vector<std::int64_t> divisors(std::int64_t number) {
  std::vector<std::int64_t> found;
  for (std::int64_t low = 1; low * low <= number; ++low) {
    if (number % low != 0) continue;
    found.push_back(low);
    found.push_back(number / low);
  }
  return ascending(std::move(found));
}

std::vector<std::int64_t> whole(const std::vector<int>& numbers) {
  return ascending(std::vector<std::int64_t>(numbers.begin(), numbers.end()));
}

std::optional<std::int32_t> place_of(const std::vector<std::int64_t>& values, std::int64_t value) {
  const auto found = std::ranges::lower_bound(values, value);
  if (found == values.end() || *found != value) return std::nullopt;
  return static_cast<std::int32_t>(found - values.begin());
}

// Logarithms, because policies see them beside entries of about unit size.
std::vector<float> described(const Layer& layer, const CodesignSpaceOptions& options) {
  std::vector<float> features;
  for (const std::int64_t extent :
       {layer.batch, layer.groups, layer.in_channels, layer.out_channels, out_height(layer), out_width(layer),
        layer.kernel_height, layer.kernel_width, layer.stride_height, layer.stride_width}) {
    features.push_back(static_cast<float>(std::log2(static_cast<double>(extent)) / 8));
  }
  features.push_back(static_cast<float>(layer.pad_top) / 4);
  features.push_back(static_cast<float>(std::log2(std::max(options.area_budget, 1e-3)) / 8));
  features.push_back(static_cast<float>(std::log2(static_cast<double>(options.timing.bus_bytes)) / 8));
  return features;
}

}  // namespace

CodesignSpace::CodesignSpace(std::string name, const Layer& layer, const CodesignSpaceOptions& options)
    : name_(std::move(name)),
      layer_(layer),
      options_(options),
      features_(described(layer, options)),
      key_(codesign_problem_key(layer, options)) {
  add_hardware();
  add_sites();
  for (const char* thread : {"h_threading", "oc_threading"}) {
    values_.push_back(whole(options_.threads));
    parameters_.push_back(
        {thread, ParameterKind::Ordinal, Role::Scheduling, static_cast<std::int32_t>(values_.back().size())});
  }
  add_tiles();
}

void CodesignSpace::add_hardware() {
  const bool fixed = options_.fixed_machine;
  const auto add = [&](const HardwareKnob& one, std::vector<std::int64_t> logs) {
    if (fixed || logs.empty()) logs = {options_.base.*one.log};
    parameters_.push_back({one.name, ParameterKind::Ordinal, Role::Hardware, static_cast<std::int32_t>(logs.size())});
    values_.push_back(std::move(logs));
  };
  add(kCoreKnobs[0], whole(options_.log_batches));
  add(kCoreKnobs[1], whole(options_.log_blocks_in));
  add(kCoreKnobs[2], whole(options_.log_blocks_out));
  if (options_.search_buffers) {
    for (const HardwareKnob& one : kBufferKnobs) {
      const std::int64_t base = options_.base.*one.log;
      add(one, {base - 2, base - 1, base, base + 1});
    }
  }
  hardware_ = parameters_.size();
}

// All combinations, the last parameter counting fastest, and for each beginning whether it leads anywhere.
void CodesignSpace::add_sites() {
  sites_.resize(1);
  sites_[0].machine = options_.base;
  for (std::size_t parameter = 0; parameter < hardware_; ++parameter) {
    std::vector<Site> longer;
    for (const Site& one : sites_) {
      for (const std::int64_t log : values_[parameter]) {
        longer.push_back(one);
        longer.back().machine.*knob(parameter).log = static_cast<int>(log);
      }
    }
    sites_ = std::move(longer);
  }
  for (Site& one : sites_) {
    one.encodable = static_cast<bool>(vta::check(one.machine, ""));
    const bool has_depth =
        std::ranges::all_of(std::array{vta::Buffer::Uop, vta::Buffer::Inp, vta::Buffer::Wgt, vta::Buffer::Acc},
                            [&](vta::Buffer buffer) { return vta::log_depth(one.machine, buffer) >= 0; });
    if (has_depth) one.area = vta::relative_area(one.machine);
    if (one.encodable) one.serial = serial_cycles(layer_, one.machine, options_);
    const vta::BlockedShape shape = vta::blocked(layer_, one.machine);
    one.extents = {shape.batch_blocks, shape.out_height, shape.out_width, shape.in_blocks, shape.out_blocks};
  }

  // Where no machine can be encoded, all are choices, and every point is infeasible for that reason.
  const auto within = [&](const Site& one) { return one.encodable && one.area <= options_.area_budget; };
  const bool none = std::ranges::none_of(sites_, &Site::encodable);
  const bool mask_area = options_.mask_area && std::ranges::any_of(sites_, within);
  std::vector<char> open;
  for (const Site& one : sites_) open.push_back(none || (mask_area ? within(one) : one.encodable) ? 1 : 0);
  open_.resize(hardware_);
  for (std::size_t parameter = hardware_; parameter-- > 0;) {
    open_[parameter] = open;
    const std::size_t count = values_[parameter].size();
    std::vector<char> shorter(open.size() / count, 0);
    for (std::size_t prefix = 0; prefix < open.size(); ++prefix) {
      if (open[prefix] != 0) shorter[prefix / count] = 1;
    }
    open = std::move(shorter);
  }
}

void CodesignSpace::add_tiles() {
  for (std::size_t tile = 0; tile < kTiles; ++tile) {
    std::vector<std::int64_t> values;
    for (std::size_t s = 0; s < sites_.size(); ++s) {
      if (open_.back()[s] == 0) continue;
      const auto those = divisors(sites_[s].extents[tile]);
      values.insert(values.end(), those.begin(), those.end());
    }
    values_.push_back(ascending(std::move(values)));
    parameters_.push_back(
        {kTileNames[tile], ParameterKind::Ordinal, Role::Tile, static_cast<std::int32_t>(values_.back().size())});
  }
}

std::size_t CodesignSpace::site_index(PointView point) const {
  std::size_t index = 0;
  for (std::size_t parameter = 0; parameter < hardware_; ++parameter) {
    index = index * values_[parameter].size() + static_cast<std::size_t>(point[parameter]);
  }
  return index;
}

void CodesignSpace::choices(PointView point, std::size_t parameter, Choices& choices) const {
  if (parameter < hardware_) {
    std::size_t prefix = 0;
    for (std::size_t before = 0; before < parameter; ++before) {
      prefix = prefix * values_[before].size() + static_cast<std::size_t>(point[before]);
    }
    const std::size_t count = values_[parameter].size();
    choices.set_list();
    for (std::size_t i = 0; i < count; ++i) {
      if (open_[parameter][prefix * count + i] != 0) choices.add(static_cast<std::int32_t>(i));
    }
    return;
  }
  if (parameter < first_tile()) return choices.set_below(parameters_[parameter].value_count);
  const std::int64_t extent = site(point).extents[parameter - first_tile()];
  const std::vector<std::int64_t>& values = values_[parameter];
  choices.set_list();
  for (std::size_t i = 0; i < values.size() && values[i] <= extent; ++i) {
    if (extent % values[i] == 0) choices.add(static_cast<std::int32_t>(i));
  }
}

double CodesignSpace::value(std::size_t parameter, std::int32_t index) const {
  const std::int64_t value = values_[parameter][static_cast<std::size_t>(index)];
  return parameter < hardware_ ? std::exp2(static_cast<double>(value)) : static_cast<double>(value);
}

std::string CodesignSpace::value_name(std::size_t parameter, std::int32_t index) const {
  return fmt::format("{:.0f}", value(parameter, index));
}

// No two points mean the same: each is another machine or another schedule.
void CodesignSpace::canonicalise(std::span<std::int32_t>) const {}

double CodesignSpace::log10_size() const {
  double points = 0;
  for (std::size_t s = 0; s < sites_.size(); ++s) {
    if (open_.back()[s] == 0) continue;
    double schedules = 1;
    for (const std::int64_t extent : sites_[s].extents) schedules *= static_cast<double>(divisors(extent).size());
    points += schedules;
  }
  const auto threads = static_cast<double>(values_[hardware_].size());
  return std::log10(points * threads * threads);
}

vta::Machine CodesignSpace::machine(PointView point) const { return site(point).machine; }

vta::Schedule CodesignSpace::schedule(PointView point) const {
  const auto at = [&](std::size_t parameter) { return values_[parameter][static_cast<std::size_t>(point[parameter])]; };
  const std::size_t tile = first_tile();
  return {.tile_b = at(tile),
          .tile_h = at(tile + 1),
          .tile_w = at(tile + 2),
          .tile_ci = at(tile + 3),
          .tile_co = at(tile + 4),
          .h_threading = static_cast<int>(at(hardware_)),
          .oc_threading = static_cast<int>(at(hardware_ + 1))};
}

std::optional<Point> CodesignSpace::point_of(const vta::Machine& machine, const vta::Schedule& schedule) const {
  std::vector<std::int64_t> wanted;
  for (std::size_t parameter = 0; parameter < hardware_; ++parameter) wanted.push_back(machine.*knob(parameter).log);
  wanted.insert(wanted.end(), {schedule.h_threading, schedule.oc_threading, schedule.tile_b, schedule.tile_h,
                               schedule.tile_w, schedule.tile_ci, schedule.tile_co});
  Point point;
  for (std::size_t parameter = 0; parameter < wanted.size(); ++parameter) {
    const auto place = place_of(values_[parameter], wanted[parameter]);
    if (!place) return std::nullopt;
    point.push_back(*place);
  }
  if (!is_legal(*this, point) || site(point).machine != machine) return std::nullopt;
  return point;
}

}  // namespace tilewright
