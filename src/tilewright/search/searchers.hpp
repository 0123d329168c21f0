// The classical searchers by name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/search/searcher.hpp"
#include "tilewright/search/settings.hpp"

namespace tilewright {

struct SearcherInfo {
  std::string_view name;
  std::string_view summary;  // one line for --help
};
const std::vector<SearcherInfo>& classical_searchers();

// A searcher of one problem. `samples` is the whole budget, for those that plan ahead. An Error when the settings are wrong,
// when the searcher cannot work on the space, or when there is none of that name.
Result<std::unique_ptr<PointSearcher>> make_classical_searcher(std::string_view name, const DesignSpace& space,
                                                               std::int64_t samples, std::uint64_t seed,
                                                               const Settings& settings);

// Its hyper-parameters with their values after `settings`. Empty for an unknown name.
Result<std::vector<SettingValue>> classical_settings(std::string_view name, const Settings& settings = {});

}  // namespace tilewright
