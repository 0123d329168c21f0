// Any bytes are a plan whose studies can be asked for, or one sentence.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tilewright/study/campaign_plan.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilewright;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (text.find("..") != std::string::npos && size > 200) return 0;  // a long product is right, and slow
  const auto plan = campaign_plan_from(text, "fuzz.yaml");
  if (!plan) {
    if (plan.error().message.empty() || plan.error().message.find('\n') != std::string::npos) std::abort();
    return 0;
  }
  for (const PlannedStudy& study : plan->studies) {
    if (!request_of(study)) std::abort();  // what a plan has read can be read again
  }
  return 0;
}
