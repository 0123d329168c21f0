// A quantised network on one machine: which step runs there with which schedule, and which the host does, and why.
//
// The host also moves tensors: it brings every program's inputs into the machine's blocks and its result back, because the
// blocks of a result (BLOCK_OUT, groups padded apart) are in general not those the next step reads, it folds the columns of
// images (column_folding.hpp), and it widens residuals to 32 bits, because only those can be loaded into accumulators on
// every implementation.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/vta/layouts.hpp"
#include "tilewright/workload/quantised_network.hpp"
#include "tilewright/workload/quantised_reference.hpp"

namespace tilewright::vta {

struct StepPlan {
  std::optional<Schedule> schedule;  // nothing: the host computes the step
  std::string reason;                // why the host; empty for the machine and the input
};

struct NetworkPlan {
  Machine machine;
  std::vector<StepPlan> steps;  // as many as the network has

  std::size_t program_count() const;
};

// The schedule somebody chose for a layer, which is given as the machine computes it (machine_layer); nothing leaves it to
// default_schedule.
using ScheduleChoice = std::function<std::optional<Schedule>(const Layer&)>;

// An Error when a chosen schedule does not fit its layer. Layers that fit with no schedule at all become the host's.
Result<NetworkPlan> plan_network(const QuantisedNetwork& network, const Machine& machine, const ScheduleChoice& chosen = {});

// The program of a step that the plan gives to the machine; `tensors` has the results of the steps before.
LayerProgram step_program(const QuantisedNetwork& network, const NetworkPlan& plan, std::size_t step,
                          const QuantisedTensors& tensors);

// The layer that a Product's program computes: columns of images folded, and where something else than zeros stands around
// the input, the host writes that, so nothing is left to pad.
Layer machine_layer(const QuantisedStep& step);

// What the generator is asked for, for steps of each kind.
Finishing finishing_of(const QuantisedStep& step);
ElementwiseTask elementwise_task(const QuantisedStep& step);                     // Add, Clip
PoolTask pool_task(const QuantisedNetwork& network, const QuantisedStep& step);  // MaxPool, and Product that is an average

}  // namespace tilewright::vta
