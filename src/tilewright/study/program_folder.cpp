#include "tilewright/study/program_folder.hpp"

#include <fmt/format.h>

#include "tilewright/base/file.hpp"
#include "tilewright/study/run_directory.hpp"
#include "tilewright/vta/disassembly.hpp"

namespace tilewright {
namespace {

namespace fs = std::filesystem;
constexpr const char *kManifest = "manifest.json", *kListing = "listing.txt";

}  // namespace

ProgramFolder::ProgramFolder(const RunDirectory* directory, fs::path folder) : folder_(std::move(folder)) {
  if (directory == nullptr) return;
  root_ = directory->path();
  std::error_code ignored;
  fs::remove(root_ / folder_ / kManifest, ignored);
  if (folder_.empty()) return;
  fs::remove_all(root_ / folder_, ignored);
  fs::create_directories(root_ / folder_, ignored);
}

ProgramFolder::~ProgramFolder() {
  if (closed_) return;
  std::error_code ignored;
  for (const fs::path& name : written_) fs::remove(root_ / name, ignored);
  if (!root_.empty() && !folder_.empty()) fs::remove(root_ / folder_, ignored);
}

void ProgramFolder::add(const std::string& name, const vta::Program& program, const vta::Machine& machine) {
  ++count_;
  if (root_.empty() || error_) return;
  const std::vector<std::uint8_t> bytes = vta::to_file(program);
  write(folder_ / name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  listing_ += fmt::format("{}\n{}\n", name, vta::listing(program, machine));
}

Result<std::size_t> ProgramFolder::close(const std::string& manifest) {
  write(kListing, listing_);
  if (!manifest.empty()) write(folder_ / kManifest, manifest);
  if (error_) return *error_;
  closed_ = true;
  return count_;
}

void ProgramFolder::write(const fs::path& name, std::string_view content) {
  if (root_.empty() || error_) return;
  written_.push_back(name);
  const Result<Done> written = write_file(root_ / name, content);
  if (!written) error_ = written.error();
}

}  // namespace tilewright
