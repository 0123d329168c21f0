// Who worked when: a lane per worker, a bar for each piece of work, and thin lines for what one piece waited for from
// another. Bars of neighbouring lanes above each other are work at the same time, which is what double buffering is for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilewright {

struct TimelineKind {
  std::string name;  // for the legend
  std::size_t colour = 0;
};

struct TimelineSpan {
  std::size_t lane = 0, kind = 0;
  std::int64_t begin = 0, end = 0;  // [begin, end)
  std::string label{};              // inside the bar: all of it or its last word, where there is room
  std::string title{};              // on hovering
};

// The end of one span made the beginning of another possible. Lines to a later lane are drawn solid, to an earlier one
// dashed.
struct TimelineLink {
  std::size_t from = 0, to = 0;  // indices of spans
};

struct Timeline {
  std::string x_name = "cycles";
  std::vector<std::string> lanes;
  std::vector<TimelineKind> kinds;
  std::vector<TimelineSpan> spans;  // those of a lane follow each other and do not overlap
  std::vector<TimelineLink> links{};
  std::string forward_name{}, backward_name{};  // what links mean, for the legend
  std::int64_t end = 0;
  std::vector<std::pair<std::int64_t, std::string>> marks{};  // times worth a line of their own
  std::string caption{};                                      // below, one line
};

// Inline, for a page. The whole time; and below it, where there is too much to see single bars, a piece from its middle in
// which they can be seen.
std::string to_svg(const Timeline& timeline);
// A file of its own, with a heading.
std::string to_svg_file(const Timeline& timeline, std::string_view heading, std::string_view subheading);

// Cycles in which two lanes both work.
std::int64_t overlap(const Timeline& timeline, std::size_t lane, std::size_t other);

// The steps behind to_svg, for tests.
// What can be told apart at this many cycles per pixel: spans of a lane that are narrower or closer become one, of the kind
// that takes most of it.
std::vector<TimelineSpan> merged(const Timeline& timeline, double cycles_per_pixel);
// The piece worth showing apart: about `most` spans around the middle.
std::pair<std::int64_t, std::int64_t> middle_piece(const Timeline& timeline, std::size_t most);

}  // namespace tilewright
