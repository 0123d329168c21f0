#include "tilewright/base/csv.hpp"

namespace tilewright {
namespace {

TEST(Csv, NamesThatSpreadsheetsTakeForFormulasAreText) {
  for (const std::string name : {"=1+1", "+a", "-a", "@sum", "\tx"}) EXPECT_EQ(csv_cell(name), "'" + name);
  EXPECT_EQ(csv_cell("=a,\"b\""), "\"'=a,\"\"b\"\"\"");
  EXPECT_EQ(csv_cell("conv1=2"), "conv1=2");
  EXPECT_EQ(csv_cell("a\nb\r"), "a b ");
}

TEST(Csv, NamesComeBack) {
  const std::vector<std::string> names = {"conv1", "=1+1", "'=1", "a,b", "\"", "", "-", "it's"};
  std::string line;
  for (const std::string& name : names) line += (line.empty() ? "" : ",") + csv_cell(name);
  const auto read = csv_names(line);
  ASSERT_TRUE(read);
  std::vector<std::string> expected = names;
  expected[2] = "=1";  // an apostrophe before a formula cannot be told from ours
  EXPECT_EQ(*read, expected);
  EXPECT_FALSE(csv_names("a,\"b"));
}

}  // namespace
}  // namespace tilewright
