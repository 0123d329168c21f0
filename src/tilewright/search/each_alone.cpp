// One PointSearcher per problem: their proposals stand one problem after the other, so a tell can be cut back into theirs.
#include <algorithm>

#include "tilewright/base/result.hpp"
#include "tilewright/search/searcher.hpp"

namespace tilewright {
namespace {

class EachAlone final : public Searcher {
 public:
  explicit EachAlone(std::vector<std::unique_ptr<PointSearcher>> searchers) : searchers_(std::move(searchers)) {}

  void ask(std::span<const std::int64_t> room, std::vector<Proposal>& proposals) override {
    TW_ASSERT(room.size() == searchers_.size());
    for (std::size_t problem = 0; problem < searchers_.size(); ++problem) {
      if (room[problem] <= 0) continue;
      points_.clear();
      searchers_[problem]->ask(static_cast<std::size_t>(room[problem]), points_);
      for (Point& point : points_) proposals.push_back({problem, std::move(point)});
    }
  }

  void tell(std::span<const Proposal> proposals, std::span<const Verdict> verdicts) override {
    share(proposals, verdicts, &PointSearcher::tell);
  }

  void notice(std::span<const Proposal> proposals, std::span<const Verdict> verdicts) override {
    share(proposals, verdicts, &PointSearcher::notice);
  }

  std::shared_ptr<const Story> story() const override {
    auto stories = std::make_shared<StoriesApart>();
    for (const auto& searcher : searchers_) stories->problems.push_back(searcher->story());
    return stories;
  }

 private:
  using Listen = void (PointSearcher::*)(std::span<const Point>, std::span<const Verdict>);

  void share(std::span<const Proposal> proposals, std::span<const Verdict> verdicts, Listen listen) {
    TW_ASSERT(proposals.size() == verdicts.size());
    for (std::size_t first = 0; first < proposals.size();) {
      const std::size_t problem = proposals[first].problem;
      points_.clear();
      std::size_t end = first;
      for (; end < proposals.size() && proposals[end].problem == problem; ++end) points_.push_back(proposals[end].point);
      (searchers_[problem].get()->*listen)(points_, verdicts.subspan(first, end - first));
      first = end;
    }
  }

  std::vector<std::unique_ptr<PointSearcher>> searchers_;
  std::vector<Point> points_;
};

class OfOneProblem final : public PointSearcher {
 public:
  explicit OfOneProblem(std::unique_ptr<Searcher> searcher) : searcher_(std::move(searcher)) {}

  void ask(std::size_t most, std::vector<Point>& points) override {
    const std::int64_t room[] = {static_cast<std::int64_t>(most)};
    proposals_.clear();
    searcher_->ask(room, proposals_);
    for (Proposal& proposal : proposals_) points.push_back(std::move(proposal.point));
  }
  void tell(std::span<const Point> points, std::span<const Verdict> verdicts) override {
    searcher_->tell(as_proposals(points), verdicts);
  }
  void notice(std::span<const Point> points, std::span<const Verdict> verdicts) override {
    searcher_->notice(as_proposals(points), verdicts);
  }
  std::shared_ptr<const Story> story() const override { return searcher_->story(); }

 private:
  std::span<const Proposal> as_proposals(std::span<const Point> points) {
    proposals_.clear();
    for (const Point& point : points) proposals_.push_back({0, point});
    return proposals_;
  }

  std::unique_ptr<Searcher> searcher_;
  std::vector<Proposal> proposals_;
};

}  // namespace

std::unique_ptr<PointSearcher> of_one_problem(std::unique_ptr<Searcher> searcher) {
  return std::make_unique<OfOneProblem>(std::move(searcher));
}

std::unique_ptr<Searcher> each_alone(std::vector<std::unique_ptr<PointSearcher>> searchers) {
  return std::make_unique<EachAlone>(std::move(searchers));
}

}  // namespace tilewright
