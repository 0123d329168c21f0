// Finished pieces of work, each a document under a key made of everything it depends on: asked for again, by whomever, it is
// found. A file each, written beside and renamed, so that processes and machines which share nothing but a folder fill it
// side by side, none of them is ever half there, and copies of the folder are joined by copying.
//
//   FOLDER/ab/ab12…ef.json   {"format": "tilewright-task-1", "asked": {…}, "result": {…}, "time": {…}, "digest": "…"}
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "tilewright/base/result.hpp"

namespace tilewright {

// How a piece of work was done; no part of what came out.
struct WorkTime {
  double seconds = 0, cpu_seconds = 0;
  std::string host = {};
  std::int64_t began = 0;  // seconds since 1970
  std::int64_t tries = 1;  // how often it was begun
};

struct FinishedWork {
  nlohmann::ordered_json result;
  WorkTime time;
};

class Documents {
 public:
  using Json = nlohmann::ordered_json;

  // Makes the folder where there is none.
  static Result<Documents> open(const std::filesystem::path& folder);
  // To look into: nothing is made.
  static Documents at(const std::filesystem::path& folder) { return Documents(folder); }

  static std::string key_of(const Json& asked);  // 16 hexadecimal digits
  std::filesystem::path path_of(const std::string& key) const;

  bool has(const std::string& key) const;
  // Nothing where it was not done yet. What is not as it was written counts as not done: it is then done again.
  std::optional<FinishedWork> find(const Json& asked) const;
  std::optional<FinishedWork> find(const std::string& key) const;
  Result<Done> put(const Json& asked, const FinishedWork& work) const;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  explicit Documents(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::optional<Json> read(const std::string& key) const;

  std::filesystem::path folder_;
};

}  // namespace tilewright
