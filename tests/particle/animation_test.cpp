#include "tilewright/particle/animation.hpp"

#include <limits>

namespace tilewright {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

const Body kAgent{.x = 0, .y = 0, .radius = 0.15, .kind = Body::Kind::Agent};
const Body kLandmark{.x = 0.5, .y = -0.5, .radius = 0.05, .kind = Body::Kind::Landmark};

TEST(AnimatedSvg, MovesWhatMovesAndNothingElse) {
  Body moved = kAgent;
  moved.x = 0.4;
  const std::string svg = animated_svg({{kAgent, kLandmark}, {moved, kLandmark}}, "a game");
  EXPECT_THAT(svg, HasSubstr("a game</text>"));
  EXPECT_EQ(count(svg, "attributeName=\"cx\""), 1U);  // the agent, along x
  EXPECT_EQ(count(svg, "attributeName=\"cy\""), 0U);
  EXPECT_THAT(svg, HasSubstr("repeatCount=\"indefinite\""));
  EXPECT_THAT(svg, HasSubstr(">step 1 of 1<"));
  EXPECT_EQ(count(svg, "<svg"), count(svg, "</svg>"));
  EXPECT_EQ(count(svg, "<g"), count(svg, "</g>"));
}

TEST(AnimatedSvg, LegendNamesTheKindsThatAreThere) {
  const std::string navigation = animated_svg({{kAgent, kLandmark}}, "x");
  EXPECT_THAT(navigation, HasSubstr(">agent</text>"));
  EXPECT_THAT(navigation, Not(HasSubstr(">obstacle</text>")));
  Body hunter = kAgent, hunted = kAgent;
  hunter.kind = Body::Kind::Adversary;
  hunted.kind = Body::Kind::Prey;
  EXPECT_THAT(animated_svg({{hunter}}, "x"), HasSubstr(">adversary</text>"));
  EXPECT_THAT(animated_svg({{hunter, hunted}}, "x"), HasSubstr(">predator</text>"));
}

TEST(AnimatedSvg, UpIsUp) {
  Body high = kAgent, low = kAgent;
  high.y = 1;
  low.y = -1;
  const auto y_of = [](const Body& body) {
    const std::string svg = animated_svg({{body}}, "x");
    return std::stod(svg.substr(svg.find("cy=\"") + 4));
  };
  EXPECT_LT(y_of(high), y_of(low));
}

TEST(AnimatedSvg, TakesAnyInput) {
  EXPECT_THAT(animated_svg({}, "nothing"), HasSubstr("</svg>"));
  EXPECT_THAT(animated_svg({{}}, "nobody"), HasSubstr("</svg>"));
  EXPECT_THAT(animated_svg({{kAgent}}, "<&>\x01"), HasSubstr("&lt;&amp;>?</text>"));
  Body lost = kAgent;
  lost.x = std::numeric_limits<double>::quiet_NaN();
  lost.y = 1e300;
  EXPECT_THAT(animated_svg({{kAgent}, {lost}}, "x"), Not(HasSubstr("nan")));
  EXPECT_LT(animated_svg({{kAgent}, {lost}}, "x").size(), 5000U);
}

}  // namespace
}  // namespace tilewright
