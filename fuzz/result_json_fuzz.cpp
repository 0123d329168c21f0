// Any bytes given to `verify` as a result.json end in one sentence or in verdicts: every number is computed again from
// whatever the document says, so this reaches the readers of layers, machines, mappings and schedules, too.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <nlohmann/json.hpp>

#include "tilewright/base/json.hpp"
#include "tilewright/study/verification_parts.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilewright;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Result<nlohmann::json> plain = parse_json(text, "fuzz.json");
  if (!plain) {
    const std::string& sentence = plain.error().message;
    if (!sentence.starts_with("fuzz.json:") || sentence.find('\n') != std::string::npos) std::abort();
    return 0;
  }
  const auto json = nlohmann::ordered_json::parse(text);
  const Result<Verdicts> found[] = {verify_map(json, "nowhere"), verify_codesign(json, "nowhere")};
  for (const Result<Verdicts>& verdicts : found) {
    if (!verdicts && verdicts.error().message.empty()) std::abort();
    if (!verdicts || !verdicts->faults.empty()) continue;
    if (verdicts->layers == 0) std::abort();  // nothing was checked, so nothing can be right
  }
  return 0;
}
