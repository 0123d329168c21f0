#include "tilewright/base/checksum.hpp"

#include <fstream>

#include "../scratch.hpp"

namespace tilewright {
namespace {

TEST(Checksum, EveryByteAndTheLengthMatter) {
  const std::string text = "nineteen characters";
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] = static_cast<char>(other[i] ^ 1);
    EXPECT_NE(checksum(other), checksum(text)) << i;
  }
  EXPECT_NE(checksum(std::string(8, '\0')), checksum(std::string(9, '\0')));
  EXPECT_EQ(checksum(text), checksum(text));
}

TEST(Checksum, OfAFileIsThatOfItsBytes) {
  const Scratch scratch;
  const auto path = scratch / "content";
  for (const std::size_t bytes : {0u, 1u, 8u, 1u << 20, (1u << 20) + 3}) {
    const std::string content(bytes, 'x');
    std::ofstream(path, std::ios::binary) << content;
    EXPECT_EQ(file_checksum(path).value(), checksum(content)) << bytes;
  }
  std::filesystem::remove(path);
  EXPECT_FALSE(file_checksum(path));
}

}  // namespace
}  // namespace tilewright
