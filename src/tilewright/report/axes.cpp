#include "tilewright/report/axes.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/report/page.hpp"

namespace tilewright {

void Range::include(double value) {
  if (!std::isfinite(value) || (scale == Scale::Logarithmic && value <= 0)) return;
  const bool first = empty();
  low = first ? value : std::min(low, value);
  high = first ? value : std::max(high, value);
}

Range Range::widened(double share) const {
  Range wide = *this;
  if (scale == Scale::Logarithmic) {
    const double factor = std::max(std::pow(high / low, share), 1.001);
    wide.low = low / factor;
    wide.high = high * factor;
  } else {
    const double margin = std::max({share * (high - low), 1e-3 * std::abs(high), 1e-6});
    wide.low = low - margin;
    wide.high = high + margin;
  }
  return wide;
}

double Axis::operator()(double value) const {
  const double share =
      scale == Scale::Logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  return from + share * (to - from);
}

bool Axis::shows(double value) const { return std::isfinite(value) && (scale == Scale::Linear || value > 0); }

std::vector<double> Axis::ticks(std::size_t count) const {
  return scale == Scale::Logarithmic ? logarithmic_ticks(low, high, count) : tilewright::ticks(low, high, count);
}

Axes axes_of(const Frame& frame, const Range& x, const Range& y) {
  const auto high_of = [](const Range& range) {
    if (range.high > range.low) return range.high;
    return range.scale == Scale::Logarithmic ? 10 * range.low : range.low + 1;
  };
  return {frame,
          {x.low, high_of(x), x.scale, frame.left, frame.width - frame.right},
          {y.low, high_of(y), y.scale, frame.height - frame.bottom, frame.top}};
}

std::string open_svg(const Frame& frame, std::string_view label) {
  return fmt::format("<svg class=\"plot\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">\n", frame.width,
                     frame.height, html_escaped(label));
}

std::string draw_frame(const Axes& axes, std::string_view x_name, std::string_view y_name, std::string_view y_unit) {
  const Frame& frame = axes.frame;
  const double right = frame.width - frame.right, base = frame.height - frame.bottom;
  std::string svg;
  for (const double value : axes.y.ticks(5)) {
    const double y = axes.y(value);
    svg += fmt::format("<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>", frame.left, right, y, y);
    svg += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}{}</text>\n", frame.left - 8, y + 4,
                       std::abs(value) >= 1e6 ? with_prefix(value) : tick_text(value), y_unit);
  }
  for (const double value : axes.x.ticks(6)) {
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", axes.x(value), base + 18,
                       tick_text(value));
  }
  svg += fmt::format("<line class=\"axis\" x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>\n", frame.left, right, base, base);
  svg +=
      fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", right, frame.height - 6, html_escaped(x_name));
  if (!y_name.empty()) {
    const double middle = (base + frame.top) / 2;
    svg += fmt::format("<text x=\"14\" y=\"{}\" text-anchor=\"middle\" transform=\"rotate(-90 14 {})\">{}</text>\n", middle,
                       middle, html_escaped(y_name));
  }
  return svg;
}

std::string draw_x_mark(const Axes& axes, double value, std::string_view name) {
  const double x = axes.x(value);
  return fmt::format(
      "<line class=\"mark\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/><text x=\"{3:.1f}\" "
      "y=\"{4}\">{5}</text>\n",
      x, axes.frame.top, axes.frame.height - axes.frame.bottom, x + 6, axes.frame.top + 10, html_escaped(name));
}

std::string draw_y_marks(const Axes& axes, std::vector<std::pair<double, std::string>> marks) {
  std::erase_if(marks, [&](const auto& mark) { return !axes.y.shows(mark.first); });
  std::ranges::stable_sort(marks, std::greater<>(), [](const auto& mark) { return mark.first; });
  const double right = axes.frame.width - axes.frame.right;
  constexpr double kLineHeight = 14;
  double text_y = -kLineHeight;
  std::string svg;
  for (const auto& [value, name] : marks) {
    const double y = axes.y(value);
    text_y = std::max(y + 4, text_y + kLineHeight);
    svg += fmt::format(
        "<line class=\"mark\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/><text x=\"{}\" y=\"{:.1f}\">{}</text>\n",
        axes.frame.left, right, y, y, right + 6, text_y, html_escaped(name));
  }
  return svg;
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

std::vector<double> logarithmic_ticks(double low, double high, std::size_t count) {
  if (!(low > 0) || !(high > low)) return {low};
  const double decades = std::log10(high / low);
  // Less than half a decade looks as good as linear, and needs numbers that are no powers.
  if (decades < 0.5) return ticks(low, high, count);
  const int stride =
      std::max(1, static_cast<int>(std::ceil(decades / static_cast<double>(std::max<std::size_t>(1, count)))));
  std::vector<double> factors{1};
  if (decades < 1.5) {
    factors = {1, 2, 3, 5};
  } else if (decades < 2.5) {
    factors = {1, 3};
  }
  std::vector<double> values;
  const int first = static_cast<int>(std::floor(std::log10(low)));
  for (int power = first; std::pow(10, power) <= high * (1 + 1e-9); ++power) {
    if (power % stride != 0) continue;
    for (const double factor : factors) {
      const double value = factor * std::pow(10, power);
      if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) values.push_back(value);
    }
  }
  return values;
}

std::string tick_text(double value) {
  if (std::abs(value) < 1e-12) return "0";
  if (std::abs(value) >= 1e3 && std::abs(value) < 1e15 && value == std::round(value)) {
    return with_thousands(static_cast<std::int64_t>(value));
  }
  return fmt::format("{:.6g}", value);
}

}  // namespace tilewright
