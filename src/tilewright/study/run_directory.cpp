#include "tilewright/study/run_directory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <map>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tilewright/base/checksum.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/seal.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/store/store.hpp"

namespace tilewright {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

bool is_record(const Json& json) {
  return json.is_object() && json.value("format", Json()) == kRunFormat && json.value("verb", Json()).is_string();
}

Result<Json> parse_record(const std::string& text, const std::string& where) {
  Json json = Json::parse(text, nullptr, false);
  if (is_record(json)) return json;
  return invalid(fmt::format("{}: does not describe a run, expected format {}", where, kRunFormat));
}

// What neither a run leaves for good nor anybody put there for us: drafts of files, SQLite's, and hidden files.
bool is_passing(const std::string& name) {
  return name.starts_with('.') || name.ends_with(".draft") || name.ends_with("-wal") || name.ends_with("-shm");
}

// Folders of a campaign whose documents have seals of their own, and to which other processes may be adding.
bool is_shared(const fs::path& path, const fs::path& directory) {
  const fs::path name = path.lexically_relative(directory);
  return name == "tasks" || name == "work";
}

// Every file of a directory but run.json, by its path within it.
Result<std::map<std::string, fs::path>> files_of(const fs::path& directory) {
  std::map<std::string, fs::path> files;
  std::error_code status;
  for (auto entry = fs::recursive_directory_iterator(directory, status); !status && entry != fs::end(entry);
       entry.increment(status)) {
    const std::string name = entry->path().lexically_relative(directory).generic_string();
    if (is_passing(entry->path().filename().string()) || is_shared(entry->path(), directory)) {
      if (entry->is_directory(status)) entry.disable_recursion_pending();
      continue;
    }
    if (entry->is_symlink(status) || !entry->is_regular_file(status) || name == kRunFile || !is_text(name)) continue;
    files.emplace(name, entry->path());
  }
  if (status) return Error{ErrorCode::Io, fmt::format("{}: could not be read: {}", directory.string(), status.message())};
  return files;
}

// Fine when two records ask for the same; otherwise an Error that names the first difference.
Result<Done> check_same(const Json& there, const Json& here, const std::string& where,
                        std::initializer_list<const char*> facts, std::initializer_list<const char*> parts) {
  for (const char* part : facts) {
    const Json now = here.value(part, Json());
    if (there.value(part, Json()) == now) continue;
    return invalid(fmt::format("{}: {} is {}, but this is {}; expected another -o DIR", where, part,
                               there.value(part, Json()).dump(), now.dump()));
  }
  for (const char* part : parts) {
    const Json earlier = there.value(part, Json::object()), now = here.value(part, Json::object());
    if (!earlier.is_object()) return invalid(fmt::format("{}: is damaged: {} is no object", where, part));
    for (const auto& [name, value] : now.items()) {
      if (earlier.value(name, Json()) == value) continue;
      if (!earlier.contains(name) && value == false) continue;  // as much as none
      return invalid(fmt::format("{}: {} of the run there is {}, but now it is {}; expected another -o DIR, or the same {}",
                                 where, name, earlier.value(name, Json()).dump(), value.dump(), name));
    }
    for (const auto& [name, value] : earlier.items()) {
      if (now.contains(name) || value == "" || value == Json::array()) continue;  // as much as none
      return invalid(fmt::format("{}: {} of the run there is {}, but now there is none; expected another -o DIR", where,
                                 name, value.dump()));
    }
  }
  return Done{};
}

Result<Done> check_whole(const std::string& there, const std::string& here, const std::filesystem::path& directory) {
  return check_same(Json::parse(there), Json::parse(here), (directory / kRunFile).string(), {"verb", "version"},
                    {"arguments", "inputs"});
}

void check_outputs(const fs::path& directory, const Json& record, RunCheck& check) {
  const Result<std::map<std::string, fs::path>> there = files_of(directory);
  if (!there) {
    check.faults.push_back(there.error().message);
    return;
  }
  std::size_t whole = 0, listed = 0;
  for (const auto& [name, claimed] : record["outputs"].items()) {
    const auto file = there->find(name);
    ++listed;
    if (file == there->end()) {
      check.faults.push_back(name + ": is missing, or no longer a file");
      continue;
    }
    const Result<std::uint64_t> is = file_checksum(file->second);
    const bool same = is && claimed == checksum_text(*is);
    if (name == kStoreFile) {
      const Result<std::int64_t> points = Store::check(file->second);
      const std::int64_t before =
          record.value("points", Json()).is_number_integer() ? record["points"].get<std::int64_t>() : 0;
      if (!points) {
        check.faults.push_back(points.error().message);
      } else if (same) {
        check.checked.push_back(fmt::format("{} points of the store are whole", with_thousands(*points)));
      } else if (*points > before) {  // other runs may add to it
        check.checked.push_back(fmt::format("{} points of the store are whole, {} of them added since",
                                            with_thousands(*points), with_thousands(*points - before)));
      } else {
        check.faults.push_back(name + ": is not as the run left it");
      }
      continue;
    }
    if (same) {
      ++whole;
    } else {
      check.faults.push_back(is ? name + ": is not as the run left it" : is.error().message);
    }
  }
  const std::size_t others = there->size() - std::min(there->size(), listed);
  check.checked.insert(check.checked.begin(),
                       fmt::format("{} files are as the run left them{}", whole,
                                   others > 0 ? fmt::format(" ({} more are not the run's)", others) : ""));
}

}  // namespace

Result<RunDirectory> RunDirectory::open(const fs::path& path, std::span<const std::string_view> may_hold) {
  std::error_code status;
  const bool made = fs::create_directories(path, status);
  if (status) return Error{ErrorCode::Io, fmt::format("{}: could not be made: {}", path.string(), status.message())};
  const int lock = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock < 0) return Error{ErrorCode::Io, fmt::format("{}: {}", path.string(), std::strerror(errno))};
  RunDirectory directory(path, lock);
  directory.made_ = made;
  if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    return Error{ErrorCode::Io, fmt::format("{}: another process is at work in it, expected one at a time", path.string())};
  }
  TW_TRY([[maybe_unused]] const Done read, directory.read_record());
  TW_TRY([[maybe_unused]] const Done ours, directory.check_foreign(may_hold));
  TW_TRY([[maybe_unused]] const Done inside, directory.check_links());
  return directory;
}

RunDirectory::RunDirectory(RunDirectory&& other) noexcept
    : path_(std::move(other.path_)),
      lock_(std::exchange(other.lock_, -1)),
      made_(std::exchange(other.made_, false)),
      record_(std::move(other.record_)),
      others_(std::move(other.others_)) {}

RunDirectory::~RunDirectory() {
  if (made_) rmdir(path_.c_str());
  if (lock_ >= 0) close(lock_);
}

Result<Done> RunDirectory::read_record() {
  std::error_code status;
  const fs::path path = path_ / kRunFile;
  if (!fs::exists(fs::symlink_status(path, status))) return Done{};
  TW_TRY(record_, read_file(path));
  TW_TRY(const Json json, parse_record(record_, path.string()));
  if (!json.contains("outputs") || !json["outputs"].is_object()) return Done{};
  TW_TRY(const auto files, files_of(path_));
  for (const auto& [name, file] : files) {
    if (!json["outputs"].contains(name)) others_.insert(name);
  }
  return Done{};
}

Result<Done> RunDirectory::check_foreign(std::span<const std::string_view> may_hold) const {
  if (!record_.empty()) return Done{};
  std::set<std::string> foreign;
  std::error_code status;
  for (auto entry = fs::directory_iterator(path_, status); !status && entry != fs::end(entry); entry.increment(status)) {
    const std::string name = entry->path().filename().string();
    if (!is_passing(name) && std::ranges::find(may_hold, name) == may_hold.end()) foreign.insert(name);
  }
  if (status) return Error{ErrorCode::Io, fmt::format("{}: could not be read: {}", path_.string(), status.message())};
  if (foreign.empty()) return Done{};
  return invalid(fmt::format("{}: holds '{}' and no run, expected a new or empty directory, or that of an earlier run",
                             path_.string(), printable(*foreign.begin())));
}

Result<Done> RunDirectory::check_links() const {
  std::error_code status;
  for (auto entry = fs::recursive_directory_iterator(path_, status); !status && entry != fs::end(entry);
       entry.increment(status)) {
    if (!entry->is_symlink(status)) continue;
    return invalid(
        fmt::format("{}: is a link, and what is written there would land elsewhere, expected a directory "
                    "without links",
                    entry->path().string()));
  }
  if (status) return Error{ErrorCode::Io, fmt::format("{}: could not be read: {}", path_.string(), status.message())};
  return Done{};
}

Result<Done> RunDirectory::begin(const std::string& record) {
  Json json = Json::parse(record);
  for (const char* part : {"outputs", "points"}) json.erase(part);
  const std::string text = sealed(std::move(json), 1);
  made_ = false;
  std::error_code ignored;
  std::vector<fs::path> drafts;  // of a process that was killed while it wrote
  for (auto entry = fs::recursive_directory_iterator(path_, ignored); !ignored && entry != fs::end(entry);
       entry.increment(ignored)) {
    if (is_shared(entry->path(), path_)) entry.disable_recursion_pending();
    if (entry->path().extension() == ".draft") drafts.push_back(entry->path());
  }
  for (const fs::path& draft : drafts) fs::remove(draft, ignored);
  if (text == record_) return Done{};
  TW_TRY([[maybe_unused]] const Done written, write_file(path_ / kRunFile, text));
  record_ = text;
  return Done{};
}

Result<Done> RunDirectory::begin_or_continue(const std::string& record) {
  if (record_.empty()) return begin(record);
  TW_TRY([[maybe_unused]] const Done same, check_whole(record_, record, path_));
  return begin(record_);
}

Result<Done> RunDirectory::begin_or_replace(const std::string& record) {
  if (!record_.empty()) {
    const std::string where = (path_ / kRunFile).string();
    TW_TRY([[maybe_unused]] const Done same, check_same(Json::parse(record_), Json::parse(record), where, {"verb"}, {}));
  }
  return begin(record);
}

Result<Done> RunDirectory::end() {
  Json json = Json::parse(record_);
  TW_TRY(const auto files, files_of(path_));
  json["outputs"] = Json::object();
  for (const auto& [name, path] : files) {
    if (others_.contains(name)) continue;
    if (name == kStoreFile) {
      TW_TRY(json["points"], Store::points(path));
    }
    TW_TRY(const std::uint64_t is, file_checksum(path));
    json["outputs"][name] = checksum_text(is);
  }
  const std::string text = sealed(std::move(json), 1);
  TW_TRY([[maybe_unused]] const Done written, write_file(path_ / kRunFile, text));
  record_ = text;
  return Done{};
}

std::string plain_run_json(std::string_view verb, std::string_view version, const std::vector<std::string>& command) {
  return Json{{"format", kRunFormat}, {"verb", verb}, {"version", version}, {"command", command}}.dump(
      1, ' ', false, Json::error_handler_t::replace);
}

Result<std::string> verb_of(const fs::path& directory) {
  TW_TRY(const std::string text, read_file(directory / kRunFile));
  TW_TRY(const Json json, parse_record(text, (directory / kRunFile).string()));
  return json["verb"].get<std::string>();
}

Result<Done> check_same_run(const std::filesystem::path& directory, const std::string& record) {
  TW_TRY(const std::string there, read_file(directory / kRunFile));
  if (!Json::parse(there, nullptr, false).is_object()) {
    return invalid(fmt::format("{}: is damaged", (directory / kRunFile).string()));
  }
  return check_whole(there, record, directory);
}

Result<RunCheck> check_run(const fs::path& directory) {
  RunCheck check;
  TW_TRY(const std::string text, read_file(directory / kRunFile));
  const Json json = Json::parse(text, nullptr, false);
  if (!is_record(json)) {
    check.faults.push_back(fmt::format("{}: does not describe a run, expected format {}", kRunFile, kRunFormat));
    return check;
  }
  check.verb = json["verb"].get<std::string>();
  if (const auto fault = broken_seal(nlohmann::json::parse(text))) {
    check.faults.push_back(fmt::format("{}: {}", kRunFile, *fault));
  }
  if (!json.contains("outputs") || !json["outputs"].is_object()) {
    check.faults.push_back(
        fmt::format("{}: the run has not come to its end, so nobody knows what its files should be", kRunFile));
    return check;
  }
  check_outputs(directory, json, check);
  return check;
}

}  // namespace tilewright
