// Plots as inline SVG for the pages of page.hpp, whose colours they use. Every mark has a <title>, which browsers show on
// hovering.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewright/report/axes.hpp"
#include "tilewright/report/page.hpp"

namespace tilewright {

struct PlotSeries {
  std::string name;
  std::size_t colour = 0;
  std::vector<double> y;    // one for each x; what is not finite leaves a gap
  std::vector<double> x{};  // its own, instead of the plot's common x
  bool faint = false;       // one of many behind the others: a thin line without points
};

struct LinePlot {
  std::string x_name, y_name;
  std::vector<double> x;  // common to all series that have none of their own
  std::vector<PlotSeries> series;
  double mark = 0;  // a place on the x axis worth a line of its own, when it has a name
  std::string mark_name;
  Scale x_scale = Scale::Linear, y_scale = Scale::Linear;  // what is not above 0 has no place on a logarithmic axis
  bool steps = false;                                      // a value holds until the next x
};
std::string to_svg(const LinePlot& plot);

// Lines in the middle of shaded intervals: medians of several runs, say.
struct BandSeries {
  std::string name;
  std::size_t colour = 0;
  std::vector<double> middle, low, high;  // one for each x; what is not finite leaves a gap
};
struct BandPlot {
  std::string x_name, y_name;
  std::vector<double> x;
  std::vector<BandSeries> series;
  std::vector<std::pair<double, std::string>> marks{};  // values of y worth a line of their own, with their names
  Scale x_scale = Scale::Linear, y_scale = Scale::Linear;
};
std::string to_svg(const BandPlot& plot);

// A row with a point and its interval for each name: estimates side by side.
struct DotRow {
  std::string name;
  std::size_t colour = 0;
  double value = 0, low = 0, high = 0;  // without an interval all three are equal; not finite = "–"
};
struct DotPlot {
  std::string x_name;
  std::vector<DotRow> rows;
  double mark = 0;  // a value worth a line of its own, when it has a name
  std::string mark_name{};
  Scale x_scale = Scale::Linear;
};
std::string to_svg(const DotPlot& plot);

// Stacked shares of 100 %: a column from edges[i] to edges[i+1] for every i.
struct SharePlot {
  std::string x_name;
  std::vector<double> edges;
  std::vector<PlotSeries> series;  // y are amounts, not yet shares
};
std::string to_svg(const SharePlot& plot);

// Names and colours in one line of HTML; faint series of one colour have one entry, `faint_name`, together.
std::string legend(const std::vector<PlotSeries>& series, std::string_view faint_name = "others");
std::string legend(const std::vector<BandSeries>& series);

// At most `most` values: means of neighbours.
std::vector<double> thinned(const std::vector<double>& values, std::size_t most);

}  // namespace tilewright
