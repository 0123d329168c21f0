// A training run on disk, whole at every moment.
//
//   learner-EPISODES.safetensors   weights, optimiser, generators, counters
//   trainer-EPISODES.safetensors   episodes, steps, learning curve
//   replay-FIRST-LAST.bin          transitions FIRST … LAST-1 of the replay memory
//   latest.json                    the files that belong together, with their sizes and checksums
//
// Files are written under names that nothing refers to yet, then latest.json is replaced, then what it no longer names is
// deleted. So a run that is killed at any moment leaves a whole checkpoint behind, and each transition is written once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/marl/learner.hpp"

namespace tilewright {

struct TrainState;

class CheckpointDirectory {
 public:
  // Transitions go into pieces of at most this many bytes, which bounds the memory that writing and reading take.
  static constexpr std::size_t kPieceBytes = std::size_t{64} << 20;

  explicit CheckpointDirectory(std::filesystem::path directory, std::size_t piece_bytes = kPieceBytes);

  bool holds_checkpoint() const;

  // Into a learner that is as new, with an empty replay memory. Files that are missing, damaged or of another run are
  // Errors; the learner is of no use then.
  Result<Done> read(Learner& learner, TrainState& state);
  Result<Done> write(Learner& learner, const TrainState& state);

 private:
  struct File {
    std::string name;
    std::uint64_t bytes = 0;
    std::uint64_t checksum = 0;
  };
  struct Piece {
    std::uint64_t first = 0, last = 0;
    File file;
  };

  Result<File> write_part(const std::string& name, std::string_view content) const;
  Result<std::string> read_part(const File& file) const;
  Result<Done> write_pieces(const Replay& replay);
  Result<Done> write_latest(const File& learner, const File& trainer) const;
  void delete_unnamed(const File& learner, const File& trainer) const;

  std::filesystem::path directory_;
  std::size_t piece_bytes_;
  std::uint64_t saved_ = 0;  // transitions that were ever put into pieces
  std::vector<Piece> pieces_;
};

}  // namespace tilewright
