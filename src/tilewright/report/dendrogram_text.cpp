// A dendrogram as lines of text. Every cell of the drawing remembers in which directions a line leaves it; the box-drawing
// character follows from the four bits, so that lines that meet in one cell join by themselves.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "tilewright/report/assignment.hpp"

namespace tilewright {
namespace {

constexpr unsigned kLeftward = 1, kRightward = 2, kUpward = 4, kDownward = 8;
constexpr std::array<std::string_view, 16> kBoxes = {" ", "╴", "╶", "─", "╵", "┘", "└", "┴",
                                                     "╷", "┐", "┌", "┬", "│", "┤", "├", "┼"};

class Drawing {
 public:
  Drawing(std::size_t lines, std::size_t width) : width_(width), cells_(lines * width, 0) {}

  void across(std::size_t line, std::size_t from, std::size_t to) {
    for (std::size_t x = from; x <= to; ++x) {
      if (x > from) at(line, x) |= kLeftward;
      if (x < to) at(line, x) |= kRightward;
    }
  }
  void down(std::size_t x, std::size_t from, std::size_t to) {
    for (std::size_t line = from; line <= to; ++line) {
      if (line > from) at(line, x) |= kUpward;
      if (line < to) at(line, x) |= kDownward;
    }
  }
  std::string line_text(std::size_t line, std::size_t cut) const {
    std::string text;
    std::size_t end = width_;  // nothing but spaces from here on
    while (end > 0 && cells_[line * width_ + end - 1] == 0 && end - 1 != cut) --end;
    for (std::size_t x = 0; x < end; ++x) {
      const unsigned cell = cells_[line * width_ + x];
      text += cell == 0 && x == cut ? "┊" : kBoxes[cell];
    }
    return text;
  }

 private:
  unsigned& at(std::size_t line, std::size_t x) { return cells_[line * width_ + x]; }

  std::size_t width_;
  std::vector<unsigned> cells_;
};

}  // namespace

std::string dendrogram_text(const Dendrogram& dendrogram, const std::vector<std::string>& labels, double cut,
                            std::size_t width) {
  if (dendrogram.leaves == 0) return "";
  const double highest = dendrogram.merges.empty() ? 1 : std::max(dendrogram.merges.back().height, 1e-12);
  const auto column = [&](double height) {
    return static_cast<std::size_t>(std::lround(std::clamp(height / highest, 0.0, 1.0) * static_cast<double>(width - 1)));
  };
  // Where the line of each cluster stands and how far to the right it has come: a merge goes on in its upper line.
  std::vector<std::size_t> lines(dendrogram.leaves), reached(dendrogram.leaves, 0);
  for (std::size_t line = 0; line < dendrogram.leaves; ++line) lines[dendrogram.order[line]] = line;
  Drawing drawing(dendrogram.leaves, width);
  for (const Merge& merge : dendrogram.merges) {
    const std::size_t x = column(merge.height);
    for (const std::size_t side : {merge.a, merge.b}) drawing.across(lines[side], reached[side], x);
    const auto [upper, lower] = std::minmax(lines[merge.a], lines[merge.b]);
    drawing.down(x, upper, lower);
    lines.push_back(upper);
    reached.push_back(x);
  }
  std::string text;
  std::size_t label_width = 0;
  for (const std::string& label : labels) label_width = std::max(label_width, label.size());
  for (std::size_t line = 0; line < dendrogram.leaves; ++line) {
    text += fmt::format("{:<{}} {}\n", labels[dendrogram.order[line]], label_width, drawing.line_text(line, column(cut)));
  }
  const std::string left = "0", right = fmt::format("{:.2f}", highest);
  text += fmt::format("{:<{}} {}{:>{}}\n", "distance", label_width, left, right, width - left.size());
  return text;
}

}  // namespace tilewright
