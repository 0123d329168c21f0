// The memory of off-policy learners: transitions of all agents, in one of three layouts that hold the same information.
//
//   per-agent   one buffer per agent, with an array each for its o, a, r, o': what the published implementations do; a
//               transition is read from 4N places
//   joint       one contiguous row per joint transition: [all o | all a | all o' | all r]
//   state       [state | all a | next state | all r]; an ObservationTable turns states back into observations
//
// Environments that terminate add [all terminated] to a row. Memory is reserved at once but taken from the machine only as
// it fills.
//
// Indices are ages: 0 is the oldest transition held, size()-1 the newest, so neighbours in index are neighbours in time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/marl/environment.hpp"
#include "tilewright/marl/learner.hpp"
#include "tilewright/nn/matrix.hpp"

namespace tilewright {

enum class ReplayLayout { PerAgent, Joint, State };
Result<ReplayLayout> parse_layout(std::string_view text);  // "per-agent", "joint", "state"
std::string_view to_string(ReplayLayout layout);

// How a transition's observations are held in a Batch: all observations side by side, or the world state.
class Representation {
 public:
  Representation() = default;
  Representation(const EnvironmentSpec& spec, ReplayLayout layout);  // State needs spec.table

  std::size_t size() const { return size_; }
  // The table when rows hold states; null when they hold observations.
  const ObservationTable* table() const { return table_.state_size > 0 ? &table_ : nullptr; }

  // The observations of one agent out of rows that begin with a representation: a view into them, or rebuilt in `scratch`
  // (at least that many rows, and columns for the largest observation), with zeros up to the padded columns.
  ConstView observations(std::size_t agent, ConstView rows, Matrix& scratch) const;

 private:
  // Neighbouring entries of the table whose `plus` go up one by one (or are all none) and whose `minus` are two in turn.
  struct Run {
    std::int32_t plus = ObservationEntry::kNone;
    std::int32_t minus[2] = {ObservationEntry::kNone, ObservationEntry::kNone};
    std::uint32_t count = 0;
  };

  std::size_t size_ = 0;
  std::vector<std::size_t> offsets_;  // where each agent's observation begins among all observations; and the end
  ObservationTable table_;
  std::vector<std::vector<Run>> runs_;  // of each agent
};

// A mini-batch, ready for the networks.
struct Batch {
  std::size_t rows = 0;
  Matrix current;                      // rows × (representation | actions of all agents)
  Matrix next;                         // rows × (next representation | room for next actions)
  Matrix rewards;                      // agents × rows
  Matrix terminated;                   // agents × rows; without rows when the environment never terminates
  std::vector<std::uint32_t> indices;  // ages, as drawn
  std::vector<float> weights;          // importance weights; empty = all 1
};

enum class Pages {
  Huge,   // asks the kernel for 2 MiB pages: a random row then rarely misses the TLB
  Small,  // 4 KiB ones, to measure what that is worth
};

class Replay {
 public:
  // Any capacity from 1 to 2^32-1. Throws std::bad_alloc when not even the addresses are to be had.
  Replay(const EnvironmentSpec& spec, ReplayLayout layout, std::size_t capacity, Pages pages = Pages::Huge);
  ~Replay();
  Replay(Replay&&) noexcept;

  void add(const Experience& experience);  // the live worlds, in order

  ReplayLayout layout() const;
  const Representation& representation() const;
  std::size_t size() const;  // transitions held
  std::size_t capacity() const;
  std::uint64_t added() const;  // transitions ever added
  std::size_t bytes_per_transition() const;

  Batch make_batch(std::size_t rows) const;  // with all its room
  // Fills everything of `batch` but the next actions from batch.indices. Returns the bytes read from the memory.
  std::size_t gather(Batch& batch) const;

  // Persistence in pieces, so that a checkpoint writes only what is new: the raw transitions number first … last-1 (counted
  // from the first ever added; they must still be held), each row_bytes() long, in the form of the layout's row above;
  // per-agent and joint give the same bytes. A piece whose last transition number is below added() - size() has been
  // overwritten and is not needed any more.
  std::string transitions(std::uint64_t first, std::uint64_t last) const;
  // Puts them back; to be called in order on an empty memory, beginning with any transition that is still needed. After the
  // piece that ends with `last`, added() is `last`.
  Result<Done> restore(std::uint64_t first, std::string_view transitions);
  std::size_t row_bytes() const;  // bytes_per_transition() without what aligns rows

 private:
  struct Storage;
  std::unique_ptr<Storage> storage_;
};

}  // namespace tilewright
