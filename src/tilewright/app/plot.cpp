#include "tilewright/app/plot.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

constexpr double kWidth = 900, kHeight = 300, kLeft = 74, kRight = 16, kTop = 14, kBottom = 44;

// From values to places in the picture.
struct Axes {
  double x_low = 0, x_high = 1, y_low = 0, y_high = 1;
  double x(double value) const { return kLeft + (value - x_low) / (x_high - x_low) * (kWidth - kLeft - kRight); }
  double y(double value) const {
    return kHeight - kBottom - (value - y_low) / (y_high - y_low) * (kHeight - kTop - kBottom);
  }
};

std::string number(double value) {
  if (std::abs(value) < 1e-12) return "0";
  if (std::abs(value) >= 1e4 && value == std::round(value)) return with_thousands(static_cast<std::int64_t>(value));
  return fmt::format("{:.6g}", value);
}

std::string open_svg(std::string_view label) {
  return fmt::format("<svg class=\"plot\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n", kWidth, kHeight,
                     html_escaped(label));
}

std::string frame(const Axes& axes, const std::string& x_name, const std::string& y_name, std::string_view y_unit) {
  std::string svg;
  for (const double value : ticks(axes.y_low, axes.y_high, 5)) {
    const double y = axes.y(value);
    svg +=
        fmt::format("<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>", kLeft, kWidth - kRight, y, y);
    svg += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}{}</text>\n", kLeft - 8, y + 4, number(value),
                       y_unit);
  }
  for (const double value : ticks(axes.x_low, axes.x_high, 6)) {
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", axes.x(value),
                       kHeight - kBottom + 18, number(value));
  }
  svg += fmt::format("<line class=\"axis\" x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>\n", kLeft, kWidth - kRight,
                     kHeight - kBottom, kHeight - kBottom);
  svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", kWidth - kRight, kHeight - 6,
                     html_escaped(x_name));
  svg += fmt::format("<text x=\"14\" y=\"{}\" text-anchor=\"middle\" transform=\"rotate(-90 14 {})\">{}</text>\n",
                     (kHeight - kBottom + kTop) / 2, (kHeight - kBottom + kTop) / 2, html_escaped(y_name));
  return svg;
}

std::string line(const Axes& axes, const LinePlot& plot, const PlotSeries& series) {
  std::string path, dots;
  bool pen_down = false;
  for (std::size_t i = 0; i < series.y.size(); ++i) {
    if (!std::isfinite(series.y[i])) {
      pen_down = false;
      continue;
    }
    const double x = axes.x(plot.x[i]), y = axes.y(series.y[i]);
    path += fmt::format("{}{:.1f} {:.1f}", pen_down ? "L" : "M", x, y);
    pen_down = true;
    dots += fmt::format(
        "<circle class=\"dot\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"><title>{}: {:.5g} at {} {}</title></circle>\n", x, y,
        series.y.size() == 1 ? 3 : 6, html_escaped(series.name), series.y[i], number(plot.x[i]), html_escaped(plot.x_name));
  }
  return fmt::format("<g style=\"--c:var(--c{})\"><path class=\"line\" d=\"{}\"/>\n{}</g>\n", series.colour, path, dots);
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '&') {
      result += "&amp;";
    } else if (c == '"') {
      result += "&quot;";
    } else {
      result += c;
    }
  }
  return result;
}

std::vector<double> ticks(double low, double high, std::size_t count) {
  const double rough = (high - low) / static_cast<double>(std::max<std::size_t>(1, count));
  if (!(rough > 0) || !std::isfinite(rough)) return {low};
  const double decade = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * decade;
  for (const double factor : {5.0, 2.0, 1.0}) {
    if (factor * decade >= rough) step = factor * decade;
  }
  std::vector<double> values;
  for (double k = std::ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; ++k) values.push_back(k * step);
  return values;
}

std::vector<double> thinned(const std::vector<double>& values, std::size_t most) {
  if (values.size() <= most) return values;
  std::vector<double> means;
  for (std::size_t i = 0; i < most; ++i) {
    const std::size_t first = i * values.size() / most, last = (i + 1) * values.size() / most;
    double sum = 0;
    for (std::size_t k = first; k < last; ++k) sum += values[k];
    means.push_back(sum / static_cast<double>(last - first));
  }
  return means;
}

std::string legend(const std::vector<PlotSeries>& series) {
  std::string html = "<p class=\"legend\">";
  for (const PlotSeries& entry : series) {
    html += fmt::format("<span><i style=\"background:var(--c{})\"></i>{}</span>", entry.colour, html_escaped(entry.name));
  }
  return html + "</p>\n";
}

std::string to_svg(const LinePlot& plot) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const PlotSeries& series : plot.series) {
    for (const double value : series.y) {
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  if (plot.x.empty() || !(low <= high)) return "<p>Nothing to draw yet.</p>\n";
  const double margin = std::max({0.08 * (high - low), 1e-3 * std::abs(high), 1e-6});
  const Axes axes{0, plot.x.back() > 0 ? plot.x.back() : 1, low - margin, high + margin};
  std::string svg = open_svg(plot.y_name + " over " + plot.x_name) + frame(axes, plot.x_name, plot.y_name, "");
  if (!plot.mark_name.empty() && plot.mark > 0) {
    const double x = axes.x(plot.mark);
    svg += fmt::format("<line class=\"mark\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>", x, kTop,
                       kHeight - kBottom);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\">{}</text>\n", x + 6, kTop + 10, html_escaped(plot.mark_name));
  }
  for (const PlotSeries& series : plot.series) svg += line(axes, plot, series);
  return svg + "</svg>\n";
}

std::string to_svg(const SharePlot& plot) {
  if (plot.edges.size() < 2) return "<p>Nothing to draw yet.</p>\n";
  const Axes axes{plot.edges.front(), plot.edges.back(), 0, 100};
  std::string svg = open_svg("shares over " + plot.x_name) + frame(axes, plot.x_name, "share of the time", " %");
  for (std::size_t i = 0; i + 1 < plot.edges.size(); ++i) {
    double sum = 0, below = 0;
    for (const PlotSeries& series : plot.series) sum += series.y[i];
    if (!(sum > 0)) continue;
    const double x = axes.x(plot.edges[i]), width = axes.x(plot.edges[i + 1]) - x;
    for (const PlotSeries& series : plot.series) {
      const double share = 100 * series.y[i] / sum;
      const double top = axes.y(below + share);
      svg += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" style=\"fill:var(--c{})\">"
          "<title>{}: {:.1f} % of the time from {} to {} {}</title></rect>\n",
          x, top, std::max(0.5, width - std::min(1.0, width / 8)), axes.y(below) - top, series.colour,
          html_escaped(series.name), share, number(plot.edges[i]), number(plot.edges[i + 1]), html_escaped(plot.x_name));
      below += share;
    }
  }
  return svg + "</svg>\n";
}

}  // namespace tilewright
