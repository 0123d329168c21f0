#include "tilewright/vta/network_manifest.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/vta/column_folding.hpp"

namespace tilewright::vta {
namespace {

using ManifestJson = nlohmann::ordered_json;

// Names come from files and may be any bytes.
std::string dumped(const ManifestJson& json, int indent) {
  return json.dump(indent, ' ', false, ManifestJson::error_handler_t::replace);
}

// One number where all are the same.
template <typename Number>
ManifestJson list_json(const std::vector<Number>& list) {
  const bool is_one = std::ranges::all_of(list, [&](const Number& number) { return number == list[0]; });
  return is_one && !list.empty() ? ManifestJson(list[0]) : ManifestJson(list);
}

void add_accuracy(const QuantisedNetwork& network, const ManifestOptions& options, ManifestJson& json) {
  const Accuracy* const known = options.accuracy;
  json["accuracy"] = known != nullptr && known->correct ? ManifestJson(*known->correct) : ManifestJson();
  if (known == nullptr) return;  // no data, so it is unknown
  json["float_accuracy"] = known->real_correct ? ManifestJson(*known->real_correct) : ManifestJson();
  json["agreement"] = known->agreement;
  json["correlation"] = known->correlation;
  json["images"] = known->images;
  ManifestJson worst = ManifestJson::array();
  for (const std::size_t index : options.worst) worst.push_back(network.steps[index].name);
  json["worst_steps"] = std::move(worst);
}

ManifestJson shape_json(const TensorShape& shape) { return {shape.batch, shape.channels, shape.height, shape.width}; }

ManifestJson schedule_json(const Schedule& s) {
  return {{"tile_b", s.tile_b},
          {"tile_h", s.tile_h},
          {"tile_w", s.tile_w},
          {"tile_ci", s.tile_ci},
          {"tile_co", s.tile_co},
          {"h_threading", s.h_threading},
          {"oc_threading", s.oc_threading}};
}

ManifestJson layer_json(const Layer& l) {
  ManifestJson json{{"op", name_of(l.op)},
                    {"in", {l.in_channels, l.in_height, l.in_width}},
                    {"out", {l.out_channels, out_height(l), out_width(l)}},
                    {"kernel", {l.kernel_height, l.kernel_width}},
                    {"stride", {l.stride_height, l.stride_width}},
                    {"pad", {l.pad_top, l.pad_bottom, l.pad_left, l.pad_right}},
                    {"groups", l.groups}};
  if (l.dilation_height != 1 || l.dilation_width != 1) json["dilation"] = {l.dilation_height, l.dilation_width};
  json["macs"] = macs(l).value;
  return json;
}

ManifestJson window_json(const Window& w) {
  return {{"kernel", {w.kernel_height, w.kernel_width}},
          {"stride", {w.stride_height, w.stride_width}},
          {"pad", {w.pad_top, w.pad_bottom, w.pad_left, w.pad_right}}};
}

// What the host does with the tensors of a step, besides or instead of computing it.
ManifestJson host_json(const QuantisedStep& step, const StepPlan& plan) {
  ManifestJson work = ManifestJson::array();
  if (!plan.schedule) {
    work.push_back({{"does", fmt::format("computes the {}", name_of(step.kind))}, {"why", plan.reason}});
    return work;
  }
  if (!step.padding.empty()) {
    work.push_back({{"does", "writes a border of the input's zero around the images"},
                    {"why", "the machine pads with the integer 0, which stands for another number"}});
  }
  if (step.kind == StepKind::Product && !step.is_average && is_folded(step.layer)) {
    work.push_back({{"does", "puts the inputs under each column of the kernel side by side, as channels"},
                    {"why", "an image has too few channels to fill a block"}});
  }
  work.push_back({{"does", "blocks the input and unblocks the result"},
                  {"why", "programs read and write the machine's blocks, tensors between steps are plain"}});
  if (step.has_residual) {
    work.push_back({{"does", step.residual_factor.empty() ? "widens the residual to 32 bits"
                                                          : "widens the residual to 32 bits, times a factor per channel"},
                    {"why", "not every implementation loads 8-bit numbers into accumulators"}});
  }
  return work;
}

ManifestJson step_json(const QuantisedNetwork& network, const NetworkPlan& plan, const NetworkRun& run, std::size_t index,
                       const Accuracy* accuracy) {
  const QuantisedStep& step = network.steps[index];
  const StepRun& ran = run.steps[index];
  ManifestJson json{{"index", index}, {"name", step.name}, {"kind", name_of(step.kind)}, {"inputs", step.inputs}};
  json["shape"] = shape_json(step.shape);
  if (step.grid.scale.empty()) {
    json["exponent"] = step.exponent;
  } else {
    json["scale"] = list_json(step.grid.scale);
    json["zero"] = list_json(step.grid.zero);
  }
  if (accuracy != nullptr && std::isfinite(accuracy->noise_ratio[index])) json["snr_db"] = accuracy->noise_ratio[index];
  if (step.kind == StepKind::Input) return json;
  if (step.kind == StepKind::Product) {
    json["layer"] = layer_json(step.layer);
    if (step.is_average) json["stands_for"] = "average pool";
    if (step.is_extra) json["stands_for"] = step.has_residual ? "add" : "clip";
    if (step.grid.scale.empty()) json["weight_exponent"] = step.weight_exponent;
    if (!step.padding.empty()) json["padding"] = list_json(step.padding);
    if (!step.residual_factor.empty()) json["residual_factor"] = list_json(step.residual_factor);
    json["bias"] = !step.bias.empty();
    json["residual"] = step.has_residual;
  }
  if (step.kind == StepKind::Host) json["host_operations"] = step.host->operations();
  if (step.kind == StepKind::MaxPool) json["window"] = window_json(step.window);
  if (!step.alignment.empty()) json["alignment"] = step.alignment;
  if (step.kind != StepKind::MaxPool && step.kind != StepKind::Flatten && step.kind != StepKind::Host) {
    json["shift"] = step.shift;
    json["clip"] = {step.low, step.high};
  }
  json["on"] = ran.on_machine ? "machine" : "host";
  json["host"] = host_json(step, plan.steps[index]);
  json["compared"] = {{"elements", ran.elements}, {"differences", ran.differences}};
  if (!ran.on_machine) return json;
  json["schedule"] = schedule_json(*plan.steps[index].schedule);
  json["program"] = {{"file", program_file(network, index)},
                     {"bytes", ran.program_bytes},
                     {"fnv1a", fmt::format("{:016x}", ran.program_hash)},
                     {"instructions", ran.instructions},
                     {"micro_ops", ran.uops}};
  json["cycles"] = ran.timing.cycles;
  json["gemm_steps"] = ran.timing.gemm_steps;
  return json;
}

}  // namespace

std::string program_file(const QuantisedNetwork& network, std::size_t step) {
  constexpr std::size_t kMostName = 60;
  std::string name;
  for (const char c : network.steps[step].name.substr(0, kMostName)) {
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' ? c : '_';
  }
  const std::size_t digits = fmt::format("{}", network.steps.size() - 1).size();
  return fmt::format("{:0{}}_{}.vtaprog", step, digits, name);
}

std::string manifest_json(const QuantisedNetwork& network, const NetworkPlan& plan, const NetworkRun& run,
                          const ManifestOptions& options) {
  ManifestJson json{{"format", "tilewright-manifest-1"}, {"network", network.name}, {"seed", options.seed}};
  json["machine"] = ManifestJson::parse(to_json(plan.machine));
  json["timing"] = {{"core", name_of(options.timing.core)},        {"memory", name_of(options.timing.memory)},
                    {"read_latency", options.timing.read_latency}, {"write_latency", options.timing.write_latency},
                    {"bus_bytes", options.timing.bus_bytes},       {"burst_bytes", options.timing.burst_bytes}};
  json["input_range"] = {{"low", options.input_low}, {"high", options.input_high}, {"assumed", options.input_assumed}};
  json["calibration"] = options.calibration;
  json["calibration_images"] = options.calibration_images;
  add_accuracy(network, options, json);
  json["macs"] = macs(network).value;
  json["cycles"] = run.cycles();
  json["programs"] = plan.program_count();
  json["verification"] = {{"elements", run.elements()},
                          {"differences", run.differences()},
                          {"equal", run.is_equal()},
                          {"sentence", verification(network, run)}};
  json["notes"] = network.notes;
  std::string text = dumped(json, 2);
  text.resize(text.rfind('\n'));  // a step per line, so that people can read them too
  text += ",\n  \"steps\": [";
  for (std::size_t index = 0; index < network.steps.size(); ++index) {
    text += (index == 0 ? "\n    " : ",\n    ") + dumped(step_json(network, plan, run, index, options.accuracy), -1);
  }
  return text + "\n  ]\n}\n";
}

}  // namespace tilewright::vta
