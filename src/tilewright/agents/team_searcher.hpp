// The team at work: one decentralised agent per cluster of parameters, all with the same reward, searching all problems
// together. A proposal is one move:
//
//   construction  all agents choose all their parameters, knowing the problem only.
//   refinement    the team starts from one of the problem's best points and one agent moves: some of its parameters are open
//                 to it, masks hold everything else where it is. The agents see the problem and the point.
//   exchange      an agent's parameters are taken over from another good point, of this problem or of a similar one. Nobody
//                 chooses, so nobody learns from it.
//
// The reward is the logarithm of the factor by which the objective became better: than the problem's running reference for a
// construction, than the starting point for a refinement. A move that leads to a point that was proposed before is made
// again, at last by a random step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "tilewright/agents/assignment.hpp"
#include "tilewright/agents/elites.hpp"
#include "tilewright/agents/team.hpp"
#include "tilewright/agents/team_heads.hpp"
#include "tilewright/agents/team_memory.hpp"
#include "tilewright/search/searcher.hpp"
#include "tilewright/search/settings.hpp"
#include "tilewright/search/variation.hpp"

namespace tilewright {

struct TeamOptions {
  std::int64_t batch = 6;       // proposals per problem between two updates
  double construction = 0.2;    // share of constructions among moves that are no exchanges
  double exchange = 0.35;       // share of exchanges
  double abroad = 0.5;          // share of exchanges with other problems
  double likeness = 0.15;       // distance of features at which another problem is e times less likely to be chosen
  std::int64_t elites = 64;     // best points remembered per problem
  std::int64_t kinds = 4;       // of them with the same categorical values
  double focus = 10;            // the larger, the fewer elites are in play: about 2 + sqrt(samples) / focus
  double open = 0.4;            // chance of each further parameter of the moving agent to be open
  std::int64_t patience = 300;  // samples of a problem without a better best after which it begins again; 0 = never
  std::int64_t renewal = 30;    // random points it then begins with
  double uniform = 0.15;        // chance of an open parameter to be drawn evenly instead of by the policy
  double most_reward = 1.5;     // rewards are limited to ± this; an invalid point gets the lower end
  bool observe_point = true;    // whether agents see the point a refinement starts from
  bool learn = true;            // off: policies stay as they are
  LearningOptions learning;
};
std::vector<Setting> settings_of(TeamOptions& options);

class TeamSearcher final : public Searcher {
 public:
  // `from`, when not null, is a team that was trained elsewhere: its parameters, assignment and policies are taken over.
  static Result<std::unique_ptr<TeamSearcher>> make(std::vector<const DesignSpace*> spaces,
                                                    const AgentAssignment& assignment, const TeamOptions& options,
                                                    std::uint64_t seed, ThreadPool& threads,
                                                    const SavedTeam* from = nullptr);

  // A point that somebody else has tried: it may become an elite and is not proposed again.
  void notice(std::size_t problem, const Point& point, const Verdict& verdict);

  void ask(std::span<const std::int64_t> room, std::vector<Proposal>& proposals) override;
  void tell(std::span<const Proposal> proposals, std::span<const Verdict> verdicts) override;
  void notice(std::span<const Proposal> proposals, std::span<const Verdict> verdicts) override;

  // What another run needs to go on with this team.
  SavedTeam saved() const;

 private:
  struct Problem {
    Elites elites;  // since the problem began, or began again
    Elites all;     // ever
    SeenPoints seen;
    Variation variation;
    std::vector<std::size_t> heads;  // those with a choice
    double reference = 0;            // running mean of constructions' scores
    bool has_reference = false;
    std::int64_t samples = 0;
    std::int64_t idle = 0;         // samples since the best of `elites` became better
    std::int64_t to_draw = 0;      // random points before the next moves
    bool apart = false;            // began again, and not yet joined with what was found before
    std::size_t abroad_tried = 0;  // remembered points of other runs that were tried whole
  };
  static constexpr std::size_t kNoRow = static_cast<std::size_t>(-1);
  struct Move {
    std::size_t problem = 0;
    bool construction = false;
    Point start;  // of a refinement
    double start_score = 0;
    Point made;
    std::size_t row = kNoRow;  // of rows_, when policies chose
  };

  TeamSearcher(std::vector<const DesignSpace*> spaces, const AgentAssignment& assignment, std::vector<Parameter> parameters,
               const TeamOptions& options, std::uint64_t seed);

  void plan(std::size_t problem);
  void remember(std::size_t problem, const Point& point, double score);
  void renew(std::size_t problem);
  const Elite& draw_elite(std::size_t problem);
  RememberedPoint remembered(std::size_t problem, const Point& point) const;
  RememberedPoint offer_of(std::size_t giver);
  double memory_weight(std::size_t problem) const;  // 1 at first, towards 0; 0 without a memory
  std::size_t draw_giver(std::size_t problem);
  bool try_exchange(std::size_t problem);
  bool try_remembered(std::size_t problem);
  void plan_construction(std::size_t problem);
  void plan_refinement(std::size_t problem);
  std::size_t begin_row(std::size_t problem, bool construction, const Point* start);
  void hold(std::size_t row, std::size_t head, std::size_t choice);
  void take(Point& point, std::size_t problem, std::size_t head, std::size_t choice);
  void take_size(Point& point, std::size_t problem, std::size_t head, const RememberedPoint& from);
  void choose_points();
  void step_at_random(Move& move);

  std::vector<const DesignSpace*> spaces_;
  std::vector<Parameter> parameters_;
  AgentAssignment assignment_;
  TeamOptions options_;
  TeamHeads heads_;
  TeamMemory memory_;
  Rng rng_;
  std::vector<Problem> problems_;
  std::vector<std::vector<float>> features_;  // of each problem, then of each remembered one
  std::unique_ptr<Team> team_;
  std::vector<Move> moves_;
  TeamRows rows_, pending_rows_, learned_rows_;
};

}  // namespace tilewright
