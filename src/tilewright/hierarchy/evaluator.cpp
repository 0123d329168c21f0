#include "tilewright/hierarchy/evaluator.hpp"

#include <algorithm>
#include <cmath>

#include "tilewright/hierarchy/hierarchy_judge.hpp"
#include "tilewright/hierarchy/timeloop_counts.hpp"

namespace tilewright::hierarchy {

struct Evaluator::Workspace {
  Problem problem;
  Machine machine;
  EvaluateOptions options;
  TimeloopCounter counter;
  std::optional<HierarchyJudge> hierarchy;
  Loops loops;
  Analysis analysis;
  PerLevel<std::optional<std::int64_t>> usable;

  Workspace(Problem the_problem, Machine the_machine, const EvaluateOptions& the_options)
      : problem(std::move(the_problem)), machine(std::move(the_machine)), options(the_options), counter(problem, machine) {
    if (options.judge == Judge::Hierarchy) hierarchy.emplace(problem, machine);
    analysis.levels.resize(machine.levels.size());
    analysis.computes = computes(problem);
    analysis.mac_energy = machine.mac.energy * static_cast<double>(analysis.computes);
    for (std::size_t level = 0; level < machine.levels.size(); ++level) {
      usable[level] = machine.levels[level].usable();
      for (NetworkCounts& network : analysis.levels[level].networks) network.records.reserve(16);
    }
  }

  std::optional<Infeasible> misfit(const Mapping& mapping);
  Picojoules level_energy(std::size_t level);
  Picojoules network_energy(std::size_t level);
  void set_cycles(std::size_t level);
};

namespace {

std::int64_t blocks(std::int64_t words, std::int64_t block_size) {
  return words > 0 ? (words + block_size - 1) / block_size : 0;
}

}  // namespace

std::optional<Infeasible> Evaluator::Workspace::misfit(const Mapping& mapping) {
  const MacArray& mac = machine.mac;
  if (auto fault = fanout_fault(kMacLevel, loops.mac_x, loops.mac_y, mac.instances, mac.mesh_x, mac.mesh_y())) return fault;
  for (std::size_t index = 0; index < machine.levels.size(); ++index) {
    const StorageLevel& level = machine.levels[index];
    const auto number = static_cast<std::uint8_t>(index);
    if (usable[index]) {
      std::int64_t need = 0;
      for (std::size_t tensor = 0; tensor < problem.tensors.size(); ++tensor) {
        if ((mapping.levels[index].keeps >> tensor & 1) != 0) need += counter.view(tensor).words(loops.boundary[index]);
      }
      analysis.levels[index].held = need;
      if (need > *usable[index]) return Infeasible{Infeasible::Reason::Capacity, number, need, *usable[index]};
      const double least = level.min_utilization * static_cast<double>(*usable[index]);
      if (static_cast<double>(need) < least)
        return Infeasible{Infeasible::Reason::Utilization, number, static_cast<std::int64_t>(std::ceil(least)), need};
    }
    if (auto fault =
            fanout_fault(number, loops.used_x[index], loops.used_y[index], level.instances, level.mesh_x, level.mesh_y())) {
      return fault;
    }
  }
  return std::nullopt;
}

// Reads, fills and updates of all copies, in blocks of words; copies of a cluster are accessed at once.
Picojoules Evaluator::Workspace::level_energy(std::size_t index) {
  const StorageLevel& level = machine.levels[index];
  LevelAnalysis& analysed = analysis.levels[index];
  const double used = static_cast<double>(analysed.instances);
  const double clusters = static_cast<double>(analysed.clusters);
  Picojoules sum;
  for (std::size_t tensor = 0; tensor < problem.tensors.size(); ++tensor) {
    TensorCounts& counts = analysed.tensors[tensor];
    const double per_copy = static_cast<double>(blocks(counts.reads, level.block_size)) * level.energy.read.value +
                            static_cast<double>(blocks(counts.fills, level.block_size)) * level.energy.fill.value +
                            static_cast<double>(blocks(counts.updates, level.block_size)) * level.energy.update.value;
    counts.energy = {counts.kept ? per_copy * clusters / used * used : 0};
    sum += counts.energy;
  }
  return sum;
}

Picojoules Evaluator::Workspace::network_energy(std::size_t index) {
  const StorageLevel& level = machine.levels[index];
  LevelAnalysis& analysed = analysis.levels[index];
  const double hop = level.energy_per_hop.value;
  const double router = level.router_energy.value;
  double sum = 0;
  for (std::size_t tensor = 0; tensor < problem.tensors.size(); ++tensor) {
    NetworkCounts& network = analysed.networks[tensor];
    // DRAM cannot add: a partial sum comes and goes, but for the first time.
    if (level.technology == Technology::Dram && problem.tensors[tensor].kind == TensorKind::Output) {
      for (Record& record : network.records)
        record.accesses = 2 * record.accesses - static_cast<double>(analysed.tensors[tensor].partition);
    }
    if (hop == 0 && router == 0) continue;
    double energy = 0;
    for (const Record& record : network.records) energy += record.hops * hop;
    for (const Record& record : network.records) {
      if (record.accesses <= 0) continue;
      energy += std::trunc(std::floor(1 + record.hops / record.accesses) * record.accesses) * router;
    }
    energy += network.links * (hop + 2 * router);
    sum += energy * static_cast<double>(analysed.instances);
  }
  return {sum};
}

// Dividing per tensor and adding then is what decides about the last cycle.
void Evaluator::Workspace::set_cycles(std::size_t index) {
  const StorageLevel& level = machine.levels[index];
  LevelAnalysis& analysed = analysis.levels[index];
  const double compute_cycles = static_cast<double>(analysis.compute_cycles);
  double reads = 0, writes = 0;
  for (std::size_t tensor = 0; tensor < problem.tensors.size(); ++tensor) {
    const TensorCounts& counts = analysed.tensors[tensor];
    reads += static_cast<double>(counts.reads) / compute_cycles;
    writes += static_cast<double>(counts.fills + counts.updates) / compute_cycles;
  }
  double slowdown = 1;
  const auto limit = [&](const std::optional<double>& bandwidth, double demand) {
    if (bandwidth && demand > 0) slowdown = std::min(slowdown, *bandwidth / demand);
  };
  limit(level.read_bandwidth, reads);
  limit(level.write_bandwidth, writes);
  limit(level.shared_bandwidth, reads + writes);
  analysed.slowdown = slowdown;
  analysed.cycles = static_cast<std::int64_t>(std::ceil(compute_cycles / slowdown));
}

std::optional<std::string> refusal(Judge judge, const Problem& problem) {
  return judge == Judge::Timeloop ? std::nullopt : ExactCounter::refusal(problem);
}

Evaluator::Evaluator(Problem problem, Machine machine, const EvaluateOptions& options)
    : workspace_(std::make_unique<Workspace>(std::move(problem), std::move(machine), options)) {}
Evaluator::~Evaluator() = default;
Evaluator::Evaluator(Evaluator&&) noexcept = default;
Evaluator& Evaluator::operator=(Evaluator&&) noexcept = default;

Evaluation Evaluator::evaluate(const Mapping& mapping) {
  Workspace& work = *workspace_;
  Analysis& analysis = work.analysis;
  const std::size_t tensor_count = work.problem.tensors.size();
  set_loops(work.loops, mapping, work.problem.dims.size());
  if (work.hierarchy) return work.hierarchy->evaluate(mapping, work.loops, analysis);
  if (auto misfit = work.misfit(mapping)) return *misfit;

  const Hops hops = work.options.detail == EvaluateOptions::Detail::All ? Hops::Count : Hops::Ignore;
  for (std::size_t tensor = 0; tensor < tensor_count; ++tensor)
    work.counter.count(tensor, mapping, work.loops, hops, analysis);

  analysis.macs = work.loops.mac_x * work.loops.mac_y;
  analysis.compute_cycles = (analysis.computes + analysis.macs - 1) / analysis.macs;
  Cost& cost = analysis.cost;
  cost = {{analysis.compute_cycles}, analysis.mac_energy, 0, kMacLevel};
  double level_energy = 0, network_energy = 0;
  for (std::size_t level = 0; level < analysis.levels.size(); ++level) {
    LevelAnalysis& analysed = analysis.levels[level];
    analysed.instances = work.loops.used(level);
    analysed.clusters =
        std::min(analysed.instances, work.machine.levels[level].instances / work.machine.levels[level].cluster_size);
    analysed.fanout = work.loops.spatial[level].elements();
    work.set_cycles(level);
    analysed.energy = work.level_energy(level);
    analysed.network_energy = work.network_energy(level);
    if (analysed.cycles > cost.cycles.value) {
      cost.cycles = {analysed.cycles};
      cost.bottleneck = static_cast<std::uint8_t>(level);
    }
  }
  const double cycles = static_cast<double>(cost.cycles.value);
  for (std::size_t level = 0; level < analysis.levels.size(); ++level) {
    LevelAnalysis& analysed = analysis.levels[level];
    const double leakage = work.machine.levels[level].leakage.value;
    if (leakage != 0) analysed.energy += Picojoules{leakage * static_cast<double>(analysed.instances) * cycles};
    level_energy += analysed.energy.value;
    network_energy += analysed.network_energy.value;
  }
  cost.energy += Picojoules{level_energy + network_energy};
  cost.utilization = static_cast<double>(analysis.computes) / static_cast<double>(work.machine.mac.instances) / cycles;
  return cost;
}

const Analysis& Evaluator::analysis() const { return workspace_->analysis; }
const Problem& Evaluator::problem() const { return workspace_->problem; }
const Machine& Evaluator::machine() const { return workspace_->machine; }

}  // namespace tilewright::hierarchy
