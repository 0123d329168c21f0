#include "tilewright/workload/read_options.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"

namespace tilewright {

Result<std::vector<NamedDim>> dims_from(const std::vector<std::string>& texts) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  std::vector<NamedDim> dims;
  for (const std::string& text : texts) {
    const std::size_t equals = text.rfind('=');  // exporters name dimensions by formulas, too
    const auto size = equals == std::string::npos ? std::nullopt : parse_integer(text.substr(equals + 1));
    if (!size || equals == 0) return invalid(fmt::format("--dim is '{}', expected NAME=NUMBER", printable(text)));
    const std::string name = text.substr(0, equals);
    if (*size < 1 || *size > kMost) {
      return invalid(fmt::format("--dim {} is {}, expected 1 to {}", printable(name), *size, kMost));
    }
    if (std::ranges::find(dims, name, &NamedDim::name) != dims.end()) {
      return invalid(fmt::format("--dim {} is given twice, expected once", printable(name)));
    }
    dims.push_back({name, *size});
  }
  return dims;
}

Result<ReadOptions> read_options(std::int64_t batch, const std::vector<std::string>& dims) {
  ReadOptions options;
  options.batch = batch;
  TW_TRY(options.dims, dims_from(dims));
  return options;
}

Result<Done> check_dims(const std::vector<NamedDim>& dims, const std::vector<std::string>& names, const std::string& where) {
  for (const NamedDim& dim : dims) {
    if (std::ranges::find(names, dim.name) != names.end()) continue;
    std::string hint = did_you_mean(dim.name, names);
    if (hint.empty()) hint = names.empty() ? ": it has none" : fmt::format(", expected one of {}", join(names, ", "));
    return invalid(fmt::format("{}has no open dimension '{}'{}", where.empty() ? "" : where + ": ", printable(dim.name),
                               printable(hint)));
  }
  return Done{};
}

}  // namespace tilewright
