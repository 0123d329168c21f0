// The directory of a run (`-o DIR`), whatever its verb: one process at a time, nothing of others overwritten, and at the end
// the checksum of every file.
//
//   run.json       what was asked for. Written first, so that a run that was killed can be continued; written again when
//                  everything is there, then with `outputs`: {"best/000_conv1.yaml": "9c56…", …} and, where there is a
//                  store, its `points`
//   store.sqlite   every evaluated point, where there is one (store.hpp)
//   the rest       is the verb's
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/result.hpp"

namespace tilewright {

inline constexpr std::string_view kRunFormat = "tilewright-run-1";
inline constexpr const char* kRunFile = "run.json";
inline constexpr const char* kStoreFile = "store.sqlite";

class RunDirectory {
 public:
  // Makes the directory where there is none (and takes it away again where no run began) and keeps other processes out of it
  // until the object is gone. One that holds files but no run is an Error, and so is one with links in it. `may_hold`
  // are the names that may be there before a run.
  static Result<RunDirectory> open(const std::filesystem::path& path, std::span<const std::string_view> may_hold = {});
  RunDirectory(RunDirectory&& other) noexcept;
  ~RunDirectory();

  const std::filesystem::path& path() const { return path_; }
  // The run.json that was found; empty where there was none.
  const std::string& record() const { return record_; }

  // From here on the directory is this run's, and not at its end.
  Result<Done> begin(const std::string& record);
  // The same where the directory is new or holds this very run, which goes on under the record it began with; otherwise an
  // Error that names the first difference.
  Result<Done> begin_or_continue(const std::string& record);
  // The same where the directory is new or holds any run of this verb, whose place this one takes.
  Result<Done> begin_or_replace(const std::string& record);
  // Everything is written and closed: takes down what is there.
  Result<Done> end();

 private:
  RunDirectory(std::filesystem::path path, int lock) : path_(std::move(path)), lock_(lock) {}
  Result<Done> read_record();
  Result<Done> check_foreign(std::span<const std::string_view> may_hold) const;
  Result<Done> check_links() const;

  std::filesystem::path path_;
  int lock_;
  bool made_ = false;  // by us, and nothing is in it yet
  std::string record_;
  std::set<std::string> others_;  // files beside the outputs of a run that had ended
};

// A record of nothing but who did what: for verbs that are done in one go.
std::string plain_run_json(std::string_view verb, std::string_view version, const std::vector<std::string>& command);

// The verb of the run in a directory.
Result<std::string> verb_of(const std::filesystem::path& directory);

// Fine when the run in a directory is the one that `record` is of; otherwise an Error that names the first difference.
Result<Done> check_same_run(const std::filesystem::path& directory, const std::string& record);

// Whether the files of a directory are those that its run has left.
struct RunCheck {
  std::string verb;                  // empty where run.json does not tell
  std::vector<std::string> faults;   // "best/000_conv1.yaml: is not as the run left it"
  std::vector<std::string> checked;  // "12 files are as the run left them"
};
// An Error where the directory holds no run at all.
Result<RunCheck> check_run(const std::filesystem::path& directory);

}  // namespace tilewright
