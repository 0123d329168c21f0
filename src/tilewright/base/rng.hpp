// Random numbers that can be asked for by number: Philox4x32-10 (Salmon et al., SC'11).
//
// A block is a pure function of (key, counter), so the n-th number of a stream does not depend on who drew the others, on
// which thread, or in what order. Streams are named: the key of a stream is made from the seed and its name, and forking
// appends to the name, so that adding a stream leaves all others as they were.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tilewright {

using PhiloxBlock = std::array<std::uint32_t, 4>;
PhiloxBlock philox4x32(PhiloxBlock counter, std::array<std::uint32_t, 2> key);

class Rng {
 public:
  Rng(std::uint64_t seed, std::string_view stream);

  // The stream "this/name": independent of this one and of every fork with another name.
  Rng fork(std::string_view name) const;
  Rng fork(std::string_view name, std::uint64_t index) const;

  std::uint64_t bits();                                         // 64 random bits
  double uniform();                                             // [0, 1), 53 bits
  std::int64_t below(std::int64_t bound);                       // 0 … bound-1, without bias; bound >= 1
  std::int64_t between(std::int64_t least, std::int64_t most);  // both included

  // What the stream's numbers are a function of, with their index: for code that draws many at once.
  std::uint64_t key() const { return key_; }

  // How many 64-bit numbers were drawn, and going to any such place: what a checkpoint keeps.
  std::uint64_t position() const { return position_; }
  void seek(std::uint64_t position) { position_ = position; }

  // For <algorithm>'s shuffle and <random>'s distributions.
  using result_type = std::uint64_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~result_type{0}; }
  result_type operator()() { return bits(); }

 private:
  explicit Rng(std::uint64_t key) : key_(key) {}

  std::uint64_t key_;
  std::uint64_t position_ = 0;
};

}  // namespace tilewright
