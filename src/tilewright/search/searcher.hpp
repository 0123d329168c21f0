// Searchers only ask and tell. The loop that owns budget, store, progress and threads is in search_loop.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tilewright/space/design_space.hpp"
#include "tilewright/space/objective.hpp"

namespace tilewright {

// What a searcher is told about a point.
struct Verdict {
  bool feasible = false;
  std::uint8_t reason = 0;  // when infeasible, as in Outcome; kOverLimit for a limit of the objective
  Score score{};            // when feasible; smaller is better
  Score terms{};            // when feasible and a front is searched: each metric of it
};
inline constexpr std::uint8_t kOverLimit = 255;

// What a searcher has to tell besides points, for reports: those that have something derive a story of their own.
struct Story {
  virtual ~Story() = default;
};
// Of searchers that work on every problem by itself; null where one has nothing to tell.
struct StoriesApart final : Story {
  std::vector<std::shared_ptr<const Story>> problems;
};

// Searches one problem. Everything it does is a function of its seed and of what it was told.
class PointSearcher {
 public:
  virtual ~PointSearcher() = default;

  // Appends at least one and at most `most` legal, canonical points; none when there is nothing left to try.
  virtual void ask(std::size_t most, std::vector<Point>& points) = 0;

  // The verdicts of all points of the last ask, in its order.
  virtual void tell(std::span<const Point> points, std::span<const Verdict> verdicts) = 0;

  // Points that are known before the first ask, the classic dataflows of a mapping space, say: free to begin from, and not
  // worth a sample. A searcher that cannot use them leaves them.
  virtual void notice(std::span<const Point> points, std::span<const Verdict> verdicts) = 0;

  // So far; null when there is nothing to tell.
  virtual std::shared_ptr<const Story> story() const { return nullptr; }
};

struct Proposal {
  std::size_t problem = 0;
  Point point;
};

// Searches all problems of a run at once, so that what it learns in one can help it in another.
class Searcher {
 public:
  virtual ~Searcher() = default;

  // Appends at most room[p] proposals for each problem p: none for all when there is nothing left to try. Legal, canonical
  // points only.
  virtual void ask(std::span<const std::int64_t> room, std::vector<Proposal>& proposals) = 0;
  virtual void tell(std::span<const Proposal> proposals, std::span<const Verdict> verdicts) = 0;
  // As of PointSearcher, for all problems at once.
  virtual void notice(std::span<const Proposal> proposals, std::span<const Verdict> verdicts) = 0;
  virtual std::shared_ptr<const Story> story() const { return nullptr; }
};

// One PointSearcher per problem, asked in turn; its story is StoriesApart.
std::unique_ptr<Searcher> each_alone(std::vector<std::unique_ptr<PointSearcher>> searchers);
// A Searcher that was made for a single problem, as each_alone takes it.
std::unique_ptr<PointSearcher> of_one_problem(std::unique_ptr<Searcher> searcher);

}  // namespace tilewright
