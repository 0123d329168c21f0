// Operators that work on one element after the other: their results are as large as their inputs, and their arithmetic is a
// number of operations per element.
#pragma once

#include <string_view>

namespace tilewright::onnx_file {

struct Elementwise {
  std::string_view op;
  enum class Result { LikeFirst, Broadcast } result = Result::LikeFirst;
  int operations = 1;  // per element of the result; any function of one or two numbers is one operation
};

// nullptr when the operator is not of this family.
const Elementwise* find_elementwise(std::string_view kind);

// Sum, Mean, Max, Min: any number of inputs, one operation per element for each input after the first.
bool is_variadic(std::string_view kind);

}  // namespace tilewright::onnx_file
