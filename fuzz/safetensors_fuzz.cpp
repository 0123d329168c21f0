// Any bytes given to the safetensors reader end in one sentence or in tensors that are written and read back the same.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tilewright/nn/safetensors.hpp"

namespace {

void read(const std::string& bytes) {
  using namespace tilewright;
  const Result<TensorFile> file = from_safetensors(bytes, "fuzz.safetensors");
  if (!file) {
    const std::string& sentence = file.error().message;
    if (!sentence.starts_with("fuzz.safetensors: ") || sentence.find('\n') != std::string::npos) std::abort();
    return;
  }
  std::size_t tensor_bytes = 0;
  for (const auto& [name, tensor] : file->tensors) {
    tensor_bytes += tensor.bytes.size();
    if (name == "__metadata__") std::abort();
  }
  if (tensor_bytes > bytes.size()) std::abort();
  const std::string written = to_safetensors(*file);
  const Result<TensorFile> again = from_safetensors(written, "again.safetensors");
  if (!again || again->metadata != file->metadata || to_safetensors(*again) != written) std::abort();
  Mlp mlp(MlpShape{.inputs = 1, .hidden = {2}, .outputs = 1, .activation = Activation::Relu});
  const Result<Done> got = file->get("a", mlp);
  if (!got && got.error().message.empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read(bytes);
  // Once more as header, zero byte and tensors, because a right length is hard to guess.
  const std::uint64_t length = std::min(bytes.find('\0'), bytes.size());
  std::string framed(sizeof length, '\0');
  std::memcpy(framed.data(), &length, sizeof length);
  framed += bytes.substr(0, length);
  if (length < bytes.size()) framed += bytes.substr(length + 1);
  read(framed);
  return 0;
}
