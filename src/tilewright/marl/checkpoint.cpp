#include "tilewright/marl/checkpoint.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/checksum.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/marl/replay.hpp"
#include "tilewright/marl/trainer.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::string_view kFormat = "tilewright-checkpoint-1";
constexpr std::int64_t kMostPartBytes = std::int64_t{1} << 36;

Error not_written(const std::filesystem::path& path) {
  return {ErrorCode::Io, fmt::format("{}: could not be written: {}", path.string(), std::strerror(errno))};
}

// Returns once the bytes are on the disk: latest.json must never name a file that a power cut can still take away.
Result<Done> write_synced(const std::filesystem::path& path, std::string_view content) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return not_written(path);
  while (!content.empty()) {
    const ssize_t written = write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  if (!content.empty() || fdatasync(file) != 0) {
    const Error error = not_written(path);
    close(file);
    unlink(path.c_str());
    return error;
  }
  close(file);
  return Done{};
}

TensorFile to_tensors(const TrainState& state) {
  TensorFile file;
  file.put("episodes", state.episodes);
  file.put("steps", state.steps);
  file.put("interval_episodes", state.interval_episodes);
  file.put("interval_returns", std::span<const double>(state.interval_returns));
  file.put("curve_points", static_cast<std::int64_t>(state.curve.size()));
  if (state.curve.empty()) return file;
  std::vector<std::int64_t> counts;
  std::vector<double> returns;
  for (const CurvePoint& point : state.curve) {
    counts.insert(counts.end(), {point.episodes, point.steps, point.updates});
    returns.insert(returns.end(), point.agent_returns.begin(), point.agent_returns.end());
  }
  file.put("curve_counts", std::span<const std::int64_t>(counts));
  file.put("curve_returns", std::span<const double>(returns));
  return file;
}

Result<TrainState> from_tensors(const TensorFile& file, std::size_t agent_count, const std::string& where) {
  TrainState state;
  TW_TRY(state.episodes, file.get("episodes"));
  TW_TRY(state.steps, file.get("steps"));
  TW_TRY(state.interval_episodes, file.get("interval_episodes"));
  state.interval_returns.resize(agent_count);
  TW_TRY(const Done interval, file.get("interval_returns", std::span<double>(state.interval_returns)));
  TW_TRY(const std::int64_t points, file.get("curve_points"));
  if (state.episodes < 0 || state.steps < 0 || points < 0 || points > state.episodes) {
    return invalid(fmt::format("{}: has {} curve points after {} episodes, expected at most one for each", where, points,
                               state.episodes));
  }
  if (points == 0) return state;
  std::vector<std::int64_t> counts(3 * static_cast<std::size_t>(points));
  std::vector<double> returns(agent_count * static_cast<std::size_t>(points));
  TW_TRY(const Done read_counts, file.get("curve_counts", std::span<std::int64_t>(counts)));
  TW_TRY(const Done read_returns, file.get("curve_returns", std::span<double>(returns)));
  for (std::size_t index = 0; index < static_cast<std::size_t>(points); ++index) {
    const auto first = returns.begin() + static_cast<std::ptrdiff_t>(index * agent_count);
    state.curve.push_back(curve_point(counts[3 * index], counts[3 * index + 1], counts[3 * index + 2],
                                      {first, first + static_cast<std::ptrdiff_t>(agent_count)}));
  }
  return state;
}

}  // namespace

CheckpointDirectory::CheckpointDirectory(std::filesystem::path directory, std::size_t piece_bytes)
    : directory_(std::move(directory)), piece_bytes_(piece_bytes) {}

bool CheckpointDirectory::holds_checkpoint() const {
  std::error_code status;
  return std::filesystem::exists(directory_ / "latest.json", status);
}

Result<CheckpointDirectory::File> CheckpointDirectory::write_part(const std::string& name, std::string_view content) const {
  TW_TRY(const Done written, write_synced(directory_ / name, content));
  return File{name, content.size(), checksum(content)};
}

Result<std::string> CheckpointDirectory::read_part(const File& file) const {
  const std::filesystem::path path = directory_ / file.name;
  TW_TRY(std::string content, read_file(path, kMostPartBytes));
  if (content.size() != file.bytes) {
    return invalid(
        fmt::format("{}: has {} bytes, expected {} as latest.json says", path.string(), content.size(), file.bytes));
  }
  if (checksum(content) != file.checksum) {
    return invalid(fmt::format("{}: is damaged: its checksum is {:016x}, expected {:016x} as latest.json says",
                               path.string(), checksum(content), file.checksum));
  }
  return content;
}

Result<Done> CheckpointDirectory::write_pieces(const Replay& replay) {
  const std::uint64_t oldest = replay.added() - replay.size();
  std::erase_if(pieces_, [&](const Piece& piece) { return piece.last <= oldest; });
  const std::uint64_t most =
      std::max<std::uint64_t>(1, piece_bytes_ / std::max<std::size_t>(1, replay.bytes_per_transition()));
  for (saved_ = std::max(saved_, oldest); saved_ < replay.added();) {
    const std::uint64_t last = std::min(saved_ + most, replay.added());
    TW_TRY(const File file, write_part(fmt::format("replay-{}-{}.bin", saved_, last), replay.transitions(saved_, last)));
    pieces_.push_back({saved_, last, file});
    saved_ = last;
  }
  return Done{};
}

Result<Done> CheckpointDirectory::write_latest(const File& learner, const File& trainer) const {
  const auto entry = [](const File& file) {
    return Json{{"file", file.name}, {"bytes", file.bytes}, {"checksum", checksum_text(file.checksum)}};
  };
  Json json{{"format", kFormat}, {"learner", entry(learner)}, {"trainer", entry(trainer)}, {"replay", Json::array()}};
  for (const Piece& piece : pieces_) {
    Json item{{"first", piece.first}, {"last", piece.last}};
    item.update(entry(piece.file));
    json["replay"].push_back(item);
  }
  sync_directory(directory_);  // the names of the files, before the one that refers to them
  return write_file(directory_ / "latest.json", json.dump(1) + "\n");
}

void CheckpointDirectory::delete_unnamed(const File& learner, const File& trainer) const {
  std::set<std::string> named = {learner.name, trainer.name};
  for (const Piece& piece : pieces_) named.insert(piece.file.name);
  std::error_code status;
  std::vector<std::filesystem::path> unnamed;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, status)) {
    const std::string name = entry.path().filename().string();
    const bool ours = name.starts_with("learner-") || name.starts_with("trainer-") || name.starts_with("replay-") ||
                      name.ends_with(".draft");
    if (ours && !named.contains(name)) unnamed.push_back(entry.path());
  }
  for (const std::filesystem::path& path : unnamed) std::filesystem::remove(path, status);
}

Result<Done> CheckpointDirectory::write(Learner& learner, const TrainState& state) {
  std::error_code status;
  std::filesystem::create_directories(directory_, status);
  if (status) {
    return Error{ErrorCode::Io, fmt::format("{}: could not be made: {}", directory_.string(), status.message())};
  }
  if (learner.replay() != nullptr) {
    TW_TRY(const Done pieces, write_pieces(*learner.replay()));
  }
  TensorFile tensors;
  learner.save(tensors);
  TW_TRY(const File learner_file,
         write_part(fmt::format("learner-{}.safetensors", state.episodes), to_safetensors(tensors)));
  TW_TRY(const File trainer_file,
         write_part(fmt::format("trainer-{}.safetensors", state.episodes), to_safetensors(to_tensors(state))));
  TW_TRY(const Done latest, write_latest(learner_file, trainer_file));
  delete_unnamed(learner_file, trainer_file);
  return Done{};
}

Result<Done> CheckpointDirectory::read(Learner& learner, TrainState& state) {
  const std::filesystem::path latest = directory_ / "latest.json";
  TW_TRY(const std::string text, read_file(latest));
  File learner_file, trainer_file;
  std::vector<Piece> pieces;
  try {  // a reader: whatever is missing or of another type in the file throws
    const Json json = Json::parse(text);
    if (json.at("format") != kFormat) throw std::runtime_error(fmt::format("format is {}", json.at("format").dump()));
    const auto entry = [](const Json& item) {
      const auto name = item.at("file").get<std::string>();
      if (name.find('/') != std::string::npos) throw std::runtime_error("a file lies elsewhere");
      return File{name, item.at("bytes").get<std::uint64_t>(),
                  std::stoull(item.at("checksum").get<std::string>(), nullptr, 16)};
    };
    learner_file = entry(json.at("learner"));
    trainer_file = entry(json.at("trainer"));
    for (const Json& item : json.at("replay")) {
      pieces.push_back({item.at("first").get<std::uint64_t>(), item.at("last").get<std::uint64_t>(), entry(item)});
    }
  } catch (const std::exception& failure) {
    return invalid(fmt::format("{}: is not a list of checkpoint files ({}), expected format {}", latest.string(),
                               failure.what(), kFormat));
  }
  if (!pieces.empty() && learner.replay() == nullptr) {
    return invalid(fmt::format("{}: has a replay memory, expected none for this algorithm", latest.string()));
  }
  TW_TRY(const std::string learner_bytes, read_part(learner_file));
  TW_TRY(const TensorFile learner_tensors, from_safetensors(learner_bytes, (directory_ / learner_file.name).string()));
  TW_TRY(const std::string trainer_bytes, read_part(trainer_file));
  TW_TRY(const TensorFile trainer_tensors, from_safetensors(trainer_bytes, (directory_ / trainer_file.name).string()));
  TW_TRY(state, from_tensors(trainer_tensors, state.interval_returns.size(), (directory_ / trainer_file.name).string()));
  for (const Piece& piece : pieces) {
    TW_TRY(const std::string transitions, read_part(piece.file));
    TW_TRY(const Done restored, learner.replay()->restore(piece.first, transitions));
    if (learner.replay()->added() != piece.last) {
      return invalid(fmt::format("{}: ends with transition {}, expected {} as latest.json says",
                                 (directory_ / piece.file.name).string(), learner.replay()->added(), piece.last));
    }
  }
  // After the replay memory, because samplers may want to know its size.
  TW_TRY(const Done loaded, learner.load(learner_tensors));
  pieces_ = std::move(pieces);
  saved_ = pieces_.empty() ? 0 : pieces_.back().last;
  return Done{};
}

}  // namespace tilewright
