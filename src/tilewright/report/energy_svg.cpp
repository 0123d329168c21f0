#include "tilewright/report/energy_svg.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace tilewright {
namespace {

constexpr double kLeft = 150, kBarWidth = 520, kRow = 24, kTop = 92, kLegend = 80, kLegendWidth = 690;
constexpr std::array<std::string_view, 13> kColours = {"#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2",
                                                       "#eeca3b", "#b279a2", "#ff9da6", "#9d755d", "#79706e",
                                                       "#1f9e89", "#d67195", "#8cd17d"};

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '&':
        result += "&amp;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string label(double x, double y, std::string_view anchor, std::string_view text, std::string_view style = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" {}>{}</text>\n", x, y, anchor, style,
                     escaped(text));
}

std::string row_svg(const EnergyPicture::Row& row, double y, double most) {
  const std::string name = row.count > 1 ? fmt::format("{} x{}", row.layer, row.count) : row.layer;
  std::string svg = label(kLeft - 8, y + 14, "end", name);
  if (row.parts.empty()) return svg + label(kLeft, y + 14, "start", "infeasible: " + row.failure, "fill=\"#b00\"");
  double x = kLeft;
  for (std::size_t part = 0; part < row.parts.size(); ++part) {
    const double width = row.parts[part] / most * kBarWidth;
    svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" fill=\"{}\"/>\n", x, y, width,
                       kRow - 6, kColours[part % kColours.size()]);
    x += width;
  }
  svg += label(x + 6, y + 14, "start", fmt::format("{:.4g} uJ", row.microjoules), "fill=\"#555\"");
  svg += fmt::format("<rect x=\"776\" y=\"{:.1f}\" width=\"68\" height=\"{:.0f}\" fill=\"#eee\"/>\n", y, kRow - 6);
  svg += fmt::format("<rect x=\"776\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" fill=\"#bab0ac\"/>\n", y,
                     68 * std::min(1.0, row.utilisation), kRow - 6);
  return svg + label(810, y + 14, "middle", fmt::format("{:.0f} %", 100 * row.utilisation));
}

}  // namespace

std::string to_svg(const EnergyPicture& picture) {
  double most = 0, total = 0;
  for (const EnergyPicture::Row& row : picture.rows) {
    most = std::max(most, row.microjoules);
    total += row.microjoules;
  }
  const double height = kTop + kRow * static_cast<double>(picture.rows.size()) + 24;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 860 {0:.0f}\" width=\"860\" height=\"{0:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n<rect width=\"860\" height=\"{0:.0f}\" fill=\"#fff\"/>\n",
      height);
  svg += label(16, 28, "start", picture.title, "font-size=\"18\" font-weight=\"bold\"");
  svg +=
      label(16, 48, "start",
            fmt::format(
                "{:.4g} uJ and {:.4g} ms for one inference; energy per layer by component, share of peak MACs at the right",
                total, picture.milliseconds),
            "fill=\"#555\"");
  const double step = std::min(kLegend, kLegendWidth / static_cast<double>(picture.parts.size()));
  for (std::size_t part = 0; part < picture.parts.size(); ++part) {
    const double x = kLeft + step * static_cast<double>(part);
    svg += fmt::format("<rect x=\"{:.1f}\" y=\"62\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", x,
                       kColours[part % kColours.size()]);
    svg += label(x + 18, 72, "start", picture.parts[part]);
  }
  double y = kTop;
  for (const EnergyPicture::Row& row : picture.rows) {
    svg += row_svg(row, y, most);
    y += kRow;
  }
  return svg + "</svg>\n";
}

}  // namespace tilewright
