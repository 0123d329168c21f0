#include "tilewright/base/file.hpp"

#include <fstream>

namespace tilewright {
namespace {

TEST(File, WritesAndReadsBack) {
  const auto path = std::filesystem::path(::testing::TempDir()) / "tilewright_file_test.txt";
  const std::string content("zero\0inside\n", 12);
  ASSERT_TRUE(write_file(path, content));
  EXPECT_EQ(read_file(path).value(), content);
  EXPECT_FALSE(read_file(path, 5));
  std::filesystem::remove(path);
  EXPECT_EQ(read_file(path).error().code, ErrorCode::NotFound);
}

TEST(File, FailedWritesLeaveTheOldFile) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / "tilewright_missing_folder" / "file";
  EXPECT_EQ(write_file(folder, "x").error().code, ErrorCode::Io);
  EXPECT_FALSE(read_file(::testing::TempDir()));
}

}  // namespace
}  // namespace tilewright
