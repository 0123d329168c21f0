// From values to places in a picture, and the picture's frame.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilewright {

enum class Scale { Linear, Logarithmic };

// The smallest and largest of what was included. What an axis of its scale cannot show is left out.
struct Range {
  explicit Range(Scale scale_of_axis) : scale(scale_of_axis) {}
  void include(double value);
  bool empty() const { return !(low <= high); }
  Range widened(double share) const;  // by a share of its length at both ends

  Scale scale;
  double low = 1, high = 0;
};

struct Axis {
  double low = 0, high = 1;
  Scale scale = Scale::Linear;
  double from = 0, to = 1;  // places of `low` and `high`

  double operator()(double value) const;
  bool shows(double value) const;  // finite, and above 0 where the scale is logarithmic
  std::vector<double> ticks(std::size_t count) const;
};

// Room around the part of a picture that has the data.
struct Frame {
  double width = 900, height = 300, left = 74, right = 16, top = 14, bottom = 44;
};

struct Axes {
  Frame frame;
  Axis x, y;
};
Axes axes_of(const Frame& frame, const Range& x, const Range& y);

std::string open_svg(const Frame& frame, std::string_view label);
// Grid, ticks and names.
std::string draw_frame(const Axes& axes, std::string_view x_name, std::string_view y_name, std::string_view y_unit = "");
// A dashed line from top to bottom at a value of x, with a name.
std::string draw_x_mark(const Axes& axes, double value, std::string_view name);
// Dashed lines from left to right at values of y, their names in the room on the right, one below the other.
std::string draw_y_marks(const Axes& axes, std::vector<std::pair<double, std::string>> marks);

// Round numbers within [low, high], about `count` of them; on a logarithmic scale powers of ten and what is needed between.
std::vector<double> ticks(double low, double high, std::size_t count);
std::vector<double> logarithmic_ticks(double low, double high, std::size_t count);

// As ticks have it: 12,000; 0.25; 1e-07.
std::string tick_text(double value);

}  // namespace tilewright
