// Every evaluated point of a run of map or codesign, from its store.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/search/point_table.hpp"

namespace tilewright {

// Told once, before the first point, what the columns are; the table lives as long as the stream.
using OnColumns = std::function<void(const PointTable& table)>;
using OnPoint = std::function<bool(std::span<const PointCell> cells)>;  // false ends the stream

// The points of all layers, or of the one that is named, in the order they became known. An Error when the directory holds
// no such run, or when network or machine are no longer those of the run.
Result<Done> stream_points(const std::filesystem::path& directory, const std::string& layer, const OnColumns& on_columns,
                           const OnPoint& on_point);

}  // namespace tilewright
