#include "tilewright/particle/animation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

constexpr double kMargin = 20, kSide = 440, kTop = 52;  // of the square the bodies are in, in pixels
constexpr double kBottom = kTop + kSide, kWidth = kSide + 2 * kMargin;
constexpr double kHeight = kBottom + 64;
constexpr std::size_t kHeld = 6;  // steps for which the last frame stays

struct Look {
  Body::Kind kind;
  std::string_view name, fill, outline;
  double opacity;
  std::string attributes() const {
    return fmt::format("fill=\"{}\" fill-opacity=\"{}\" stroke=\"{}\"", fill, opacity, outline);
  }
};
// In the order in which they are painted, one over the other.
constexpr std::array<Look, 5> kLooks = {{
    {Body::Kind::Obstacle, "obstacle", "#6b7684", "#4f5965", 1},
    {Body::Kind::Landmark, "landmark", "#f2b134", "#b97f0a", 0.55},
    {Body::Kind::Agent, "agent", "#4c78a8", "#2f5680", 0.85},
    {Body::Kind::Prey, "prey", "#54a24b", "#2f6f28", 0.9},
    {Body::Kind::Adversary, "adversary", "#e45756", "#a32f2e", 0.85},
}};

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    if (c == '<') {
      result += "&lt;";
    } else if (c == '&') {
      result += "&amp;";
    } else {
      result += c;
    }
  }
  return result;
}

// From the plane to pixels.
struct Camera {
  double half = 1.5;  // the square shows [-half, half]²
  double scale() const { return kSide / (2 * half); }
  double x(const Body& body) const { return kMargin + (finite(body.x) + half) * scale(); }
  double y(const Body& body) const { return kTop + (half - finite(body.y)) * scale(); }

  // Bodies that fly off must not take the picture along, nor numbers that no picture can hold.
  double finite(double coordinate) const {
    return std::isfinite(coordinate) ? std::clamp(coordinate, -3 * half, 3 * half) : 3 * half;
  }
};

Camera fitted_camera(const std::vector<std::vector<Body>>& frames) {
  double most = 1.15;
  for (const std::vector<Body>& frame : frames) {
    for (const Body& body : frame) {
      most = std::fmax(most, std::fmax(std::abs(body.x), std::abs(body.y)) + body.radius + 0.02);
    }
  }
  return {.half = std::fmin(most, 2)};
}

class Film {
 public:
  Film(const std::vector<std::vector<Body>>& frames, double seconds_per_step)
      : frames_(frames), camera_(fitted_camera(frames)), seconds_(seconds_per_step) {}

  // <animate> of an attribute through all frames; nothing when it never changes.
  template <typename Value>
  std::string animate(std::string_view attribute, const Value& value) const {
    std::string values = fmt::format("{:.1f}", value(0));
    bool moves = false;
    for (std::size_t t = 1; t < frames_.size() + kHeld; ++t) {
      const double now = value(std::min(t, frames_.size() - 1));
      moves = moves || now != value(0);
      values += fmt::format(";{:.1f}", now);
    }
    if (!moves) return "";
    return fmt::format("<animate attributeName=\"{}\" values=\"{}\" {}/>", attribute, values, timing());
  }

  std::string timing() const {
    const double seconds = seconds_ * static_cast<double>(frames_.size() + kHeld - 1);
    return fmt::format("dur=\"{:.2f}s\" repeatCount=\"indefinite\"", seconds);
  }

  std::string arena() const {
    const double edge = camera_.scale();  // one unit of length
    return fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"none\" stroke=\"#cfd6de\" "
        "stroke-dasharray=\"3 5\"/>\n",
        kMargin + (camera_.half - 1) * edge, kTop + (camera_.half - 1) * edge, 2 * edge, 2 * edge);
  }

  std::string path(std::size_t index, std::string_view colour) const {
    std::string points;
    for (const std::vector<Body>& frame : frames_) {
      points += fmt::format("{:.1f},{:.1f} ", camera_.x(frame[index]), camera_.y(frame[index]));
    }
    points.pop_back();
    return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-opacity=\"0.3\"/>\n", points, colour);
  }

  std::string body(std::size_t index, std::string_view attributes) const {
    const Body& first = frames_[0][index];
    return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" {}>{}{}</circle>\n", camera_.x(first),
                       camera_.y(first), first.radius * camera_.scale(), attributes,
                       animate("cx", [&](std::size_t t) { return camera_.x(frames_[t][index]); }),
                       animate("cy", [&](std::size_t t) { return camera_.y(frames_[t][index]); }));
  }

  // A bar that fills up, and the number of the step: a strip of numbers that jumps by one behind a window.
  std::string progress() const {
    constexpr double kLine = 20, kRight = kMargin + kSide;
    const std::size_t last = frames_.size() - 1;
    const auto done = [&](std::size_t t) {
      return last == 0 ? 0 : kSide * static_cast<double>(t) / static_cast<double>(last);
    };
    std::string svg = fmt::format(
        "<rect x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"{2:.1f}\" height=\"4\" rx=\"2\" fill=\"#e3e8ee\"/>\n"
        "<rect x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"0\" height=\"4\" rx=\"2\" fill=\"#8894a3\">{3}</rect>\n",
        kMargin, kBottom + 10, kSide, animate("width", done));
    std::string jumps, numbers;
    for (std::size_t t = 0; t <= last; ++t) {
      jumps += fmt::format("0 -{:.0f};", kLine * static_cast<double>(t));
      numbers += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">step {} of {}</text>\n", kRight,
                             kTop - 16 + kLine * static_cast<double>(t), t, last);
    }
    for (std::size_t t = 0; t < kHeld; ++t) jumps += fmt::format("0 -{:.0f};", kLine * static_cast<double>(last));
    jumps.pop_back();
    return svg + fmt::format(
                     "<clipPath id=\"tilewright-window\"><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"140\" "
                     "height=\"{:.1f}\"/></clipPath>\n"
                     "<g clip-path=\"url(#tilewright-window)\" fill=\"#5c6773\"><g>\n{}"
                     "<animateTransform attributeName=\"transform\" type=\"translate\" calcMode=\"discrete\" values=\"{}\" "
                     "{}/></g></g>\n",
                     kRight - 140, kTop - 30, kLine, numbers, jumps, timing());
  }

  std::string bodies() const {
    const bool hunts = has(Body::Kind::Prey);
    std::string svg, legend;
    double x = kMargin;
    for (const Look& look : kLooks) {
      if (!has(look.kind)) continue;
      for (std::size_t i = 0; i < frames_[0].size(); ++i) {
        if (frames_[0][i].kind != look.kind) continue;
        const bool stays = look.kind == Body::Kind::Landmark || look.kind == Body::Kind::Obstacle;
        svg += (stays ? "" : path(i, look.outline)) + body(i, look.attributes());
      }
      const std::string_view name = hunts && look.kind == Body::Kind::Adversary ? "predator" : look.name;
      legend += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"6\" {}/>\n<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                            x + 6, kBottom + 38, look.attributes(), x + 18, kBottom + 42, name);
      x += 100;
    }
    return fmt::format(
        "<clipPath id=\"tilewright-square\"><rect x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"{2:.1f}\" height=\"{2:.1f}\" "
        "rx=\"6\"/></clipPath>\n<g clip-path=\"url(#tilewright-square)\">\n{3}</g>\n{4}",
        kMargin, kTop, kSide, svg, legend);
  }

 private:
  bool has(Body::Kind kind) const {
    return std::ranges::any_of(frames_[0], [kind](const Body& body) { return body.kind == kind; });
  }

  const std::vector<std::vector<Body>>& frames_;
  Camera camera_;
  double seconds_;
};

}  // namespace

std::string animated_svg(const std::vector<std::vector<Body>>& frames, const std::string& title, double seconds_per_step) {
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n"
      "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" rx=\"8\" fill=\"#fff\"/>\n"
      "<rect x=\"{2:.1f}\" y=\"{3:.1f}\" width=\"{4:.1f}\" height=\"{4:.1f}\" rx=\"6\" fill=\"#f5f7f9\" "
      "stroke=\"#dbe1e7\"/>\n"
      "<text x=\"{2:.1f}\" y=\"{5:.1f}\" font-size=\"15\" font-weight=\"bold\">{6}</text>\n",
      kWidth, kHeight, kMargin, kTop, kSide, kTop - 18, escaped(title));
  if (!frames.empty()) {
    TW_ASSERT(std::ranges::all_of(frames, [&](const auto& frame) { return frame.size() == frames[0].size(); }));
    const Film film(frames, seconds_per_step);
    svg += film.arena() + film.bodies() + film.progress();
  }
  return svg + "</svg>\n";
}

}  // namespace tilewright
