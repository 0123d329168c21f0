#include "tilewright/study/points.hpp"

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/study/codesign.hpp"
#include "tilewright/study/mapping_run.hpp"
#include "tilewright/study/run_directory.hpp"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

Result<Done> stream(const PointTable& table, const fs::path& path, const OnColumns& on_columns, const OnPoint& on_point) {
  std::error_code status;
  if (!fs::exists(path, status))
    return invalid(fmt::format("{}: no such file, expected the points of a run", path.string()));
  TW_TRY(Store store, Store::open(path));
  on_columns(table);
  return table.each(store, on_point);
}

Result<std::vector<PointTable::Problem>> chosen(const std::vector<PointTable::Problem>& all, const std::string& wanted,
                                                const std::string& where) {
  std::vector<PointTable::Problem> problems;
  std::vector<std::string> names;
  for (const PointTable::Problem& problem : all) {
    names.push_back(problem.layer);
    if (wanted.empty() || problem.layer == wanted) problems.push_back(problem);
  }
  if (!problems.empty()) return problems;
  return invalid(fmt::format("{}: the run has no layer '{}'{}, expected one of {}", where, printable(wanted),
                             did_you_mean(wanted, names), join(names, ", ")));
}

}  // namespace

Result<Done> stream_points(const fs::path& directory, const std::string& layer, const OnColumns& on_columns,
                           const OnPoint& on_point) {
  TW_TRY(const std::string verb, verb_of(directory));
  const auto path_of = [&](const std::string& store) { return store.empty() ? directory / kStoreFile : fs::path(store); };
  if (verb == "map") {
    TW_TRY(const MapRequest map, read_map_run(directory));
    ThreadPool threads(0);  // all processors
    TW_TRY(const AnyJob any, read_any_job(map.inputs, map.mapping, threads));
    TW_TRY([[maybe_unused]] const Done same,
           check_same_run(directory, std::visit([&](const auto& one) { return run_json(map, one); }, any)));
    const DesignJob& job = common(any);
    std::vector<PointTable::Problem> all;
    for (const DesignProblem* problem : job.design_problems()) all.push_back({problem->name, problem->space.get()});
    TW_TRY(std::vector<PointTable::Problem> problems, chosen(all, layer, directory.string()));
    return stream({std::move(problems), job.options.objective,
                   job.options.judge ? hierarchy_metric_columns() : mapping_metric_columns()},
                  path_of(map.search.store), on_columns, on_point);
  }
  if (verb == "codesign") {
    TW_TRY(const CodesignOptions codesign, read_codesign_run(directory));
    TW_TRY(const CodesignJob job, read_codesign_job(codesign));
    TW_TRY([[maybe_unused]] const Done same, check_same_codesign(directory, codesign, job));
    std::vector<PointTable::Problem> all;
    for (const auto& one : job.layers) all.push_back({one.name, one.space.get()});
    TW_TRY(std::vector<PointTable::Problem> problems, chosen(all, layer, directory.string()));
    TW_TRY(Objective objective, objective_named("latency"));
    return stream({std::move(problems), std::move(objective), codesign_metric_columns()}, path_of(codesign.store),
                  on_columns, on_point);
  }
  return invalid(fmt::format("{}: is a run of {}, expected one of map or codesign", directory.string(), verb));
}

}  // namespace tilewright
