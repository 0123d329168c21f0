#include "tilewright/base/file.hpp"

#include <fstream>

#include "../scratch.hpp"

namespace tilewright {
namespace {

TEST(File, WritesAndReadsBack) {
  const Scratch scratch;
  const auto path = scratch / "file.txt";
  const std::string content("zero\0inside\n", 12);
  ASSERT_TRUE(write_file(path, content));
  EXPECT_EQ(read_file(path).value(), content);
  EXPECT_FALSE(read_file(path, 5));
  std::filesystem::remove(path);
  EXPECT_EQ(read_file(path).error().code, ErrorCode::NotFound);
}

TEST(File, LinksStayLinksAndPipesStayPipes) {
  namespace fs = std::filesystem;
  const Scratch scratch;
  const fs::path folder = scratch.path();
  ASSERT_TRUE(write_file(folder / "real", "old"));
  fs::create_symlink("real", folder / "link");
  fs::create_symlink("link", folder / "further");
  fs::create_symlink("absent", folder / "dangling");
  ASSERT_TRUE(write_file(folder / "further", "new"));
  ASSERT_TRUE(write_file(folder / "dangling", "made"));
  EXPECT_TRUE(fs::is_symlink(folder / "link") && fs::is_symlink(folder / "further") && fs::is_symlink(folder / "dangling"));
  EXPECT_EQ(read_file(folder / "real").value(), "new");
  EXPECT_EQ(read_file(folder / "absent").value(), "made");
  EXPECT_TRUE(write_file("/dev/null", "gone"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_NE(write_file("/dev/full", "too much").error().message.find("No space"), std::string::npos);
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  EXPECT_NE(write_file(folder, "x").error().message.find("is a directory"), std::string::npos);
}

TEST(File, FailedWritesLeaveTheOldFile) {
  const Scratch scratch;
  EXPECT_EQ(write_file(scratch / "missing" / "file", "x").error().code, ErrorCode::Io);
  EXPECT_FALSE(read_file(::testing::TempDir()));
}

}  // namespace
}  // namespace tilewright
