#include "tilewright/study/program_folder.hpp"

#include "../scratch.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/study/run_directory.hpp"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

class ProgramFolders : public ::testing::Test {
 protected:
  bool has(const fs::path& name) const { return fs::exists(directory_.path() / name); }

  Scratch scratch_;
  RunDirectory directory_ = std::move(RunDirectory::open(scratch_.path() / "run")).value();
  const vta::Machine machine_{};
};

TEST_F(ProgramFolders, KeepTheirProgramsOnceTheyAreClosed) {
  {
    ProgramFolder folder(&directory_, "programs");
    folder.add("a.vtaprog", {}, machine_);
    folder.add("b.vtaprog", {}, machine_);
    const Result<std::size_t> count = folder.close("{}");
    ASSERT_TRUE(count);
    EXPECT_EQ(*count, 2U);
  }
  for (const char* name : {"programs/a.vtaprog", "programs/b.vtaprog", "programs/manifest.json", "listing.txt"}) {
    EXPECT_TRUE(has(name)) << name;
  }
}

TEST_F(ProgramFolders, TakeAwayWhatWasNotClosed) {
  {
    ProgramFolder folder(&directory_, "");
    folder.add("a.vtaprog", {}, machine_);
    EXPECT_TRUE(has("a.vtaprog"));
  }
  EXPECT_FALSE(has("a.vtaprog"));
  {
    ProgramFolder folder(&directory_, "programs");
    folder.add("a.vtaprog", {}, machine_);
  }
  EXPECT_FALSE(has("programs"));
}

TEST_F(ProgramFolders, BeginWithoutTheManifestOfAnEarlierRun) {
  ASSERT_TRUE(write_file(directory_.path() / "manifest.json", "{}"));
  const ProgramFolder folder(&directory_, "");
  EXPECT_FALSE(has("manifest.json"));
}

TEST(ProgramFolder, OnlyCountsWithoutADirectory) {
  ProgramFolder folder(nullptr, "programs");
  folder.add("a.vtaprog", {}, {});
  EXPECT_EQ(*folder.close("{}"), 1U);
}

}  // namespace
}  // namespace tilewright
