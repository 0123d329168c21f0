#include "tilewright/report/plot.hpp"

#include <cmath>
#include <limits>

#include "markup.hpp"
#include "tilewright/report/matrix_plot.hpp"

namespace tilewright {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Ticks, AreRound) {
  EXPECT_THAT(ticks(0, 1000, 5), ElementsAre(0, 200, 400, 600, 800, 1000));
  EXPECT_THAT(ticks(3, 3, 5), ElementsAre(3));
  EXPECT_THAT(logarithmic_ticks(1, 10'000, 6), ElementsAre(1, 10, 100, 1000, 10'000));
  EXPECT_THAT(logarithmic_ticks(1, 100, 6), ElementsAre(1, 3, 10, 30, 100));
  EXPECT_THAT(logarithmic_ticks(0.9, 11, 6), ElementsAre(1, 2, 3, 5, 10));
  EXPECT_THAT(logarithmic_ticks(1, 1.4, 4),
              ElementsAre(1, DoubleNear(1.1, 1e-9), DoubleNear(1.2, 1e-9), DoubleNear(1.3, 1e-9), DoubleNear(1.4, 1e-9)));
  EXPECT_LE(logarithmic_ticks(1e-9, 1e15, 5).size(), 6u);
}

TEST(Axis, GivesDecadesTheSameRoom) {
  const Axis axis{1, 1000, Scale::Logarithmic, 100, 400};
  EXPECT_NEAR(axis(1), 100, 1e-9);
  EXPECT_NEAR(axis(10), 200, 1e-9);
  EXPECT_NEAR(axis(1000), 400, 1e-9);
  EXPECT_FALSE(axis.shows(0));
  EXPECT_FALSE(axis.shows(kNan));
  const Axis linear{0, 10, Scale::Linear, 300, 0};
  EXPECT_NEAR(linear(2.5), 225, 1e-9);
  EXPECT_TRUE(linear.shows(-1));
}

TEST(LinePlot, StepsHoldUntilTheNextValue) {
  LinePlot plot{"samples", "edp", {1, 10, 100}, {{"a", 2, {100, 10, 1}}}, 0, ""};
  plot.x_scale = plot.y_scale = Scale::Logarithmic;
  EXPECT_THAT(to_svg(plot), Not(HasSubstr("H")));
  plot.steps = true;
  const Markup markup = read_markup(to_svg(plot));
  ASSERT_EQ(markup.error, "");
  EXPECT_EQ(markup.count("circle", "dot"), 3u);
  for (const Element& element : markup.elements) {
    if (element.name != "path") continue;
    // Along at the old value first, down then.
    EXPECT_THAT(element.attributes.at("d"), ::testing::MatchesRegex("M74.0 [0-9.]+H479.0V[0-9.]+H884.0V[0-9.]+"));
  }
  EXPECT_THAT(to_svg(plot), HasSubstr("<title>a: 10 at 10 samples</title>"));
}

TEST(LinePlot, HasNoPlaceForWhatItCannotShow) {
  LinePlot plot{"x", "y", {0, 1, 2, 3}, {{"a", 0, {5, 0, kNan, 7}}}, 0, ""};
  EXPECT_EQ(read_markup(to_svg(plot)).count("circle"), 3u);
  plot.y_scale = Scale::Logarithmic;
  EXPECT_EQ(read_markup(to_svg(plot)).count("circle"), 2u);
  EXPECT_THAT(to_svg(plot), Not(HasSubstr("nan")));
  EXPECT_THAT(to_svg(plot), Not(HasSubstr("inf")));
  plot.series[0].y = {-1, kNan, 0, -2};
  EXPECT_THAT(to_svg(plot), HasSubstr("Nothing to draw"));
}

TEST(LinePlot, FaintSeriesAreBehindAndShareALegend) {
  LinePlot plot{"x", "y", {}, {}, 0, ""};
  plot.series.push_back({"front", 0, {1, 2}, {0, 1}});
  plot.series.push_back({"b & c", kGrey, {2, 1}, {0, 5}, true});
  plot.series.push_back({"d", kGrey, {3}, {2}, true});
  const std::string svg = to_svg(plot);
  EXPECT_EQ(read_markup(svg).error, "");
  EXPECT_LT(svg.find("b &amp; c"), svg.find("front"));
  const std::string html = legend(plot.series, "2 others");
  EXPECT_THAT(html, HasSubstr("front"));
  EXPECT_THAT(html, HasSubstr("2 others"));
  EXPECT_THAT(html, Not(HasSubstr("b &amp; c")));
  EXPECT_EQ(read_markup(html).count("i"), 2u);
}

TEST(BandPlot, ShadesBetweenLowAndHigh) {
  BandPlot plot{"samples", "edp", {1, 2, 3, 4, 5}, {{"agents", 1, {5, 4, kNan, 2, 1}, {4, 3, 2, 1, 1}, {6, 5, 4, 3, 2}}}};
  plot.marks = {{1.1, "1.10×"}, {1.09, "1.09×"}};
  const Markup markup = read_markup(to_svg(plot));
  ASSERT_EQ(markup.error, "");
  EXPECT_EQ(markup.count("path", "band"), 2u) << "a gap in the middle";
  EXPECT_EQ(markup.count("circle"), 4u);
  EXPECT_THAT(to_svg(plot), HasSubstr("<title>agents: 4 (3 … 5) at 2 samples</title>"));
  std::vector<double> names;
  for (const Element& element : markup.elements) {
    if (element.text.ends_with("×")) names.push_back(std::stod(element.attributes.at("y")));
  }
  ASSERT_EQ(names.size(), 2u);
  EXPECT_GE(names[1] - names[0], 14) << "names of near marks do not overlap";
}

TEST(DotPlot, ShowsEstimatesAndTheirIntervals) {
  const DotPlot plot{"× of agents",
                     {{"agents", 0, 1, 1, 1}, {"a<b", 1, 2, 1.5, 3}, {"none", 2, kNan, kNan, kNan}},
                     1,
                     "as good",
                     Scale::Logarithmic};
  const Markup markup = read_markup(to_svg(plot));
  ASSERT_EQ(markup.error, "");
  EXPECT_EQ(markup.count("circle"), 2u);
  EXPECT_EQ(markup.count("line", "interval"), 1u);
  EXPECT_THAT(to_svg(plot), HasSubstr("a&lt;b: 2.000 (1.500 … 3.000)"));
  EXPECT_THAT(to_svg(plot), HasSubstr("none: –"));
}

TEST(SharePlot, ColumnsFillUp) {
  const SharePlot plot{"episodes", {0, 10, 20}, {{"a", 0, {1, 0}}, {"b", 1, {3, 0}}}};
  const Markup markup = read_markup(to_svg(plot));
  ASSERT_EQ(markup.error, "");
  EXPECT_EQ(markup.count("rect"), 2u) << "nothing in the second column";
  EXPECT_THAT(to_svg(plot), HasSubstr("b: 75.0 % of the time from 0 to 10 episodes"));
}

TEST(HeatMap, HasACellForEveryNumber) {
  const HeatMap map{{"a", "b&"}, {"x", "y", "z"}, {0, 0.5, 1, kNan, -0.25, 2}, "index"};
  const Markup markup = read_markup(to_svg(map));
  ASSERT_EQ(markup.error, "");
  EXPECT_EQ(markup.count("rect", "cell"), 5u) << "one is not a number";
  EXPECT_THAT(to_svg(map), HasSubstr("<title>index of b&amp; and y: -0.250</title>"));
  EXPECT_THAT(to_svg(map), HasSubstr(">0.50</text>"));
}

// a and c depend on each other, b on neither: drawn as a, c, b.
ClusterMap three_parameters() {
  return {{"a", "b", "c"}, {1, 0.1, 0.9, 0.1, 1, 0.2, 0.9, 0.2, 1}, {{0, 2, 0.1}, {1, 3, 0.85}}, {0, 2, 1}, {0, 1, 0}, 0.5};
}

TEST(ClusterMap, FramesEveryCluster) {
  const Markup markup = read_markup(to_svg(three_parameters()));
  ASSERT_EQ(markup.error, "");
  EXPECT_EQ(markup.count("rect", "cell"), 9u);
  EXPECT_EQ(markup.count("path", "line"), 2u);
  std::vector<double> sides;
  std::vector<std::string> colours;
  for (const Element& element : markup.elements) {
    if (element.attributes.contains("class") && element.attributes.at("class") == "frame") {
      sides.push_back(std::stod(element.attributes.at("width")));
    }
    if (element.name == "path") colours.push_back(element.attributes.at("style"));
  }
  EXPECT_THAT(sides, ElementsAre(67, 33)) << "two parameters, and one";
  EXPECT_THAT(colours, ElementsAre("--c:var(--c0)", "--c:var(--muted)")) << "within a cluster, and between two";
}

TEST(ClusterMap, RowsFollowTheOrder) {
  std::vector<std::string> labels;
  for (const Element& element : read_markup(to_svg(three_parameters())).elements) {
    if (element.name == "text" && element.attributes.at("class") == "small ink" && element.text.size() == 1) {
      labels.push_back(element.text);
    }
  }
  EXPECT_THAT(labels, ElementsAre("a", "c", "b"));
}

TEST(ClusterMap, NeedsNoDendrogram) {
  ClusterMap map = three_parameters();
  map.merges.clear();
  const Markup markup = read_markup(to_svg(map));
  EXPECT_EQ(markup.error, "");
  EXPECT_EQ(markup.count("path"), 0u);
  EXPECT_THAT(to_svg(ClusterMap{}), HasSubstr("Nothing to draw"));
}

}  // namespace
}  // namespace tilewright
