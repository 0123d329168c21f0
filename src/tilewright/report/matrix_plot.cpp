#include "tilewright/report/matrix_plot.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tilewright/report/axes.hpp"
#include "tilewright/report/page.hpp"

namespace tilewright {
namespace {

constexpr double kLetter = 6.6;  // about as wide as a letter of a label

double label_width(const std::vector<std::string>& names) {
  std::size_t most = 4;
  for (const std::string& name : names) most = std::max(most, name.size());
  return std::min(260.0, kLetter * static_cast<double>(most) + 14);
}

// Numbers need room; without it, hovering tells them.
constexpr double kRoomForNumber = 30;

struct Cell {
  double x = 0, y = 0, width = 0, height = 0;
};

std::string draw_cell(const Cell& cell, double value, std::size_t colour, const std::string& title) {
  if (!std::isfinite(value)) return "";
  const double strength = std::clamp(value, 0.0, 1.0);
  std::string svg = fmt::format(
      "<rect class=\"cell\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
      "style=\"fill:var(--c{});fill-opacity:{:.3f}\"><title>{}</title></rect>",
      cell.x, cell.y, cell.width, cell.height, colour, 0.04 + 0.96 * strength, html_escaped(title));
  if (cell.width >= kRoomForNumber) {
    svg += fmt::format(
        "<text class=\"small {}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" pointer-events=\"none\">{:.2f}"
        "</text>",
        strength > 0.68 ? "on" : "ink", cell.x + cell.width / 2, cell.y + cell.height / 2 + 4, value);
  }
  return svg + "\n";
}

std::string slanted(double x, double y, const std::string& name, const std::string& more = "") {
  return fmt::format(
      "<text class=\"small\" x=\"{0:.1f}\" y=\"{1:.1f}\" transform=\"rotate(-50 {0:.1f} {1:.1f})\"{2}>{3}</text>\n", x, y,
      more, html_escaped(name));
}

// Brackets from the leaves, at x = left, to the last merge, at x = right. A bracket has the colour of its cluster as long as
// it is within one.
std::string draw_dendrogram(const ClusterMap& map, const std::vector<double>& leaf_y, double left, double right, double top,
                            double bottom) {
  struct Node {
    double x = 0, y = 0;
    std::optional<std::size_t> cluster;
  };
  double highest = map.cut.value_or(0);
  for (const ClusterMap::Merge& merge : map.merges) highest = std::max(highest, merge.height);
  const auto x_of = [&](double height) { return highest > 0 ? left + height / highest * (right - left) : left; };
  std::string svg;
  if (map.cut) {
    svg += fmt::format(
        "<line class=\"mark\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"><title>cut at {3:.3g}"
        "</title></line>\n",
        x_of(*map.cut), top, bottom, *map.cut);
  }
  std::vector<Node> nodes;
  for (std::size_t leaf = 0; leaf < map.names.size(); ++leaf) nodes.push_back({left, leaf_y[leaf], map.clusters[leaf]});
  for (const ClusterMap::Merge& merge : map.merges) {
    const Node &a = nodes[merge.a], &b = nodes[merge.b];
    Node node{x_of(merge.height), (a.y + b.y) / 2, a.cluster == b.cluster ? a.cluster : std::nullopt};
    svg += fmt::format(
        "<path class=\"line\" style=\"--c:var(--{})\" d=\"M{:.1f} {:.1f}H{:.1f}V{:.1f}H{:.1f}\"><title>joined at "
        "{:.3g}</title></path>\n",
        node.cluster ? fmt::format("c{}", cluster_colour(*node.cluster)) : "muted", a.x, a.y, node.x, b.y, b.x,
        merge.height);
    nodes.push_back(node);
  }
  for (const double tick : ticks(0, highest, 4)) {
    svg += fmt::format("<text class=\"small\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x_of(tick),
                       bottom + 16, tick_text(tick));
  }
  svg += fmt::format(
      "<line class=\"axis\" x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/><text class=\"small\" "
      "x=\"{1:.1f}\" y=\"{3:.1f}\" text-anchor=\"end\">distance at which clusters join</text>\n",
      left, right, bottom, bottom + 32);
  return svg;
}

}  // namespace

std::size_t cluster_colour(std::size_t cluster) {
  // Grey last: it means "everything else" in other plots.
  constexpr std::size_t kOrder[kColourCount] = {0, 1, 2, 3, 4, 5, 8, 6, 9, 10, 11, kGrey};
  return kOrder[cluster % kColourCount];
}

std::string to_svg(const HeatMap& map) {
  if (map.rows.empty() || map.columns.empty()) return "<p>Nothing to draw yet.</p>\n";
  const double left = label_width(map.rows), head = 16 + 0.77 * label_width(map.columns);
  const double slant = 0.64 * label_width(map.columns);  // how far the last column's name leans out
  const double room = 900 - left - slant;
  const double cell = std::min(64.0, room / static_cast<double>(map.columns.size()));
  const double row_height = std::min(cell, 34.0);
  const Frame frame{.height = head + row_height * static_cast<double>(map.rows.size()) + 6};
  std::string svg = open_svg(frame, map.meaning);
  for (std::size_t column = 0; column < map.columns.size(); ++column) {
    svg += slanted(left + cell * (static_cast<double>(column) + 0.5), head - 8, map.columns[column]);
  }
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    const double y = head + row_height * static_cast<double>(row);
    svg += fmt::format("<text class=\"small ink\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left - 8,
                       y + row_height / 2 + 4, html_escaped(map.rows[row]));
    for (std::size_t column = 0; column < map.columns.size(); ++column) {
      const double value = map.values[row * map.columns.size() + column];
      svg += draw_cell({left + cell * static_cast<double>(column), y, cell - 1, row_height - 1}, value, map.colour,
                       fmt::format("{} of {} and {}: {:.3f}", map.meaning, map.rows[row], map.columns[column], value));
    }
  }
  return svg + "</svg>\n";
}

std::string to_svg(const ClusterMap& map) {
  const std::size_t count = map.names.size();
  if (count == 0) return "<p>Nothing to draw yet.</p>\n";
  const double left = label_width(map.names) + 14, head = 12 + 0.77 * label_width(map.names), gap = 18;
  const double tree = map.merges.empty() ? 0.64 * label_width(map.names) : 200;
  const double cell = std::min(34.0, (900 - left - gap - tree - 6) / static_cast<double>(count));
  const double side = cell * static_cast<double>(count);
  const Frame frame{.height = head + side + 40};
  std::string svg = open_svg(frame, map.meaning + " of parameters, and their clusters");

  std::vector<double> leaf_y(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t row = map.order[i];
    const double y = head + cell * static_cast<double>(i), x = left + cell * static_cast<double>(i);
    leaf_y[row] = y + cell / 2;
    svg += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"8\" height=\"{:.1f}\" style=\"fill:var(--c{})\"><title>agent {}"
        "</title></rect><text class=\"small ink\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
        left - 12, y, cell - 1, cluster_colour(map.clusters[row]), map.clusters[row] + 1, left - 18, y + cell / 2 + 4,
        html_escaped(map.names[row]));
    svg += slanted(x + cell / 2, head - 6, map.names[row]);
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t column = map.order[k];
      const double value = map.values[row * count + column];
      svg += draw_cell({left + cell * static_cast<double>(k), y, cell - 1, cell - 1}, value, 0,
                       fmt::format("{} of {} and {}: {:.3f}", map.meaning, map.names[row], map.names[column], value));
    }
  }
  for (std::size_t first = 0; first < count;) {
    const std::size_t cluster = map.clusters[map.order[first]];
    std::size_t last = first + 1;
    while (last < count && map.clusters[map.order[last]] == cluster) ++last;
    const double place = cell * static_cast<double>(first), size = cell * static_cast<double>(last - first) - 1;
    svg += fmt::format(
        "<rect class=\"frame\" pointer-events=\"none\" style=\"--c:var(--c{0})\" x=\"{1:.1f}\" y=\"{2:.1f}\" "
        "width=\"{3:.1f}\" height=\"{3:.1f}\"/>\n",
        cluster_colour(cluster), left + place, head + place, size);
    first = last;
  }
  if (!map.merges.empty()) {
    const double tree_left = left + side + gap;
    svg += draw_dendrogram(map, leaf_y, tree_left, std::min(894.0, tree_left + 220), head, head + side);
  }
  return svg + "</svg>\n";
}

}  // namespace tilewright
