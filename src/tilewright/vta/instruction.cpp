#include "tilewright/vta/instruction.hpp"

#include <concepts>

#include "tilewright/base/result.hpp"

namespace tilewright::vta {
namespace {

// Fields never cross bit 64, so each lies in one of two words.
class FieldWriter {
 public:
  explicit FieldWriter(const Packing& packing) : packing_(packing) {}

  void put(std::uint64_t value) {
    const Field& field = packing_.places[next_++];
    TW_ASSERT(value >> field.width == 0);
    const auto shift = static_cast<unsigned>(field.lowest);
    (shift < 64 ? low : high) |= value << (shift % 64);
  }

  std::uint64_t low = 0, high = 0;

 private:
  const Packing& packing_;
  std::size_t next_ = 0;
};

class FieldReader {
 public:
  FieldReader(const Packing& packing, std::uint64_t low, std::uint64_t high) : packing_(packing), low_(low), high_(high) {}

  template <std::unsigned_integral T>
  void take(T& value) {
    const Field& field = packing_.places[next_++];
    const auto shift = static_cast<unsigned>(field.lowest);
    const std::uint64_t mask = (std::uint64_t{1} << field.width) - 1;
    value = static_cast<T>(((shift < 64 ? low_ : high_) >> (shift % 64)) & mask);
  }
  template <typename T>
  T take_as() {
    std::uint16_t value = 0;
    take(value);
    return static_cast<T>(value);
  }

 private:
  const Packing& packing_;
  std::uint64_t low_, high_;
  std::size_t next_ = 0;
};

std::uint64_t word_at(const std::uint8_t* bytes) {
  std::uint64_t word = 0;
  for (unsigned i = 0; i < 8; ++i) word |= std::uint64_t{bytes[i]} << (8 * i);
  return word;
}

void put_word(std::uint8_t* bytes, std::uint64_t word) {
  for (unsigned i = 0; i < 8; ++i) bytes[i] = static_cast<std::uint8_t>(word >> (8 * i));
}

Format format_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::Load:
    case Opcode::Store:
      return Format::Memory;
    case Opcode::Alu:
      return Format::Alu;
    default:
      return Format::Gemm;
  }
}

void put_memory(FieldWriter& writer, const Instruction& instruction) {
  writer.put(static_cast<std::uint64_t>(instruction.buffer));
  writer.put(instruction.sram_base);
  writer.put(instruction.dram_base);
  writer.put(instruction.y_size);
  writer.put(instruction.x_size);
  writer.put(instruction.x_stride);
  writer.put(instruction.y_pad_0);
  writer.put(instruction.y_pad_1);
  writer.put(instruction.x_pad_0);
  writer.put(instruction.x_pad_1);
}

void take_memory(FieldReader& reader, Instruction& instruction) {
  instruction.buffer = reader.take_as<Buffer>();
  reader.take(instruction.sram_base);
  reader.take(instruction.dram_base);
  reader.take(instruction.y_size);
  reader.take(instruction.x_size);
  reader.take(instruction.x_stride);
  reader.take(instruction.y_pad_0);
  reader.take(instruction.y_pad_1);
  reader.take(instruction.x_pad_0);
  reader.take(instruction.x_pad_1);
}

void put_loops(FieldWriter& writer, const Instruction& instruction) {
  writer.put(instruction.reset ? 1 : 0);
  writer.put(instruction.uop_begin);
  writer.put(instruction.uop_end);
  writer.put(instruction.iter_out);
  writer.put(instruction.iter_in);
  writer.put(instruction.dst_factor_out);
  writer.put(instruction.dst_factor_in);
  writer.put(instruction.src_factor_out);
  writer.put(instruction.src_factor_in);
  if (instruction.opcode == Opcode::Gemm) {
    writer.put(instruction.wgt_factor_out);
    writer.put(instruction.wgt_factor_in);
  } else {
    writer.put(static_cast<std::uint64_t>(instruction.alu_opcode));
    writer.put(instruction.use_imm ? 1 : 0);
    writer.put(static_cast<std::uint16_t>(instruction.imm));
  }
}

void take_loops(FieldReader& reader, Instruction& instruction) {
  instruction.reset = reader.take_as<bool>();
  reader.take(instruction.uop_begin);
  reader.take(instruction.uop_end);
  reader.take(instruction.iter_out);
  reader.take(instruction.iter_in);
  reader.take(instruction.dst_factor_out);
  reader.take(instruction.dst_factor_in);
  reader.take(instruction.src_factor_out);
  reader.take(instruction.src_factor_in);
  if (instruction.opcode == Opcode::Gemm) {
    reader.take(instruction.wgt_factor_out);
    reader.take(instruction.wgt_factor_in);
  } else {
    instruction.alu_opcode = reader.take_as<AluOpcode>();
    instruction.use_imm = reader.take_as<bool>();
    instruction.imm = reader.take_as<std::int16_t>();
  }
}

}  // namespace

Module module_of(const Instruction& instruction) {
  if (instruction.opcode == Opcode::Store) return Module::Store;
  if (instruction.opcode != Opcode::Load) return Module::Compute;
  return instruction.buffer == Buffer::Inp || instruction.buffer == Buffer::Wgt ? Module::Load : Module::Compute;
}

Encoding::Encoding(const Machine& machine) {
  for (const Format format : {Format::Memory, Format::Gemm, Format::Alu, Format::MicroOp}) {
    packings_[static_cast<std::size_t>(format)] = packing_of(format, machine);
  }
}

Word Encoding::encode(const Instruction& instruction) const {
  FieldWriter writer(packing(format_of(instruction.opcode)));
  writer.put(static_cast<std::uint64_t>(instruction.opcode));
  writer.put(instruction.pop_prev ? 1 : 0);
  writer.put(instruction.pop_next ? 1 : 0);
  writer.put(instruction.push_prev ? 1 : 0);
  writer.put(instruction.push_next ? 1 : 0);
  switch (instruction.opcode) {
    case Opcode::Load:
    case Opcode::Store:
      put_memory(writer, instruction);
      break;
    case Opcode::Gemm:
    case Opcode::Alu:
      put_loops(writer, instruction);
      break;
    case Opcode::Finish:
      break;
  }
  Word word;
  put_word(word.data(), writer.low);
  put_word(word.data() + 8, writer.high);
  return word;
}

std::uint32_t Encoding::encode(const MicroOp& uop) const {
  FieldWriter writer(packing(Format::MicroOp));
  writer.put(uop.dst);
  writer.put(uop.src);
  writer.put(uop.wgt);
  return static_cast<std::uint32_t>(writer.low);
}

bool Encoding::decode(const Word& word, Instruction& instruction) const {
  const std::uint64_t low = word_at(word.data());
  instruction = {};
  instruction.opcode = static_cast<Opcode>(low & 7);
  FieldReader reader(packing(format_of(instruction.opcode)), low, word_at(word.data() + 8));
  instruction.opcode = reader.take_as<Opcode>();
  instruction.pop_prev = reader.take_as<bool>();
  instruction.pop_next = reader.take_as<bool>();
  instruction.push_prev = reader.take_as<bool>();
  instruction.push_next = reader.take_as<bool>();
  switch (instruction.opcode) {
    case Opcode::Load:
    case Opcode::Store:
      take_memory(reader, instruction);
      return instruction.buffer <= Buffer::Acc8;
    case Opcode::Gemm:
    case Opcode::Alu:
      take_loops(reader, instruction);
      return instruction.alu_opcode <= AluOpcode::Mul;
    case Opcode::Finish:
      return true;
  }
  return false;
}

MicroOp Encoding::decode(std::uint32_t word) const {
  FieldReader reader(packing(Format::MicroOp), word, 0);
  MicroOp uop;
  reader.take(uop.dst);
  reader.take(uop.src);
  reader.take(uop.wgt);
  return uop;
}

}  // namespace tilewright::vta
