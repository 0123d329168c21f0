#include "tilewright/study/run_directory.hpp"

#include <fstream>

#include <nlohmann/json.hpp>

#include "../scratch.hpp"
#include "tilewright/base/file.hpp"
#include "tilewright/store/store.hpp"

namespace tilewright {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string record(const std::string& verb, int seed) {
  return nlohmann::ordered_json{{"format", kRunFormat},
                                {"verb", verb},
                                {"version", "1"},
                                {"command", {"tilewright"}},
                                {"arguments", {{"seed", seed}}},
                                {"inputs", nlohmann::ordered_json::object()}}
      .dump();
}

class RunDirectories : public ::testing::Test {
 protected:
  // A run with a file, one in a folder, and a store of two points.
  void run_once(int seed = 1) {
    Result<RunDirectory> run = RunDirectory::open(path_);
    ASSERT_TRUE(run) << run.error().message;
    ASSERT_TRUE(run.value().begin_or_continue(record("map", seed)));
    fs::create_directories(path_ / "best");
    ASSERT_TRUE(write_file(path_ / "best" / "a.yaml", "a"));
    ASSERT_TRUE(write_file(path_ / "layers.csv", "layer\n"));
    {
      Result<Store> store = Store::open(path_ / kStoreFile);
      ASSERT_TRUE(store);
      ASSERT_TRUE(store.value().add_problem(7, "{}"));
      const double number = 1;
      store.value().put(7, "one", {true, 0, {&number, 1}});
      store.value().put(7, "two", {false, 3, {}});
      ASSERT_TRUE(store.value().commit());
    }
    ASSERT_TRUE(run.value().end());
  }
  RunCheck checked() const {
    const Result<RunCheck> check = check_run(path_);
    EXPECT_TRUE(check);
    return check ? check.value() : RunCheck{};
  }

  const Scratch folder_;
  const fs::path path_ = folder_ / "run";
};

TEST_F(RunDirectories, WhatAKilledProcessWasWritingGoesWhenTheRunGoesOn) {
  run_once();
  ASSERT_TRUE(write_file(path_ / "best" / "a.yaml.123.draft", "hal"));
  run_once();
  EXPECT_FALSE(fs::exists(path_ / "best" / "a.yaml.123.draft"));
  EXPECT_THAT(checked().faults, IsEmpty());
}

TEST_F(RunDirectories, KnowTheirFiles) {
  run_once();
  EXPECT_THAT(checked().faults, IsEmpty());
  EXPECT_EQ(checked().verb, "map");
  EXPECT_THAT(checked().checked, Contains("2 files are as the run left them"));
  EXPECT_THAT(checked().checked, Contains("2 points of the store are whole"));
  std::ofstream(path_ / "notes.txt") << "mine";
  EXPECT_THAT(checked().faults, IsEmpty());
  run_once();  // the notes stay nobody's business
  EXPECT_THAT(checked().checked, Contains("2 files are as the run left them (1 more are not the run's)"));
}

TEST_F(RunDirectories, NoticeEveryChangedByteOfEveryFile) {
  run_once();
  for (const char* name : {"best/a.yaml", "layers.csv", "store.sqlite", "run.json"}) {
    const std::string content = read_file(path_ / name).value();
    const std::size_t step = 1 + content.size() / 40;
    for (std::size_t at = 0; at < content.size(); at += step) {
      std::string other = content;
      other[at] = static_cast<char>(other[at] ^ 1);
      std::ofstream(path_ / name, std::ios::binary) << other;
      EXPECT_FALSE(checked().faults.empty()) << name << " byte " << at;
      EXPECT_EQ(read_file(path_ / name).value(), other) << "checking changes nothing";
    }
    std::ofstream(path_ / name, std::ios::binary) << content;
    EXPECT_THAT(checked().faults, IsEmpty());
    if (name == std::string("run.json")) continue;
    fs::remove(path_ / name);
    EXPECT_THAT(checked().faults, Contains(HasSubstr("is missing")));
    std::ofstream(path_ / name, std::ios::binary) << content;
  }
}

TEST_F(RunDirectories, StoresMayGrow) {
  run_once();
  {
    Result<Store> store = Store::open(path_ / kStoreFile);
    ASSERT_TRUE(store.value().add_problem(8, "{}"));
    store.value().put(8, "three", {false, 3, {}});
    ASSERT_TRUE(store.value().commit());
  }
  EXPECT_THAT(checked().faults, IsEmpty());
  EXPECT_THAT(checked().checked, Contains("3 points of the store are whole, 1 of them added since"));
}

TEST_F(RunDirectories, ThatWereNotEndedSaySo) {
  run_once();
  Result<RunDirectory> run = RunDirectory::open(path_);
  EXPECT_THAT(checked().faults, IsEmpty());
  ASSERT_TRUE(run.value().begin_or_continue(record("map", 1)));
  EXPECT_THAT(checked().faults, Contains(HasSubstr("has not come to its end")));
}

TEST_F(RunDirectories, BelongToOneProcessAtATime) {
  Result<RunDirectory> run = RunDirectory::open(path_);
  EXPECT_THAT(RunDirectory::open(path_).error().message, HasSubstr("another process is at work in it"));
}

TEST_F(RunDirectories, GoOnOnlyWithTheSameRun) {
  run_once();
  Result<RunDirectory> run = RunDirectory::open(path_);
  EXPECT_THAT(run.value().begin_or_continue(record("map", 2)).error().message, HasSubstr("seed of the run there is 1"));
  EXPECT_THAT(run.value().begin_or_replace(record("compare", 1)).error().message, HasSubstr("verb is \"map\""));
  EXPECT_THAT(checked().faults, IsEmpty());
  EXPECT_TRUE(run.value().begin_or_replace(record("map", 2)));
}

TEST_F(RunDirectories, RefuseFilesOfOthersAndLinks) {
  fs::create_directories(path_);
  std::ofstream(path_ / "thesis.tex") << "mine";
  EXPECT_THAT(RunDirectory::open(path_).error().message, HasSubstr("holds 'thesis.tex' and no run"));
  EXPECT_TRUE(RunDirectory::open(path_, std::vector<std::string_view>{"thesis.tex"}));
  fs::remove(path_ / "thesis.tex");
  std::ofstream(path_ / ".hidden") << "";
  run_once();
  fs::create_directories(folder_ / "elsewhere");
  fs::remove_all(path_ / "best");
  fs::create_directory_symlink("../elsewhere", path_ / "best");
  EXPECT_THAT(RunDirectory::open(path_).error().message, HasSubstr("best: is a link"));
  EXPECT_THAT(checked().faults, Contains(HasSubstr("best/a.yaml: is missing")));
}

TEST_F(RunDirectories, ThatBeganNothingLeaveNothing) {
  { const Result<RunDirectory> run = RunDirectory::open(path_); }
  EXPECT_FALSE(fs::exists(path_));
}

// What a verb does not record compares as nothing; what is no record at all is damaged.
TEST_F(RunDirectories, CompareRecordsThatLackParts) {
  const Scratch folder;
  const fs::path directory = folder / "run";
  fs::create_directories(directory);
  const std::string lacking = R"({"verb": "train", "version": "1"})";
  ASSERT_TRUE(write_file(directory / kRunFile, lacking));
  EXPECT_TRUE(check_same_run(directory, lacking));
  const Result<Done> more = check_same_run(directory, R"({"verb": "train", "version": "1", "inputs": {"seed": 2}})");
  ASSERT_FALSE(more);
  EXPECT_NE(more.error().message.find("seed of the run there is null, but now it is 2"), std::string::npos);
  // An option that is off is as good as one that the run there did not have.
  EXPECT_TRUE(check_same_run(directory, R"({"verb": "train", "version": "1", "arguments": {"prove": false}})"));
  EXPECT_FALSE(check_same_run(directory, R"({"verb": "train", "version": "1", "arguments": {"prove": true}})"));
  ASSERT_TRUE(write_file(directory / kRunFile, "[]"));
  EXPECT_FALSE(check_same_run(directory, lacking));
}

}  // namespace
}  // namespace tilewright
