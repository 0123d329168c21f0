// A compiled network, how it is shown, and the schedules it was made with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tilewright/vta/network_manifest.hpp"
#include "tilewright/workload/quantised_build.hpp"

namespace tilewright {

struct Compilation {
  std::string machine_name;  // as the user called it
  QuantisedNetwork network;
  vta::NetworkPlan plan;
  vta::NetworkRun run;
  vta::TimingOptions timing;
  std::uint64_t seed = 1;
  InputRange input;
  bool input_assumed = true;        // nobody said what the input is
  std::optional<std::size_t> only;  // the step that was asked for
  bool verified = true;             // programs were executed
};

std::string to_text(const Compilation& compilation);
// "verified: 25,088,000 elements of 22 steps equal", or the first difference, or that nobody looked.
std::string verification_line(const Compilation& compilation);
// tilewright-manifest-1; `verification` is null where nothing was executed.
std::string manifest_of(const Compilation& compilation);

// The schedules of a file: tilewright-schedules-1, {"format": …, "layers": {"conv1": {"tile_h": 14, …}, …}} or the
// manifest of another compilation. Every layer must be one of the network's.
Result<vta::ScheduleChoice> read_schedules(const std::string& file, const QuantisedNetwork& network);

}  // namespace tilewright
