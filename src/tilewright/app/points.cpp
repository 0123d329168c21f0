// `tilewright points`: the evaluated points of a run, as CSV or as JSON lines.
#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/app/command_line.hpp"
#include "tilewright/app/terminal.hpp"
#include "tilewright/app/verb.hpp"
#include "tilewright/base/csv.hpp"
#include "tilewright/study/points.hpp"

namespace tilewright {
namespace {

struct PointsArguments {
  std::string directory;
  std::string layer;  // empty = all
  bool json = false;
};

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

int run_points(const PointsArguments& arguments) {
  if (arguments.directory.empty()) {
    return report(invalid("the directory of a run is missing, expected tilewright points DIR"));
  }
  std::vector<std::string> columns;
  const auto on_columns = [&](const PointTable& table) {
    columns = table.columns();
    if (!arguments.json) print(csv_line(columns));
  };
  const auto on_point = [&](std::span<const PointCell> cells) {
    print(arguments.json ? json_line(columns, cells) : csv_line(cells));
    return std::ferror(stdout) == 0;
  };
  const Result<Done> done = stream_points(arguments.directory, arguments.layer, on_columns, on_point);
  return done ? kExitDone : report(done.error());
}

}  // namespace

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
