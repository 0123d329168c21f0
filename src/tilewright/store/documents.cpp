#include "tilewright/store/documents.hpp"

#include <fmt/format.h>

#include "tilewright/base/checksum.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/base/seal.hpp"

namespace tilewright {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view kTaskFormat = "tilewright-task-1";
constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::optional<FinishedWork> work_of(Json document) {
  const Json& time = document["time"];
  return FinishedWork{std::move(document["result"]),
                      {.seconds = time.value("seconds", 0.0),
                       .cpu_seconds = time.value("cpu_seconds", 0.0),
                       .host = time.value("host", ""),
                       .began = time.value("began", std::int64_t{0}),
                       .tries = time.value("tries", std::int64_t{1})}};
}

}  // namespace

Result<Documents> Documents::open(const fs::path& folder) {
  std::error_code status;
  fs::create_directories(folder, status);
  if (status) return Error{ErrorCode::Io, fmt::format("{}: could not be made: {}", folder.string(), status.message())};
  return Documents(folder);
}

std::string Documents::key_of(const Json& asked) { return checksum_text(checksum(text_of(asked))); }

fs::path Documents::path_of(const std::string& key) const { return folder_ / key.substr(0, 2) / (key + ".json"); }

bool Documents::has(const std::string& key) const {
  std::error_code status;
  return fs::is_regular_file(path_of(key), status);
}

std::optional<Json> Documents::read(const std::string& key) const {
  if (!has(key)) return std::nullopt;
  const Result<std::string> text = read_file(path_of(key), kMostBytes);
  if (!text) return std::nullopt;
  Json document = Json::parse(*text, nullptr, false);
  if (!document.is_object() || document.value("format", Json()) != kTaskFormat || !document.contains("asked") ||
      !document.contains("result") || !document.value("time", Json()).is_object() ||
      broken_seal(nlohmann::json::parse(*text))) {
    return std::nullopt;
  }
  return document;
}

std::optional<FinishedWork> Documents::find(const std::string& key) const {
  std::optional<Json> document = read(key);
  if (!document) return std::nullopt;
  return work_of(std::move(*document));
}

std::optional<FinishedWork> Documents::find(const Json& asked) const {
  std::optional<Json> document = read(key_of(asked));
  // A key is shorter than what it stands for.
  if (!document || text_of((*document)["asked"]) != text_of(asked)) return std::nullopt;
  return work_of(std::move(*document));
}

Result<Done> Documents::put(const Json& asked, const FinishedWork& work) const {
  const fs::path path = path_of(key_of(asked));
  std::error_code status;
  const bool made = fs::create_directory(path.parent_path(), status);
  if (status) {
    return Error{ErrorCode::Io, fmt::format("{}: could not be made: {}", path.parent_path().string(), status.message())};
  }
  if (made) sync_directory(folder_);
  Json document{{"format", kTaskFormat}, {"asked", asked}, {"result", work.result}};
  document["time"] = {{"seconds", work.time.seconds},
                      {"cpu_seconds", work.time.cpu_seconds},
                      {"host", work.time.host},
                      {"began", work.time.began},
                      {"tries", work.time.tries}};
  return write_file(path, sealed(std::move(document), -1));
}

}  // namespace tilewright
