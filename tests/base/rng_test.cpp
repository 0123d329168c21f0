#include "tilewright/base/rng.hpp"

#include <algorithm>

namespace tilewright {
namespace {

// Known answers published with the generator (Random123, kat_vectors, philox4x32 10 rounds).
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Rng, SameSeedAndNameGiveTheSameNumbers) {
  Rng a(7, "tiler");
  Rng b(7, "tiler");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.bits(), b.bits());
}

TEST(Rng, NamesSeedsAndForksSeparateStreams) {
  std::vector<std::uint64_t> firsts;
  for (const char* name : {"tiler", "tilef", "order", ""}) firsts.push_back(Rng(7, name).bits());
  firsts.push_back(Rng(8, "tiler").bits());
  firsts.push_back(Rng(7, "tiler").fork("a").bits());
  firsts.push_back(Rng(7, "tiler").fork("a", 1).bits());
  std::ranges::sort(firsts);
  EXPECT_EQ(std::ranges::adjacent_find(firsts), firsts.end());
}

TEST(Rng, DrawingDoesNotChangeForks) {
  Rng a(7, "root");
  const std::uint64_t before = a.fork("child").bits();
  a.bits();
  EXPECT_EQ(a.fork("child").bits(), before);
}

TEST(Rng, SeekReturnsToAnyPlace) {
  Rng rng(1, "seek");
  std::vector<std::uint64_t> numbers;
  for (int i = 0; i < 20; ++i) numbers.push_back(rng.bits());
  rng.seek(13);
  EXPECT_EQ(rng.bits(), numbers[13]);
  EXPECT_EQ(rng.position(), 14u);
}

TEST(Rng, BelowIsUniform) {
  Rng rng(3, "below");
  std::array<int, 10> counts{};
  for (int i = 0; i < 100000; ++i) ++counts[static_cast<std::size_t>(rng.below(10))];
  double chi_square = 0;
  for (const int count : counts) chi_square += (count - 10000.0) * (count - 10000.0) / 10000.0;
  EXPECT_LT(chi_square, 27.9);  // 9 degrees of freedom, one in a thousand
}

TEST(Rng, UniformStaysInItsInterval) {
  Rng rng(3, "uniform");
  double sum = 0;
  for (int i = 0; i < 100000; ++i) {
    const double number = rng.uniform();
    ASSERT_GE(number, 0.0);
    ASSERT_LT(number, 1.0);
    sum += number;
  }
  EXPECT_NEAR(sum / 100000, 0.5, 0.005);
}

}  // namespace
}  // namespace tilewright
