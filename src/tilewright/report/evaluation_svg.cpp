#include "tilewright/report/evaluation.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

constexpr double kLeft = 150, kBarWidth = 520, kRow = 24, kTop = 92;
constexpr std::string_view kColours[] = {"#4c78a8", "#f58518", "#54a24b"};
constexpr std::string_view kNames[] = {"MAC", "L1", "L2"};

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

double layer_microjoules(const EvaluatedLayer& result) {
  return result.cost ? result.cost->energy.value / 1000 * static_cast<double>(result.layer.count) : 0;
}

std::string label(double x, double y, std::string_view anchor, std::string_view text, std::string_view style = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" {}>{}</text>\n", x, y, anchor, style,
                     escaped(text));
}

}  // namespace

std::string to_svg(const EvaluationStudy& study) {
  double most = 0, total = 0, cycles = 0;
  for (const EvaluatedLayer& result : study.layers) {
    most = std::max(most, layer_microjoules(result));
    total += layer_microjoules(result);
    if (result.cost) cycles += static_cast<double>(result.cost->runtime.value * result.layer.count);
  }
  const double height = kTop + kRow * static_cast<double>(study.layers.size()) + 24;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 860 {0:.0f}\" width=\"860\" height=\"{0:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n<rect width=\"860\" height=\"{0:.0f}\" fill=\"#fff\"/>\n",
      height);
  svg += label(16, 28, "start", fmt::format("{} on {}", study.network, study.accelerator.name),
               "font-size=\"18\" font-weight=\"bold\"");
  svg +=
      label(16, 48, "start",
            fmt::format(
                "{:.4g} uJ and {:.4g} ms for one inference; energy per layer by component, share of peak MACs at the right",
                total, cycles / (study.accelerator.clock_ghz * 1e6)),
            "fill=\"#555\"");
  for (std::size_t part = 0; part < 3; ++part) {
    const double x = kLeft + 80 * static_cast<double>(part);
    svg += fmt::format("<rect x=\"{:.1f}\" y=\"62\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", x, kColours[part]);
    svg += label(x + 18, 72, "start", kNames[part]);
  }
  double y = kTop;
  for (const EvaluatedLayer& result : study.layers) {
    const std::string name =
        result.layer.count > 1 ? fmt::format("{} x{}", result.layer.name, result.layer.count) : result.layer.name;
    svg += label(kLeft - 8, y + 14, "end", name);
    if (!result.cost) {
      svg += label(kLeft, y + 14, "start", "infeasible: " + result.failure, "fill=\"#b00\"");
    } else {
      const Cost& cost = *result.cost;
      double x = kLeft;
      const double parts[] = {cost.energy_parts.mac.value, cost.energy_parts.l1.value, cost.energy_parts.l2.value};
      for (std::size_t part = 0; part < 3; ++part) {
        const double width = parts[part] / 1e6 * static_cast<double>(result.layer.count) / most * kBarWidth;
        svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" fill=\"{}\"/>\n", x, y, width,
                           kRow - 6, kColours[part]);
        x += width;
      }
      svg += label(x + 6, y + 14, "start", fmt::format("{:.4g} uJ", layer_microjoules(result)), "fill=\"#555\"");
      const double peak = static_cast<double>(study.accelerator.pes * study.accelerator.simd_lanes);
      const double share = static_cast<double>(cost.macs.value) / static_cast<double>(cost.runtime.value) / peak;
      svg += fmt::format("<rect x=\"776\" y=\"{:.1f}\" width=\"68\" height=\"{:.0f}\" fill=\"#eee\"/>\n", y, kRow - 6);
      svg += fmt::format("<rect x=\"776\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" fill=\"#bab0ac\"/>\n", y,
                         68 * std::min(1.0, share), kRow - 6);
      svg += label(810, y + 14, "middle", fmt::format("{:.0f} %", 100 * share));
    }
    y += kRow;
  }
  return svg + "</svg>\n";
}

}  // namespace tilewright
