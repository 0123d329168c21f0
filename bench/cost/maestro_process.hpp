// The peer: the real MAESTRO program, one process per mapping, as GAMMA and ArchGym call it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tilewright/hardware/accelerator.hpp"
#include "tilewright/mapping/mapping.hpp"

namespace tilewright::bench {

struct ProcessRun {
  double cpu_seconds = 0;
  double wall_seconds = 0;
  std::optional<std::int64_t> runtime;  // cycles from its CSV file; nothing when it wrote none
};

// Writes a .m file into `folder`, runs `program` there and reads its CSV.
ProcessRun run_maestro(const std::filesystem::path& program, const std::filesystem::path& folder, const Nest& nest,
                       const Mapping& mapping, const Accelerator& accelerator);

}  // namespace tilewright::bench
