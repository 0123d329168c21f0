#include "tilewright/optimum/floor.hpp"

#include <algorithm>
#include <cmath>

#include "tilewright/optimum/choices.hpp"
#include "tilewright/optimum/inside.hpp"

namespace tilewright::optimum {

using hierarchy::Judge;
using hierarchy::Machine;
using hierarchy::StorageLevel;

namespace {

class Counting {
 public:
  explicit Counting(const Question& question) : model_(question) {
    const std::size_t tensors = model_.flows.size();
    for (std::size_t tensor = 0; tensor < tensors; ++tensor) {
      const Flow& flow = model_.flows[tensor];
      // Different words, as far as the judge surely counts them.
      double words = 1;
      if (model_.judge == Judge::Hierarchy) {
        hierarchy::Extents whole{};
        std::copy(model_.problem.bounds.begin(), model_.problem.bounds.end(), whole.begin());
        words = flow.tile(whole);
      } else {
        const std::uint32_t counted = flow.slides() ? flow.certain() : flow.relevant();
        for (std::size_t dim = 0; dim < model_.dim_count; ++dim)
          words *= (counted >> dim & 1) != 0 ? static_cast<double>(model_.problem.bounds[dim]) : 1;
      }
      words_.push_back(words);
    }
    count_macs();
  }

  Floor run() {
    const Machine& machine = model_.machine;
    Costs sums{};
    sums[0] = machine.mac.energy.value * static_cast<double>(computes(model_.problem));
    for (std::size_t tensor = 0; tensor < model_.flows.size(); ++tensor) {
      if (model_.elides_more_than_it_visits(tensor)) continue;
      Costs least;
      least.fill(std::numeric_limits<double>::infinity());
      for_chains(tensor, [&](const std::vector<std::size_t>& chain) {
        const Costs costs = cost_of(tensor, chain);
        for (std::size_t at = 0; at < model_.prices.count(); ++at) least[at] = std::min(least[at], costs[at]);
      });
      // A level that has no room for a word keeps no tensor, so nothing fits where it has to.
      if (std::isinf(least[0])) return {.cycles = least[0], .energy = least[0]};
      for (std::size_t at = 0; at < model_.prices.count(); ++at) sums[at] += least[at];
    }
    Floor floor;
    floor.cycles = std::max(1.0, std::ceil(static_cast<double>(computes(model_.problem)) / most_macs_ * (1 - 1e-11)));
    // Fewer reads than none leave room at a port that others share.
    if (model_.is_countable()) floor.cycles = std::max(floor.cycles, std::ceil(model_.prices.cycles(sums) * (1 - 1e-11)));
    double leakage = 0;
    for (const StorageLevel& level : machine.levels)
      leakage += level.leakage.value * (model_.judge == Judge::Hierarchy ? static_cast<double>(level.instances) : 1);
    floor.energy = (sums[0] + leakage * floor.cycles) * (1 - 1e-11);
    return floor;
  }

 private:
  // The largest product of factors, one divisor of every dimension, that the array has room for.
  void count_macs() {
    const Machine& machine = model_.machine;
    std::vector<double> most(model_.dim_count, 1);
    first_fan_ = model_.level_count;
    for (std::size_t level = model_.level_count; level-- > 0;) {
      const auto& rule = model_.restriction.levels[level].spatial;
      const bool fans = machine.fan_x(level) * machine.fan_y(level) > 1;
      if (fans) first_fan_ = level;
      if (std::ranges::any_of(rule.exactly, [](std::int64_t factor) { return factor > 1; })) first_fan_ = level;
      for (std::size_t dim = 0; dim < model_.dim_count; ++dim) {
        if (rule.exactly[dim] != 0) {
          most[dim] *= static_cast<double>(rule.exactly[dim]);
        } else if (fans) {
          most[dim] *= rule.at_most[dim] != 0 ? static_cast<double>(rule.at_most[dim]) : 1e18;
        }
      }
    }
    std::vector<std::int64_t> products = {1};
    for (std::size_t dim = 0; dim < model_.dim_count; ++dim) {
      std::vector<std::int64_t> longer;
      for (const std::int64_t divisor : divisors_of(model_.problem.bounds[dim])) {
        if (static_cast<double>(divisor) > most[dim]) break;
        for (const std::int64_t product : products) {
          if (product <= machine.mac.instances / divisor) longer.push_back(product * divisor);
        }
      }
      std::ranges::sort(longer);
      longer.erase(std::unique(longer.begin(), longer.end()), longer.end());
      products = std::move(longer);
    }
    most_macs_ = static_cast<double>(products.back());
    // Ragged factors fill the array as they like.
    if (model_.judge == Judge::Hierarchy) most_macs_ = static_cast<double>(machine.mac.instances);
  }

  // Levels that may keep a tensor, in every combination that is allowed, the outermost always among them.
  template <typename Visit>
  void for_chains(std::size_t tensor, const Visit& visit) const {
    const std::size_t outermost = model_.level_count - 1;
    for (std::uint32_t mask = 0; mask < std::uint32_t{1} << outermost; ++mask) {
      std::vector<std::size_t> chain;
      bool allowed = true;
      for (std::size_t level = 0; level < outermost; ++level) {
        const auto& rule = model_.restriction.levels[level];
        const bool keeps = (mask >> level & 1) != 0;
        if (keeps ? (rule.bypasses >> tensor & 1) != 0 : (rule.keeps >> tensor & 1) != 0) allowed = false;
        const auto room = model_.machine.levels[level].usable();
        if (keeps && room && *room < 1) allowed = false;
        if (keeps) chain.push_back(level);
      }
      if (!allowed) continue;
      chain.push_back(outermost);
      visit(chain);
    }
  }

  // The most MACs that one access of the level can feed with the tensor.
  double most_fed(std::size_t tensor, std::size_t level) const {
    if (level < first_fan_) return 1;
    const Machine& machine = model_.machine;
    const Flow& flow = model_.flows[tensor];
    double most = static_cast<double>(machine.mac.instances);
    if (flow.slides()) return most;
    double others = 1;
    for (std::uint8_t dim = 0; dim < model_.dim_count; ++dim)
      others *= flow.is_relevant(dim) ? 1 : static_cast<double>(model_.problem.bounds[dim]);
    return std::min(most, others);
  }

  // `words` of all copies together.
  enum class Access { Read, Fill, Update };
  void add(Costs& costs, std::size_t tensor, std::size_t level, Access access, double words) const {
    const StorageLevel& storage = model_.machine.levels[level];
    const double copies = static_cast<double>(storage.instances);
    Prices::Place place{level, copies,
                        std::min(model_.prices.bits(tensor, level, true), model_.prices.bits(tensor, level, false))};
    // Copies share the work evenly at best.
    if (model_.judge == Judge::Timeloop) words /= copies;
    if (access == Access::Read) model_.prices.add_reads(costs, place, words);
    if (access == Access::Fill) model_.prices.add_fills(costs, place, words);
    if (access == Access::Update) model_.prices.add_updates(costs, place, words);
  }

  Costs cost_of(std::size_t tensor, const std::vector<std::size_t>& chain) const {
    Costs costs{};
    const bool output = model_.is_output(tensor);
    const double all = static_cast<double>(computes(model_.problem));
    double fed = all / most_fed(tensor, chain.front());
    const bool links = model_.judge == Judge::Timeloop && model_.machine.levels[0].links &&
                       model_.machine.fan_x(0) * model_.machine.fan_y(0) > 1;
    if (links) fed = 0;  // neighbours may pass on what a MAC takes
    add(costs, tensor, chain.front(), output ? Access::Update : Access::Read, fed);
    // The first visit to every sum needs no read.
    if (output) add(costs, tensor, chain.front(), Access::Read, std::max(0.0, fed - first_visits(tensor, chain.front())));
    for (std::size_t at = 1; at < chain.size(); ++at) {
      const double words = words_[tensor];
      add(costs, tensor, chain[at], output ? Access::Update : Access::Read, words);
      if (!output) add(costs, tensor, chain[at - 1], Access::Fill, words);
      if (output && model_.judge == Judge::Hierarchy) add(costs, tensor, chain[at - 1], Access::Read, words);
    }
    return costs;
  }

  // Sums of one tensor in all copies of a level together, at most.
  double first_visits(std::size_t tensor, std::size_t level) const {
    const Flow& flow = model_.flows[tensor];
    double words = 1, others = 1;
    for (std::uint8_t dim = 0; dim < model_.dim_count; ++dim)
      (flow.is_relevant(dim) ? words : others) *= static_cast<double>(model_.problem.bounds[dim]);
    if (!flow.is_plain()) return std::numeric_limits<double>::infinity();
    return words * std::min(others, static_cast<double>(model_.machine.levels[level].instances));
  }

  Model model_;
  std::vector<double> words_;
  double most_macs_ = 1;
  std::size_t first_fan_ = 0;  // the innermost level that spreads
};

}  // namespace

Floor floor_of(const Question& question) { return Counting(question).run(); }

}  // namespace tilewright::optimum
