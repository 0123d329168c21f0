// What the user says about a model beyond its file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/base/result.hpp"

namespace tilewright {

// The size of a dimension that an ONNX model leaves open. Its name is the one the model gives it, or INPUT.AXIS when it
// gives none.
struct NamedDim {
  std::string name;
  std::int64_t size = 1;
};

struct ReadOptions {
  std::int64_t batch = 1;                  // for an open first dimension of an ONNX model's inputs that `dims` does not name
  std::vector<NamedDim> dims = {};         // of an ONNX model
  std::filesystem::path data_folder = {};  // where the external data of an ONNX model lies; empty: it is not read
};

// "sequence=128", as --dim has it. An Error for another form, a size below 1 and a name that is given twice.
Result<std::vector<NamedDim>> dims_from(const std::vector<std::string>& texts);

Result<ReadOptions> read_options(std::int64_t batch, const std::vector<std::string>& dims);

// Fine when each of `dims` is among `names`, the open dimensions of what is called `where` (empty: the Error is a
// phrase without it).
Result<Done> check_dims(const std::vector<NamedDim>& dims, const std::vector<std::string>& names, const std::string& where);

}  // namespace tilewright
