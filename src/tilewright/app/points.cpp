// `tilewright points`: the evaluated points of a run, as CSV or as JSON lines.
#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/app/command_line.hpp"
#include "tilewright/app/commands.hpp"
#include "tilewright/app/print.hpp"
#include "tilewright/app/verb.hpp"
#include "tilewright/base/csv.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/search/point_table.hpp"
#include "tilewright/study/codesign.hpp"
#include "tilewright/study/mapping_run.hpp"
#include "tilewright/study/run_directory.hpp"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

std::string csv_line(const std::vector<std::string>& columns) {
  std::string line;
  for (const std::string& column : columns) line += (line.empty() ? "" : ",") + csv_cell(column);
  return line + "\n";
}

std::string csv_line(std::span<const PointCell> cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    line += (i > 0 ? "," : "") + (cells[i].number ? cells[i].text : csv_cell(cells[i].text));
  }
  return line + "\n";
}

// Cells that are empty are left out.
std::string json_line(const std::vector<std::string>& columns, std::span<const PointCell> cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].text.empty()) continue;
    const auto quoted = [](const std::string& text) {
      return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    };
    line += fmt::format("{}{}: {}", line.empty() ? "{" : ", ", quoted(columns[i]),
                        cells[i].number ? cells[i].text : quoted(cells[i].text));
  }
  return line + "}\n";
}

Result<Done> print_points(const PointTable& table, const fs::path& path, bool json) {
  std::error_code status;
  if (!fs::exists(path, status))
    return invalid(fmt::format("{}: no such file, expected the points of a run", path.string()));
  TW_TRY(Store store, Store::open(path));
  if (!json) print(csv_line(table.columns()));
  return table.each(store, [&](std::span<const PointCell> cells) {
    print(json ? json_line(table.columns(), cells) : csv_line(cells));
    return std::ferror(stdout) == 0;
  });
}

template <typename Layers>
Result<std::vector<PointTable::Problem>> chosen(const Layers& layers, const std::string& wanted, const std::string& where) {
  std::vector<PointTable::Problem> problems;
  std::vector<std::string> names;
  for (const auto& layer : layers) {
    names.push_back(layer.name);
    if (wanted.empty() || layer.name == wanted) problems.push_back({layer.name, layer.space.get()});
  }
  if (!problems.empty()) return problems;
  return invalid(fmt::format("{}: the run has no layer '{}'{}, expected one of {}", where, printable(wanted),
                             did_you_mean(wanted, names), join(names, ", ")));
}

Result<Done> points(const PointsArguments& arguments) {
  const fs::path directory = arguments.directory;
  TW_TRY(const std::string verb, verb_of(directory));
  const auto path_of = [&](const std::string& store) {
    return store.empty() ? directory / "store.sqlite" : fs::path(store);
  };
  if (verb == "map") {
    TW_TRY(const MapRequest map, read_map_run(directory));
    ThreadPool threads(0);  // all processors
    TW_TRY(const MappingJob job, read_mapping_job(map.inputs, map.mapping, threads));
    TW_TRY([[maybe_unused]] const Done same, check_same_run(directory, run_json(map, job)));
    TW_TRY(std::vector<PointTable::Problem> problems, chosen(job.problems, arguments.layer, arguments.directory));
    return print_points({std::move(problems), job.options.objective, mapping_metric_columns()}, path_of(map.search.store),
                        arguments.json);
  }
  if (verb == "codesign") {
    TW_TRY(const CodesignOptions codesign, read_codesign_run(directory));
    TW_TRY(const CodesignJob job, read_codesign_job(codesign));
    TW_TRY([[maybe_unused]] const Done same, check_same_codesign(directory, codesign, job));
    TW_TRY(std::vector<PointTable::Problem> problems, chosen(job.layers, arguments.layer, arguments.directory));
    TW_TRY(Objective objective, objective_named("latency"));
    return print_points({std::move(problems), std::move(objective), codesign_metric_columns()}, path_of(codesign.store),
                        arguments.json);
  }
  return invalid(fmt::format("{}: is a run of {}, expected one of map or codesign", arguments.directory, verb));
}

}  // namespace

int run_points(const PointsArguments& arguments) {
  if (arguments.directory.empty()) {
    return report(invalid("the directory of a run is missing, expected tilewright points DIR"));
  }
  const Result<Done> done = points(arguments);
  return done ? kExitDone : report(done.error());
}

Verb points_verb() {
  const auto arguments = std::make_shared<PointsArguments>();
  return {.name = "points",
          .summary = "every evaluated point of a run, with named columns, as CSV",
          .options = {{"directory", &arguments->directory, "of a run of map or codesign", {.positional = true}},
                      {"layer", &arguments->layer, "name of one layer; without it, all layers"},
                      {"json", &arguments->json, "a JSON object per line instead"}},
          .footer =
              "Columns: layer, number (in the order the points became known), the parameters of the space (empty where a "
              "layer has\n"
              "no such parameter, or a point of a shared store is of another space), status (ok, or the reason), objective, "
              "the\n"
              "numbers with their units, and the design in words. Of mappings the parameters are named\n"
              "DIM@LEVEL, level 0 outermost: K output channels, C input channels, Y X rows and columns, R S those of the "
              "kernel,\n"
              "N images, G groups.\n" +
              examples_text({{"tilewright points runs/alexnet", "all of them"},
                             {"tilewright points runs/alexnet --layer conv3 --json", "one layer, a JSON object per line"}}),
          .run = [arguments] { return run_points(*arguments); }};
}

}  // namespace tilewright
