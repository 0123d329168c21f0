#include "tilewright/search/gamma.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "tilewright/search/gamma_genome.hpp"

namespace tilewright {
namespace {

std::int64_t share_of(double share, std::int64_t whole) {
  return static_cast<std::int64_t>(share * static_cast<double>(whole));
}

class GammaSearcher final : public PointSearcher {
 public:
  GammaSearcher(const MappingSpace& space, const GammaOptions& options, std::uint64_t seed)
      : form_(space, options.spread_kernel), options_(options), rng_(seed, "gamma") {
    start();
  }

  void ask(std::size_t most, std::vector<Point>& points) override {
    if (verdicts_.size() == population_.size()) next_generation();
    const std::size_t end = std::min(verdicts_.size() + most, population_.size());
    for (std::size_t index = verdicts_.size(); index < end; ++index) points.push_back(to_point(population_[index], form_));
  }

  void tell(std::span<const Point>, std::span<const Verdict> verdicts) override {
    verdicts_.insert(verdicts_.end(), verdicts.begin(), verdicts.end());
  }

  // They join the first generation, in front and already judged, so that its children can have them as parents.
  void notice(std::span<const Point> points, std::span<const Verdict> verdicts) override {
    std::vector<Genome> known;
    std::vector<Verdict> judged;
    for (std::size_t n = 0; n < points.size(); ++n) {
      Genome genome = genome_of(points[n], form_);
      if (to_point(genome, form_) != points[n]) continue;  // a genome has no words for it
      known.push_back(std::move(genome));
      judged.push_back(verdicts[n]);
    }
    population_.insert(population_.begin(), known.begin(), known.end());
    verdicts_.insert(verdicts_.begin(), judged.begin(), judged.end());
  }

 private:
  bool chance(double probability) { return rng_.uniform() < probability; }
  Genome& someone(std::vector<Genome>& genomes) {
    return genomes[static_cast<std::size_t>(rng_.below(static_cast<std::int64_t>(genomes.size())))];
  }

  void start() {
    population_.clear();
    verdicts_.clear();
    for (std::int64_t n = 0; n < options_.population; ++n) {
      Genome& genome = population_.emplace_back(draw_genome(form_, rng_));
      if (n < options_.units) set_unit_tiles(genome);
      conform(genome, form_);
    }
  }

  void next_generation() {
    const std::int64_t valid = std::ranges::count(verdicts_, true, &Verdict::feasible);
    const std::int64_t parent_count = std::min(share_of(options_.parents, options_.population), valid);
    if (parent_count < 1) return start();
    const std::vector<Genome> ranked = best_first();
    const auto first = [&](std::int64_t count) {
      return std::vector<Genome>(ranked.begin(), ranked.begin() + std::min<std::ptrdiff_t>(count, std::ssize(ranked)));
    };
    const std::vector<Genome> parents = first(parent_count);
    std::vector<Genome> next = first(std::min(share_of(options_.elite, options_.population), parent_count));
    for (Genome& child : children_of(parents, ranked.size())) next.push_back(std::move(child));
    population_ = std::move(next);
    verdicts_.clear();
    first_generation_ = false;
  }

  // Different individuals, the number of processing elements aside, as many as the population holds at most.
  std::vector<Genome> best_first() const {
    std::set<Genome> seen;
    std::vector<std::size_t> ranks;
    for (std::size_t index = 0; index < population_.size(); ++index) {
      Genome key = population_[index];
      key[0].units = 0;
      if (seen.insert(std::move(key)).second) ranks.push_back(index);
    }
    std::ranges::stable_sort(ranks, [&](std::size_t left, std::size_t right) {
      const Verdict& one = verdicts_[left];
      const Verdict& other = verdicts_[right];
      if (!one.feasible || !other.feasible) return one.feasible && !other.feasible;
      return one.score < other.score;
    });
    if (std::ssize(ranks) > options_.population) ranks.resize(static_cast<std::size_t>(options_.population));
    std::vector<Genome> ranked;
    for (const std::size_t index : ranks) ranked.push_back(population_[index]);
    return ranked;
  }

  std::vector<Genome> children_of(const std::vector<Genome>& parents, std::size_t count) {
    std::vector<Genome> children;
    while (children.size() < count) {
      Genome one = parents[0];
      Genome other = parents[0];
      if (parents.size() > 1) {
        const std::int64_t first = rng_.below(std::ssize(parents));
        const std::int64_t second = rng_.below(std::ssize(parents) - 1);
        one = parents[static_cast<std::size_t>(first)];
        other = parents[static_cast<std::size_t>(second + (second >= first ? 1 : 0))];
        if (chance(options_.crossover)) cross(one, other, form_, rng_);
      }
      children.push_back(std::move(one));
      if (children.size() < count) children.push_back(std::move(other));
    }
    mutate(children);
    return children;
  }

  void mutate(std::vector<Genome>& children) {
    for (std::size_t n = 0; n < children.size(); ++n) {
      if (chance(options_.reorder)) swap_two_loops(someone(children), form_, rng_);
    }
    for (Genome& child : children) {
      for (std::int64_t n = 0; n < options_.redraws; ++n) {
        if (chance(options_.redraw)) redraw_gene(child, form_, rng_);
      }
    }
    if (form_.search_pes) {
      for (Genome& child : children) redraw_pes(child, form_, first_generation_ || chance(options_.redraw_pes), rng_);
    }
    if (!form_.constrained) {
      for (Genome& child : children) {
        if (chance(options_.swap_parallel)) swap_parallel(child, form_);
      }
      for (std::size_t n = 0; n < children.size(); ++n) {
        if (chance(options_.growth)) grow(someone(children), form_, rng_);
      }
      for (std::size_t n = 0; n < children.size(); ++n) {
        if (chance(options_.aging)) age(someone(children), form_);
      }
    }
    for (Genome& child : children) conform(child, form_);
  }

  GenomeForm form_;
  GammaOptions options_;
  Rng rng_;
  std::vector<Genome> population_;
  std::vector<Verdict> verdicts_;  // of the individuals told so far
  bool first_generation_ = true;
};

}  // namespace

std::vector<Setting> settings_of(GammaOptions& options) {
  return {
      {"population", "individuals of a generation; 0 = root of the samples, 20 to 100", &options.population, 0, 1e6},
      {"parents", "best share of the population that has children", &options.parents, 0, 1},
      {"elite", "best share that is kept unchanged and evaluated again", &options.elite, 0, 1},
      {"crossover", "probability that two children exchange the tiles of a dimension", &options.crossover, 0, 1},
      {"reorder", "swaps of two loops, per individual", &options.reorder, 0, 1},
      {"redraws", "times a gene of an individual may be redrawn", &options.redraws, 0, 1000},
      {"redraw", "probability of each redraw", &options.redraw, 0, 1},
      {"swap-parallel", "probability that two levels swap their spread dimensions", &options.swap_parallel, 0, 1},
      {"growth", "levels added, per individual", &options.growth, 0, 1},
      {"aging", "levels removed, per individual", &options.aging, 0, 1},
      {"redraw-pes", "probability of another number of processing elements, where searched", &options.redraw_pes, 0, 1},
      {"units", "individuals of a new population whose tiles are all 1", &options.units, 0, 1e6},
      {"spread-kernel", "kernel rows and columns may be spread", &options.spread_kernel},
  };
}

Result<std::unique_ptr<PointSearcher>> make_gamma(const DesignSpace& space, const GammaOptions& options,
                                                  std::int64_t samples, std::uint64_t seed) {
  const auto* mappings = dynamic_cast<const MappingSpace*>(&space);
  if (mappings == nullptr) {
    return invalid(fmt::format(
        "the searcher is gamma and the space of '{}' has no genome for it, expected the space mapping", space.name()));
  }
  GammaOptions filled = options;
  if (filled.population == 0) {
    filled.population = std::clamp<std::int64_t>(std::llround(std::sqrt(static_cast<double>(samples))), 20, 100);
  }
  if (share_of(filled.parents, filled.population) < 1) {
    return invalid(fmt::format("gamma.parents is {} of a population of {}, expected at least one individual", filled.parents,
                               filled.population));
  }
  return std::unique_ptr<PointSearcher>(std::make_unique<GammaSearcher>(*mappings, filled, seed));
}

}  // namespace tilewright
