// Every evaluated point of one or many runs, in one SQLite file (WAL): keyed by problem (layer, machine, model and its
// version) and design, so that a run that was killed, or another one, finds what is known already.
//
// Outcomes of a problem are rows in the order they became known. Keyed by design they would land all over the file and every
// commit would rewrite most of it; appended, a commit costs what it adds. A design is there once nevertheless: before it
// writes, and holding the write lock, a commit reads what others have appended.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/result.hpp"

namespace tilewright {

// One evaluated design, free of domain words: the numbers that came out, or why there are none.
struct StoredOutcome {
  bool feasible = false;
  std::uint8_t reason = 0;          // when infeasible
  std::span<const double> numbers;  // when feasible; equally many for all outcomes of a problem
};

// Belongs to one thread at a time; what was not committed is gone with the object.
class Store {
 public:
  // Opens or makes the file. A file that is no store, is damaged, or of a newer version is an Error that names it. While
  // another process writes, everything here waits for up to `patience`, then that is an Error too.
  static Result<Store> open(const std::filesystem::path& path,
                            std::chrono::milliseconds patience = std::chrono::seconds(20));
  // Of a store as it is on disk, which stays untouched: how many points it has, and whether they are all as they were
  // written. An Error says what is not.
  static Result<std::int64_t> points(const std::filesystem::path& path);
  static Result<std::int64_t> check(const std::filesystem::path& path);
  // The same for reading with `each`, and for nothing else.
  static Result<Store> open_to_read(const std::filesystem::path& path);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  // Makes the problem known; `text` describes it to people (JSON). All its outcomes are read into memory.
  Result<Done> add_problem(std::uint64_t key, const std::string& text);

  // Nothing when not known. The numbers stay where they are until the next call that is not const.
  std::optional<StoredOutcome> find(std::uint64_t problem, std::string_view design) const;
  // Kept in memory at once, written with the next commit. A design that is known is left as it is. The problem was added.
  void put(std::uint64_t problem, std::string_view design, const StoredOutcome& outcome);
  // Makes everything so far survive kill -9, in one transaction. After an Error nothing is lost and it may be tried again.
  Result<Done> commit();

  // Moves what was committed from the log into the file itself, so that the file alone is the whole store and may be copied.
  Result<Done> settle();

  // Every outcome of a problem that the file has, in the order they became known, one at a time and without keeping any;
  // ends early when `visit` returns false. A problem that the file does not know has none.
  using Visit = std::function<bool(std::string_view design, const StoredOutcome& outcome)>;
  Result<Done> each(std::uint64_t problem, const Visit& visit);

  // Every problem of the file, in the order they became known.
  struct Problem {
    std::uint64_t key = 0;
    std::string text;
  };
  Result<std::vector<Problem>> problems();

  std::int64_t count(std::uint64_t problem) const;  // known outcomes, committed or not
  // How many numbers the problem's feasible outcomes have; nothing before the first.
  std::optional<std::size_t> number_count(std::uint64_t problem) const;

 private:
  struct State;
  explicit Store(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Puts every outcome of `from` into `into` that is not known there, in its order. How many were new. The same again changes
// nothing.
Result<std::int64_t> merge(Store& into, Store& from);

}  // namespace tilewright
