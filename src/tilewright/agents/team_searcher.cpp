#include "tilewright/agents/team_searcher.hpp"

#include <algorithm>
#include <cmath>

#include "tilewright/base/bisect.hpp"

namespace tilewright {
namespace {

constexpr int kTries = 4;                 // at a point that was not proposed before
constexpr double kRandomSteps = 1.5;      // entries that a random step changes, on average
constexpr double kReferenceWeight = 0.1;  // of the newest construction in the running reference
constexpr double kWhole = 0.3;            // share of exchanges with another problem that take over all agents' parameters
constexpr double kBeginning = 100;        // samples of a problem after which a team's memory counts half
constexpr double kMoreExchanges = 0.5;    // added to their share at the beginning, while the memory counts
constexpr double kMoreAbroad = 0.4;       // added to the share with other problems, likewise
constexpr std::size_t kRemembered = 8;    // points per problem that are saved with a team
constexpr std::size_t kTriedWhole = 20;   // remembered points a new problem begins with, by place and by size
constexpr std::size_t kNearest = 8;       // problems they are taken from

}  // namespace

std::vector<Setting> settings_of(TeamOptions& options) {
  LearningOptions& learning = options.learning;
  return {
      {"batch", "proposals per problem between two updates", &options.batch, 1, 10'000},
      {"construction", "share of constructions among moves that are no exchanges", &options.construction, 0, 1},
      {"exchange", "share of exchanges", &options.exchange, 0, 1},
      {"abroad", "share of exchanges with other problems", &options.abroad, 0, 1},
      {"likeness", "distance of features that makes another problem e times less likely", &options.likeness, 1e-6, 1e6},
      {"elites", "best points remembered per problem; 0 = constructions only", &options.elites, 0, 100'000},
      {"kinds", "of them with the same categorical values", &options.kinds, 1, 100'000},
      {"focus", "the larger, the fewer elites are in play", &options.focus, 1e-3, 1e9},
      {"open", "chance of each further parameter of the moving agent to be open", &options.open, 0, 1},
      {"patience", "samples without a better best after which a problem begins again; 0 = never", &options.patience, 0,
       1e12},
      {"renewal", "random points it then begins with", &options.renewal, 1, 1e6},
      {"uniform", "chance of an open parameter to be drawn evenly", &options.uniform, 0, 1},
      {"most_reward", "rewards are limited to this, up and down", &options.most_reward, 1e-6, 1e6},
      {"observe_point", "whether agents see the point a refinement starts from", &options.observe_point},
      {"learn", "whether policies learn", &options.learn},
      {"learner", "ippo, mappo, maddpg or masac",
       one_of(learning.learner, {Algorithm::Ippo, Algorithm::Mappo, Algorithm::Maddpg, Algorithm::Masac})},
      {"critic", "of ippo: none, own or central", worded(learning.critic)},
      {"hidden", "width of both hidden layers", &learning.hidden, 1, 4096},
      {"learning_rate", "of policies and critics", &learning.learning_rate, 0, 1},
      {"entropy_bonus", "weight of the policies' entropy", &learning.entropy_bonus, 0, 10},
      {"epochs", "passes over the rows of an update", &learning.epochs, 1, 1000},
      {"minibatches", "per pass", &learning.minibatches, 1, 1000},
  };
}

TeamSearcher::TeamSearcher(std::vector<const DesignSpace*> spaces, const AgentAssignment& assignment,
                           std::vector<Parameter> parameters, const TeamOptions& options, std::uint64_t seed)
    : spaces_(std::move(spaces)),
      parameters_(std::move(parameters)),
      assignment_(fitted(assignment, parameters_)),
      options_(options),
      heads_(spaces_, parameters_, assignment_),
      rng_(seed, "team"),
      rows_(spaces_.front()->features().size() + 1 + heads_.code_size(), heads_.choice_count()),
      pending_rows_(rows_),
      learned_rows_(rows_) {
  for (std::size_t problem = 0; problem < spaces_.size(); ++problem) {
    const DesignSpace& space = *spaces_[problem];
    features_.push_back(space.features());
    problems_.push_back(
        {.elites = Elites(space, static_cast<std::size_t>(options.elites), static_cast<std::size_t>(options.kinds)),
         .all = Elites(space, static_cast<std::size_t>(options.elites), static_cast<std::size_t>(options.kinds)),
         .seen = {},
         .variation = Variation(space),
         .heads = {}});
    for (std::size_t head = 0; head < heads_.head_count(); ++head) {
      const std::int32_t parameter = heads_.parameter(problem, head);
      if (parameter < 0 || space.parameters()[static_cast<std::size_t>(parameter)].value_count < 2) continue;
      problems_.back().heads.push_back(head);
    }
  }
}

Result<std::unique_ptr<TeamSearcher>> TeamSearcher::make(std::vector<const DesignSpace*> spaces,
                                                         const AgentAssignment& assignment, const TeamOptions& options,
                                                         std::uint64_t seed, ThreadPool& threads, const SavedTeam* from) {
  TeamOptions chosen = options;
  std::vector<Parameter> parameters = all_parameters(spaces);
  if (from != nullptr) {
    chosen.learning.learner = from->learner;
    chosen.learning.critic = from->critic;
    chosen.learning.hidden = from->hidden;
    // A trained team decides what it was trained to decide; parameters it has never seen are left to exchanges and steps.
    parameters = from->parameters;
  }
  std::unique_ptr<TeamSearcher> searcher(
      new TeamSearcher(std::move(spaces), from != nullptr ? from->assignment : assignment, parameters, chosen, seed));
  const std::size_t width = searcher->spaces_.front()->features().size() + 1 + searcher->heads_.code_size();
  if (searcher->heads_.head_count() == 0) return searcher;  // nothing to decide, no policies
  TW_TRY(searcher->team_, Team::make(searcher->heads_, width, chosen.learning, seed, threads));
  if (from != nullptr) {
    TW_TRY(const Done loaded, searcher->team_->load(from->policies));
    searcher->memory_ = from->memory;
    for (const RememberedProblem& other : from->memory.problems) searcher->features_.push_back(other.features);
  }
  return searcher;
}

void TeamSearcher::notice(std::size_t problem, const Point& point, const Verdict& verdict) {
  problems_[problem].seen.add(point);
  ++problems_[problem].samples;
  if (verdict.feasible) remember(problem, point, log_score(verdict));
}

void TeamSearcher::notice(std::span<const Proposal> proposals, std::span<const Verdict> verdicts) {
  for (std::size_t i = 0; i < proposals.size(); ++i) notice(proposals[i].problem, proposals[i].point, verdicts[i]);
}

void TeamSearcher::remember(std::size_t problem, const Point& point, double score) {
  Problem& known = problems_[problem];
  if (known.elites.empty() || score < known.elites.all().front().score) known.idle = 0;
  known.elites.add(point, score);
  known.all.add(point, score);
}

// A dead end is left by beginning again from random points, apart from the policies, which would lead back to where they
// have learned; what was found before and after is then searched together.
void TeamSearcher::renew(std::size_t problem) {
  Problem& known = problems_[problem];
  known.idle = 0;
  known.apart = !known.apart;
  if (known.apart) {
    known.elites.clear();
    known.to_draw = options_.renewal;
  } else {
    known.elites = known.all;
  }
}

void TeamSearcher::ask(std::span<const std::int64_t> room, std::vector<Proposal>& proposals) {
  moves_.clear();
  rows_.clear();
  for (std::size_t problem = 0; problem < spaces_.size(); ++problem) {
    for (std::int64_t i = 0; i < std::min(options_.batch, room[problem]); ++i) plan(problem);
  }
  choose_points();
  for (const Move& move : moves_) proposals.push_back({move.problem, move.made});
}

// Few at first, when the best is worth most; more later, when it may be a dead end.
const Elite& TeamSearcher::draw_elite(std::size_t problem) {
  const Problem& known = problems_[problem];
  const double in_play = 2 + std::sqrt(static_cast<double>(known.samples)) / options_.focus;
  return known.elites.draw(1 - 1 / in_play, rng_);
}

void TeamSearcher::plan(std::size_t problem) {
  Problem& known = problems_[problem];
  if (known.heads.empty()) {
    moves_.push_back({.problem = problem, .start = {}, .made = known.variation.draw(rng_)});
    return;
  }
  if (options_.patience > 0 && known.idle > options_.patience) renew(problem);
  if (known.to_draw > 0) {
    --known.to_draw;
    moves_.push_back({.problem = problem, .start = {}, .made = known.variation.draw(rng_)});
    return;
  }
  if (known.abroad_tried < kTriedWhole && !memory_.problems.empty() && try_remembered(problem)) return;
  const double weight = memory_weight(problem);
  const double exchange = options_.exchange + kMoreExchanges * weight;
  if (!known.elites.empty() && rng_.uniform() < exchange && try_exchange(problem)) return;
  if (known.apart) {
    Move move{.problem = problem, .start = known.elites.empty() ? Point{} : draw_elite(problem).point, .made = {}};
    step_at_random(move);
    moves_.push_back(std::move(move));
    return;
  }
  if (known.elites.empty() || rng_.uniform() < options_.construction * (1 - weight)) return plan_construction(problem);
  plan_refinement(problem);
}

void TeamSearcher::take(Point& point, std::size_t problem, std::size_t head, std::size_t choice) {
  const std::int32_t parameter = heads_.parameter(problem, head);
  if (parameter < 0) return;
  std::int32_t& entry = point[static_cast<std::size_t>(parameter)];
  // The nearest choice that stands for something here.
  const auto mask = heads_.mask(problem).subspan(heads_.offset_of(head), heads_.size_of(head));
  choice = std::min(choice, mask.size() - 1);
  for (std::size_t apart = 0; apart < mask.size(); ++apart) {
    std::size_t found = mask.size();
    if (choice >= apart && mask[choice - apart] > 0) {
      found = choice - apart;
    } else if (choice + apart < mask.size() && mask[choice + apart] > 0) {
      found = choice + apart;
    }
    if (found == mask.size()) continue;
    if (heads_.choice_of(problem, head, entry) == found) return;  // of several values, the one that is there stays
    const TeamHeads::Values values = heads_.values(problem, head, found);
    entry = values.first;
    if (values.first < values.last) entry += static_cast<std::int32_t>(rng_.below(values.last - values.first + 1));
    return;
  }
}

// As `take`, but by size. Whoever had the whole of something still gets the whole.
void TeamSearcher::take_size(Point& point, std::size_t problem, std::size_t head, const RememberedPoint& from) {
  const auto choice = static_cast<std::size_t>(from.choices[head]);
  const std::int32_t parameter = heads_.parameter(problem, head);
  if (from.sizes[head] <= 0 || parameter < 0) return take(point, problem, head, choice);
  const DesignSpace& space = *spaces_[problem];
  const auto at = static_cast<std::size_t>(parameter);
  const std::int32_t count = space.parameters()[at].value_count;
  if (choice + 1 == heads_.size_of(head)) {
    point[at] = count - 1;
    return;
  }
  const double size = from.sizes[head];
  const auto above = first_where(0, count, [&](std::int32_t value) { return space.value(at, value) >= size; });
  const auto apart = [&](std::int32_t value) { return std::abs(std::log(space.value(at, value) / size)); };
  point[at] = std::min(above, count - 1);
  if (above > 0 && apart(above - 1) <= apart(point[at])) point[at] = above - 1;
}

// A point that was good in a problem of another run, as it is.
bool TeamSearcher::try_remembered(std::size_t problem) {
  Problem& known = problems_[problem];
  const bool by_size = known.abroad_tried % 2 == 0;
  const std::size_t turn = known.abroad_tried++ / 2;
  std::vector<std::size_t> nearest(memory_.problems.size());
  for (std::size_t i = 0; i < nearest.size(); ++i) nearest[i] = i;
  const std::vector<float>& features = spaces_[problem]->features();
  std::ranges::stable_sort(nearest, {}, [&](std::size_t i) { return distance(memory_.problems[i].features, features); });
  // The best point of the nearest problem, of the second, …; then second best ones.
  const std::size_t breadth = std::min(nearest.size(), kNearest);
  const RememberedProblem& other = memory_.problems[nearest[turn % breadth]];
  if (turn / breadth >= other.points.size()) return false;
  const RememberedPoint& from = other.points[turn / breadth];
  Point point(spaces_[problem]->parameters().size(), 0);
  for (std::size_t head = 0; head < heads_.head_count(); ++head) {
    if (from.choices[head] < 0) continue;
    if (by_size) {
      take_size(point, problem, head, from);
    } else {
      take(point, problem, head, static_cast<std::size_t>(from.choices[head]));
    }
  }
  repair(*spaces_[problem], point);
  if (!known.seen.add(point)) return false;
  moves_.push_back({.problem = problem, .start = {}, .made = std::move(point)});
  return true;
}

RememberedPoint TeamSearcher::offer_of(std::size_t giver) {
  if (giver >= spaces_.size()) {
    const RememberedProblem& other = memory_.problems[giver - spaces_.size()];
    return other.points[static_cast<std::size_t>(rng_.below(static_cast<std::int64_t>(other.points.size())))];
  }
  return remembered(giver, draw_elite(giver).point);
}

RememberedPoint TeamSearcher::remembered(std::size_t problem, const Point& point) const {
  RememberedPoint result;
  const DesignSpace& space = *spaces_[problem];
  for (std::size_t head = 0; head < heads_.head_count(); ++head) {
    const std::int32_t parameter = heads_.parameter(problem, head);
    result.choices.push_back(-1);
    result.sizes.push_back(0);
    if (parameter < 0) continue;
    const auto at = static_cast<std::size_t>(parameter);
    const Parameter& declared = space.parameters()[at];
    result.choices.back() = static_cast<std::int32_t>(heads_.choice_of(problem, head, point[at]));
    const bool is_size = declared.kind == ParameterKind::Ordinal && declared.role != Role::Order;
    if (is_size) result.sizes.back() = space.value(at, point[at]);
  }
  return result;
}

// What was good elsewhere helps to begin; later the problems of this run know better.
double TeamSearcher::memory_weight(std::size_t problem) const {
  return memory_.problems.empty() ? 0 : kBeginning / (kBeginning + static_cast<double>(problems_[problem].samples));
}

// This problem, or a similar one of this run or of the team's memory.
std::size_t TeamSearcher::draw_giver(std::size_t problem) {
  const double weight = memory_weight(problem);
  if (rng_.uniform() >= options_.abroad + kMoreAbroad * weight) return problem;
  const std::size_t others = rng_.uniform() < weight ? features_.size() : spaces_.size();
  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < others; ++i) {
    if (i != problem && (i >= spaces_.size() || !problems_[i].elites.empty())) candidates.push_back(i);
  }
  if (candidates.empty()) return problem;
  return draw_similar(features_, candidates, features_[problem], options_.likeness, rng_);
}

bool TeamSearcher::try_exchange(std::size_t problem) {
  Problem& known = problems_[problem];
  const std::size_t giver = draw_giver(problem);
  for (int attempt = 0; attempt < kTries; ++attempt) {
    Point point = draw_elite(problem).point;
    const Point* own = giver == problem ? &draw_elite(problem).point : nullptr;
    const RememberedPoint offer = own == nullptr ? offer_of(giver) : RememberedPoint{};
    const bool by_size = giver >= spaces_.size() && rng_.uniform() < 0.5;
    const bool whole = own == nullptr && rng_.uniform() < kWhole;
    std::size_t agent = heads_.agent_count();
    bool taken = false, together = false;
    for (std::size_t head = 0; head < heads_.head_count(); ++head) {
      if (heads_.agent_of(head) != agent) {
        agent = heads_.agent_of(head);
        together = rng_.uniform() < 0.5;
        taken = rng_.uniform() < 0.5;
      }
      if (!(whole || (together ? taken : rng_.uniform() < 0.5))) continue;
      const std::int32_t parameter = heads_.parameter(problem, head);
      if (own != nullptr && parameter >= 0) {
        point[static_cast<std::size_t>(parameter)] = (*own)[static_cast<std::size_t>(parameter)];
      } else if (own == nullptr && offer.choices[head] >= 0 && by_size) {
        take_size(point, problem, head, offer);
      } else if (own == nullptr && offer.choices[head] >= 0) {
        take(point, problem, head, static_cast<std::size_t>(offer.choices[head]));
      }
    }
    repair(*spaces_[problem], point);
    if (!known.seen.add(point)) continue;
    moves_.push_back({.problem = problem, .start = {}, .made = std::move(point)});
    return true;
  }
  return false;
}

std::size_t TeamSearcher::begin_row(std::size_t problem, bool construction, const Point* start) {
  const std::size_t row = rows_.size();
  rows_.add();
  const std::span<float> seen = rows_.observation(row);
  const std::vector<float>& features = spaces_[problem]->features();
  std::ranges::copy(features, seen.begin());
  seen[features.size()] = construction ? 1.0F : 0.0F;
  if (start != nullptr && options_.observe_point) heads_.encode(problem, *start, seen.subspan(features.size() + 1));
  std::ranges::copy(heads_.mask(problem), rows_.mask(row).begin());
  return row;
}

void TeamSearcher::hold(std::size_t row, std::size_t head, std::size_t choice) {
  const auto open = rows_.mask(row).subspan(heads_.offset_of(head), heads_.size_of(head));
  std::ranges::fill(open, 0.0F);
  open[choice] = 1;
}

void TeamSearcher::plan_construction(std::size_t problem) {
  moves_.push_back({.problem = problem,
                    .construction = true,
                    .start = Point(spaces_[problem]->parameters().size(), 0),
                    .made = {},
                    .row = begin_row(problem, true, nullptr)});
}

void TeamSearcher::plan_refinement(std::size_t problem) {
  const Problem& known = problems_[problem];
  const Elite& elite = draw_elite(problem);
  const std::size_t row = begin_row(problem, false, &elite.point);
  const std::size_t first = known.heads[static_cast<std::size_t>(rng_.below(static_cast<std::int64_t>(known.heads.size())))];
  for (const std::size_t head : known.heads) {
    const bool open = head == first || (heads_.agent_of(head) == heads_.agent_of(first) && rng_.uniform() < options_.open);
    const std::int32_t value = elite.point[static_cast<std::size_t>(heads_.parameter(problem, head))];
    std::size_t choice = heads_.choice_of(problem, head, value);
    if (open && rng_.uniform() >= options_.uniform) continue;
    if (open) {  // any other choice, evenly
      const auto mask = heads_.mask(problem).subspan(heads_.offset_of(head), heads_.size_of(head));
      std::vector<std::size_t> others;
      for (std::size_t i = 0; i < mask.size(); ++i) {
        if (mask[i] > 0 && i != choice) others.push_back(i);
      }
      if (!others.empty()) choice = others[static_cast<std::size_t>(rng_.below(static_cast<std::int64_t>(others.size())))];
    }
    hold(row, head, choice);
  }
  moves_.push_back({.problem = problem, .start = elite.point, .start_score = elite.score, .made = {}, .row = row});
}

// Lets the policies choose; what was proposed before is chosen again.
void TeamSearcher::choose_points() {
  std::vector<std::size_t> pending;
  for (std::size_t move = 0; move < moves_.size(); ++move) {
    if (moves_[move].row != kNoRow) pending.push_back(move);
  }
  for (int attempt = 0; attempt < kTries && !pending.empty(); ++attempt) {
    pending_rows_.clear();
    for (const std::size_t move : pending) pending_rows_.append(rows_, moves_[move].row);
    team_->act(pending_rows_);
    std::vector<std::size_t> again;
    for (std::size_t i = 0; i < pending.size(); ++i) {
      Move& move = moves_[pending[i]];
      move.made = move.start;
      for (std::size_t head = 0; head < heads_.head_count(); ++head) {
        if (heads_.parameter(move.problem, head) < 0) continue;
        take(move.made, move.problem, head, team_->choice(pending_rows_, i, head));
      }
      repair(*spaces_[move.problem], move.made);
      std::ranges::copy(pending_rows_.actions(i), rows_.actions(move.row).begin());
      if (!problems_[move.problem].seen.add(move.made)) again.push_back(pending[i]);
    }
    pending = std::move(again);
  }
  for (const std::size_t move : pending) step_at_random(moves_[move]);
}

void TeamSearcher::step_at_random(Move& move) {
  Problem& known = problems_[move.problem];
  move.row = kNoRow;
  if (known.elites.empty()) {
    for (int attempt = 0; attempt < 2 * kTries; ++attempt) {
      move.made = known.variation.draw(rng_);
      if (known.seen.add(move.made)) return;
    }
    return;
  }
  const Point from = move.construction ? known.elites.all().front().point : move.start;
  for (int attempt = 0; attempt < 2 * kTries; ++attempt) {
    move.made = known.variation.stepped(from, kRandomSteps, rng_);
    if (known.seen.add(move.made)) return;
  }
}

void TeamSearcher::tell(std::span<const Proposal> proposals, std::span<const Verdict> verdicts) {
  learned_rows_.clear();
  std::vector<float> rewards;
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    const Move& move = moves_[i];
    const Verdict& verdict = verdicts[i];
    Problem& known = problems_[move.problem];
    ++known.samples;
    ++known.idle;
    const double score = verdict.feasible ? log_score(verdict) : 0;
    if (move.row != kNoRow) {
      if (move.construction && verdict.feasible && !known.has_reference) {
        known.reference = score;
        known.has_reference = true;
      }
      double reward = -options_.most_reward;
      if (verdict.feasible) {
        const double reference = move.construction ? known.reference : move.start_score;
        reward = std::clamp(reference - score, -options_.most_reward, options_.most_reward);
      }
      if (move.construction && verdict.feasible) known.reference += kReferenceWeight * (score - known.reference);
      learned_rows_.append(rows_, move.row);
      rewards.push_back(static_cast<float>(reward));
    }
    if (verdict.feasible) remember(move.problem, proposals[i].point, score);
  }
  if (options_.learn && team_ != nullptr) team_->learn(learned_rows_, rewards);
}

SavedTeam TeamSearcher::saved() const {
  SavedTeam saved;
  saved.parameters = parameters_;
  saved.assignment = assignment_;
  saved.learner = options_.learning.learner;
  saved.critic = options_.learning.critic;
  saved.hidden = options_.learning.hidden;
  if (team_ != nullptr) team_->save(saved.policies);
  saved.memory = memory_;
  for (std::size_t problem = 0; problem < spaces_.size(); ++problem) {
    RememberedProblem known{spaces_[problem]->name(), spaces_[problem]->features(), {}};
    for (const Elite& elite : problems_[problem].all.all()) {
      if (known.points.size() == kRemembered) break;
      known.points.push_back(remembered(problem, elite.point));
    }
    if (!known.points.empty()) saved.memory.problems.push_back(std::move(known));
  }
  return saved;
}

}  // namespace tilewright
