// Programs that run on their own, assembled from plain tensors.
#include <algorithm>
#include <cstring>

#include "tilewright/vta/generator_loops.hpp"
#include "tilewright/vta/layouts.hpp"

namespace tilewright::vta {
namespace {

constexpr std::uint64_t kFirstAddress = 0x1000;
constexpr std::uint64_t kPage = 4096;
constexpr std::uint8_t kGuardByte = 0x5a;

std::uint64_t pages(std::uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

template <typename Number>
std::vector<std::uint8_t> bytes_of(const std::vector<Number>& numbers) {
  std::vector<std::uint8_t> bytes(numbers.size() * sizeof(Number));
  if (!bytes.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

enum Tag : std::uint32_t { kInput = 1, kWeight, kBias, kResidual, kSecondInput, kUops, kStream, kOutput, kGuard };

// Places sections one behind the other, each on a page of its own.
class Assembly {
 public:
  std::uint64_t data(Tag tag, std::vector<std::uint8_t> bytes) { return add(SectionKind::Data, tag, std::move(bytes)); }

  template <typename Generate>
  LayerProgram finish(const Machine& machine, const TensorLayout& output, Addresses addresses, Generate generate_code) {
    LayerProgram result;
    result.output = output;
    result.guard_bytes = std::max<std::uint64_t>(64, static_cast<std::uint64_t>(element_bytes(machine, Buffer::Out)));
    const auto size = static_cast<std::uint64_t>(output.numbers());
    const std::uint64_t before = data(kGuard, guard(result.guard_bytes));
    next_ = before + result.guard_bytes;
    addresses.output = next_;
    program_.sections.push_back({SectionKind::Zeros, kOutput, next_, size, {}});
    next_ += size;
    data(kGuard, guard(result.guard_bytes));
    program_.sections.push_back({SectionKind::Dump, kOutput, before, size + 2 * result.guard_bytes, {}});

    addresses.uops = next_;
    Code code;
    generate_code(addresses, code);
    const Encoding encoding(machine);
    std::vector<std::uint32_t> uops;
    for (const MicroOp& uop : code.uops) uops.push_back(encoding.encode(uop));
    add(SectionKind::MicroOps, kUops, bytes_of(uops));
    std::vector<Word> words;
    for (const Instruction& instruction : code.instructions) words.push_back(encoding.encode(instruction));
    add(SectionKind::Stream, kStream, bytes_of(words));
    result.program = std::move(program_);
    return result;
  }

 private:
  static std::vector<std::uint8_t> guard(std::uint64_t size) {
    return std::vector<std::uint8_t>(static_cast<std::size_t>(size), kGuardByte);
  }
  std::uint64_t add(SectionKind kind, Tag tag, std::vector<std::uint8_t> bytes) {
    const std::uint64_t address = next_;
    const auto size = static_cast<std::uint64_t>(bytes.size());
    program_.sections.push_back({kind, tag, address, size, std::move(bytes)});
    next_ = pages(address + size);
    return address;
  }

  Program program_;
  std::uint64_t next_ = kFirstAddress;
};

}  // namespace

LayerProgram layer_program(const Layer& layer, const Machine& machine, const Schedule& schedule, const Finishing& finishing,
                           const PlainData& data) {
  Assembly assembly;
  const TensorLayout output = output_layout(layer, machine);
  Addresses addresses;
  addresses.input = assembly.data(kInput, bytes_of(to_blocks(input_layout(layer, machine), data.input)));
  addresses.weight = assembly.data(kWeight, bytes_of(weight_blocks(layer, machine, data.weight)));
  if (finishing.bias) addresses.bias = assembly.data(kBias, bytes_of(bias_blocks(layer, machine, data.bias)));
  if (finishing.residual) addresses.residual = assembly.data(kResidual, bytes_of(to_blocks(output, data.residual)));
  return assembly.finish(machine, output, addresses, [&](const Addresses& placed, Code& code) {
    generate(layer, machine, schedule, finishing, placed, code);
  });
}

LayerProgram layer_program(const ElementwiseTask& task, const Machine& machine, const Schedule& schedule,
                           const Finishing& finishing, const PlainData& data) {
  Assembly assembly;
  const TensorLayout input = input_layout(task, machine);
  Addresses addresses;
  addresses.input = assembly.data(kInput, bytes_of(to_blocks(input, data.input)));
  if (task.two_inputs) addresses.second_input = assembly.data(kSecondInput, bytes_of(to_blocks(input, data.second_input)));
  addresses.weight = assembly.data(kWeight, bytes_of(weight_blocks(task, machine)));
  return assembly.finish(machine, output_layout(task, machine), addresses, [&](const Addresses& placed, Code& code) {
    generate(task, machine, schedule, finishing, placed, code);
  });
}

LayerProgram layer_program(const PoolTask& task, const Machine& machine, const Schedule& schedule,
                           const Finishing& finishing, const PlainData& data) {
  Assembly assembly;
  Addresses addresses;
  addresses.input = assembly.data(kInput, bytes_of(to_blocks(input_layout(task, machine), data.input)));
  addresses.weight = assembly.data(kWeight, bytes_of(weight_blocks(task, machine)));
  return assembly.finish(machine, output_layout(task, machine), addresses, [&](const Addresses& placed, Code& code) {
    generate(task, machine, schedule, finishing, placed, code);
  });
}

std::vector<std::int8_t> plain_output(const LayerProgram& program, const Section& dump) {
  const auto* const first = reinterpret_cast<const std::int8_t*>(dump.bytes.data()) + program.guard_bytes;
  return from_blocks(program.output, {first, static_cast<std::size_t>(program.output.numbers())});
}

bool guards_intact(const LayerProgram& program, const Section& dump) {
  const auto guard = static_cast<std::ptrdiff_t>(program.guard_bytes);
  const auto intact = [](std::uint8_t byte) { return byte == kGuardByte; };
  return std::all_of(dump.bytes.begin(), dump.bytes.begin() + guard, intact) &&
         std::all_of(dump.bytes.end() - guard, dump.bytes.end(), intact);
}

Addresses addresses_of(const Layer& layer, const Machine& machine) {
  Addresses a;
  const auto output = static_cast<std::uint64_t>(output_layout(layer, machine).numbers());
  a.input = kFirstAddress;
  a.weight = pages(a.input + static_cast<std::uint64_t>(input_layout(layer, machine).numbers()));
  a.bias = pages(a.weight + static_cast<std::uint64_t>(weight_numbers(layer, machine)));
  const ElementLoops loops = element_loops(layer, machine);
  a.residual =
      pages(a.bias + static_cast<std::uint64_t>(loops.groups * loops.out_blocks * element_bytes(machine, Buffer::Acc)));
  a.output = pages(a.residual + 4 * output);
  a.uops = pages(a.output + output);
  return a;
}

}  // namespace tilewright::vta
