// Any bytes given to the safetensors reader end in one sentence or in tensors that are written and read back the same.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>

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

// A header in which a byte from 0x80 on stands for a word of the format, because whole words are hard to guess.
std::string spelled(const std::string& bytes) {
  constexpr std::string_view kWords[] = {"{\"a\":",
                                         ",\"b\":",
                                         "{\"dtype\":\"F32\"",
                                         "{\"dtype\":\"U8\"",
                                         ",\"dtype\":\"I64\"",
                                         ",\"shape\":[",
                                         ",\"data_offsets\":[",
                                         "{\"__metadata__\":{",
                                         "\"key\":\"text\"",
                                         "]",
                                         "],",
                                         "}",
                                         "},",
                                         "{\"a.weight0\":",
                                         ",\"a.bias0\":",
                                         "18446744073709551615"};
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      text += c;
    } else {
      text += kWords[byte % std::size(kWords)];
    }
  }
  return text;
}

std::string framed(const std::string& header, const std::string& tensors) {
  const std::uint64_t length = header.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes + header + tensors;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read(bytes);
  // Once more as header, zero byte and tensors.
  const std::size_t length = std::min(bytes.find('\0'), bytes.size());
  read(framed(spelled(bytes.substr(0, length)), length < size ? bytes.substr(length + 1) : ""));
  return 0;
}
