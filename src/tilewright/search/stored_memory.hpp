// The loop's memory on disk: outcomes go to the store under their problem's key and their design's bytes, so that runs on
// other spaces with the same problem find them too.
#pragma once

#include <string>
#include <vector>

#include "tilewright/search/search_loop.hpp"
#include "tilewright/store/store.hpp"

namespace tilewright {

// An outcome as the memory stores it, back again; the stored one has all metrics.
Outcome outcome_of(const StoredOutcome& stored);
bool has_all_metrics(const StoredOutcome& stored);

class StoredMemory final : public Memory {
 public:
  // Reads what the store knows of the problems of `spaces`, which outlive the memory. Problems are numbered as in `spaces`.
  static Result<StoredMemory> open(Store store, std::vector<const DesignSpace*> spaces);

  std::optional<Outcome> find(std::size_t problem, PointView point) override;
  void remember(std::size_t problem, PointView point, const Outcome& outcome) override;

  // Writes what was remembered since. What could not be written is tried again with the next commit.
  Result<Done> commit();
  // The first commit that failed since the last one that did not.
  const std::optional<Error>& error() const { return error_; }

  const Store& store() const { return store_; }
  std::int64_t known() const;  // outcomes of all problems, each problem counted once

 private:
  StoredMemory(Store store, std::vector<const DesignSpace*> spaces);
  std::string_view design_of(std::size_t problem, PointView point);

  Store store_;
  std::vector<const DesignSpace*> spaces_;
  std::vector<std::uint64_t> keys_;  // of the spaces
  std::string design_;
  std::optional<Error> error_;
};

}  // namespace tilewright
