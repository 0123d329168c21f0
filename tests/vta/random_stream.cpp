#include "random_stream.hpp"

namespace tilewright::vta {
namespace {

template <typename T>
void draw(Rng& rng, T& field, std::int64_t least, std::int64_t most) {
  field = static_cast<T>(rng.between(least, most));
}
bool chance(Rng& rng, int percent) { return rng.below(100) < percent; }

Instruction random_load(Rng& rng, Buffer buffer) {
  Instruction load;
  load.buffer = buffer;
  if (chance(rng, 15)) return load;  // a no-op
  const bool uops = buffer == Buffer::Uop;
  const std::int64_t longest = chance(rng, 10) ? (uops ? 1300 : 200) : (uops ? 20 : 12);
  draw(rng, load.x_size, 1, longest);
  draw(rng, load.y_size, 1, uops ? 1 : chance(rng, 20) ? 12 : 3);
  draw(rng, load.x_stride, 0, 300);
  draw(rng, load.sram_base, 0, 63);
  draw(rng, load.dram_base, 0, (1 << 20) / 16);
  if (!uops && chance(rng, 40))
    for (std::uint8_t* pad : {&load.x_pad_0, &load.x_pad_1, &load.y_pad_0, &load.y_pad_1}) draw(rng, *pad, 0, 3);
  return load;
}

// One to a few beats per row, often at the end of a page; many rows, many zeros.
Instruction hostile_load(Rng& rng, Buffer buffer) {
  Instruction load;
  load.buffer = buffer;
  draw(rng, load.x_size, 1, chance(rng, 80) ? 3 : 40);
  draw(rng, load.y_size, 1, chance(rng, 60) ? 3 : 40);
  draw(rng, load.x_stride, 0, chance(rng, 50) ? 5 : 700);
  draw(rng, load.sram_base, 0, 63);
  load.dram_base = static_cast<std::uint32_t>(32 * rng.below(256) + (chance(rng, 50) ? 31 : rng.below(32)));
  if (chance(rng, 50))
    for (std::uint8_t* pad : {&load.x_pad_0, &load.x_pad_1, &load.y_pad_0, &load.y_pad_1})
      if (chance(rng, 50)) draw(rng, *pad, 0, 15);
  return load;
}

Instruction random_instruction(Rng& rng);

Instruction hostile_instruction(Rng& rng) {
  const std::int64_t kind = rng.below(20);
  constexpr Buffer kBuffers[] = {Buffer::Inp, Buffer::Wgt, Buffer::Uop, Buffer::Acc};
  if (kind < 14) return hostile_load(rng, kBuffers[kind % 4]);
  Instruction instruction;  // a no-op of compute or load
  if (kind < 17) instruction.buffer = kBuffers[kind - 14];
  return kind < 17 ? instruction : random_instruction(rng);
}

Instruction random_instruction(Rng& rng) {
  const std::int64_t kind = rng.below(10);
  if (kind < 4) {
    constexpr Buffer kBuffers[] = {Buffer::Inp, Buffer::Wgt, Buffer::Uop, Buffer::Acc};
    return random_load(rng, kBuffers[kind]);
  }
  Instruction instruction;
  if (kind < 6) {
    instruction = random_load(rng, Buffer::Out);
    instruction.opcode = Opcode::Store;
    instruction.x_pad_0 = instruction.x_pad_1 = instruction.y_pad_0 = instruction.y_pad_1 = 0;
    return instruction;
  }
  instruction.opcode = kind < 8 ? Opcode::Gemm : Opcode::Alu;
  instruction.reset = kind == 6;
  instruction.use_imm = chance(rng, 50);
  draw(rng, instruction.iter_out, 1, 3);
  draw(rng, instruction.iter_in, 1, chance(rng, 10) ? 200 : 6);
  draw(rng, instruction.uop_end, 1, 3);
  return instruction;
}

std::vector<Instruction> stream_of(Rng& rng, std::int64_t count, Instruction (*next)(Rng&)) {
  std::vector<Instruction> stream;
  int to_compute = 0, to_load = 0, to_store = 0, back = 0;  // tokens when executed in order; all counters hold 255
  const auto pop = [&](bool& flag, int& tokens) {
    flag = tokens > 0 && (tokens > 200 || chance(rng, 40));
    if (flag) --tokens;
  };
  const auto push = [&](bool& flag, int& tokens) {
    flag = tokens < 200 && chance(rng, 30);
    if (flag) ++tokens;
  };
  for (std::int64_t i = 0; i < count; ++i) {
    Instruction instruction = next(rng);
    switch (module_of(instruction)) {
      case Module::Load:
        pop(instruction.pop_next, to_load);
        push(instruction.push_next, to_compute);
        break;
      case Module::Compute:
        pop(instruction.pop_prev, to_compute);
        pop(instruction.pop_next, back);
        push(instruction.push_prev, to_load);
        push(instruction.push_next, to_store);
        break;
      case Module::Store:
        pop(instruction.pop_prev, to_store);
        push(instruction.push_prev, back);
        break;
    }
    stream.push_back(instruction);
  }
  Instruction end;
  end.buffer = Buffer::Inp;
  end.push_next = true;
  stream.push_back(end);
  end = {};
  end.opcode = Opcode::Store;
  end.buffer = Buffer::Out;
  end.push_prev = true;
  stream.push_back(end);
  for (end = {}, end.pop_prev = true; to_compute >= 0; --to_compute) stream.push_back(end);
  for (end = {}, end.pop_next = true; back >= 0; --back) stream.push_back(end);
  end = {};
  end.opcode = Opcode::Finish;
  stream.push_back(end);
  return stream;
}

}  // namespace

std::vector<Instruction> random_stream(Rng& rng, std::int64_t count) { return stream_of(rng, count, random_instruction); }
std::vector<Instruction> hostile_stream(Rng& rng, std::int64_t count) { return stream_of(rng, count, hostile_instruction); }

std::vector<Instruction> careless_stream(Rng& rng, std::int64_t count) {
  std::vector<Instruction> stream;
  for (std::int64_t i = 0; i < count; ++i) {
    Instruction instruction = random_instruction(rng);
    for (bool* flag : {&instruction.pop_prev, &instruction.pop_next}) *flag = chance(rng, 8);
    for (bool* flag : {&instruction.push_prev, &instruction.push_next}) *flag = chance(rng, 40);
    if (chance(rng, 1)) instruction.opcode = Opcode::Finish;
    stream.push_back(instruction);
  }
  return stream;
}

}  // namespace tilewright::vta
