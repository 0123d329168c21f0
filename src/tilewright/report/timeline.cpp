#include "tilewright/report/timeline.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/report/axes.hpp"
#include "tilewright/report/page.hpp"

namespace tilewright {
namespace {

constexpr std::size_t kMostSingle = 48;  // more bars than this need a piece of their own to be seen
constexpr std::size_t kPieceSpans = 32;
constexpr double kWidth = 900, kLeft = 74, kRight = 16, kLegend = 26;
constexpr double kLabelLetter = 6.4;  // of a label

struct PanelStyle {
  double lane_height, gap;
};
constexpr PanelStyle kWhole{.lane_height = 22, .gap = 6};
constexpr PanelStyle kPiece{.lane_height = 26, .gap = 30};

struct TimelinePanel {
  PanelStyle style;
  double top;
  Axis x;

  double lane_top(std::size_t lane) const { return top + static_cast<double>(lane) * (style.lane_height + style.gap); }
  double bottom(std::size_t lanes) const { return lane_top(lanes) - style.gap; }
  double at(std::int64_t cycle) const { return std::clamp(x(static_cast<double>(cycle)), x.from, x.to); }
};

double height_of(const PanelStyle& style, std::size_t lanes) {
  return static_cast<double>(lanes) * (style.lane_height + style.gap) - style.gap + 40;
}

std::string draw_grid(const Timeline& timeline, const TimelinePanel& panel, std::string_view name) {
  const double base = panel.bottom(timeline.lanes.size()) + 6;
  std::string svg;
  for (const double value : panel.x.ticks(8)) {
    const double x = panel.x(value);
    svg += fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>", x,
                       panel.top - 4, base);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x, base + 15, tick_text(value));
  }
  svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", panel.x.to, base + 30,
                     html_escaped(name));
  for (std::size_t lane = 0; lane < timeline.lanes.size(); ++lane) {
    svg += fmt::format("<text class=\"ink\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", panel.x.from - 8,
                       panel.lane_top(lane) + panel.style.lane_height / 2 + 4, html_escaped(timeline.lanes[lane]));
  }
  for (const auto& [cycle, mark] : timeline.marks) {
    const auto value = static_cast<double>(cycle);
    if (value < panel.x.low || value > panel.x.high) continue;
    svg += fmt::format(
        "<line class=\"mark\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"><title>{3}</title></line>\n",
        panel.x(value), panel.top - 4, base, html_escaped(mark));
  }
  return svg;
}

std::string draw_span(const Timeline& timeline, const TimelinePanel& panel, const TimelineSpan& span) {
  const double x = panel.at(span.begin), width = std::max(0.6, panel.at(span.end) - x);
  const double y = panel.lane_top(span.lane);
  // A line of background between bars that touch.
  std::string svg = fmt::format(
      "<rect class=\"cell\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" style=\"fill:var(--c{})\"><title>{}"
      "</title></rect>",
      x, y, width > 3 ? width - 0.8 : width, panel.style.lane_height, timeline.kinds[span.kind].colour,
      html_escaped(span.title));
  const auto fits = [&](const std::string& text) { return kLabelLetter * static_cast<double>(text.size()) + 4 < width; };
  // The last word of a label that is too long is its number.
  std::string label = span.label;
  if (!fits(label)) label = label.substr(label.find_last_of(' ') + 1);
  if (!label.empty() && fits(label)) {
    svg += fmt::format(
        "<text class=\"small on\" pointer-events=\"none\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>",
        x + width / 2, y + panel.style.lane_height / 2 + 4, html_escaped(label));
  }
  return svg + "\n";
}

std::string draw_links(const Timeline& timeline, const TimelinePanel& panel) {
  std::string svg;
  for (const TimelineLink& link : timeline.links) {
    const TimelineSpan &from = timeline.spans[link.from], &to = timeline.spans[link.to];
    const auto visible = [&](std::int64_t cycle) {
      return static_cast<double>(cycle) >= panel.x.low && static_cast<double>(cycle) <= panel.x.high;
    };
    if (from.lane == to.lane || !visible(from.end) || !visible(to.begin)) continue;
    const bool down = from.lane < to.lane;
    const double x1 = panel.at(from.end) - 1, x2 = panel.at(to.begin) + 1;
    const double y1 = panel.lane_top(from.lane) + (down ? panel.style.lane_height : 0);
    const double y2 = panel.lane_top(to.lane) + (down ? 0 : panel.style.lane_height);
    svg += fmt::format(
        "<path class=\"axis\" fill=\"none\" pointer-events=\"none\"{} d=\"M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} "
        "{:.1f}\"/>\n",
        down ? "" : " stroke-dasharray=\"3 3\"", x1, y1, x1, (y1 + y2) / 2, x2, (y1 + y2) / 2, x2, y2);
  }
  return svg;
}

// Entries from left to right.
class LegendRow {
 public:
  LegendRow(double x, double y) : x_(x), y_(y) {}
  void add_kind(const TimelineKind& kind) {
    svg_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\" style=\"fill:var(--c{})\"/>", x_, y_,
                        kind.colour);
    x_ += 18;
    add_text(kind.name);
  }
  void add_line(std::string_view dashes, std::string_view name) {
    svg_ +=
        fmt::format("<line class=\"axis\" stroke-dasharray=\"{}\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>",
                    dashes, x_, x_ + 22, y_ + 6, y_ + 6);
    x_ += 28;
    add_text(name);
  }
  const std::string& svg() const { return svg_; }

 private:
  void add_text(std::string_view text) {
    svg_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x_, y_ + 10, html_escaped(text));
    x_ += 6.9 * static_cast<double>(text.size()) + 18;
  }

  double x_, y_;
  std::string svg_;
};

std::string draw_kinds(const Timeline& timeline, double y) {
  LegendRow row(kLeft, y);
  for (std::size_t kind = 0; kind < timeline.kinds.size(); ++kind) {
    const bool used = std::ranges::any_of(timeline.spans, [&](const TimelineSpan& span) { return span.kind == kind; });
    if (used) row.add_kind(timeline.kinds[kind]);
  }
  return row.svg();
}

// Below the panel that has the links.
std::string draw_link_names(const Timeline& timeline, const TimelinePanel& panel) {
  if (timeline.links.empty()) return "";
  LegendRow row(kLeft, panel.bottom(timeline.lanes.size()) + 26);
  if (!timeline.forward_name.empty()) row.add_line("none", timeline.forward_name);
  if (!timeline.backward_name.empty()) row.add_line("3 3", timeline.backward_name);
  return row.svg();
}

struct Drawing {
  std::string svg;  // without the element around it
  double height = 0;
};

TimelinePanel panel_of(const PanelStyle& style, double top, std::int64_t low, std::int64_t high) {
  const auto first = static_cast<double>(low), last = static_cast<double>(std::max(high, low + 1));
  return {style, top, Axis{first, last, Scale::Linear, kLeft, kWidth - kRight}};
}

// Every span between the ends of the panel by itself.
std::string draw_single(const Timeline& timeline, const TimelinePanel& panel, std::string_view x_name) {
  std::string svg = draw_grid(timeline, panel, x_name) + draw_links(timeline, panel) + draw_link_names(timeline, panel);
  for (const TimelineSpan& span : timeline.spans) {
    const bool visible = static_cast<double>(span.end) > panel.x.low && static_cast<double>(span.begin) < panel.x.high;
    if (visible) svg += draw_span(timeline, panel, span);
  }
  return svg;
}

// A shape per kind: the bars are too many and too thin to be looked at one by one.
std::string draw_whole(const Timeline& timeline, const TimelinePanel& panel) {
  std::vector<std::string> shapes(timeline.kinds.size());
  for (const TimelineSpan& span : merged(timeline, (panel.x.high - panel.x.low) / (panel.x.to - panel.x.from))) {
    const double x = panel.at(span.begin), width = std::max(0.6, panel.at(span.end) - x);
    shapes[span.kind] += fmt::format("M{:.1f} {:.0f}h{:.1f}v{:.0f}h-{:.1f}z", x, panel.lane_top(span.lane), width,
                                     panel.style.lane_height, width);
  }
  std::string svg;
  for (std::size_t kind = 0; kind < shapes.size(); ++kind) {
    if (shapes[kind].empty()) continue;
    svg += fmt::format("<path class=\"whole\" style=\"fill:var(--c{})\" d=\"{}\"><title>{}</title></path>\n",
                       timeline.kinds[kind].colour, shapes[kind], html_escaped(timeline.kinds[kind].name));
  }
  return svg;
}

Drawing draw(const Timeline& timeline, double top) {
  const std::size_t lanes = timeline.lanes.size();
  Drawing drawing{draw_kinds(timeline, top), top + kLegend};
  if (timeline.spans.size() <= kMostSingle) {
    drawing.svg += draw_single(timeline, panel_of(kPiece, drawing.height, 0, timeline.end), timeline.x_name);
  } else {
    const TimelinePanel whole = panel_of(kWhole, drawing.height, 0, timeline.end);
    drawing.svg += draw_grid(timeline, whole, timeline.x_name);
    drawing.svg += draw_whole(timeline, whole);
    drawing.height += height_of(kWhole, lanes) + 18;
    const auto [low, high] = middle_piece(timeline, kPieceSpans);
    const double x1 = whole.at(low), x2 = std::max(whole.at(high), x1 + 2), base = whole.bottom(lanes) + 4;
    const TimelinePanel piece = panel_of(kPiece, drawing.height, low, high);
    drawing.svg += fmt::format(
        "<rect x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"{2:.1f}\" height=\"{3:.1f}\" fill=\"none\" style=\"stroke:var(--ink)\"/>"
        "<path class=\"mark\" fill=\"none\" d=\"M{0:.1f} {4:.1f}L{5:.1f} {6:.1f}M{7:.1f} {4:.1f}L{8:.1f} {6:.1f}\"/>\n",
        x1, whole.top - 4, x2 - x1, base - whole.top + 4, base, piece.x.from, piece.top - 4, x2, piece.x.to);
    drawing.svg += draw_single(timeline, piece, fmt::format("{}, the framed piece", timeline.x_name));
  }
  drawing.height += height_of(kPiece, lanes);
  if (!timeline.caption.empty()) {
    drawing.svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", kLeft, drawing.height + 14,
                               html_escaped(timeline.caption));
    drawing.height += 24;
  }
  return drawing;
}

std::string label_of(const Timeline& timeline) {
  return fmt::format("{} spans of work in {} lanes over {} {}",
                     with_thousands(static_cast<std::int64_t>(timeline.spans.size())), timeline.lanes.size(),
                     with_thousands(timeline.end), timeline.x_name);
}

}  // namespace

std::vector<TimelineSpan> merged(const Timeline& timeline, double cycles_per_pixel) {
  const double near = 0.5 * cycles_per_pixel;
  struct Merging {
    TimelineSpan span;
    std::vector<std::int64_t> by_kind;
    std::int64_t count = 0;
  };
  std::vector<TimelineSpan> result;
  std::vector<Merging> open(timeline.lanes.size());
  const auto close = [&](Merging& merging) {
    if (merging.count == 0) return;
    merging.span.kind = static_cast<std::size_t>(std::ranges::max_element(merging.by_kind) - merging.by_kind.begin());
    result.push_back(merging.span);
    merging.count = 0;
  };
  for (const TimelineSpan& span : timeline.spans) {
    Merging& merging = open[span.lane];
    const auto length = [](const TimelineSpan& s) { return static_cast<double>(s.end - s.begin); };
    const bool close_by = static_cast<double>(span.begin - merging.span.end) < near;
    // Bars of one kind may be seen as several from two pixels on.
    const double narrow = span.kind == merging.span.kind ? 2 * cycles_per_pixel : near;
    const bool joins = merging.count > 0 && close_by && (length(span) < narrow || length(merging.span) < narrow);
    if (!joins) {
      close(merging);
      merging = {span, std::vector<std::int64_t>(timeline.kinds.size()), 0};
    }
    merging.span.end = span.end;
    merging.by_kind[span.kind] += span.end - span.begin;
    ++merging.count;
  }
  for (Merging& merging : open) close(merging);
  return result;
}

std::pair<std::int64_t, std::int64_t> middle_piece(const Timeline& timeline, std::size_t most) {
  if (timeline.spans.size() <= most) return {0, timeline.end};
  std::vector<std::int64_t> begins;
  for (const TimelineSpan& span : timeline.spans) begins.push_back(span.begin);
  std::ranges::sort(begins);
  const std::size_t first = (begins.size() - most) / 2;
  return {begins[first], std::max(begins[first + most], begins[first] + 1)};
}

std::int64_t overlap(const Timeline& timeline, std::size_t lane, std::size_t other) {
  std::vector<const TimelineSpan*> one, two;
  for (const TimelineSpan& span : timeline.spans) {
    if (span.lane == lane) one.push_back(&span);
    if (span.lane == other) two.push_back(&span);
  }
  std::int64_t sum = 0;
  for (std::size_t i = 0, k = 0; i < one.size() && k < two.size();) {
    sum += std::max<std::int64_t>(0, std::min(one[i]->end, two[k]->end) - std::max(one[i]->begin, two[k]->begin));
    ++(one[i]->end < two[k]->end ? i : k);
  }
  return sum;
}

std::string to_svg(const Timeline& timeline) {
  const Drawing drawing = draw(timeline, 4);
  return open_svg({.width = kWidth, .height = drawing.height}, label_of(timeline)) + drawing.svg + "</svg>\n";
}

std::string to_svg_file(const Timeline& timeline, std::string_view heading, std::string_view subheading) {
  // The page's style, so that colours have one definition.
  const std::string around = page("", "");
  const std::size_t style = around.find("<style>"), style_end = around.find("</style>");
  const Drawing drawing = draw(timeline, 66);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" font-family=\"system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif\" role=\"img\" "
      "aria-label=\"{2}\">\n{3}</style>\n<rect width=\"100%\" height=\"100%\" style=\"fill:var(--page)\"/>\n"
      "<text class=\"ink\" x=\"16\" y=\"28\" style=\"font-size:17px;font-weight:600\">{4}</text>\n"
      "<text x=\"16\" y=\"48\">{5}</text>\n{6}</svg>\n",
      kWidth, drawing.height, html_escaped(label_of(timeline)), around.substr(style, style_end - style),
      html_escaped(heading), html_escaped(subheading), drawing.svg);
}

}  // namespace tilewright
