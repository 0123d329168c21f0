// A machine that reads can be encoded and is written so that it reads back equal.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tilewright/vta/packing.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilewright::vta;
  const auto machine = machine_from_json(std::string(reinterpret_cast<const char*>(data), size), "fuzz");
  if (!machine) return machine.error().message.starts_with("fuzz: ") ? 0 : (std::abort(), 0);
  for (const Format format : {Format::Memory, Format::Gemm, Format::Alu, Format::MicroOp}) {
    if (packing_of(format, *machine).bits > (format == Format::MicroOp ? 32 : 128)) std::abort();
  }
  const auto again = machine_from_json(to_json(*machine), "fuzz");
  if (!again || *again != *machine) std::abort();
  return 0;
}
