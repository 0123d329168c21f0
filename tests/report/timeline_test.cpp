#include "tilewright/report/timeline.hpp"

#include "markup.hpp"

namespace tilewright {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Timeline three_lanes() {
  Timeline timeline;
  timeline.lanes = {"load", "compute", "store"};
  timeline.kinds = {{"inputs", 0}, {"GEMM", 1}, {"ALU", 8}, {"results", 2}};
  timeline.forward_name = "ready for";
  timeline.backward_name = "free for";
  return timeline;
}

// Two buffers: load k+1 runs while compute k does, and load k+2 waits until compute k is over.
Timeline double_buffered(std::int64_t tiles) {
  Timeline timeline = three_lanes();
  std::vector<std::size_t> loads, computes;
  for (std::int64_t k = 0; k < tiles; ++k) {
    loads.push_back(timeline.spans.size());
    timeline.spans.push_back({0, 0, 100 * k, 100 * k + 80, "inp", "a load"});
    computes.push_back(timeline.spans.size());
    timeline.spans.push_back({1, 1, 100 * k + 100, 100 * k + 190, "GEMM", "3 < 4 & \"more\""});
    timeline.links.push_back({loads.back(), computes.back()});
    if (k >= 2) timeline.links.push_back({computes[static_cast<std::size_t>(k) - 2], loads.back()});
  }
  timeline.end = 100 * tiles + 100;
  return timeline;
}

TEST(Timeline, AFewSpansAreDrawnOnceWithLabelsAndLinks) {
  const Timeline timeline = double_buffered(4);
  const std::string svg = to_svg(timeline);
  const Markup markup = read_markup(svg);
  ASSERT_EQ(markup.error, "") << svg;
  EXPECT_EQ(markup.count("rect", "cell"), 8u);
  EXPECT_EQ(markup.count("path", "axis"), 6u);  // 4 tokens forward, 2 back
  EXPECT_EQ(markup.count("text", "small"), 8u);
  EXPECT_THAT(svg, HasSubstr("ready for"));
  EXPECT_THAT(svg, Not(HasSubstr("ALU"))) << "the legend has only what is drawn";
  double load_x = -1, compute_x = -1, load_y = -1, compute_y = -1;
  for (const Element& element : markup.elements) {
    if (element.name != "rect" || !element.attributes.contains("class")) continue;
    const double x = std::stod(element.attributes.at("x")), y = std::stod(element.attributes.at("y"));
    const bool is_load = element.attributes.at("style") == "fill:var(--c0)";
    (is_load ? load_x : compute_x) = x;  // the last of each stays
    (is_load ? load_y : compute_y) = y;
  }
  EXPECT_LT(load_y, compute_y);
  EXPECT_NEAR(compute_x - load_x, 810.0 * 100 / 500, 0.02);
}

TEST(Timeline, ManySpansHaveAnOverviewAndAPieceOfTheMiddle) {
  const Timeline timeline = double_buffered(5'000);
  const std::string svg = to_svg(timeline);
  const Markup markup = read_markup(svg);
  ASSERT_EQ(markup.error, "");
  EXPECT_EQ(markup.count("path", "whole"), 2u) << "a shape for loads, one for GEMM";
  EXPECT_LT(svg.size(), 30'000u) << "no more than there are pixels to show";
  EXPECT_LE(markup.count("rect", "cell"), 36u);
  EXPECT_GE(markup.count("text", "small"), 30u);
  const auto [low, high] = middle_piece(timeline, 32);
  EXPECT_GT(low, 240'000);
  EXPECT_LT(high, 260'000);
  EXPECT_THAT(svg, HasSubstr("the framed piece"));
}

TEST(Timeline, NothingIsLostWhenSpansMerge) {
  Timeline timeline = three_lanes();
  std::int64_t at = 0, work = 0;
  for (int i = 0; i < 3'000; ++i) {
    const std::int64_t length = i % 7 + 1, gap = i % 100 == 0 ? 500 : i % 2;
    at += gap;
    timeline.spans.push_back({1, i % 3 == 0 ? std::size_t{2} : std::size_t{1}, at, at + length, "", ""});
    at += length;
    work += length;
  }
  timeline.end = at;
  const double cycles_per_pixel = 30;
  const std::vector<TimelineSpan> spans = merged(timeline, cycles_per_pixel);
  EXPECT_LT(spans.size(), 1'000u);
  std::int64_t covered = 0, end = 0;
  for (const TimelineSpan& span : spans) {
    EXPECT_GE(span.begin, end);
    end = span.end;
    covered += span.end - span.begin;
  }
  EXPECT_EQ(end, timeline.end);
  EXPECT_GE(covered, work);
  EXPECT_LE(covered, work + 1'500) << "gaps of one cycle are closed, those of 500 are not";

  // At full resolution nothing changes.
  const std::vector<TimelineSpan> same = merged(timeline, 0.001);
  ASSERT_EQ(same.size(), timeline.spans.size());
  EXPECT_EQ(same[17].begin, timeline.spans[17].begin);
}

TEST(Timeline, OverlapCountsTheCyclesInWhichBothWork) {
  const Timeline timeline = double_buffered(100);
  EXPECT_EQ(overlap(timeline, 0, 1), 99 * 80);
  EXPECT_EQ(overlap(timeline, 1, 0), 99 * 80);
  EXPECT_EQ(overlap(timeline, 0, 2), 0);

  // Against counting cycle by cycle.
  Timeline ragged = three_lanes();
  std::vector<int> busy(4'000);
  for (std::size_t lane = 0; lane < 2; ++lane) {
    std::int64_t at = static_cast<std::int64_t>(lane) * 3;
    for (std::int64_t i = 0; at < 3'900; ++i) {
      const std::int64_t length = (i * 37 + static_cast<std::int64_t>(lane) * 11) % 23 + 1;
      ragged.spans.push_back({lane, lane, at, at + length, "", ""});
      for (std::int64_t cycle = at; cycle < at + length; ++cycle) ++busy[static_cast<std::size_t>(cycle)];
      at += length + (i * 13) % 17;
    }
  }
  ragged.end = 4'000;
  EXPECT_EQ(overlap(ragged, 0, 1), std::ranges::count(busy, 2));
}

TEST(Timeline, AFileStandsAlone) {
  const std::string svg = to_svg_file(double_buffered(200), "a < b", "sub & heading");
  const Markup markup = read_markup(svg);
  ASSERT_EQ(markup.error, "");
  EXPECT_EQ(markup.elements[0].attributes.at("xmlns"), "http://www.w3.org/2000/svg");
  EXPECT_EQ(markup.count("style"), 1u);
  EXPECT_THAT(svg, HasSubstr("a &lt; b"));
  EXPECT_THAT(svg, HasSubstr("--c0:"));
}

TEST(Timeline, NothingAtAllIsStillAPicture) {
  Timeline timeline = three_lanes();
  EXPECT_EQ(read_markup(to_svg(timeline)).error, "");
  EXPECT_EQ(overlap(timeline, 0, 1), 0);
}

}  // namespace
}  // namespace tilewright
