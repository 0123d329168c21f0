#include "tilewright/search/exhaustive.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tilewright {
namespace {

class ExhaustiveSearcher final : public PointSearcher {
 public:
  ExhaustiveSearcher(const DesignSpace& space, const ExhaustiveOptions& options)
      : space_(space), options_(options), path_(space.parameters().size()), point_(path_.size()) {
    descend(0);
  }

  void ask(std::size_t most, std::vector<Point>& points) override {
    const std::size_t end = points.size() + std::min(most, static_cast<std::size_t>(options_.batch));
    while (points.size() < end && !ended_) {
      canonical_ = point_;
      space_.canonicalise(canonical_);
      if (canonical_ == point_) points.push_back(point_);
      advance();
    }
  }

  void tell(std::span<const Point>, std::span<const Verdict>) override {}
  void notice(std::span<const Point>, std::span<const Verdict>) override {}  // it comes by every point

 private:
  struct Step {
    Choices choices;
    std::int32_t place = 0;
  };

  // The first legal value of every parameter from `parameter` on.
  void descend(std::size_t parameter) {
    for (; parameter < path_.size(); ++parameter) {
      space_.choices(point_, parameter, path_[parameter].choices);
      path_[parameter].place = 0;
      point_[parameter] = path_[parameter].choices[0];
    }
  }

  void advance() {
    for (std::size_t parameter = path_.size(); parameter-- > 0;) {
      Step& step = path_[parameter];
      if (++step.place == step.choices.count()) continue;
      point_[parameter] = step.choices[step.place];
      descend(parameter + 1);
      return;
    }
    ended_ = true;
  }

  const DesignSpace& space_;
  ExhaustiveOptions options_;
  std::vector<Step> path_;
  Point point_, canonical_;
  bool ended_ = false;
};

}  // namespace

std::vector<Setting> settings_of(ExhaustiveOptions& options) {
  return {{"batch", "points per ask", &options.batch, 1, 1e6},
          {"largest", "spaces of more than ten to the power of this are refused", &options.largest, 0, 18}};
}

Result<std::unique_ptr<PointSearcher>> make_exhaustive(const DesignSpace& space, const ExhaustiveOptions& options,
                                                       std::int64_t, std::uint64_t) {
  if (space.log10_size() > options.largest) {
    return invalid(
        fmt::format("{}: the space has about 10^{:.1f} points, expected at most 10^{} for the searcher 'exhaustive' "
                    "(exhaustive.largest)",
                    space.name(), space.log10_size(), options.largest));
  }
  return std::unique_ptr<PointSearcher>(std::make_unique<ExhaustiveSearcher>(space, options));
}

}  // namespace tilewright
