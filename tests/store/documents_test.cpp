#include "tilewright/store/documents.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../scratch.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/store/store.hpp"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

TEST(Documents, AreFoundUnderWhatWasAsked) {
  const Scratch scratch;
  const Documents documents = *Documents::open(scratch / "tasks");
  const Json asked{{"verb", "map"}, {"seed", 1}};
  EXPECT_FALSE(documents.find(asked));
  const FinishedWork work{Json{{"cycles", 7}}, {.seconds = 1.5, .cpu_seconds = 1, .host = "here", .began = 9, .tries = 2}};
  ASSERT_TRUE(documents.put(asked, work));
  const auto found = Documents::at(scratch / "tasks").find(asked);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->result, work.result);
  EXPECT_EQ(found->time.seconds, 1.5);
  EXPECT_EQ(found->time.host, "here");
  EXPECT_EQ(found->time.tries, 2);
  EXPECT_TRUE(documents.find(Documents::key_of(asked)));
  EXPECT_FALSE(documents.find(Json{{"verb", "map"}, {"seed", 2}}));
}

// Without waiting for the disk, which write_file does.
void overwrite(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

TEST(Documents, EveryChangedByteCountsAsNotDone) {
  const Scratch scratch;
  const Documents documents = *Documents::open(scratch.path());
  const Json asked{{"verb", "map"}};
  ASSERT_TRUE(documents.put(asked, {Json{{"cycles", 12345}}, {}}));
  const auto path = documents.path_of(Documents::key_of(asked));
  const std::string whole = *read_file(path);
  for (std::size_t i = 0; i + 1 < whole.size(); ++i) {  // the last is the line's end
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    overwrite(path, changed);
    EXPECT_FALSE(documents.find(asked)) << i;
    overwrite(path, whole.substr(0, i));
    EXPECT_FALSE(documents.find(asked)) << i;
  }
  overwrite(path, whole);
  EXPECT_TRUE(documents.find(asked));
}

TEST(Documents, AnotherQuestionWithTheSameKeyIsNotFound) {
  const Scratch scratch;
  const Documents documents = *Documents::open(scratch.path());
  const Json asked{{"verb", "map"}}, other{{"verb", "train"}};
  ASSERT_TRUE(documents.put(asked, {Json{{"cycles", 1}}, {}}));
  std::filesystem::create_directories(documents.path_of(Documents::key_of(other)).parent_path());
  std::filesystem::copy_file(documents.path_of(Documents::key_of(asked)), documents.path_of(Documents::key_of(other)));
  EXPECT_FALSE(documents.find(other));
}

TEST(Documents, AFolderThatCannotBeIsSaid) {
  const Scratch scratch;
  ASSERT_TRUE(write_file(scratch / "file", "x"));
  const auto documents = Documents::open(scratch / "file/tasks");
  ASSERT_FALSE(documents);
  EXPECT_THAT(documents.error().message, ::testing::HasSubstr("could not be made"));
}

Store opened(Result<Store> store) { return std::move(store).value(); }

std::vector<std::string> designs_of(Store& store, std::uint64_t problem) {
  std::vector<std::string> designs;
  EXPECT_TRUE(store.each(problem, [&](std::string_view design, const StoredOutcome&) {
    designs.emplace_back(design);
    return true;
  }));
  return designs;
}

TEST(StoreMerge, KeepsTheOrderAndIsIdempotent) {
  const Scratch scratch;
  const double numbers[] = {1, 2};
  const auto filled = [&](const std::string& name, std::initializer_list<const char*> designs) {
    Store store = opened(Store::open(scratch / name));
    EXPECT_TRUE(store.add_problem(7, "{\"layer\": 1}"));
    for (const char* design : designs) store.put(7, design, {true, 0, numbers});
    store.put(7, "bad", {false, 3, {}});
    EXPECT_TRUE(store.commit());
  };
  filled("a", {"x", "y"});
  filled("b", {"z", "y", "w"});
  Store into = opened(Store::open(scratch / "into"));
  Store a = opened(Store::open_to_read(scratch / "a")), b = opened(Store::open_to_read(scratch / "b"));
  EXPECT_EQ(*merge(into, a), 3);
  EXPECT_EQ(*merge(into, b), 2);
  const std::vector<std::string> expected = {"x", "y", "bad", "z", "w"};
  EXPECT_EQ(designs_of(into, 7), expected);
  EXPECT_EQ(*merge(into, a), 0);
  EXPECT_EQ(*merge(into, b), 0);
  EXPECT_EQ(designs_of(into, 7), expected);
  EXPECT_FALSE(into.find(7, "bad")->feasible);
  EXPECT_EQ(into.find(7, "w")->numbers[1], 2);
  ASSERT_EQ(into.problems()->size(), 1U);
  EXPECT_EQ(into.problems()->front().text, "{\"layer\": 1}");
  EXPECT_EQ(*Store::check(scratch / "into"), 5);
}

}  // namespace
}  // namespace tilewright
