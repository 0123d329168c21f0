#include "tilewright/base/rng.hpp"

#include "tilewright/base/result.hpp"

namespace tilewright {
namespace {

__extension__ using Wide = unsigned __int128;

// FNV-1a folded through one Philox block: short names that differ in one letter get unrelated keys.
std::uint64_t derive(std::uint64_t key, std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  const PhiloxBlock block = philox4x32({static_cast<std::uint32_t>(hash), static_cast<std::uint32_t>(hash >> 32), 0x5eed, 0},
                                       {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)});
  return std::uint64_t{block[1]} << 32 | block[0];
}

}  // namespace

PhiloxBlock philox4x32(PhiloxBlock c, std::array<std::uint32_t, 2> k) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t left = std::uint64_t{0xD2511F53u} * c[0];
    const std::uint64_t right = std::uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<std::uint32_t>(right >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(right),
         static_cast<std::uint32_t>(left >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(left)};
    k = {k[0] + 0x9E3779B9u, k[1] + 0xBB67AE85u};
  }
  return c;
}

Rng::Rng(std::uint64_t seed, std::string_view stream) : Rng(derive(seed, stream)) {}

Rng Rng::fork(std::string_view name) const { return Rng(derive(key_, name)); }

Rng Rng::fork(std::string_view name, std::uint64_t index) const {
  return Rng(derive(key_, std::string(name) + '#' + std::to_string(index)));
}

std::uint64_t Rng::bits() {
  const std::uint64_t block_index = position_ >> 1;
  const PhiloxBlock block =
      philox4x32({static_cast<std::uint32_t>(block_index), static_cast<std::uint32_t>(block_index >> 32), 0, 0},
                 {static_cast<std::uint32_t>(key_), static_cast<std::uint32_t>(key_ >> 32)});
  const std::size_t half = (position_++ & 1) * 2;
  return std::uint64_t{block[half + 1]} << 32 | block[half];
}

double Rng::uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }

std::int64_t Rng::below(std::int64_t bound) {
  TW_ASSERT(bound >= 1);
  // Lemire's method: the high word of bits*bound is uniform once the short first interval is rejected.
  const auto range = static_cast<std::uint64_t>(bound);
  while (true) {
    const Wide product = static_cast<Wide>(bits()) * range;
    const auto low = static_cast<std::uint64_t>(product);
    if (low >= range || low >= (0 - range) % range) return static_cast<std::int64_t>(product >> 64);
  }
}

std::int64_t Rng::between(std::int64_t least, std::int64_t most) { return least + below(most - least + 1); }

}  // namespace tilewright
