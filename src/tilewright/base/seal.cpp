#include "tilewright/base/seal.hpp"

#include <fmt/format.h>

#include "tilewright/base/checksum.hpp"
#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

constexpr const char* kDigest = "digest";

std::string digest_of(nlohmann::json document) {
  document.erase(kDigest);
  return checksum_text(checksum(document.dump()));
}

}  // namespace

std::string sealed(nlohmann::ordered_json document, int indent) {
  using Json = nlohmann::ordered_json;
  document.erase(kDigest);
  // The digest is of what a reader will see: bytes that are no text have become other ones then.
  const std::string text = document.dump(-1, ' ', false, Json::error_handler_t::replace);
  document[kDigest] = digest_of(nlohmann::json::parse(text));
  return document.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<std::string> broken_seal(const nlohmann::json& document) {
  const std::string digest = digest_of(document);
  const auto claimed = document.find(kDigest);
  if (claimed == document.end()) return fmt::format("digest is {}, the file has none: it was edited", digest);
  if (*claimed == digest) return std::nullopt;
  return fmt::format("digest is {}, the file says {}: it was edited", digest, printable(claimed->dump().substr(0, 60)));
}

}  // namespace tilewright
