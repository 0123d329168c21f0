#include "tilewright/report/plot.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tilewright {
namespace {

constexpr std::string_view kNothing = "<p>Nothing to draw yet.</p>\n";

const std::vector<double>& x_of(const LinePlot& plot, const PlotSeries& series) {
  return series.x.empty() ? plot.x : series.x;
}

std::string line(const Axes& axes, const LinePlot& plot, const PlotSeries& series) {
  const std::vector<double>& xs = x_of(plot, series);
  std::string path, dots;
  bool pen_down = false;
  for (std::size_t i = 0; i < series.y.size(); ++i) {
    if (!axes.x.shows(xs[i]) || !axes.y.shows(series.y[i])) {
      pen_down = false;
      continue;
    }
    const double x = axes.x(xs[i]), y = axes.y(series.y[i]);
    path += pen_down && plot.steps ? fmt::format("H{:.1f}V{:.1f}", x, y)
                                   : fmt::format("{}{:.1f} {:.1f}", pen_down ? "L" : "M", x, y);
    pen_down = true;
    if (series.faint) continue;
    dots += fmt::format(
        "<circle class=\"dot\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"><title>{}: {:.5g} at {} {}</title></circle>\n", x, y,
        series.y.size() == 1 ? 3 : 6, html_escaped(series.name), series.y[i], tick_text(xs[i]), html_escaped(plot.x_name));
  }
  if (series.faint) {
    return fmt::format("<path class=\"line faint\" style=\"--c:var(--c{})\" d=\"{}\"><title>{}</title></path>\n",
                       series.colour, path, html_escaped(series.name));
  }
  return fmt::format("<g style=\"--c:var(--c{})\"><path class=\"line\" d=\"{}\"/>\n{}</g>\n", series.colour, path, dots);
}

// Pieces of the band between gaps: along the upper edge and back along the lower.
std::string band(const Axes& axes, const BandPlot& plot, const BandSeries& series) {
  std::string svg = fmt::format("<g style=\"--c:var(--c{})\">", series.colour);
  std::string upper, lower, path, dots;
  const auto close = [&] {
    if (!upper.empty()) svg += fmt::format("<path class=\"band\" d=\"M{}{}Z\"/>\n", upper.substr(1), lower);
    upper.clear();
    lower.clear();
  };
  bool pen_down = false;
  for (std::size_t i = 0; i < plot.x.size(); ++i) {
    if (!axes.x.shows(plot.x[i]) || !axes.y.shows(series.middle[i]) || !axes.y.shows(series.low[i]) ||
        !axes.y.shows(series.high[i])) {
      close();
      pen_down = false;
      continue;
    }
    const double x = axes.x(plot.x[i]), y = axes.y(series.middle[i]);
    upper += fmt::format("L{:.1f} {:.1f}", x, axes.y(series.high[i]));
    lower = fmt::format("L{:.1f} {:.1f}", x, axes.y(series.low[i])) + lower;
    path += fmt::format("{}{:.1f} {:.1f}", pen_down ? "L" : "M", x, y);
    pen_down = true;
    dots += fmt::format(
        "<circle class=\"dot\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"6\"><title>{}: {:.4g} ({:.4g} … {:.4g}) at {} "
        "{}</title></circle>\n",
        x, y, html_escaped(series.name), series.middle[i], series.low[i], series.high[i], tick_text(plot.x[i]),
        html_escaped(plot.x_name));
  }
  close();
  return svg + fmt::format("<path class=\"line\" d=\"{}\"/>\n{}</g>\n", path, dots);
}

}  // namespace

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

std::string legend(const std::vector<PlotSeries>& series, std::string_view faint_name) {
  std::string html = "<p class=\"legend\">", faint;
  for (const PlotSeries& entry : series) {
    if (entry.faint) {
      faint = fmt::format("<span>{}{}</span>", chip(entry.colour), html_escaped(faint_name));
    } else {
      html += fmt::format("<span>{}{}</span>", chip(entry.colour), html_escaped(entry.name));
    }
  }
  return html + faint + "</p>\n";
}

std::string legend(const std::vector<BandSeries>& series) {
  std::vector<PlotSeries> lines;
  for (const BandSeries& entry : series) lines.push_back({entry.name, entry.colour, {}});
  return legend(lines);
}

std::string to_svg(const LinePlot& plot) {
  Range x(plot.x_scale), y(plot.y_scale);
  if (plot.x_scale == Scale::Linear) x.include(0);
  for (const PlotSeries& series : plot.series) {
    for (const double value : series.y) y.include(value);
    for (const double value : x_of(plot, series)) x.include(value);
  }
  if (x.empty() || y.empty()) return std::string(kNothing);
  const Axes axes = axes_of({}, x, y.widened(0.08));
  std::string svg = open_svg(axes.frame, plot.y_name + " over " + plot.x_name) + draw_frame(axes, plot.x_name, plot.y_name);
  if (!plot.mark_name.empty() && plot.mark > 0) svg += draw_x_mark(axes, plot.mark, plot.mark_name);
  for (const bool faint : {true, false}) {
    for (const PlotSeries& series : plot.series) {
      if (series.faint == faint) svg += line(axes, plot, series);
    }
  }
  return svg + "</svg>\n";
}

std::string to_svg(const BandPlot& plot) {
  Range x(plot.x_scale), y(plot.y_scale);
  for (const double value : plot.x) x.include(value);
  for (const BandSeries& series : plot.series) {
    for (const std::vector<double>* values : {&series.middle, &series.low, &series.high}) {
      for (const double value : *values) y.include(value);
    }
  }
  if (x.empty() || y.empty()) return std::string(kNothing);
  for (const auto& [value, name] : plot.marks) y.include(value);
  const Axes axes = axes_of({.height = 360, .right = plot.marks.empty() ? 16.0 : 72.0}, x, y.widened(0.06));
  std::string svg = open_svg(axes.frame, plot.y_name + " over " + plot.x_name) + draw_frame(axes, plot.x_name, plot.y_name);
  svg += draw_y_marks(axes, plot.marks);
  for (const BandSeries& series : plot.series) svg += band(axes, plot, series);
  return svg + "</svg>\n";
}

std::string to_svg(const DotPlot& plot) {
  Range x(plot.x_scale);
  for (const DotRow& row : plot.rows) {
    for (const double value : {row.value, row.low, row.high}) x.include(value);
  }
  if (x.empty()) return std::string(kNothing);
  if (!plot.mark_name.empty()) x.include(plot.mark);
  constexpr double kRow = 28;
  Range rows(Scale::Linear);
  rows.include(0);
  rows.include(static_cast<double>(plot.rows.size()));
  const Frame frame{.height = kRow * static_cast<double>(plot.rows.size()) + 74, .left = 190, .right = 170, .top = 30};
  Axes axes = axes_of(frame, x.widened(0.05), rows);
  const double base = frame.height - frame.bottom;
  std::string svg = open_svg(frame, plot.x_name);
  for (const double value : axes.x.ticks(6)) {
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/><text x=\"{0:.1f}\" y=\"{3}\" "
        "text-anchor=\"middle\">{4}</text>\n",
        axes.x(value), frame.top, base, base + 18, tick_text(value));
  }
  svg += fmt::format(
      "<line class=\"axis\" x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/><text x=\"{}\" y=\"{}\" "
      "text-anchor=\"end\">{}</text>\n",
      frame.left, frame.width - frame.right, base, base, frame.width - frame.right, frame.height - 6,
      html_escaped(plot.x_name));
  if (!plot.mark_name.empty() && axes.x.shows(plot.mark)) {
    svg += fmt::format(
        "<line class=\"mark\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/><text x=\"{0:.1f}\" y=\"{3}\" "
        "text-anchor=\"middle\">{4}</text>\n",
        axes.x(plot.mark), frame.top - 6, base, frame.top - 12, html_escaped(plot.mark_name));
  }
  for (std::size_t i = 0; i < plot.rows.size(); ++i) {
    const DotRow& row = plot.rows[i];
    const double y = frame.top + kRow * (static_cast<double>(i) + 0.5);
    const bool shown = axes.x.shows(row.value);
    const bool interval = shown && axes.x.shows(row.low) && axes.x.shows(row.high) && row.low < row.high;
    const std::string text =
        !shown     ? "–"
        : interval ? fmt::format("{} ({} … {})", even_number(row.value), even_number(row.low), even_number(row.high))
                   : even_number(row.value);
    svg += fmt::format(
        "<g style=\"--c:var(--c{})\"><title>{}: {}</title><text class=\"ink\" x=\"{}\" y=\"{:.1f}\" "
        "text-anchor=\"end\">{}</text>",
        row.colour, html_escaped(row.name), text, frame.left - 10, y + 4, html_escaped(row.name));
    if (interval) {
      svg += fmt::format("<line class=\"interval\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>",
                         axes.x(row.low), axes.x(row.high), y, y);
    }
    if (shown) svg += fmt::format("<circle class=\"dot shown\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\"/>", axes.x(row.value), y);
    svg += fmt::format("<text class=\"small\" x=\"{}\" y=\"{:.1f}\">{}</text></g>\n", frame.width - frame.right + 10, y + 4,
                       text);
  }
  return svg + "</svg>\n";
}

std::string to_svg(const SharePlot& plot) {
  if (plot.edges.size() < 2) return std::string(kNothing);
  Range x(Scale::Linear), y(Scale::Linear);
  for (const double edge : plot.edges) x.include(edge);
  y.include(0);
  y.include(100);
  const Axes axes = axes_of({}, x, y);
  std::string svg =
      open_svg(axes.frame, "shares over " + plot.x_name) + draw_frame(axes, plot.x_name, "share of the time", " %");
  for (std::size_t i = 0; i + 1 < plot.edges.size(); ++i) {
    double sum = 0, below = 0;
    for (const PlotSeries& series : plot.series) sum += series.y[i];
    if (!(sum > 0)) continue;
    const double left = axes.x(plot.edges[i]), width = axes.x(plot.edges[i + 1]) - left;
    for (const PlotSeries& series : plot.series) {
      const double share = 100 * series.y[i] / sum;
      const double top = axes.y(below + share);
      svg += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" style=\"fill:var(--c{})\">"
          "<title>{}: {:.1f} % of the time from {} to {} {}</title></rect>\n",
          left, top, std::max(0.5, width - std::min(1.0, width / 8)), axes.y(below) - top, series.colour,
          html_escaped(series.name), share, tick_text(plot.edges[i]), tick_text(plot.edges[i + 1]),
          html_escaped(plot.x_name));
      below += share;
    }
  }
  return svg + "</svg>\n";
}

}  // namespace tilewright
