// Where a study leaves the programs it has made, one at a time:
//
//   FOLDER/00_conv1.vtaprog, …   FOLDER/manifest.json   listing.txt
//
// The manifest comes last: where it is, everything is.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/result.hpp"
#include "tilewright/vta/machine.hpp"
#include "tilewright/vta/program.hpp"

namespace tilewright {

class RunDirectory;

class ProgramFolder {
 public:
  // Programs are only counted when there is no directory. What an interrupted run has left in the folder goes.
  ProgramFolder(const RunDirectory* directory, std::filesystem::path folder);
  // What was not closed is taken away again.
  ~ProgramFolder();
  ProgramFolder(const ProgramFolder&) = delete;
  ProgramFolder& operator=(const ProgramFolder&) = delete;

  void add(const std::string& name, const vta::Program& program, const vta::Machine& machine);
  // The listing, and the manifest where there is one. The number of programs, or the first thing that could not be written.
  Result<std::size_t> close(const std::string& manifest = "");

 private:
  void write(const std::filesystem::path& name, std::string_view content);

  std::filesystem::path root_, folder_;  // the folder is within the root, which is empty when there is no directory
  std::vector<std::filesystem::path> written_;
  std::string listing_;
  std::size_t count_ = 0;
  bool closed_ = false;
  std::optional<Error> error_;  // nothing is written after it
};

}  // namespace tilewright
