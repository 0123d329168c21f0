#include "tilewright/workload/network.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/zoo/zoo.hpp"

namespace tilewright {
namespace {

constexpr std::int64_t kMostOnnxBytes = std::numeric_limits<std::int32_t>::max();  // what protobuf can hold

Error unknown_ending(const std::string& source, const std::string& ending) {
  return invalid(fmt::format("{}: ends in '{}', expected .onnx, .yaml, .yml, .m, .csv, or zoo:NAME{}", source, ending,
                             zoo_hint("networks", source)));
}

bool is_onnx(const std::string& source) {
  return !is_zoo_source(source) && lower(std::filesystem::path(source).extension().string()) == ".onnx";
}

ReadOptions beside(const std::string& source, ReadOptions options) {
  const std::filesystem::path folder = std::filesystem::path(source).parent_path();
  options.data_folder = folder.empty() ? "." : folder;
  return options;
}

Result<Network> read_unchecked(const std::string& source, const ReadOptions& options) {
  if (!options.dims.empty() && !is_onnx(source)) {
    return invalid(fmt::format("{}: has no open dimension '{}', expected a .onnx network for --dim", source,
                               printable(options.dims.front().name)));
  }
  if (is_zoo_source(source)) {
    TW_TRY(const std::string text, zoo_text("networks", source.substr(4)));
    return network_from_yaml(text, source);
  }
  const std::string ending = lower(std::filesystem::path(source).extension().string());
  if (ending == ".onnx") {
    TW_TRY(const std::string bytes, read_file(source, kMostOnnxBytes));
    return network_from_onnx(bytes, source, beside(source, options));
  }
  const bool yaml = ending == ".yaml" || ending == ".yml";
  if (!yaml && ending != ".m" && ending != ".csv") return unknown_ending(source, ending);
  TW_TRY(const std::string text, read_file(source));
  if (yaml) return network_from_yaml(text, source);
  return ending == ".m" ? network_from_maestro(text, source) : network_from_gamma_csv(text, source);
}

void append(Network& all, const Network& part) {
  const std::size_t before = all.layers.size();
  for (NetworkLayer entry : part.layers) {
    entry.layer.name = part.name + "/" + entry.layer.name;
    for (std::size_t& input : entry.inputs) input += before;
    all.layers.push_back(std::move(entry));
  }
  for (const OtherOperator& other : part.others) {
    const auto same = std::ranges::find(all.others, other.name, &OtherOperator::name);
    if (same == all.others.end()) {
      all.others.push_back(other);
      continue;
    }
    same->count += other.count;
    same->operations_known = same->operations_known && other.operations_known &&
                             !__builtin_add_overflow(same->operations, other.operations, &same->operations);
    if (!same->operations_known) same->operations = 0;
    std::int64_t macs = 0;
    const bool counted = same->macs && other.macs && !__builtin_add_overflow(*same->macs, *other.macs, &macs);
    same->macs = counted ? std::optional(macs) : std::nullopt;
  }
}

std::vector<std::string> parts_of(const std::string& source) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(source, '+')) parts.emplace_back(part);
  return parts;
}

// "zoo:a+b.yaml": one network after the other, their layers called a/conv1, b/conv1. Each part gets the open dimensions it
// has.
Result<Network> read_joined(const std::string& source, const ReadOptions& options) {
  const std::vector<std::string> parts = parts_of(source);
  std::vector<std::vector<std::string>> names(parts.size());
  std::vector<std::string> all_names;
  for (std::size_t i = 0; i < parts.size() && !options.dims.empty(); ++i) {
    if (!is_onnx(parts[i])) continue;
    TW_TRY(const std::string bytes, read_file(parts[i], kMostOnnxBytes));
    TW_TRY(names[i], open_dims_of_onnx(bytes, parts[i]));
    all_names.insert(all_names.end(), names[i].begin(), names[i].end());
  }
  TW_TRY([[maybe_unused]] const Done known, check_dims(options.dims, all_names, source));
  Network all;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    ReadOptions own = options;
    std::erase_if(own.dims, [&](const NamedDim& dim) { return std::ranges::find(names[i], dim.name) == names[i].end(); });
    TW_TRY(const Network part, read_network(parts[i], own));
    append(all, part);
    all.name += (i == 0 ? "" : "+") + part.name;
  }
  return check(std::move(all), source);
}

}  // namespace

Result<Network> check(Network network, const std::string& where) {
  std::int64_t total = 0;
  for (std::size_t index = 0; index < network.layers.size(); ++index) {
    const NetworkLayer& entry = network.layers[index];
    const auto complain = [&](const std::string& sentence) {
      return invalid(fmt::format("{}: layer '{}': {}", where, entry.layer.name, sentence));
    };
    if (entry.count < 1) return complain(fmt::format("count is {}, expected at least 1", entry.count));
    if (std::any_of(entry.inputs.begin(), entry.inputs.end(), [&](std::size_t input) { return input >= index; })) {
      return complain("is fed by itself or a later layer, expected an earlier one");
    }
    std::int64_t work = 0;
    if (__builtin_mul_overflow(macs(entry.layer).value, entry.count, &work) || __builtin_add_overflow(total, work, &total)) {
      return complain("brings the network to more than 2^63 multiply-accumulates, expected fewer");
    }
  }
  return network;
}

Macs macs(const Network& network) {
  Macs total;
  for (const NetworkLayer& entry : network.layers) total += macs(entry.layer) * entry.count;
  return total;
}

std::vector<LayerGroup> distinct_layers(const Network& network) {
  std::vector<LayerGroup> groups;
  std::unordered_map<std::int64_t, std::vector<std::size_t>>
      by_work;  // equal shapes do equal work: few candidates to compare
  for (std::size_t index = 0; index < network.layers.size(); ++index) {
    const NetworkLayer& entry = network.layers[index];
    std::vector<std::size_t>& candidates = by_work[macs(entry.layer).value];
    auto found = std::find_if(candidates.begin(), candidates.end(), [&](std::size_t candidate) {
      return same_shape(network.layers[groups[candidate].first].layer, entry.layer);
    });
    if (found == candidates.end()) {
      found = candidates.insert(found, groups.size());
      groups.push_back({.first = index, .members = {}});
    }
    groups[*found].count += entry.count;
    groups[*found].members.push_back(index);
  }
  return groups;
}

Result<std::size_t> find_layer(const Network& network, std::string_view name) {
  std::vector<std::string> names;
  for (std::size_t index = 0; index < network.layers.size(); ++index) {
    if (network.layers[index].layer.name == name) return index;
    names.push_back(network.layers[index].layer.name);
  }
  return Error{ErrorCode::NotFound,
               fmt::format("network '{}' has no layer '{}'{}", network.name, name, did_you_mean(name, names))};
}

Result<Network> read_network(const std::string& source, const ReadOptions& options) {
  std::error_code status;
  if (source.find('+') != std::string::npos && !std::filesystem::exists(source, status)) return read_joined(source, options);
  TW_TRY(Network network, read_unchecked(source, options));
  return check(std::move(network), source);
}

}  // namespace tilewright
