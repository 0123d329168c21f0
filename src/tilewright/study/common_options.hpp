// Options that several questions have, each told once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/base/options.hpp"

namespace tilewright {

inline constexpr int kMostThreads = 1024;
inline constexpr std::int64_t kMostImages = 1 << 30;

inline OptionField threads_field(int& threads, std::string meaning = "0 = all", std::string_view group = "") {
  return {"threads", &threads, std::move(meaning), {.group = group, .recorded = false, .least = 0, .most = kMostThreads}};
}

inline OptionField batch_field(std::int64_t& images) {
  return {"batch",
          &images,
          "images for a dynamic batch of an ONNX model",
          {.least = 1, .most = kMostImages, .default_is_said = true}};
}

inline OptionField dim_field(std::vector<std::string>& dims) {
  return {"dims", &dims, "NAME=N, the size of an open dimension of an ONNX model; may be repeated", {.flag = "dim"}};
}

}  // namespace tilewright
