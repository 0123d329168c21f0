#include <CLI/CLI.hpp>

#include "tilewright/app/command_line.hpp"

namespace tilewright {

void add_dim_option(CLI::App& verb, std::vector<std::string>& dims) {
  verb.add_option("--dim", dims, "NAME=N, the size of an open dimension of an ONNX model; may be repeated")
      ->allow_extra_args(false);
}

}  // namespace tilewright
