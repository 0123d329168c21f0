// A folder of its own for every test and process: tests run side by side, from several builds too.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>

#include <unistd.h>

#include <gtest/gtest.h>

namespace tilewright {

class Scratch {
 public:
  Scratch() {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  static std::string unique_name() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    std::string name =
        std::string("tilewright_") + test->test_suite_name() + "_" + test->name() + "_" + std::to_string(getpid());
    std::replace(name.begin(), name.end(), '/', '_');
    return name;
  }

  const std::filesystem::path path_ = std::filesystem::path(testing::TempDir()) / unique_name();
};

}  // namespace tilewright
