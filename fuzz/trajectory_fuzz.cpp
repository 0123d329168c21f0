// Any bytes given to the trajectory reader end in one sentence or in a trajectory that can be stepped.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tilewright/particle/trajectory.hpp"
#include "tilewright/particle/trajectory_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilewright;
  const std::string content(reinterpret_cast<const char*>(data), size);
  const Result<Trajectory> trajectory = trajectory_from_json(content, "fuzz.json");
  if (!trajectory) {
    const std::string& sentence = trajectory.error().message;
    if (!sentence.starts_with("fuzz.json:") || sentence.find('\n') != std::string::npos) std::abort();
    return 0;
  }
  const ReplayVerdict verdict = replay(*trajectory);
  if (verdict.steps > trajectory->steps.size()) std::abort();
  return 0;
}
