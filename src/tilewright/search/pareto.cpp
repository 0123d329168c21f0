#include "tilewright/search/pareto.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace tilewright {
namespace {

bool no_worse(const Score& one, const Score& other) {
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one[i] > other[i]) return false;
  }
  return true;
}

// What a network's terms are made of. Power is energy by time, so it falls with latency: then a slower choice has its merit.
struct Carriers {
  bool latency = false, energy = false, area = false, slowness = false;
};
Carriers carriers_of(const Objective& objective) {
  Carriers carriers;
  for (const Objective::Term& term : objective.terms) {
    const Metric metric = term.metric;
    carriers.latency |= metric == Metric::Latency || metric == Metric::Throughput || metric == Metric::Edp;
    carriers.energy |= metric == Metric::Energy || metric == Metric::Edp || metric == Metric::Power;
    carriers.area |= metric == Metric::Area;
    carriers.slowness |= metric == Metric::Power;
  }
  return carriers;
}

// A choice for the first layers: the partial it extends and the last layer's member.
struct Partial {
  std::array<double, 4> carried{};  // smaller is better in each; unused ones are 0
  Metrics sums;
  std::size_t parent = 0, choice = 0;
};

void set_carried(Partial& partial, const Carriers& carriers) {
  std::size_t next = 0;
  if (carriers.energy) partial.carried[next++] = partial.sums.energy;
  if (carriers.latency) partial.carried[next++] = partial.sums.latency;
  if (carriers.area) partial.carried[next++] = value_of(Metric::Area, partial.sums);
  if (carriers.slowness) partial.carried[next++] = -partial.sums.latency;
}

// Leaves out what another beats or equals; the first of equal ones stays. Sorted by what is carried.
std::vector<Partial> pruned(std::vector<Partial> all) {
  std::ranges::stable_sort(all, {}, &Partial::carried);
  std::vector<Partial> kept;
  std::map<double, double> stairs;  // third by second entry of what was kept, the better the higher up
  const bool three = std::ranges::all_of(all, [](const Partial& one) { return one.carried[3] == 0; });
  for (Partial& one : all) {
    bool beaten = false;
    if (three) {
      const auto above = stairs.upper_bound(one.carried[1]);
      beaten = above != stairs.begin() && std::prev(above)->second <= one.carried[2];
    } else {
      beaten = std::ranges::any_of(kept, [&](const Partial& other) {
        for (std::size_t i = 0; i < one.carried.size(); ++i) {
          if (other.carried[i] > one.carried[i]) return false;
        }
        return true;
      });
    }
    if (beaten) continue;
    if (three) {
      auto step = stairs.insert_or_assign(one.carried[1], one.carried[2]).first;
      for (++step; step != stairs.end() && step->second >= one.carried[2];) step = stairs.erase(step);
    }
    kept.push_back(one);
  }
  return kept;
}

// Merges neighbours until at most `most` are left; the factor within which what is left stands for what was there.
double thin(std::vector<Partial>& partials, std::size_t most) {
  if (partials.size() <= most) return 1;
  for (double width = 1e-4;; width *= 2) {
    std::set<std::array<std::int64_t, 4>> cells;
    std::vector<Partial> kept;
    for (const Partial& one : partials) {
      std::array<std::int64_t, 4> cell{};
      for (std::size_t i = 0; i < cell.size(); ++i) {
        const double size = std::abs(one.carried[i]);
        cell[i] = size > 0 ? std::llround(std::floor(std::log(size) / std::log1p(width))) : 0;
      }
      if (cells.insert(cell).second) kept.push_back(one);
    }
    if (kept.size() > most) continue;
    partials = std::move(kept);
    return 1 + width;
  }
}

}  // namespace

bool dominates(const Score& one, const Score& other) { return no_worse(one, other) && one != other; }

void add_to_front(std::vector<FrontMember>& front, FrontMember member) {
  for (const FrontMember& one : front) {
    if (no_worse(one.terms, member.terms)) return;
  }
  std::erase_if(front, [&](const FrontMember& one) { return dominates(member.terms, one.terms); });
  const auto place = std::ranges::lower_bound(front, member.terms, {}, &FrontMember::terms);
  front.insert(place, std::move(member));
}

NetworkFront network_front(std::span<const FrontLayer> layers, const Objective& objective,
                           const std::function<void(Metrics& sums)>& finish, std::size_t most) {
  const Carriers carriers = carriers_of(objective);
  NetworkFront network;
  std::vector<std::vector<Partial>> stages(1, std::vector<Partial>(1));
  for (const FrontLayer& layer : layers) {
    std::vector<Partial> longer;
    const std::vector<Partial>& before = stages.back();
    for (std::size_t parent = 0; parent < before.size(); ++parent) {
      for (std::size_t choice = 0; choice < layer.front.size(); ++choice) {
        Partial& one = longer.emplace_back();
        one.sums = before[parent].sums;
        accumulate(one.sums, layer.front[choice], layer.count);
        one.parent = parent;
        one.choice = choice;
        set_carried(one, carriers);
      }
    }
    stages.push_back(pruned(std::move(longer)));
    network.bound *= thin(stages.back(), most);
  }
  for (std::size_t last = 0; last < stages.back().size(); ++last) {
    NetworkMember member{stages.back()[last].sums, {}, std::vector<std::size_t>(layers.size())};
    finish(member.metrics);
    member.terms = terms_of(objective, member.metrics);
    for (std::size_t stage = layers.size(), at = last; stage > 0; --stage) {
      member.choice[stage - 1] = stages[stage][at].choice;
      at = stages[stage][at].parent;
    }
    network.members.push_back(std::move(member));
  }
  std::ranges::stable_sort(network.members, {}, &NetworkMember::terms);
  std::vector<NetworkMember> front;
  for (NetworkMember& one : network.members) {
    if (std::ranges::none_of(front, [&](const NetworkMember& other) { return no_worse(other.terms, one.terms); })) {
      front.push_back(std::move(one));
    }
  }
  network.members = std::move(front);
  return network;
}

}  // namespace tilewright
