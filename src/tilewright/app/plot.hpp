// Plots as inline SVG for reports: their colours are the CSS variables --ink, --muted, --grid and --c0 … --c7 of the page,
// so that they follow its light and dark form. Every mark has a <title>, which browsers show on hovering.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

struct PlotSeries {
  std::string name;
  std::size_t colour = 0;
  std::vector<double> y;  // one for each x; what is not finite leaves a gap
};

// Lines over common x.
struct LinePlot {
  std::string x_name, y_name;
  std::vector<double> x;
  std::vector<PlotSeries> series;
  double mark = 0;  // a place on the x axis worth a line of its own, when it has a name
  std::string mark_name;
};
std::string to_svg(const LinePlot& plot);

// Stacked shares of 100 %: a column from edges[i] to edges[i+1] for every i.
struct SharePlot {
  std::string x_name;
  std::vector<double> edges;
  std::vector<PlotSeries> series;  // y are amounts, not yet shares
};
std::string to_svg(const SharePlot& plot);

// Names and colours in one line of HTML.
std::string legend(const std::vector<PlotSeries>& series);

// At most `most` values: means of neighbours.
std::vector<double> thinned(const std::vector<double>& values, std::size_t most);

// Round numbers within [low, high], about `count` of them.
std::vector<double> ticks(double low, double high, std::size_t count);

std::string html_escaped(std::string_view text);

}  // namespace tilewright
