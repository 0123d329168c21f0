#include "tilewright/base/tokens.hpp"

namespace tilewright {
namespace {

TEST(Tokenize, SplitsAtSeparatorsAndCountsLines) {
  const std::vector<TextToken> tokens = tokenize("K: 64,\n\n  C(3)", " :,()", "//");
  ASSERT_EQ(tokens.size(), 4u);
  EXPECT_EQ(tokens[0].text, "K");
  EXPECT_EQ(tokens[1].text, "64");
  EXPECT_EQ(tokens[1].line, 1);
  EXPECT_EQ(tokens[3].text, "3");
  EXPECT_EQ(tokens[3].line, 3);
}

TEST(Tokenize, CommentsEndTheirLineOnlyWhereAWordStarts) {
  const std::vector<TextToken> tokens = tokenize("a // b\nc//d /\n//", " ", "//");
  ASSERT_EQ(tokens.size(), 3u);
  EXPECT_EQ(tokens[1].text, "c//d");
  EXPECT_EQ(tokens[2].text, "/");
}

TEST(LastLine, DoesNotCountTheEmptyOneAfterALineEnd) {
  EXPECT_EQ(last_line(""), 1);
  EXPECT_EQ(last_line("a"), 1);
  EXPECT_EQ(last_line("a\nb"), 2);
  EXPECT_EQ(last_line("a\nb\n"), 2);
}

TEST(LeadingInteger, ReadsAsCDoes) {
  EXPECT_EQ(leading_integer("12"), 12);
  EXPECT_EQ(leading_integer(" +12x"), 12);
  EXPECT_EQ(leading_integer("-7"), -7);
  EXPECT_EQ(leading_integer("x7"), 0);
  EXPECT_EQ(leading_integer(""), 0);
  EXPECT_EQ(leading_integer("2147483647"), 2147483647);
  EXPECT_EQ(leading_integer("2147483648"), std::nullopt);
  EXPECT_EQ(leading_integer("99999999999999999999999"), std::nullopt);
}

TEST(InQuotes, IsSafeToPrint) {
  EXPECT_EQ(in_quotes("{\r"), "'{\\x0d'");
  EXPECT_EQ(in_quotes(std::string(50, 'a')), "'" + std::string(40, 'a') + "…'");
}

}  // namespace
}  // namespace tilewright
