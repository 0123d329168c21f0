// Settings of training as keywords, by the table that gives the command `tilewright train` its options.
#pragma once

#include <string>

#include "convert.hpp"

#include "tilewright/study/training.hpp"

namespace tilewright::python {

// Sets what `options`, a JSON object, names. An unknown name or a value that does not fit is an exception that begins with
// `where`.
void read_settings(TrainSettings& settings, const std::string& options, const std::string& where);

}  // namespace tilewright::python
