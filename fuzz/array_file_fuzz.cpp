// Any bytes given to the reader of NumPy's files end in one sentence or in arrays that are written and read back the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tilewright/base/array_file.hpp"

namespace {

void look_at(const tilewright::Result<tilewright::NumberArray>& array) {
  using namespace tilewright;
  if (!array) {
    const std::string& sentence = array.error().message;
    if (!sentence.starts_with("fuzz: ") || sentence.find('\n') != std::string::npos) std::abort();
    return;
  }
  std::int64_t count = 1;
  for (const std::int64_t size : array->shape) count *= size;
  if (count != static_cast<std::int64_t>(array->values.size())) std::abort();
  const Result<NumberArray> again = array_from_npy(to_npy(*array), "again");
  if (!again || again->shape != array->shape) std::abort();
  const std::size_t bytes = count * sizeof(float);  // not ==, because of numbers that are none
  if (bytes > 0 && std::memcmp(again->values.data(), array->values.data(), bytes) != 0) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilewright;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  look_at(array_from_npy(bytes, "fuzz: array"));
  const Result<ArrayFile> file = ArrayFile::from_bytes(bytes, "fuzz");
  if (!file) {
    look_at(file.error());
    return 0;
  }
  for (const std::string& name : file->names()) look_at(file->array(name));
  return 0;
}
