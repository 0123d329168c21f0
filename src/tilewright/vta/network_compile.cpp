#include "tilewright/vta/network_compile.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/vta/column_folding.hpp"

namespace tilewright::vta {
namespace {

constexpr int kMostMultiplierLog = 6;  // multipliers are int8

// The layer of a step whose input the host has put a border around, where it needs one.
Layer unpadded(const QuantisedStep& step) {
  Layer layer = step.layer;
  if (step.padding.empty()) return layer;
  layer.in_height += layer.pad_top + layer.pad_bottom;
  layer.in_width += layer.pad_left + layer.pad_right;
  layer.pad_top = layer.pad_bottom = layer.pad_left = layer.pad_right = 0;
  return layer;
}

std::vector<std::int8_t> padded_input(const QuantisedStep& step, std::span<const std::int8_t> input) {
  const Layer &plain = step.layer, layer = unpadded(step);
  std::vector<std::int8_t> padded;
  padded.reserve(static_cast<std::size_t>(layer.batch * layer.in_channels * layer.in_height * layer.in_width));
  for (std::int64_t plane = 0; plane < layer.batch * layer.in_channels; ++plane) {
    const std::int8_t around = step.padding[static_cast<std::size_t>(plane % layer.in_channels)];
    for (std::int64_t y = -plain.pad_top; y < plain.in_height + plain.pad_bottom; ++y) {
      for (std::int64_t x = -plain.pad_left; x < plain.in_width + plain.pad_right; ++x) {
        const bool inside = y >= 0 && y < plain.in_height && x >= 0 && x < plain.in_width;
        const std::int64_t at = (plane * plain.in_height + y) * plain.in_width + x;
        padded.push_back(inside ? input[static_cast<std::size_t>(at)] : around);
      }
    }
  }
  return padded;
}

bool is_multiplier(int alignment) { return alignment >= 0 && alignment <= kMostMultiplierLog; }

StepPlan on_machine(std::optional<Schedule> schedule, const std::string& otherwise) {
  return {schedule, schedule ? "" : otherwise};
}

// Why not even the smallest tiles work.
std::string smallest_misfit(const std::optional<Misfit>& misfit) {
  return misfit ? misfit->sentence() : "no schedule was found, though the smallest tiles fit";
}

Result<StepPlan> plan_product(const Layer& layer, const Machine& machine, const ScheduleChoice& chosen) {
  const std::optional<Schedule> schedule = chosen ? chosen(layer) : std::nullopt;
  if (!schedule) return on_machine(default_schedule(layer, machine), smallest_misfit(misfit(layer, machine, Schedule{})));
  if (const std::optional<Misfit> problem = misfit(layer, machine, *schedule)) {
    return invalid(fmt::format("layer '{}': schedule {}: {}", layer.name, to_text(*schedule), problem->sentence()));
  }
  return StepPlan{schedule, ""};
}

StepPlan plan_pool(const QuantisedNetwork& network, const QuantisedStep& step, const Machine& machine) {
  const PoolTask task = pool_task(network, step);
  return on_machine(default_schedule(task, machine), smallest_misfit(misfit(task, machine, Schedule{})));
}

Result<StepPlan> plan_step(const QuantisedNetwork& network, const QuantisedStep& step, const Machine& machine,
                           const ScheduleChoice& chosen) {
  switch (step.kind) {
    case StepKind::Input:
      return StepPlan{};
    case StepKind::Product:
      return step.is_average ? plan_pool(network, step, machine) : plan_product(machine_layer(step), machine, chosen);
    case StepKind::Add:
      if (!is_multiplier(step.alignment[0]) || !is_multiplier(step.alignment[1])) {
        return StepPlan{{}, "the scales of its inputs differ by more than an 8-bit multiplier can bridge"};
      }
      [[fallthrough]];
    case StepKind::Clip: {
      const ElementwiseTask task = elementwise_task(step);
      return on_machine(default_schedule(task, machine), smallest_misfit(misfit(task, machine, Schedule{})));
    }
    case StepKind::MaxPool:
      return plan_pool(network, step, machine);
    case StepKind::Flatten:
      return StepPlan{{}, "nothing is computed: rows and columns are read as channels"};
    case StepKind::Concat:
      return StepPlan{{}, "nothing is computed but a shift per input: channels move between blocks"};
    case StepKind::Table:
      return StepPlan{{}, "the instruction set cannot look up tables"};
    case StepKind::Host:
      return StepPlan{{}, fmt::format("{} in single precision, between integers", step.host->operators())};
  }
  return StepPlan{};
}

}  // namespace

Layer machine_layer(const QuantisedStep& step) { return machine_layer(unpadded(step)); }

std::size_t NetworkPlan::program_count() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(steps, [](const StepPlan& step) { return step.schedule.has_value(); }));
}

Finishing finishing_of(const QuantisedStep& step) {
  return {
      .bias = !step.bias.empty(), .residual = step.has_residual, .shift = step.shift, .low = step.low, .high = step.high};
}

ElementwiseTask elementwise_task(const QuantisedStep& step) {
  ElementwiseTask task{
      .batch = step.shape.batch, .channels = step.shape.channels, .height = step.shape.height, .width = step.shape.width};
  if (step.kind == StepKind::Add) {
    task.two_inputs = true;
    task.multiplier = 1 << step.alignment[0];
    task.second_multiplier = 1 << step.alignment[1];
  }
  return task;
}

PoolTask pool_task(const QuantisedNetwork& network, const QuantisedStep& step) {
  const TensorShape& in = network.steps[step.inputs[0]].shape;
  PoolTask task{.batch = in.batch, .channels = in.channels, .in_height = in.height, .in_width = in.width};
  const auto set_window = [&task](const auto& w) {  // a Window or a Layer
    task.kernel_height = w.kernel_height;
    task.kernel_width = w.kernel_width;
    task.stride_height = w.stride_height;
    task.stride_width = w.stride_width;
    task.pad_top = w.pad_top;
    task.pad_bottom = w.pad_bottom;
    task.pad_left = w.pad_left;
    task.pad_right = w.pad_right;
  };
  if (step.kind == StepKind::MaxPool) {
    set_window(step.window);
  } else {
    set_window(step.layer);
    task.kind = PoolKind::Average;
    task.multiplier = step.weight[0];  // all are equal
  }
  return task;
}

Result<NetworkPlan> plan_network(const QuantisedNetwork& network, const Machine& machine, const ScheduleChoice& chosen) {
  NetworkPlan plan{machine, {}};
  for (const QuantisedStep& step : network.steps) {
    TW_TRY(StepPlan planned, plan_step(network, step, machine, chosen));
    plan.steps.push_back(std::move(planned));
  }
  return plan;
}

LayerProgram step_program(const QuantisedNetwork& network, const NetworkPlan& plan, std::size_t index,
                          const QuantisedTensors& tensors) {
  const QuantisedStep& step = network.steps[index];
  TW_ASSERT(plan.steps[index].schedule);
  const Schedule& schedule = *plan.steps[index].schedule;
  const Finishing finishing = finishing_of(step);
  PlainData data;
  data.input = tensors[step.inputs[0]];
  if (step.kind == StepKind::MaxPool || step.is_average) {
    return layer_program(pool_task(network, step), plan.machine, schedule, finishing, data);
  }
  if (step.kind != StepKind::Product) {
    if (step.kind == StepKind::Add) data.second_input = tensors[step.inputs[1]];
    return layer_program(elementwise_task(step), plan.machine, schedule, finishing, data);
  }
  data.weight = step.layer.op == Operator::MatrixMultiply ? std::span(tensors[step.inputs[1]]) : std::span(step.weight);
  std::vector<std::int8_t> around, input, weight;
  const Layer layer = unpadded(step);
  if (!step.padding.empty()) data.input = around = padded_input(step, data.input);
  if (is_folded(layer)) {
    data.input = input = folded_input(layer, data.input);
    data.weight = weight = folded_weight(layer, data.weight);
  }
  data.bias = step.bias;
  std::vector<std::int32_t> residual;
  if (step.has_residual) {
    data.residual = residual = widened_residual(step, tensors[step.inputs.back()]);
  }
  return layer_program(machine_layer(step), plan.machine, schedule, finishing, data);
}

}  // namespace tilewright::vta
