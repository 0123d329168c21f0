#include "tilewright/search/searchers.hpp"

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/search/annealing.hpp"
#include "tilewright/search/ant_colony.hpp"
#include "tilewright/search/autotvm.hpp"
#include "tilewright/search/bayesian.hpp"
#include "tilewright/search/exhaustive.hpp"
#include "tilewright/search/gamma.hpp"
#include "tilewright/search/genetic.hpp"
#include "tilewright/search/random_search.hpp"

namespace tilewright {
namespace {

using Made = Result<std::unique_ptr<PointSearcher>>;

struct Kind {
  SearcherInfo info;
  Made (*make)(std::string_view name, const DesignSpace&, std::int64_t samples, std::uint64_t seed, const Settings&);
  Result<std::vector<SettingValue>> (*values)(std::string_view name, const Settings&);
};

template <typename Options, Made (*make)(const DesignSpace&, const Options&, std::int64_t, std::uint64_t)>
Kind kind(std::string_view name, std::string_view summary) {
  return {{name, summary},
          [](std::string_view searcher, const DesignSpace& space, std::int64_t samples, std::uint64_t seed,
             const Settings& settings) -> Made {
            Options options;
            TW_TRY([[maybe_unused]] const Done done, apply_settings(settings, searcher, settings_of(options)));
            return make(space, options, samples, seed);
          },
          [](std::string_view searcher, const Settings& settings) -> Result<std::vector<SettingValue>> {
            Options options;
            TW_TRY([[maybe_unused]] const Done done, apply_settings(settings, searcher, settings_of(options)));
            return values_of(settings_of(options));
          }};
}

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      kind<RandomOptions, make_random>("random", "uniform draws, no point twice"),
      kind<ExhaustiveOptions, make_exhaustive>("exhaustive", "every point of a small space in order: the true optimum"),
      kind<GeneticOptions, make_genetic>("genetic", "tournaments, crossover by role, steps on the logarithmic scale"),
      kind<GammaOptions, make_gamma>("gamma", "the genetic algorithm of GAMMA, with its own genome and operators"),
      kind<AnnealingOptions, make_annealing>("annealing", "parallel chains that cool over the whole budget"),
      kind<AntColonyOptions, make_ant_colony>("ant-colony", "ants that follow pheromone along the parameters"),
      kind<BayesianOptions, make_bayesian>("bayesian", "expected improvement under a Gaussian process"),
      kind<AutotvmOptions, make_autotvm>("autotvm", "AutoTVM: boosted trees, and parallel annealing on what they predict"),
  };
  return all;
}

const Kind* kind_named(std::string_view name) {
  for (const Kind& one : kinds()) {
    if (one.info.name == name) return &one;
  }
  return nullptr;
}

}  // namespace

const std::vector<SearcherInfo>& classical_searchers() {
  static const std::vector<SearcherInfo> infos = [] {
    std::vector<SearcherInfo> all;
    for (const Kind& one : kinds()) all.push_back(one.info);
    return all;
  }();
  return infos;
}

Result<std::unique_ptr<PointSearcher>> make_classical_searcher(std::string_view name, const DesignSpace& space,
                                                               std::int64_t samples, std::uint64_t seed,
                                                               const Settings& settings) {
  if (const Kind* found = kind_named(name)) return found->make(name, space, samples, seed, settings);
  std::vector<std::string> names;
  for (const Kind& one : kinds()) names.emplace_back(one.info.name);
  return Error{ErrorCode::NotFound, fmt::format("the searcher is '{}', expected one of {}{}", printable(name),
                                                join(names, ", "), did_you_mean(name, names))};
}

Result<std::vector<SettingValue>> classical_settings(std::string_view name, const Settings& settings) {
  const Kind* found = kind_named(name);
  return found != nullptr ? found->values(name, settings) : std::vector<SettingValue>{};
}

}  // namespace tilewright
