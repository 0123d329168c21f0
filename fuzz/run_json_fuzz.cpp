// Any bytes that lie in a directory as run.json end in one sentence, in faults, or in a run that can be gone on with.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <unistd.h>

#include "tilewright/base/file.hpp"
#include "tilewright/study/codesign.hpp"
#include "tilewright/study/mapping_run.hpp"
#include "tilewright/study/run_directory.hpp"
#include "tilewright/study/training_parts.hpp"

namespace {

// Of this process alone, in memory where there is such a place.
std::filesystem::path make_directory() {
  const std::filesystem::path shared = "/dev/shm";
  const auto parent = std::filesystem::is_directory(shared) ? shared : std::filesystem::temp_directory_path();
  const auto directory = parent / ("fuzz_run_json_" + std::to_string(getpid()));
  std::filesystem::create_directories(directory);
  return directory;
}

void expect_sentence(const tilewright::Error& error) {
  if (error.message.empty() || error.message.find('\n') != std::string::npos) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilewright;
  static const std::filesystem::path directory = make_directory();
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (!write_file(directory / kRunFile, text)) std::abort();

  const Result<std::string> verb = verb_of(directory);
  const Result<RunCheck> check = check_run(directory);
  if (!check) std::abort();  // the file can be read, so all that can be wrong with it is a fault
  if (verb && check->faults.empty() && check->verb != *verb) std::abort();
  if (!verb) expect_sentence(verb.error());
  if (const auto same = check_same_run(directory, text); !same) expect_sentence(same.error());
  if (const auto map = read_map_run(directory); !map) expect_sentence(map.error());
  if (const auto codesign = read_codesign_run(directory); !codesign) expect_sentence(codesign.error());
  if (const auto train = train_record_from(text, "fuzz.json"); !train) expect_sentence(train.error());
  return 0;
}
