#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

TEST(Text, IntegersAreReadWholeOrNotAtAll) {
  EXPECT_EQ(parse_integer("42"), 42);
  EXPECT_EQ(parse_integer("-7"), -7);
  EXPECT_EQ(parse_integer("42x"), std::nullopt);
  EXPECT_EQ(parse_integer(""), std::nullopt);
  EXPECT_EQ(parse_integer("99999999999999999999"), std::nullopt);
}

TEST(Text, SplitKeepsEmptyParts) { EXPECT_EQ(split("a,,b", ',').size(), 3u); }

TEST(Text, TrimAndLower) {
  EXPECT_EQ(trim(" \ta b\r\n"), "a b");
  EXPECT_EQ(trim("  "), "");
  EXPECT_EQ(lower("ReLU"), "relu");
}

TEST(Text, OnlyWholeCharactersAreText) {
  for (const char* text : {"", "plain",
                           "F\xc3\xbc\xc3\x9f"
                           "e",
                           "\xe2\x80\xa6", "\xf0\x9f\x98\x80"})
    EXPECT_TRUE(is_text(text)) << text;
  for (const char* bytes : {"\xff", "\xc3", "\x80", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xef\xbf\xbe",
                            "\xf4\x90\x80\x80", "\xe6\xff\xff"}) {
    EXPECT_FALSE(is_text(bytes)) << bytes;  // stray, cut off, too long, surrogate, not a character, beyond the last
  }
}

TEST(Text, NearestNamesWhatWasMeant) {
  const std::vector<std::string> choices = {"eyeriss", "nvdla", "shidiannao"};
  EXPECT_EQ(nearest("eyeris", choices), "eyeriss");
  EXPECT_EQ(nearest("NVDLA", choices), "nvdla");
  EXPECT_EQ(nearest("completely-different", choices), std::nullopt);
  EXPECT_EQ(did_you_mean("nvdal", choices), " (did you mean 'nvdla'?)");
  EXPECT_EQ(did_you_mean("qqqqqqqq", choices), "");
}

TEST(Text, WordsForAShell) {
  EXPECT_EQ(shell_word("zoo:resnet18"), "zoo:resnet18");
  EXPECT_EQ(shell_word("my model.onnx"), "'my model.onnx'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(Text, NumbersForPeople) {
  EXPECT_EQ(with_thousands(1234567), "1,234,567");
  EXPECT_EQ(with_thousands(-1000), "-1,000");
  EXPECT_EQ(with_thousands(999), "999");
  EXPECT_EQ(with_prefix(1814073344), "1.814 G");
  EXPECT_EQ(with_prefix(12), "12");
  EXPECT_EQ(with_prefix(999999.9), "1 M");
}

}  // namespace
}  // namespace tilewright
