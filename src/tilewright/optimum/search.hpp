// The search of optimum.hpp, which shares its state among its parts:
//
//   optimum.cpp  what is looked at, in which order     pairs.cpp  an inside with the tiles of the buffer
#pragma once

#include <memory>

#include "tilewright/optimum/floor.hpp"
#include "tilewright/optimum/optimum.hpp"
#include "tilewright/optimum/outside.hpp"
#include "tilewright/optimum/packed.hpp"

namespace tilewright::optimum {

class Search {
 public:
  Search(const Question& question, const Options& options);
  Answer run();

 private:
  struct Closing {
    double least = std::numeric_limits<double>::infinity();  // of what was not looked at
    bool finished = true;
  };

  bool is_worse(double least) const { return least >= incumbent_ * (1 - kTolerance); }
  bool stopped();
  void judge(const hierarchy::Mapping& mapping);

  // All mappings that keep the same tensors and spread the outermost level alike.
  struct Group {
    Group(const Model& model, const hierarchy::Mapping& the_mapping, Inner inner)
        : mapping(the_mapping), outside(model, the_mapping), insides(model.problem, model.level_count - 1, inner) {}
    hierarchy::Mapping mapping;
    Outside outside;
    std::vector<BufferTile> tiles;
    Costs outer{};  // what all tiles cost at least, entry by entry
    Floor floor;
    Packed insides;
  };
  // Insides of several blocks in time, told by the product of their factors.
  struct Candidate {
    double least = 0;
    std::size_t group = 0, inside = 0;
  };

  bool set_tiles(Group& group);
  Closing explore(Group& group, std::size_t index);
  // Nothing when there are more than `most`; false when it was stopped.
  std::vector<std::unique_ptr<Group>> groups() const;
  Answer floor_only() const;
  std::optional<bool> gather(Group& group, Inner inner, std::int64_t most);
  Closing search(Group& group);
  // What such insides cost at least with the best tile and the best orders: those that may be better than the best known.
  Closing survey(Group& group, std::size_t index);
  double least_with(const Inside& inside, Group& group, double enough);
  Closing go_inside(const std::vector<std::unique_ptr<Group>>& groups);
  bool cut_up(const Candidate& candidate, Group& group);
  // False when it was stopped.
  bool pair_up(const Inside& inside, Outside& outside, const std::vector<BufferTile>& tiles);
  double tile_bound(const Inside& inside, const BufferTile& tile, double cycles) const;
  void set_task(const Inside& inside, Outside& outside, const BufferTile& tile, Costs& base, Orders::Task& task);
  bool look_at(const Inside& inside, Outside& outside, const BufferTile& tile);
  bool set_blocks(const Inside& inside, const Outside& outside, const BufferTile& tile, Orders::Task& task) const;
  double pair_bound(const Inside& inside, const BufferTile& tile, const Orders::Task& task);
  bool judge_orders(const Inside& inside, const Orders::Task& task);
  double bound(const Costs& costs, const Inside& inside) const;

  Model model_;
  const Options& options_;
  Choices choices_;
  Orders orders_;
  hierarchy::Evaluator evaluator_;
  hierarchy::Loops loops_;
  bool stop_ = false;
  std::int64_t asked_ = 0;
  double incumbent_ = std::numeric_limits<double>::infinity();
  std::optional<hierarchy::Mapping> best_;
  std::optional<hierarchy::Cost> cost_;
  Certificate certificate_;
  std::vector<hierarchy::Mapping> arrangements_;  // of the inside at hand
  std::vector<Candidate> candidates_;
};

}  // namespace tilewright::optimum
